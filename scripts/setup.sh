#!/usr/bin/env bash
# Prepares .venv: a Python, torch, Netwright with its extras, and the system libraries that Qt needs.
# Returns at once when nothing changed since the last complete run.
#
#   PYTHON      the interpreter to use (default: the first python3 that is new enough)
#   TORCH_SPEC  the torch to install first (default: torch== as pinned in constraints.txt)
#   TORCH_ARGS  more arguments for that one pip call, such as --index-url for a CPU or CUDA build
#   EXTRAS      what to install beside the engine (default: gui,metrics,dev; "dev" alone leaves Qt out and has the
#               libraries of the extras tensorboard and mlflow)
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
stamp=$venv/netwright-setup
pinned_torch=$(grep '^torch==' constraints.txt)
torch_spec=${TORCH_SPEC:-$pinned_torch}
torch_args=${TORCH_ARGS:-}
extras=${EXTRAS:-gui,metrics,dev}

say() { printf 'setup: %s\n' "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 1; }

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
has_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

fingerprint() {
    {
        # The folder counts: the scripts in .venv/bin carry it in their first line.
        printf '%s\n' "$PWD" "${PYTHON:-}" "$torch_spec" "$torch_args" "$extras"
        cat pyproject.toml constraints.txt scripts/setup.sh
    } | cksum
}

# Writes the interpreter's path, or nothing.
find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if command -v "$candidate" >/dev/null && is_new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

can_use_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

apt_install() {
    say "installing $* with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

make_venv() {
    local python
    python=$(find_python)
    if [ -z "$python" ] && [ -z "${PYTHON:-}" ] && ! command -v python3 >/dev/null && can_use_apt; then
        apt_install python3 python3-venv
        python=$(find_python)
    fi
    [ -n "$python" ] || stop "Python 3.11 or newer is needed, and ${PYTHON:-python3} is none. Name one: make setup PYTHON=/path/to/python3.12"
    if ! has_venv "$python"; then
        local package
        package=python$(version_of "$python")-venv
        can_use_apt || stop "$python has no venv module. On Debian and Ubuntu: sudo apt-get install -y $package"
        apt_install "$package"
        has_venv "$python" || stop "$python still has no venv module after installing $package. Name another Python: make setup PYTHON=..."
    fi
    [ ! -e "$venv" ] || say "$venv is of another place or Python, or broken: making it anew"
    say "making $venv with $python ($(version_of "$python"))"
    "$python" -m venv --clear "$venv"
}

# An environment that works, and works from this folder, is kept: other programs may be running from it.
venv_is_ours() {
    [ -x "$venv/bin/python" ] && is_new_enough "$venv/bin/python" && "$venv/bin/python" -c 'import pip' 2>/dev/null || return 1
    # A moved checkout: the scripts still start the interpreter of the old place. Its name may be python or python3.
    case $(head -n 1 "$venv/bin/pip" 2>/dev/null) in "#!$PWD/$venv/bin/"*) ;; *) return 1 ;; esac
    # A named interpreter of another version wants another environment.
    [ -z "${PYTHON:-}" ] || [ "$(version_of "$PYTHON")" = "$(version_of "$venv/bin/python")" ]
}

install_packages() {
    local constraints=constraints.txt quiet=()
    [ -t 1 ] || quiet=(--quiet)
    if [ "$torch_spec" != "$pinned_torch" ]; then
        constraints=$venv/constraints.txt
        grep -v '^torch==' constraints.txt >"$constraints"
    fi
    # torch first and alone, so that its build can be chosen without touching where the rest comes from.
    say "installing $torch_spec (large; this can take minutes)"
    # shellcheck disable=SC2086  # TORCH_ARGS is a list of arguments
    "$venv/bin/python" -m pip install ${quiet[@]+"${quiet[@]}"} "$torch_spec" $torch_args -c "$constraints"
    say "installing Netwright [$extras]"
    "$venv/bin/python" -m pip install ${quiet[@]+"${quiet[@]}"} -e ".[$extras]" -c "$constraints"
}

wants_gui() { case ",$extras," in *,gui,*) true ;; *) false ;; esac; }

check_qt() {
    QT_QPA_PLATFORM=offscreen "$venv/bin/python" -c 'from PySide6.QtWidgets import QApplication; QApplication([])' ||
        stop "Qt does not start; the lines above say why. The headless engine alone: make setup EXTRAS=dev"
}

if [ "$(cat "$stamp" 2>/dev/null)" != "$(fingerprint)" ] || [ ! -x "$venv/bin/python" ]; then
    rm -f "$stamp"
    venv_is_ours || make_venv
    install_packages
    if wants_gui; then
        "$venv/bin/python" scripts/system_packages.py
        check_qt
    fi
    fingerprint >"$stamp"
    say "done"
elif wants_gui; then
    "$venv/bin/python" scripts/system_packages.py
fi
