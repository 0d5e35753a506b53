"""Machine test in a child process, which prints the results, one JSON object per line, as they come.

    python -m netwright.engine.core.child netwright.engine.launch.machine_test [SECONDS]
    {"device": {...}}  {"check": {...}}  {"figure": {...}}  ...  {"done": true}

The reader may end the process at any time: it leaves nothing behind. The window and `netwright-engine devices --test`
both read it. All-reduce between two workers is measured in two more processes of this module.
"""

import contextlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import RunError
from netwright.engine.core.files import ROOT
from netwright.engine.core.nvidia_driver import Driver, Readings
from netwright.engine.core.platform import cpu_model, num_cores, total_memory_bytes
from netwright.engine.core.process import module_command, print_line
from netwright.engine.hardware.accelerators import Accelerators, TorchAccelerators, find
from netwright.engine.hardware.health import Check, build_here, checks, driver_here, rendezvous
from netwright.engine.hardware.speed import FIGURE_S, Figure, figures

PAIR = "--pair"
SIZES = (4 * 2**10, 64 * 2**10, 2**20, 16 * 2**20)
"""Bytes of the tensors that are summed over two workers."""
PATIENCE_S = 60.0
ROUND_S = 0.2


def cpu() -> dict[str, Any]:
    """Return the CPU, which is known without torch."""
    return {"name": "cpu", "model": cpu_model(), "memory_bytes": total_memory_bytes(), "cores": num_cores()}


def devices(accelerators: Accelerators, driver: Driver | str) -> Iterator[dict[str, Any]]:
    """Yield every accelerator, with its present readings."""
    for number, device in enumerate(find(accelerators)):
        readings = Readings() if isinstance(driver, str) else driver.readings(number)
        details = {"capability": "" if device.refusal else accelerators.capability(number), **asdict(readings)}
        yield {**asdict(device), **details, "driver": "" if isinstance(driver, str) else driver.version}


def examine(seconds: float = FIGURE_S) -> Iterator[dict[str, Any]]:
    """Yield devices, checks and speeds, measured in this process and in pairs of child processes; the CPU at once, the
    others after torch's import."""
    yield {"device": cpu()}
    accelerators, driver, build = TorchAccelerators(), driver_here(), build_here()
    present = list(devices(accelerators, driver))
    yield from ({"device": device} for device in present)
    yield from ({"check": asdict(check)} for check in checks(accelerators, driver, build))
    yield from _pair_lines("gloo", ("cpu", "cpu"))
    names = [str(device["name"]) for device in present if not device.get("refusal")]
    for name in ("cpu", *names):
        yield from ({"figure": asdict(figure)} for figure in figures(name, seconds))
    if len(names) >= 2:
        from torch.distributed import get_default_backend_for_device

        yield from _pair_lines(get_default_backend_for_device(accelerators.kind), (names[0], names[1]))
    yield {"done": True}


def _pair_lines(backend: str, names: tuple[str, str]) -> Iterator[dict[str, Any]]:
    """Check that two workers on these devices find each other, and yield the speeds of their all-reduce."""
    check: Check
    check, timings = rendezvous(lambda: all_reduce_times(backend, names), backend)
    yield {"check": asdict(check)}
    for size, seconds in timings:
        kind = f"{size // 2**20} MiB" if size >= 2**20 else f"{size // 2**10} KiB"
        yield {"figure": asdict(Figure(backend, "sum over two workers", kind, size / seconds / 1e9, "GB/s"))}


def all_reduce_times(backend: str, devices: tuple[str, str]) -> list[tuple[int, float]]:
    """Return tensor sizes in bytes with the seconds of one all-reduce between two workers on these devices.

    Raises `RunError` with the reason if the workers fail or do not find each other.
    """
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder:
        program = module_command(__name__, PAIR, str(Path(folder) / "store"))
        processes = [
            subprocess.Popen(
                [*program, str(rank), backend, device],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank, device in enumerate(devices)
        ]
        try:
            outputs = [process.communicate(timeout=PATIENCE_S) for process in processes]
        except subprocess.TimeoutExpired:
            raise RunError(f"two workers did not meet over {backend} within {PATIENCE_S:.0f} s") from None
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()
    for process, (_, errors) in zip(processes, outputs, strict=True):
        if process.returncode:
            raise RunError((errors.strip() or f"a worker ended with {process.returncode}").rpartition("\n")[2][:300])
    return [(int(size), float(seconds)) for size, seconds in json.loads(outputs[0][0].strip().rpartition("\n")[2])]


def _measure_as_worker(store: Path, rank: int, backend: str, device: str) -> list[tuple[int, float]]:
    """Measure all-reduce as one of two workers. Raises `RunError` where a sum is wrong."""
    import torch

    from netwright.engine.parallel.process_group import TorchProcessGroup

    torch.set_num_threads(1)
    if device != "cpu":
        torch.accelerator.set_device_index(torch.device(device).index)
    group = TorchProcessGroup(rank, 2, backend, store, timeout=timedelta(seconds=PATIENCE_S))
    timings = []
    for size in SIZES:
        tensor = torch.ones(size // 4, device=device)
        if float(group.all_reduce(tensor)[0]) != 2.0:
            raise RunError("the sum over two workers is wrong")
        timings.append((size, _seconds(group, tensor.zero_())))
    group.close()
    return timings


def _seconds(group: Any, tensor: Any) -> float:
    """Measure one all-reduce, averaged over as many as fit into `ROUND_S`; the first worker decides their number."""
    import torch

    def repeat(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            group.all_reduce(tensor)
        if tensor.device.type != "cpu":
            torch.accelerator.synchronize(tensor.device)
        return time.perf_counter() - began

    repeat(1)
    count = torch.tensor([max(1.0, ROUND_S / max(1e-6, repeat(3) / 3))], device=tensor.device)
    agreed = min(2000, max(1, int(float(group.all_reduce(count)[0]) / 2)))
    return repeat(agreed) / agreed


def main(arguments: list[str]) -> None:
    """Test the machine, or be one worker of a measured pair."""
    if arguments[:1] == [PAIR]:
        store, rank, backend, device = arguments[1:]
        print_line(_measure_as_worker(Path(store), int(rank), backend, device))
        os._exit(0)  # see `TorchProcessGroup.close`
    for line in examine(float(arguments[0]) if arguments else FIGURE_S):
        print_line(line)
