#!/usr/bin/env bash
# Writes lock.txt: what `make` installs, for every system and Python from 3.11 on, with the hashes of its files. The
# versions are those of constraints.txt. Needs uv (pipx install uv) and the network.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v uv >/dev/null || { echo "make_lock: uv is missing; install it, such as by: pipx install uv" >&2; exit 1; }
new=$(mktemp)
trap 'rm -f "$new"' EXIT
uv pip compile pyproject.toml --extra gui --extra dev --constraints constraints.txt --universal --python-version 3.11 \
    --generate-hashes --annotation-style line --no-header --quiet --output-file "$new" >/dev/null
{
    echo "# What \`make\` installs, with hashes; written by scripts/make_lock.sh, read through scripts/locked.py."
    cat "$new"
} >lock.txt
