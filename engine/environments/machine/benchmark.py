"""How fast a device is at matrix products, convolutions and copies, in each precision. In a throw-away process."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "fp64": "float64"}
UNITS = {"matrix product": "GFLOP/s", "convolution": "GFLOP/s", "copy": "GB/s"}
MEASURE_S = 0.25


@dataclass(frozen=True)
class Figure:
    """How much of one kind of work a device does a second, or why it does none."""

    device: str
    work: str
    kind: str
    value: float
    unit: str
    refusal: str = ""


def figures(device: str, seconds: float = MEASURE_S) -> Iterator[Figure]:
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
    """Steps a second, after one to warm up."""

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
