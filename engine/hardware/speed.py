"""Speed of a device: throughput of matrix products, convolutions and memory copies.

Measured in a temporary process, so that neither the window nor a server initialises an accelerator.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from netwright.engine.core.platform import keep_to
from netwright.engine.hardware.devices import run_here

PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "fp64": "float64"}
UNITS = {"matrix product": "GFLOP/s", "convolution": "GFLOP/s", "copy": "GB/s"}
FIGURE_S = 0.25


@dataclass(frozen=True)
class Figure:
    """Throughput of a device for one kind of work and precision, or the reason why it cannot be measured."""

    device: str
    work: str
    kind: str
    value: float
    unit: str
    refusal: str = ""


def figures(device: str, seconds: float = FIGURE_S) -> Iterator[Figure]:
    """Yield the throughput of each kind of work in each precision as it is measured, `seconds` each."""
    import torch

    for work, unit in UNITS.items():
        for kind, name in PRECISIONS.items():
            try:
                step, amount = _work(torch, work, device, getattr(torch, name))
                yield Figure(device, work, kind, amount * _rate(torch, device, step, seconds) / 1e9, unit)
            except (RuntimeError, TypeError) as error:  # not every device supports every precision
                yield Figure(device, work, kind, 0.0, unit, str(error).partition("\n")[0][:200])


def matrix_rate(device: str, kind: str, seconds: float) -> float:
    """Return the FLOP/s of matrix products in a precision, in this process. Raises `RuntimeError` or `TypeError` where
    the device does not have it."""
    import torch

    step, amount = _work(torch, "matrix product", device, getattr(torch, PRECISIONS[kind]))
    return amount * _rate(torch, device, step, seconds)


def _work(torch: Any, work: str, device: str, dtype: Any) -> tuple[Callable[[], Any], float]:
    """Return a function that does the work once, and its number of floating-point operations or bytes."""
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
    return lambda: target.copy_(source), 2.0 * source.numel() * dtype.itemsize  # read and write


def _rate(torch: Any, device: str, step: Callable[[], Any], seconds: float) -> float:
    """Return the steps per second, after one warm-up step."""

    def steps(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            step()
        if device != "cpu":
            torch.accelerator.synchronize(device)
        return time.perf_counter() - began

    steps(1)
    step_s = max(1e-6, steps(1))
    count = max(1, min(10_000, int(seconds / step_s)))
    return count / steps(count)


MEASURE_S = 0.5
CORE_S = 0.15
PATIENCE_S = 120
EVEN = 1.1
"""Ratio of fastest to slowest core below which the difference counts as noise."""


def measure_in_process(device: str) -> dict[str, float]:
    """Return `matmul_gflops` (float32) and `copy_gbs` (read plus write) of one device. Raises `RunError`."""
    speeds: dict[str, float] = run_here("netwright.engine.hardware.speed", PATIENCE_S, device)
    return speeds


def measure_cores(cores: Sequence[int]) -> tuple[float, ...]:
    """Return the speed of each core in GFLOP/s of matrix products. Raises `RunError`."""
    answer = run_here("netwright.engine.hardware.speed", PATIENCE_S + CORE_S * len(cores), "cores", *map(str, cores))
    return evened([float(speed) for speed in answer["gflops"]])


def evened(speeds: Sequence[float]) -> tuple[float, ...]:
    """Return the speeds, replaced by their mean where they differ by noise only."""
    mean = sum(speeds) / max(1, len(speeds))
    return (mean,) * len(speeds) if max(speeds) < EVEN * min(speeds) else tuple(speeds)


def measure(device: str) -> dict[str, float]:
    """Measure `matmul_gflops` and `copy_gbs` of a device in this process."""
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
    """Return the GFLOP/s of one thread pinned to each core in turn; unpinned where the system has no CPU affinity."""
    import torch

    torch.set_num_threads(1)
    a = torch.randn(256, 256)
    speeds = []
    for core in cores:
        keep_to((core,))
        speeds.append(2e-9 * 256**3 * rate(lambda: torch.mm(a, a), lambda: None, CORE_S))
    return speeds


def rate(work: Callable[[], Any], wait: Callable[[], Any], seconds: float = MEASURE_S) -> float:
    """Return the calls of `work` per second, after a warm-up."""
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


def main(arguments: list[str]) -> None:
    """Print the speed of a device, or with `cores` before their indices that of each core, as JSON."""
    if arguments[0] == "cores":
        print(json.dumps({"gflops": _each_core([int(core) for core in arguments[1:]])}))
    else:
        print(json.dumps(measure(arguments[0])))
