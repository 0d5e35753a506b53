"""Inventory of this machine's devices, queried in a temporary process so that the caller does not import torch.

A process that has initialised CUDA cannot be forked, and does not release its device memory before it ends.
"""

import ast
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import RunError, UnavailableError, UserError, listed
from netwright.engine.core.files import ROOT
from netwright.engine.core.platform import cores, cpu_model, num_cores, total_memory_bytes
from netwright.engine.core.process import MessageProcess, module_command
from netwright.engine.hardware.accelerators import TorchAccelerators, find
from netwright.engine.placement.inventory import TORCH_BACKENDS, DeviceInventory, has_loopback

PATIENCE_S = 120
CPU = "cpu"
_BEGINS = "CUDA initialization: "
"""Beginning of torch's warning where the driver reports no devices."""
_TOO_OLD = re.compile(r"too old \(found version (\d+)\)")
_HIDING = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK")


_remembered: list[DeviceInventory] = []


def remember(inventory: Mapping[str, Any] | None) -> None:
    """Take an inventory that another process of this session has written as what `probe` returns; None is ignored."""
    if inventory:
        _remembered[:] = [DeviceInventory.read(inventory)]


def probe() -> DeviceInventory:
    """Return the inventory of this machine, remembered per process. Raises `RunError` if torch cannot be used."""
    return _remembered[0] if _remembered else _probe()


@cache
def _probe() -> DeviceInventory:
    machine = {
        "num_cores": num_cores(),
        "cores": cores(),
        "cpu_model": cpu_model(),
        "memory_bytes": total_memory_bytes(),
        "has_loopback": has_loopback(),
        **(_without_devices() or run_here("netwright.engine.hardware.devices", PATIENCE_S)),
    }
    return DeviceInventory.read(machine)


DEVICE_WORDS = (
    "auto (a GPU where there is one), cpu, gpu, multi-cpu, multi-gpu, or a name of `netwright-engine devices`, such as "
    "cuda:1"
)


def devices_named(word: str) -> tuple[str, ...]:
    """Return torch's names of the devices that a word means, see `DEVICE_WORDS`: for `multi-gpu` each GPU that can be
    used, for `multi-cpu` the CPU once per core. Raises `UnavailableError` for a device that is not there or cannot be
    used."""
    if word == "multi-cpu":
        return (CPU,) * num_cores()
    if word == "multi-gpu" and (names := tuple(device.name for device in probe().usable)):
        return names
    return (device_named("gpu" if word == "multi-gpu" else word),)


def device_named(word: str) -> str:
    """Return torch's name of the device that a word means, see `DEVICE_WORDS`. For `auto` torch is initialised in this
    process. Raises `UnavailableError` for a device that is not there or cannot be used."""
    if word == "auto":
        return next((device.name for device in find(TorchAccelerators()) if not device.refusal), CPU)
    if word == CPU:
        return CPU
    inventory = probe()
    for device in inventory.devices:
        if word in ("gpu", device.name) and not device.refusal:
            return device.name
    if word != "gpu" and word not in {device.name for device in inventory.devices}:
        if word.partition(":")[0] not in ("cuda", "xpu", "mps"):
            raise UserError(f"There is no device '{word}'.", hint=f"Expected {DEVICE_WORDS}.", code="invalid_option")
        names = listed([CPU, *(device.name for device in inventory.devices)])
        raise UnavailableError(f"There is no device {word} on this machine.", hint=f"There are: {names}.")
    refusals = [f"{d.name}: {d.refusal}" for d in inventory.devices if word in ("gpu", d.name)]
    raise UnavailableError(f"No GPU can be used: {'; '.join(refusals) or inventory.no_devices_because}.")


def run_here(module: str, patience_s: float, *arguments: str) -> dict[str, Any]:
    """Run a module of the engine in its own process and return the JSON object it prints.

    Raises `RunError` after `patience_s` seconds, or with the last line of stderr where no JSON was printed.
    """
    command = module_command(module, *arguments)
    try:
        completed = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"torch gave no answer about this machine's devices within {patience_s:.0f} s.") from None
    try:
        answer: dict[str, Any] = json.loads(completed.stdout.strip().rpartition("\n")[2])
    except ValueError:
        words = (completed.stderr.strip() or f"it ended with {completed.returncode}").rpartition("\n")[2]
        raise RunError(f"torch cannot be used on this machine: {words}") from None
    return answer


def lines_of(module: str, *arguments: str) -> Iterator[dict[str, Any]]:
    """Run a module of the engine in its own process and yield the JSON objects it prints, one per line, as they arrive.

    The process is killed when the generator is closed. Raises `RunError` if it exits with an error.
    """
    process = MessageProcess(module_command(module, *arguments), folder=ROOT, hears=False, keeps_errors=False)
    try:
        yield from process.messages()
        if code := process.process.wait():
            raise RunError(f"{module} ended with {code}; the lines above say how far it came.")
    finally:
        process.end()


def _without_devices() -> dict[str, Any] | None:
    """Return the inventory for a CPU-only build of torch that no package of a vendor adds devices to, else None.

    Reads `version.py` of torch, which saves the second that its import takes. Raises `RunError` without torch.
    """
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
    if importlib.metadata.entry_points(group="torch.backends"):  # which torch loads as it is imported
        return None
    version = importlib.metadata.version("torch")
    return {
        "devices": [],
        "backends": ["gloo"],
        "torch_version": version,
        "no_devices_because": f"this torch ({version}) is built without CUDA, ROCm, XPU and MPS",
    }


def look() -> dict[str, Any]:
    """Return the devices and backends that torch finds. Runs in the temporary process."""
    import torch
    import torch.distributed

    is_distributed = torch.distributed.is_available()
    backends = [
        name
        for name, is_available in (
            ("gloo", is_distributed and torch.distributed.is_gloo_available()),
            ("nccl", is_distributed and torch.distributed.is_nccl_available()),
            ("xccl", is_distributed and torch.distributed.is_xccl_available()),
        )
        if is_available
    ]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        accelerators = TorchAccelerators()
    if is_distributed and accelerators.kind:
        own = torch.distributed.Backend.default_device_backend_map.get(accelerators.kind)
        if own is not None and own not in TORCH_BACKENDS:
            backends.append(own)
    return {
        "devices": [vars(device) for device in find(accelerators)],
        "backends": backends,
        "torch_version": torch.__version__,
        "no_devices_because": _no_devices_because([str(warning.message) for warning in warned]),
    }


def _no_devices_because(warned: Sequence[str]) -> str:
    import torch

    accelerator = torch.accelerator.current_accelerator()  # the type torch is built for, available or not
    if accelerator is None and torch.version.cuda is None:
        return f"this torch ({torch.__version__}) is built without CUDA, ROCm, XPU and MPS"
    return reason_for_none(torch.__version__, warned, os.environ)


def reason_for_none(version: str, warned: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return why a torch built for accelerators finds none, from its warnings and the variables that hide devices."""
    reason = next((words.partition(_BEGINS)[2] for words in warned if _BEGINS in words), "")
    if (match := _TOO_OLD.search(reason)) is not None:
        cuda = int(match[1])
        return (
            f"the NVIDIA driver knows CUDA {cuda // 1000}.{cuda % 1000 // 10} and is too old for this torch "
            f"({version}): install a newer driver, or a torch for that CUDA"
        )
    if reason:
        return reason.partition("\n")[0].partition(" (Triggered")[0][:200].rstrip(".")
    hiding = [f"{name} is set to '{environ[name]}'" for name in _HIDING if name in environ]
    if hiding:
        return f"no GPU was found; {' and '.join(hiding)}, and hides what it does not name"
    return "no GPU was found, or its driver is missing"


def main(arguments: list[str]) -> None:
    """Print the devices that torch sees, as JSON."""
    print(json.dumps(look()))
