"""Compiles the device type `toy` once per version of its source and of torch, and lets programs find it."""

import fcntl
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import torch

HERE = Path(__file__).parent
TORCH = Path(torch.__file__).parent
COMPILER = os.environ.get("CXX", "g++")
"""Asked without torch's own tools, which import setuptools: that may warn, which ends a test."""
SOURCE = HERE / "toy.cpp"
ENTRY = "[torch.backends]\ntoy = toy_device:load\n"


def build() -> Path:
    """Return the folder with the device type, of this user's temporary files, where it stays for the next session.

    Raises `OSError` without a compiler, `subprocess.CalledProcessError` where that fails.
    """
    key = hashlib.sha256(f"{torch.__version__} {COMPILER}".encode() + SOURCE.read_bytes()).hexdigest()[:16]
    root = Path(os.environ.get("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir()))
    folder = root / f"netwright-toy-device-{os.getuid()}-{key}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise OSError(f"{folder} belongs to another user")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other processes of the session want it, too
        library = folder / "toy.so"
        if not library.exists():
            includes = [TORCH / "include", TORCH / "include/torch/csrc/api/include"]
            flags = ["-std=c++20", "-O0", "-fPIC", "-shared", *(f"-I{path}" for path in includes)]
            places = [f"-L{TORCH / 'lib'}", f"-Wl,-rpath,{TORCH / 'lib'}"]
            part = folder / "part.so"
            command = [COMPILER, *flags, str(SOURCE), "-o", str(part), *places, "-lc10", "-ltorch_cpu"]
            subprocess.run(command, check=True, capture_output=True, text=True)
            part.rename(library)
        facts = folder / "toy_device-1.0.dist-info"
        facts.mkdir(exist_ok=True)
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-device\nVersion: 1.0\n")
        (facts / "entry_points.txt").write_text(ENTRY)
    return folder


def variables(folder: Path) -> dict[str, str]:
    """Return the variables of a program that has the device type."""
    path = os.pathsep.join(filter(None, [str(folder), str(HERE), os.environ.get("PYTHONPATH", "")]))
    return {"PYTHONPATH": path, "TOY_LIBRARY": str(folder / "toy.so")}
