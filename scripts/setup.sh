#!/usr/bin/env bash
# Prepares .venv: a Python, torch, Netwright with its extras, and the system libraries that Qt needs.
# Returns at once when nothing changed since the last complete run.
#
#   PYTHON      the interpreter to use (default: the first python3 that is new enough)
#   TORCH_SPEC  the torch to install first (default: torch== as pinned in constraints.txt)
#   TORCH_ARGS  more arguments for that one pip call, such as --index-url for a CPU or CUDA build
#   EXTRAS      what to install beside the engine (default: gui,dev; "dev" alone leaves Qt out and has the
#               libraries of the extras tensorboard and mlflow)
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv
stamp=$venv/netwright-setup
pinned_torch=$(grep '^torch==' constraints.txt)
torch_spec=${TORCH_SPEC:-$pinned_torch}
torch_args=${TORCH_ARGS:-}
extras=${EXTRAS:-gui,dev}

say() { printf 'setup: %s\n' "$*"; }
stop() { trap - ERR; printf 'setup: %s\n' "$*" >&2; exit 1; }

# Calls `attempt WHAT COMMAND...`: runs a command, shows what it prints, and stops with its error and the way out.
attempt() {
    local what=$1 errors status=0
    shift
    {
        errors=$(
            trap - ERR
            set +e
            "$@" 2>&1 >&3 3>&- 4>&- | show_lines
            exit "${PIPESTATUS[0]}"
        ) || status=$?
    } 3>&1 4>&2
    [ "$status" = 0 ] || stop "$what failed (exit code $status): $(error_line "$errors")$(way_out "$errors")"
}

# Writes the lines of standard input to standard error at once, and to standard output for who looks for the error.
show_lines() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s\n' "$line" >&4
        printf '%s\n' "$line"
    done
}

# The line with the error: pip's first, or the last of a traceback, or the last line.
error_line() {
    local line
    line=$(grep -m 1 '^ERROR: ' <<<"$1" || grep -E '^ *([A-Za-z.]*Error|E): ' <<<"$1" | tail -n 1 || true)
    [ -n "$line" ] || line=$(grep . <<<"$1" | tail -n 1 || echo 'it printed nothing')
    sed -E 's/^ *((ERROR|Error|E): )?//' <<<"$line"
}

way_out() {
    case $1 in
    *"No space left on device"* | *"Disk quota exceeded"*)
        printf '\nThe disk is full: %s. Free up to 3 GB (8 GB with CUDA) there and where TMPDIR points, and call make again.' \
            "$(df -hP . | awk 'END { print $4 " are left on " $6 }')"
        ;;
    *"NewConnectionError"* | *"ConnectTimeoutError"* | *"NameResolutionError"* | *"Failed to establish"* | \
        *"onnection refused"* | *"timed out"* | *"ProxyError"* | *"Could not resolve"* | *"Failed to fetch"*)
        printf '\nThe packages cannot be fetched. Connect this machine to the network, or name a proxy (HTTPS_PROXY=...) or another index (PIP_INDEX_URL=...), and call make again.'
        ;;
    *"DO NOT MATCH THE HASHES"*)
        printf '\nThe package index has another file than lock.txt was written for. If you trust that index, write the lock anew from it: scripts/make_lock.sh.'
        ;;
    *"No matching distribution"*)
        printf '\nThe package index has no build for this Python (%s), or cannot be reached. Name another Python, make setup PYTHON=/path/to/python3.12, or another torch (TORCH_SPEC, TORCH_ARGS).' \
            "$(version_of "$venv/bin/python")"
        ;;
    *"Permission denied"*)
        printf '\nThis user (%s) may not write there. Change the owner of the folder, or call make as that user.' "$(id -un)"
        ;;
    esac
}

# What fails without being tried by `attempt`, such as writing a file to a full disk.
set -E
trap 'stop "line $LINENO of scripts/setup.sh failed: $BASH_COMMAND. The lines above say why."' ERR

is_new_enough() { [ "$("$1" -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null)" = True ]; }
has_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }

fingerprint() {
    {
        # The folder counts: the scripts in .venv/bin carry it in their first line.
        printf '%s\n' "$PWD" "${PYTHON:-}" "$torch_spec" "$torch_args" "$extras"
        cat pyproject.toml constraints.txt lock.txt scripts/setup.sh scripts/locked.py
    } | cksum
}

# Writes the interpreter's path, or nothing.
find_python() {
    local candidate candidates=(python3 python3.14 python3.13 python3.12 python3.11)
    [ -z "${PYTHON:-}" ] || candidates=("$PYTHON")
    for candidate in "${candidates[@]}"; do
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
    attempt "apt-get update" apt-get update -qq
    attempt "apt-get install $*" apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Says why an interpreter is none for us.
fault_of_python() {
    local said
    if ! command -v "$1" >/dev/null; then
        echo "there is no program $1"
    elif said=$("$1" -c 'import platform; print("is Python", platform.python_version())' 2>&1) && [ -n "$said" ]; then
        echo "$1 $said"
    else
        echo "$1 does not start one${said:+ (it prints: $(head -n 1 <<<"$said"))}"
    fi
}

# `venv --clear` deletes what is in the folder, behind a link as well.
refuse_to_clear() {
    if [ -L "$venv" ]; then
        stop "$venv is a symbolic link to $(readlink "$venv"), and no environment that works from here. Setup deletes nothing behind a link. Remove the link (rm $venv) and call make again: the environment becomes a folder here. If it lacks the space, move the checkout to the other disk."
    fi
    if [ -e "$venv" ] && [ ! -d "$venv" ]; then
        stop "$venv is a file; the environment needs a folder of that name. Move the file away and call make again."
    fi
    if [ ! -f "$venv/pyvenv.cfg" ] && [ -n "$(find "$venv/" ! -type d -print -quit 2>/dev/null)" ]; then
        stop "$venv has files and is no virtual environment (there is no $venv/pyvenv.cfg). Setup would delete them. Move the folder away and call make again."
    fi
}

make_venv() {
    local python
    refuse_to_clear
    python=$(find_python)
    if [ -z "$python" ] && [ -z "${PYTHON:-}" ] && ! command -v python3 >/dev/null && can_use_apt; then
        apt_install python3 python3-venv
        python=$(find_python)
    fi
    [ -n "$python" ] || stop "Python 3.11 or newer is needed, and $(fault_of_python "${PYTHON:-python3}"). Name another one: make setup PYTHON=/path/to/python3.12"
    if ! has_venv "$python"; then
        local package
        package=python$(version_of "$python")-venv
        can_use_apt || stop "$python has no venv module. On Debian and Ubuntu: sudo apt-get install -y $package"
        apt_install "$package"
        has_venv "$python" || stop "$python still has no venv module after installing $package. Name another Python: make setup PYTHON=..."
    fi
    [ ! -e "$venv/pyvenv.cfg" ] || say "$venv is of another place or Python, or broken: making it anew"
    say "making $venv with $python ($(version_of "$python"))"
    attempt "$python -m venv $venv" "$python" -m venv --clear --without-pip "$venv"
    # By itself, since venv hides why it fails.
    attempt "the installation of pip" "$venv/bin/python" -Im ensurepip --upgrade --default-pip >/dev/null
}

# An environment that works, and works from this folder, is kept: other programs may be running from it.
venv_is_ours() {
    [ -x "$venv/bin/python" ] && is_new_enough "$venv/bin/python" && "$venv/bin/python" -c 'import pip' 2>/dev/null || return 1
    # A moved checkout: the scripts still start the interpreter of the old place. Its name may be python or python3.
    case $(head -n 1 "$venv/bin/pip" 2>/dev/null) in "#!$PWD/$venv/bin/"*) ;; *) return 1 ;; esac
    # A named interpreter of another version wants another environment.
    [ -z "${PYTHON:-}" ] || [ "$(version_of "$PYTHON" 2>/dev/null)" = "$(version_of "$venv/bin/python")" ]
}

install_packages() {
    local constraints=constraints.txt quiet=()
    [ -t 1 ] || quiet=(--quiet)
    if [ "$torch_spec" != "$pinned_torch" ]; then
        constraints=$venv/constraints.txt
        grep -v '^torch==' constraints.txt >"$constraints"
    fi
    # The builds of torch come from more than one index, with hashes of their own: by itself, and not from the lock.
    say "installing what lock.txt has for [$extras], by hash"
    attempt "reading lock.txt" "$venv/bin/python" scripts/locked.py "$extras" >"$venv/lock.txt"
    attempt "the installation from lock.txt" \
        "$venv/bin/python" -m pip install ${quiet[@]+"${quiet[@]}"} --require-hashes --no-deps -r "$venv/lock.txt"
    say "installing $torch_spec (large; this can take minutes)"
    # shellcheck disable=SC2086  # TORCH_ARGS is a list of arguments
    attempt "the installation of $torch_spec" \
        "$venv/bin/python" -m pip install ${quiet[@]+"${quiet[@]}"} "$torch_spec" $torch_args -c "$constraints"
    say "installing Netwright [$extras]"
    attempt "the installation of Netwright [$extras]" \
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
        "$venv/bin/python" scripts/system_packages.py || exit 1
        check_qt
    fi
    fingerprint >"$stamp"
    say "done"
elif wants_gui; then
    "$venv/bin/python" scripts/system_packages.py || exit 1
fi
