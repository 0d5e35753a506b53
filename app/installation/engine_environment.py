"""The environment of the engine that an installed application makes at its first start, with the build of torch that
fits the machine. The application brings everything but what is in there, in a folder that only its updates change.

    bundle/packages/       Netwright, Qt, pip and what the window imports, without torch
    bundle/bundle.json     version, sizes
    bundle/engine.txt      what the engine needs beside torch, with hashes, for pip
    bundle/torch-cpu.txt   a build of torch, with hashes where the builder of the application had them

No Qt here: most starts only look whether the environment is complete.
"""

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from netwright.engine.core.folders import data_folder

BUILDS = ("cpu", "cuda")
STATE = "netwright.json"
TO_PACKAGES = "netwright.pth"
BYTES_PER_MB = 10**6
PIP = ("-m", "pip", "install", "--no-deps", "--no-input", "--disable-pip-version-check", "--progress-bar", "raw")


@dataclass(frozen=True)
class Bundle:
    """The folder of an installed application, and what its `bundle.json` says: megabytes to download, and on the disk
    afterwards, by part (`engine`, `cpu`, `cuda`)."""

    folder: Path
    torch: str
    download_mb: dict[str, int]
    disk_mb: dict[str, int]

    @property
    def packages(self) -> Path:
        """The folder with Netwright and the libraries of the window."""
        return self.folder / "packages"

    @property
    def builds(self) -> list[str]:
        """The builds of torch that can be installed."""
        return [name for name in BUILDS if self.lock(name).exists()]

    def lock(self, part: str) -> Path:
        """Return the file for pip with the engine's libraries or a build of torch."""
        return self.folder / ("engine.txt" if part == "engine" else f"torch-{part}.txt")

    @property
    def fingerprint(self) -> str:
        """The hash of what the engine needs beside torch."""
        return hashlib.sha256(self.lock("engine").read_bytes()).hexdigest()


def read_bundle(folder: Path) -> Bundle:
    """Read the folder of an application."""
    content = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
    return Bundle(folder, content["torch"], content["download_mb"], content["disk_mb"])


@dataclass(frozen=True)
class Step:
    """A command that is part of the installation, what it makes (`python`, `torch` or `engine`), and the megabytes
    that it downloads."""

    part: str
    command: Sequence[str]
    download_mb: int = 0


class Environment:
    """The engine's environment of a user, for an application."""

    def __init__(self, bundle: Bundle, folder: Path | None = None) -> None:
        """Raises `RuntimeError` for a user without a home folder."""
        self.bundle = bundle
        # Of this Python: what was installed for another one does not work.
        self.folder = folder or data_folder() / f"engine-{sys.version_info.major}.{sys.version_info.minor}"
        self.python = self.folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    @property
    def state(self) -> dict[str, str]:
        """The build of torch that is installed and the fingerprint of the rest; nothing before the first time."""
        try:
            content = json.loads((self.folder / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    @property
    def has_python(self) -> bool:
        """Whether there is a Python to install for; it may be a link to an application that has moved, which `connect`
        mends."""
        return os.path.lexists(self.python)

    @property
    def is_complete(self) -> bool:
        """Whether this version of the application can start in it."""
        return self.state.get("engine") == self.bundle.fingerprint and self.has_python

    @property
    def build(self) -> str | None:
        """The build of torch that is installed; an update of the application leaves it as it is."""
        return self.state.get("torch") if self.has_python else None

    def steps(self, build: str) -> list[Step]:
        """Return the steps that are left, with those of a build of torch where none is installed."""
        pip = [str(self.python), *PIP]
        steps = []
        if not self.has_python:
            make = [sys.executable, "-I", "-m", "venv", "--without-pip", "--clear", str(self.folder)]
            steps.append(Step("python", make))
        if self.build is None:
            steps.append(self._step("torch", pip, build))
        return [*steps, self._step("engine", pip, "engine")]

    def _step(self, part: str, pip: Sequence[str], name: str) -> Step:
        lock = self.bundle.lock(name)
        # pip wants hashes of all packages in a file, or of none.
        hashes = ["--require-hashes"] if "--hash=" in lock.read_text(encoding="utf-8") else []
        return Step(part, [*pip, *hashes, "--requirement", str(lock)], self.bundle.download_mb[name])

    def connect(self) -> None:
        """Let the environment find the packages of the application, and the Python that it was made with, which may
        have moved: an AppImage has another folder at each start."""
        place = next((self.folder / "lib").glob("python3*/site-packages"), self.folder / "Lib" / "site-packages")
        (place / TO_PACKAGES).write_text(f"{self.bundle.packages}\n", encoding="utf-8")
        if sys.platform != "win32" and self.python.resolve() != Path(sys.executable).resolve():
            for link in self.python.parent.glob("python*"):
                link.unlink()
            for name in ("python", "python3", f"python3.{sys.version_info.minor}"):
                (self.python.parent / name).symlink_to(sys.executable)
            about = self.folder / "pyvenv.cfg"
            home = f"home = {Path(sys.executable).parent}"
            about.write_text(re.sub(r"^home = .*$", home, about.read_text(encoding="utf-8"), flags=re.M), "utf-8")

    def finish(self, build: str) -> None:
        """Note that everything is installed."""
        state = {"torch": self.build or build, "engine": self.bundle.fingerprint}
        (self.folder / STATE).write_text(json.dumps(state), encoding="utf-8")

    def needed_mb(self, build: str) -> int:
        """Return the megabytes that a build takes on the disk."""
        parts = ["engine"] if self.build is not None else ["engine", build]
        return sum(self.bundle.disk_mb[part] for part in parts)

    @property
    def free_mb(self) -> int:
        """Megabytes that are free where the environment is, or will be."""
        place = next(folder for folder in (self.folder, *self.folder.parents) if folder.exists())
        return shutil.disk_usage(place).free // BYTES_PER_MB


def start(environment: Environment, module: str, arguments: Sequence[str]) -> None:
    """Replace this process by a program in the environment."""
    environment.connect()
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH")}
    python = str(environment.python)
    sys.stdout.flush()
    os.execve(python, [python, "-m", module, *arguments], variables)
