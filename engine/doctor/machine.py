"""Findings about this machine: torch against the hardware, packages, threads, disk, memory, permissions."""

import importlib.metadata
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from netwright.engine.core import folders
from netwright.engine.core.platform import num_cores, total_memory_bytes, unused_memory_bytes
from netwright.engine.core.text import format_bytes
from netwright.engine.doctor.operations.doctor import Cure, Finding
from netwright.engine.hardware.accelerators import TorchAccelerators
from netwright.engine.hardware.health import build_here, checks, driver_here

LEAST_DISK, LEAST_MEMORY, LEAST_SHARED = 2 * 2**30, 2 * 2**30, 256 * 2**20
"""Bytes of free disk, free memory and shared memory below which a training is at risk."""
EXTRAS = {
    "gui": ("the window", "PySide6"),
    "onnx": ("ONNX export and import", "onnx"),
    "hdf5": ("HDF5 files", "h5py"),
    "audio": ("sounds", "soundfile"),
    "text": ("tokenizers of Hugging Face", "tokenizers"),
    "explain": ("explanations", "captum"),
    "experiments": ("Bayesian search", "optuna"),
}
"""Extras by name: what they bring, and a module of theirs."""
Row = Finding | str


def examine() -> tuple[list[Finding], list[str]]:
    """Return the findings about this machine, and in words what is in order."""
    rows = [*_torch(), *_packages(), *_extras(), *_threads(), *_memory(), *_disk(), *_text()]
    return [row for row in rows if isinstance(row, Finding)], [row for row in rows if isinstance(row, str)]


def _torch() -> Iterator[Row]:
    """Compare the build of torch with the hardware, and try each device."""
    build, driver = build_here(), driver_here()
    has_nvidia = not isinstance(driver, str) or shutil.which("nvidia-smi") is not None
    if has_nvidia and not build.built_for:
        yield Finding(
            "torch-build",
            "warning",
            f"An NVIDIA GPU is here, and torch {build.version} is the build for the CPU",
            "Trainings run on the CPU, many times slower.",
            95,
            Cure("Install the build for CUDA", command=f"{sys.executable} -m pip install --force-reinstall torch"),
        )
    elif isinstance(driver, str) and build.built_for.startswith("CUDA"):
        yield Finding(
            "driver", "note", f"torch is built for {build.built_for}, and no NVIDIA driver answers", driver, 20
        )
    for check in checks(TorchAccelerators(), driver, build):
        if check.state == "failed" and check.layer != "build":
            title = f"{check.layer} of {check.device or 'the GPU'}: {check.words}"
            yield Finding(check.layer, "warning", title, "", 80)
        elif check.state == "ok":
            yield f"{check.layer}{f' of {check.device}' if check.device else ''}: {check.words}"
    yield f"torch {build.version}, built for {build.built_for or 'the CPU'}"


def _packages() -> Iterator[Row]:
    """Compare installed packages with the versions that Netwright asks for."""
    from packaging.requirements import Requirement

    try:
        texts = importlib.metadata.requires("netwright") or []
    except importlib.metadata.PackageNotFoundError:
        yield "packages: run from a checkout, nothing to compare"
        return
    wrong = 0
    for requirement in map(Requirement, texts):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            version = ""
        if version and requirement.specifier.contains(version, prereleases=True):
            continue
        wrong += 1
        state = f"{requirement.name} {version} is installed" if version else f"{requirement.name} is not installed"
        yield Finding(
            "packages",
            "warning",
            f"{state}; Netwright needs {requirement.name}{requirement.specifier}",
            "",
            70,
            Cure("Install it", command=f'{sys.executable} -m pip install "{requirement.name}{requirement.specifier}"'),
        )
    if not wrong:
        yield f"Python {sys.version.split()[0]} and all packages are of the versions that Netwright needs"


def _extras() -> Iterator[Row]:
    from importlib.util import find_spec

    missing = {name: what for name, (what, module) in EXTRAS.items() if find_spec(module) is None}
    if missing:
        command = f'{sys.executable} -m pip install "netwright[{",".join(missing)}]"'
        what = ", ".join(missing.values())
        yield Finding(
            "extras", "note", f"Not installed: {what}", "Only needed for these.", 5, Cure("Add them", command=command)
        )
    else:
        yield "all extras are installed"


def _threads() -> Iterator[Row]:
    cores, limit = num_cores(), os.environ.get("OMP_NUM_THREADS", "")
    if limit and re.fullmatch(r"\d+", limit) and int(limit) < cores:
        yield Finding(
            "threads",
            "warning",
            f"OMP_NUM_THREADS is {limit}: torch uses {limit} of {cores} cores",
            "Netwright sets the threads of its own runs; other programs of this shell keep the limit.",
            40,
            Cure("Remove the limit", command="unset OMP_NUM_THREADS"),
        )
    yield f"{cores} cores may be used" + (f" of {os.cpu_count()}" if os.cpu_count() != cores else "")


def _memory() -> Iterator[Row]:
    free, total = unused_memory_bytes(), total_memory_bytes()
    if free < LEAST_MEMORY:
        yield Finding(
            "memory",
            "warning",
            f"Only {format_bytes(free)} of {format_bytes(total)} memory are free",
            "Close programs.",
            60,
        )
    else:
        yield f"memory: {format_bytes(free)} of {format_bytes(total)} are free"
    shared = Path("/dev/shm")
    if shared.is_dir() and (size := shutil.disk_usage(shared).total) < LEAST_SHARED:
        yield Finding(
            "shared-memory",
            "warning",
            f"Shared memory (/dev/shm) has {format_bytes(size)}",
            "Several workers exchange gradients and samples there; containers have 64 MiB unless told otherwise.",
            65,
            Cure("Start the container with more", command="docker run --shm-size=2g ..."),
        )


def _disk() -> Iterator[Row]:
    """Look at the room and the permissions where runs, settings and caches lie."""
    places = {"runs": Path.cwd(), "user data": folders.data_folder(), "settings": folders.config_folder()}
    places["cache"] = folders.cache_folder()
    for name, place in places.items():
        folder = next(path for path in (place, *place.parents) if path.exists())
        if not os.access(folder, os.W_OK):
            yield Finding(
                "permissions",
                "warning",
                f"{folder} cannot be written: {name} are kept there",
                "",
                75,
                Cure("Allow it", command=f'chmod u+w "{folder}"'),
            )
            continue
        free = shutil.disk_usage(folder).free
        if free < LEAST_DISK:
            yield Finding("disk", "warning", f"Only {format_bytes(free)} are free for {name} ({folder})", "", 60)
        else:
            yield f"{name}: {format_bytes(free)} free in {folder}"


def _text() -> Iterator[Row]:
    encoding = sys.getfilesystemencoding().lower()
    if encoding != "utf-8":
        yield Finding(
            "encoding",
            "warning",
            f"File names are read as {encoding}",
            "Names with other letters cannot be opened.",
            35,
            Cure("Use UTF-8", command="export LC_ALL=C.UTF-8"),
        )
