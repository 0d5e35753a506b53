"""Sees to the system libraries that Qt needs and pip cannot bring.

Silent and quick when nothing lacks. Otherwise it installs what lacks as root on Debian and its relatives, and prints
the exact command for everybody else.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Shared object -> Debian package; found step by step on a minimal Debian 12.
OFFSCREEN = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
}
X11 = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
}
WAYLAND = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}
# What `make journeys` needs for the walk with a screen reader: a display, a session bus, an accessibility bus.
SCREEN_READER = {
    "Xvfb": "xvfb",
    "dbus-daemon": "dbus",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
}
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
FONT_PACKAGE = "fonts-dejavu-core"


def wanted_libraries(is_installing: bool) -> dict[str, str]:
    """The libraries this machine should have: for tests always, for a display where there is one or may be one."""
    wanted = dict(OFFSCREEN)
    if os.environ.get("DISPLAY") or is_installing:
        wanted |= X11
    if os.environ.get("WAYLAND_DISPLAY"):
        wanted |= WAYLAND
    return wanted


def is_loadable(library: str) -> bool:
    """Whether the dynamic linker finds the library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def has_font() -> bool:
    """Whether any scalable font is installed; without one Qt draws no text."""
    folders = (Path(folder).expanduser() for folder in FONT_FOLDERS)
    return any(
        name.endswith((".ttf", ".otf", ".ttc", ".pfb")) for f in folders for _, _, names in os.walk(f) for name in names
    )


def missing_packages(is_installing: bool, with_reader: bool = False) -> dict[str, str]:
    """What lacks, as the thing that was looked for -> the Debian package that brings it."""
    missing = {
        library: package for library, package in wanted_libraries(is_installing).items() if not is_loadable(library)
    }
    if with_reader:
        missing |= {
            f"the program {Path(program).name}": package
            for program, package in SCREEN_READER.items()
            if shutil.which(program) is None
        }
    if not has_font():
        missing["a font"] = FONT_PACKAGE
    if is_installing and shutil.which("openssl") is None:  # runs over encrypted connections need it, and their tests
        missing["the program openssl"] = "openssl"
    return missing


def install(packages: list[str]) -> None:
    """Installs Debian packages; needs root."""
    print(f"setup: installing {' '.join(packages)} with apt-get", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        done = subprocess.run(["apt-get", *command], env=environment, stdout=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"setup: apt-get {' '.join(command)} failed with exit code {done.returncode}.")


def main() -> None:
    """Checks, installs or explains."""
    if not sys.platform.startswith("linux"):
        return
    has_apt = shutil.which("apt-get") is not None
    is_installing = has_apt and os.geteuid() == 0
    with_reader = "--screen-reader" in sys.argv[1:]
    missing = missing_packages(is_installing, with_reader)
    if not missing:
        return
    packages = sorted(set(missing.values()))
    if is_installing:
        install(packages)
        missing = missing_packages(is_installing, with_reader)
        if missing:
            sys.exit(f"setup: still missing after the installation: {', '.join(missing)}.")
        return
    who = "the window's tests need" if with_reader else "Qt needs"
    print(f"setup: {who} what this machine lacks: {', '.join(missing)}.", file=sys.stderr)
    if has_apt:
        sys.exit(f"Install it, then call make again:\n\n    sudo apt-get install -y {' '.join(packages)}\n")
    sys.exit(f"Install what corresponds to these Debian packages, then call make again:\n\n    {' '.join(packages)}\n")


if __name__ == "__main__":
    main()
