"""How fast a device is at the two things training does most: matrix products and moving memory.

Measured in a throw-away process, so that neither the window nor a server ever initialises an accelerator.
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.hardware.devices import run_here

PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "fp64": "float64"}
UNITS = {"matrix product": "GFLOP/s", "convolution": "GFLOP/s", "copy": "GB/s"}
FIGURE_S = 0.25


@dataclass(frozen=True)
class Figure:
    """How much of one kind of work a device does a second, or why it does none."""

    device: str
    work: str
    kind: str
    value: float
    unit: str
    refusal: str = ""


def figures(device: str, seconds: float = FIGURE_S) -> Iterator[Figure]:
    """Each work in each precision, as soon as it was measured."""
    import torch

    for work, unit in UNITS.items():
        for kind, name in PRECISIONS.items():
            try:
                step, amount = _work(torch, work, device, getattr(torch, name))
                yield Figure(device, work, kind, amount * _rate(torch, device, step, seconds) / 1e9, unit)
            except (RuntimeError, TypeError) as error:  # not every device knows every precision
                yield Figure(device, work, kind, 0.0, unit, str(error).partition("\n")[0][:200])


def _work(torch: Any, work: str, device: str, dtype: Any) -> tuple[Callable[[], Any], float]:
    """Something to do, and how many operations or bytes it is."""
    on_cpu = device == "cpu"
    if work == "matrix product":
        size = 512 if on_cpu else 4096
        a = torch.ones(size, size, device=device, dtype=dtype)
        return lambda: torch.mm(a, a), 2.0 * size**3
    if work == "convolution":
        batch, channels, size = (4, 32, 32) if on_cpu else (64, 128, 56)
        x = torch.ones(batch, channels, size, size, device=device, dtype=dtype)
        weight = torch.ones(channels, channels, 3, 3, device=device, dtype=dtype)
        amount = 2.0 * batch * channels * channels * 9 * size**2
        return lambda: torch.nn.functional.conv2d(x, weight, padding=1), amount
    source = torch.ones((32 if on_cpu else 512) * 2**20 // dtype.itemsize, device=device, dtype=dtype)
    target = torch.empty_like(source)
    return lambda: target.copy_(source), 2.0 * source.numel() * dtype.itemsize  # it is read, and written


def _rate(torch: Any, device: str, step: Callable[[], Any], seconds: float) -> float:
    """Return the steps per second, after one to warm up."""

    def steps(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            step()
        if device != "cpu":
            torch.accelerator.synchronize(device)
        return time.perf_counter() - began

    steps(1)
    one = max(1e-6, steps(1))
    count = max(1, min(10_000, int(seconds / one)))
    return count / steps(count)


MEASURE_S = 0.5
CORE_S = 0.15
PATIENCE_S = 120
EVEN = 1.1
"""Cores whose speeds differ by less are equal: so much is noise."""


def measure_in_process(device: str) -> dict[str, float]:
    """`matmul_gflops` (float32) and `copy_gbs` (read plus write) of one device. Raises `RunError`."""
    speeds: dict[str, float] = run_here("engine.hardware.speed", PATIENCE_S, device)
    return speeds


def measure_cores(cores: Sequence[int]) -> tuple[float, ...]:
    """What each of these cores does at matrix products, in GFLOP/s. Raises `RunError`."""
    found = run_here("engine.hardware.speed", PATIENCE_S + CORE_S * len(cores), "cores", *map(str, cores))
    return evened([float(speed) for speed in found["gflops"]])


def evened(speeds: Sequence[float]) -> tuple[float, ...]:
    """The speeds, all the same where they differ by noise alone."""
    mean = sum(speeds) / max(1, len(speeds))
    return (mean,) * len(speeds) if max(speeds) < EVEN * min(speeds) else tuple(speeds)


def measure(device: str) -> dict[str, float]:
    """The figures, in this process."""
    import torch

    on_cpu = device == "cpu"
    size = 1024 if on_cpu else 4096
    a = torch.randn(size, size, device=device)
    big = torch.empty(64 * 2**20 // 4 if on_cpu else 2**28, device=device)
    target = torch.empty_like(big)
    wait: Callable[[], Any] = (lambda: None) if on_cpu else (lambda: torch.accelerator.synchronize(device))
    products = rate(lambda: torch.mm(a, a), wait)
    copies = rate(lambda: target.copy_(big), wait)
    return {"matmul_gflops": 2e-9 * size**3 * products, "copy_gbs": 2e-9 * big.numel() * 4 * copies}


def _each_core(cores: Sequence[int]) -> list[float]:
    """One thread on each core in turn. Where processes cannot be kept to a core, all are what one is."""
    import torch

    torch.set_num_threads(1)
    a = torch.randn(256, 256)
    found = []
    for core in cores:
        with contextlib.suppress(AttributeError, OSError):
            os.sched_setaffinity(0, {core})
        found.append(2e-9 * 256**3 * rate(lambda: torch.mm(a, a), lambda: None, CORE_S))
    return found


def rate(work: Callable[[], Any], wait: Callable[[], Any], seconds: float = MEASURE_S) -> float:
    """Calls a second, after a warm-up."""
    for _ in range(3):
        work()
    wait()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(5):
            work()
        wait()
        count += 5
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    if sys.argv[1] == "cores":
        print(json.dumps({"gflops": _each_core([int(core) for core in sys.argv[2:]])}))
    else:
        print(json.dumps(measure(sys.argv[1])))
