"""Examines the machine in a throw-away process and prints what it finds, a JSON object a line, as it goes.

    {"device": {...}}  {"check": {...}}  {"figure": {...}}  ...  {"done": true}

Whoever has seen enough ends it: nothing is left behind. The window and `netwright-engine devices --test` both read it.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from engine.hardware.accelerators import Accelerators, TorchAccelerators, find
from engine.hardware.devices import cpu_model, memory_bytes, num_cores
from engine.hardware.health import Check, Driver, Readings, build_here, checks, driver_here, rendezvous
from engine.hardware.speed import FIGURE_S, Figure, figures
from engine.launch.measure_pair import together

JOINERS = {"cuda": "nccl", "xpu": "xccl"}


def devices(accelerators: Accelerators, driver: Driver | str) -> Iterator[dict[str, Any]]:
    """The CPU and every accelerator, with what is known of each now."""
    cores = num_cores()
    yield {"name": "cpu", "model": cpu_model(), "memory_bytes": memory_bytes(), "cores": cores}
    for number, device in enumerate(find(accelerators)):
        readings = Readings() if isinstance(driver, str) else driver.readings(number)
        known = {"capability": "" if device.refusal else accelerators.capability(number), **asdict(readings)}
        yield {**asdict(device), **known, "driver": "" if isinstance(driver, str) else driver.version}


def examine(seconds: float = FIGURE_S) -> Iterator[dict[str, Any]]:
    """Everything, in this process and in pairs of its children."""
    accelerators, driver, build = TorchAccelerators(), driver_here(), build_here()
    found = list(devices(accelerators, driver))
    yield from ({"device": device} for device in found)
    yield from ({"check": asdict(check)} for check in checks(accelerators, driver, build))
    check, sums = rendezvous(lambda: together("gloo", ("cpu", "cpu")), "gloo")
    yield {"check": asdict(check)}
    yield from ({"figure": asdict(figure)} for figure in _of_sums("gloo", sums))
    usable = [str(device["name"]) for device in found if not device.get("refusal")]
    for name in usable:
        yield from ({"figure": asdict(figure)} for figure in figures(name, seconds))
    yield from _own_sums(accelerators.kind, usable[1:])
    yield {"done": True}


def _own_sums(kind: str, names: list[str]) -> Iterator[dict[str, Any]]:
    """Two accelerators over what was made for them."""
    if len(names) < 2 or kind not in JOINERS:
        return
    check: Check
    check, sums = rendezvous(lambda: together(JOINERS[kind], (names[0], names[1])), JOINERS[kind])
    yield {"check": asdict(check)}
    yield from ({"figure": asdict(figure)} for figure in _of_sums(JOINERS[kind], sums))


def _of_sums(backend: str, sums: list[tuple[int, float]]) -> Iterator[Figure]:
    """Bytes of each worker's gradients that are added up a second."""
    for size, seconds in sums:
        kind = f"{size // 2**20} MiB" if size >= 2**20 else f"{size // 2**10} KiB"
        yield Figure(backend, "sum over two workers", kind, size / seconds / 1e9, "GB/s")


if __name__ == "__main__":
    for line in examine(float(sys.argv[1]) if len(sys.argv) > 1 else FIGURE_S):
        print(json.dumps(line), flush=True)
