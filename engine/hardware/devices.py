"""What this machine has to train with, found out in a throw-away process so that the caller stays free of torch.

A process that has touched CUDA can neither be forked nor gives its memory on the device back before it ends.
"""

import ast
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from engine.core.child_process import module_command
from engine.core.errors import RunError
from engine.core.files import ROOT
from engine.hardware.accelerators import TorchAccelerators, find
from engine.placement.inventory import DeviceInventory

PATIENCE_S = 120
_BEGINS = "CUDA initialization: "
"""How torch begins a warning where the driver gives no devices."""
_TOO_OLD = re.compile(r"too old \(found version (\d+)\)")
_HIDING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")


@cache
def probe() -> DeviceInventory:
    """The machine as it is. Asked once a process. Raises `RunError` if torch cannot be used at all."""
    machine = {
        "num_cores": num_cores(),
        "cores": cores(),
        "cpu_model": cpu_model(),
        "memory_bytes": memory_bytes(),
        **(_without_devices() or run_here("engine.hardware.devices", PATIENCE_S)),
    }
    return DeviceInventory.read(machine)


def run_here(module: str, patience_s: float, *arguments: str) -> dict[str, Any]:
    """The JSON object that a module of ours prints in a process of its own. Raises `RunError` with its last words."""
    command = module_command(module, *arguments)
    try:
        done = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"torch gave no answer about this machine's devices within {patience_s:.0f} s.") from None
    try:
        found: dict[str, Any] = json.loads(done.stdout.strip().rpartition("\n")[2])
    except ValueError:
        words = (done.stderr.strip() or f"it ended with {done.returncode}").rpartition("\n")[2]
        raise RunError(f"torch cannot be used on this machine: {words}") from None
    return found


def lines_of(module: str, *arguments: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that a module of ours prints, a line each, as they come, in a process that ends with whoever
    reads. Raises `RunError` where it breaks off."""
    process = subprocess.Popen(
        module_command(module, *arguments),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            yield json.loads(line)
        if code := process.wait():
            raise RunError(f"{module} ended with {code}; the lines above say how far it came.")
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # with the processes that it may have started
        process.wait()
        process.stdout.close()


def num_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cores() -> tuple[int, ...]:
    """The numbers of these cores, where a process can be kept to some of them."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_setaffinity") else ()


def cpu_model() -> str:
    """The processor's name."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return " ".join(value.split())
    return "CPU"


def memory_bytes() -> int:
    """The memory of the machine, or 0 where that is not known."""
    with contextlib.suppress(OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 0


def _without_devices() -> dict[str, Any] | None:
    """The answer for a torch built for the CPU alone: a look into one file instead of a second of importing."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise RunError("torch is not installed; the engine cannot train without it.")
    built_for: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError, SyntaxError):
        source = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                built_for[node.target.id] = ast.literal_eval(node.value)
    if sys.platform != "linux" or any(built_for.get(name, "?") for name in ("cuda", "hip", "xpu")):
        return None
    version = importlib.metadata.version("torch")
    return {
        "devices": [],
        "backends": ["gloo"],
        "torch_version": version,
        "no_devices_because": f"this torch ({version}) is built without CUDA, ROCm, XPU and MPS",
    }


def look() -> dict[str, Any]:
    """What torch finds. Runs in the throw-away process."""
    import torch
    import torch.distributed

    joined = torch.distributed.is_available()
    backends = [
        name
        for name, here in (
            ("gloo", joined and torch.distributed.is_gloo_available()),
            ("nccl", joined and torch.distributed.is_nccl_available()),
            ("xccl", joined and torch.distributed.is_xccl_available()),
        )
        if here
    ]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        accelerators = TorchAccelerators()
    return {
        "devices": [vars(device) for device in find(accelerators)],
        "backends": backends,
        "torch_version": torch.__version__,
        "no_devices_because": _no_devices_because([str(one.message) for one in warned]),
    }


def _no_devices_because(warned: Sequence[str]) -> str:
    import torch

    built = torch.accelerator.current_accelerator()  # what it was built for, whether that is here or not
    if built is None and torch.version.cuda is None:
        return f"this torch ({torch.__version__}) is built without CUDA, ROCm, XPU and MPS"
    return reason_for_none(torch.__version__, warned, os.environ)


def reason_for_none(version: str, warned: Sequence[str], environ: Mapping[str, str]) -> str:
    """Why a torch that is built for accelerators finds none, from what it warned of and what hides them."""
    said = next((words.partition(_BEGINS)[2] for words in warned if _BEGINS in words), "")
    if (known := _TOO_OLD.search(said)) is not None:
        cuda = int(known[1])
        return (
            f"the NVIDIA driver knows CUDA {cuda // 1000}.{cuda % 1000 // 10} and is too old for this torch "
            f"({version}): install a newer driver, or a torch for that CUDA"
        )
    if said:
        return said.partition("\n")[0].partition(" (Triggered")[0][:200].rstrip(".")
    hiding = [f"{name} is set to '{environ[name]}'" for name in _HIDING if name in environ]
    if hiding:
        return f"no GPU was found; {' and '.join(hiding)}, and hides what it does not name"
    return "no GPU was found, or its driver is missing"


if __name__ == "__main__":
    print(json.dumps(look()))
