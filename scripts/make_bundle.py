"""Builds the application for Linux: a package for Debian and its relatives, and the folder of an AppImage.

    .venv/bin/python -m scripts.make_bundle [--python /usr/bin/python3.11] [--cpu-torch WHEEL] [--runtime FILE]

Both hold Netwright and the window's libraries without torch; the engine's environment is made at the first start by
`netwright.app.installation`. Everything is installed by the hashes of lock.txt. The result is in build/bundle/. Run it
on the oldest system that it is meant for.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from netwright.engine.core.version import VERSION
from scripts import system_packages
from scripts.locked import ROOT, Locked, needed, read

OUTPUT = ROOT / "build" / "bundle"
PLACE = Path("usr/lib/netwright")
OF_WINDOW = {"nvidia-ml-py", "platformdirs", "psutil", "send2trash"}
"""What the window's process imports beside the libraries of the extra `gui`."""
DOWNLOAD_MB = {"engine": 128, "cpu": 192, "cuda": 2730}
DISK_MB = {"engine": 500, "cpu": 700, "cuda": 5200}
"""For x86-64, measured with the versions of lock.txt."""
LEFT_OUT = (
    *("bin", "include", "lib/python*", "**/__pycache__", "**/*.pyi"),
    *(f"PySide6/{name}" for name in ("scripts", "include", "typesystems", "doc", "glue")),
    *(f"PySide6/Qt/{name}" for name in ("qml", "libexec", "metatypes", "translations", "plugins/qmltooling")),
    *("PySide6/Qt/lib/*" + name + "*" for name in ("Qml", "Quick", "Designer", "WaylandCompositor", "qml")),
    *("PySide6/Qt*" + name + "*.so" for name in ("Qml", "Quick", "Designer")),
    *(f"PySide6/{name}" for name in ("assistant", "designer", "linguist", "lrelease", "lupdate", "qml*", "svgtoqml")),
    *("PySide6/balsam*", "PySide6/libpyside6qml*", "PySide6/rcc", "PySide6/uic", "numpy/**/tests"),
)
"""Of the libraries: tools of developers, and Qt Quick."""
MAINTAINER = "The Netwright developers"
SUMMARY = "Design neural networks as graphs, train them, watch, and export"
START = """import sys
from pathlib import Path

place = Path(__file__).parent
sys.path.insert(0, str(place / "packages"))
from netwright.app.installation.installed_program import main

sys.exit(main(place, sys.argv[1], sys.argv[2:]))
"""
DESKTOP = """[Desktop Entry]
Type=Application
Name=Netwright
GenericName=Neural network designer
Comment=Design, train and understand neural networks
Exec=netwright %f
Icon=netwright
Terminal=false
Categories=Science;ArtificialIntelligence;
MimeType=application/x-netwright;
StartupWMClass=netwright
"""
MIME = """<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="application/x-netwright">
    <comment>Netwright project</comment>
    <sub-class-of type="application/json"/>
    <icon name="netwright"/>
    <glob pattern="*.netwright"/>
  </mime-type>
</mime-info>
"""
APP_RUN = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
case ${1:-} in engine) shift; program=engine ;; *) program=window ;; esac
exec "$here/usr/bin/PYTHON" -I "$here/usr/lib/netwright/start.py" "$program" "$@"
"""


def run(*command: str | Path) -> None:
    """Run a command. Raises `CalledProcessError`."""
    subprocess.run([str(word) for word in command], check=True)


def write(path: Path, text: str, *, is_program: bool = False) -> None:
    """Write a file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755 if is_program else 0o644)


def lines(packages: dict[str, Locked]) -> str:
    """Return what pip reads."""
    return "".join(package.text for package in packages.values())


def fill(place: Path, python: str, cpu_torch: Path | None, cpu_index: str) -> None:
    """Write the folder of the application that both forms share."""
    lock = read()
    engine = needed(lock, frozenset())
    window = needed(lock, frozenset({"gui"}))
    window = {n: p for n, p in window.items() if n not in engine or n in OF_WINDOW or "pyqtgraph" in p.parents}
    window["pip"] = lock["pip"]
    place.mkdir(parents=True)
    install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target"]
    install.append(place / "packages")
    wanted = OUTPUT / "window.txt"
    write(wanted, lines(window))
    run(*install, "--require-hashes", "--requirement", wanted)
    wheels = OUTPUT / "wheels"
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", wheels, ROOT)
    (wheel,) = wheels.glob("netwright-*.whl")
    run(*install, wheel)
    for pattern in LEFT_OUT:
        for path in list((place / "packages").glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    run(python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", place, place / "packages")
    write(place / "start.py", START)
    rest = {name: package for name, package in engine.items() if not package.is_of_torch and name not in window}
    write(place / "engine.txt", lines(rest))
    write(place / "torch-cuda.txt", lines({name: package for name, package in engine.items() if package.is_of_torch}))
    if cpu_torch is not None:
        version = cpu_torch.name.split("-")[1]
        sha = hashlib.sha256(cpu_torch.read_bytes()).hexdigest()
        index = f"--extra-index-url {cpu_index}\n" if cpu_index else ""
        write(place / "torch-cpu.txt", f"{index}torch=={version} --hash=sha256:{sha}\n")
    content = {"version": VERSION, "torch": lock["torch"].version, "download_mb": DOWNLOAD_MB, "disk_mb": DISK_MB}
    write(place / "bundle.json", json.dumps(content, indent=1) + "\n")


def add_desktop(root: Path) -> None:
    """Write what the desktop reads: the entry of the menu, the type of project files, the icon, the licence."""
    write(root / "usr/share/applications/netwright.desktop", DESKTOP)
    write(root / "usr/share/mime/packages/netwright.xml", MIME)
    icon = (ROOT / "resources" / "netwright.svg").read_text(encoding="utf-8")
    write(root / "usr/share/icons/hicolor/scalable/apps/netwright.svg", icon)
    write(root / "usr/share/doc/netwright/copyright", (ROOT / "LICENSE").read_text(encoding="utf-8"))
    write(root / "usr/share/doc/netwright/licences.md", (ROOT / "docs" / "licences.md").read_text(encoding="utf-8"))


def make_deb(root: Path, python: str) -> Path:
    """Write the package for Debian."""
    name = Path(python).name
    for program, which in (("netwright", "window"), ("netwright-engine", "engine")):
        text = f'#!/bin/sh\nexec /usr/bin/{name} -I /{PLACE}/start.py {which} "$@"\n'
        write(root / "usr/bin" / program, text, is_program=True)
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
    ).stdout.strip()
    libraries = sorted({*system_packages.OFFSCREEN.values(), *system_packages.X11.values()})
    size_kb = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    control = {
        "Package": "netwright",
        "Version": VERSION,
        "Architecture": architecture,
        "Maintainer": MAINTAINER,
        "Installed-Size": str(size_kb),
        "Depends": ", ".join([name, *libraries]),
        "Section": "science",
        "Priority": "optional",
        "Description": f"{SUMMARY}\n The engine with PyTorch is downloaded at the first start, once you agree.",
    }
    write(root / "DEBIAN/control", "".join(f"{key}: {value}\n" for key, value in control.items()))
    deb = OUTPUT / f"netwright_{VERSION}_{architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", root, deb)
    return deb


def make_app_folder(root: Path, python: str) -> Path:
    """Write the folder of an AppImage, which has a Python of its own."""
    paths = json.loads(
        subprocess.run(
            [python, "-c", "import json, os, sys, sysconfig; print(json.dumps([os.path.realpath(sys.executable), "
             "sysconfig.get_path('stdlib')]))"], check=True, capture_output=True, text=True,
        ).stdout
    )  # fmt: skip
    program, library = map(Path, paths)
    (root / "usr/bin").mkdir(exist_ok=True)
    shutil.copy(program, root / "usr/bin" / program.name)
    leave = shutil.ignore_patterns("__pycache__", "test", "idlelib", "dist-packages", "site-packages", "config-*")
    shutil.copytree(library, root / "usr/lib" / library.name, ignore=leave)
    run(root / "usr/bin" / program.name, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
        "-s", root, root / "usr/lib" / library.name)  # fmt: skip
    write(root / "AppRun", APP_RUN.replace("PYTHON", program.name), is_program=True)
    write(root / "netwright.desktop", DESKTOP)
    shutil.copy(ROOT / "resources" / "netwright.svg", root / "netwright.svg")
    return root


def make_app_image(folder: Path, runtime: Path) -> Path:
    """Write the AppImage: the runtime, then the folder as a file system of squashfs."""
    image = OUTPUT / f"Netwright-{VERSION}-{os.uname().machine}.AppImage"
    packed = OUTPUT / "netwright.squashfs"
    run("mksquashfs", folder, packed, "-root-owned", "-noappend", "-quiet", "-no-progress", "-comp", "xz")
    image.write_bytes(runtime.read_bytes() + packed.read_bytes())
    image.chmod(0o755)
    packed.unlink()
    return image


def main() -> None:
    """Build both."""
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("--python", default="/usr/bin/python3.11", help="the Python of the system that it is for")
    command.add_argument("--cpu-torch", type=Path, help="the wheel of torch without CUDA, offered by version and hash")
    command.add_argument("--cpu-index", default="", help="where users get that wheel; default: pip's own settings")
    command.add_argument("--runtime", type=Path, help="the runtime of AppImage (type 2); without it, a folder is made")
    arguments = command.parse_args()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    shared = OUTPUT / "shared"
    fill(shared / PLACE, arguments.python, arguments.cpu_torch, arguments.cpu_index)
    add_desktop(shared)
    debian, folder = OUTPUT / "debian", OUTPUT / "Netwright.AppDir"
    for root in (debian, folder):
        shutil.copytree(shared, root, symlinks=True)
    print(make_deb(debian, arguments.python))
    print(make_app_folder(folder, arguments.python))
    if arguments.runtime is not None:
        print(make_app_image(folder, arguments.runtime))
    for path in (shared, debian):
        shutil.rmtree(path)


if __name__ == "__main__":
    main()
