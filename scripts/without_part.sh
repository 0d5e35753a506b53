#!/usr/bin/env bash
# Copy the checkout, remove the folders of one part, and run the tests there: without_part.sh PART [pytest arguments]
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
part=${1:?name a part: $(cd engine && ls -d */part.json | xargs -n1 dirname | xargs)}
shift
[ -f "engine/$part/part.json" ] || { echo "without_part: engine/$part has no part.json." >&2; exit 2; }
copy="$PWD/build/without-$part"
rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$copy" 2>/dev/null || true
rm -rf "$copy/engine/$part" "$copy/app/$part"
cd "$copy"
PYTHONPATH="$copy" QT_QPA_PLATFORM="${QT_QPA_PLATFORM:-offscreen}" "$root/.venv/bin/python" -m pytest \
    --ignore tests/architecture --ignore tests/system/test_wheel.py "$@"
