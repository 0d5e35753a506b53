"""Accelerators that torch supports: CUDA, ROCm (which torch calls cuda), XPU, MPS, and those of vendors' packages.

`find` queries devices through the protocol `Accelerators`, so that tests can simulate any machine.
"""

import contextlib
from typing import Protocol

from netwright.engine.placement.inventory import Device

NEEDED_BYTES = 256 * 2**20
MAKERS = {"cuda": "CUDA", "rocm": "ROCm", "xpu": "XPU", "mps": "MPS"}


class Accelerators(Protocol):
    """Accelerators of one device type. Methods that query a device raise `RuntimeError` where its driver refuses, or
    `TypeError` for a dtype that the device lacks."""

    @property
    def kind(self) -> str:
        """Device type in torch: cuda, xpu, mps."""

    @property
    def count(self) -> int:
        """Number of devices."""

    def model(self, number: int) -> str:
        """Return the model name of a device."""

    def memory(self, number: int) -> tuple[int, int]:
        """Return free and total memory in bytes; zeros where they are not known."""

    def capability(self, number: int) -> str:
        """Return the compute capability, such as `9.0`; empty for devices without one."""

    def product(self, number: int) -> float:
        """Return the sum of the product of two 8 by 8 matrices of ones, added up in float64, as a run sums losses."""


class TorchAccelerators:
    """Accelerators of the installed torch, initialised in this process."""

    def __init__(self) -> None:
        import torch

        self._torch = torch
        current = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        self.kind = current.type if current is not None else ""
        self.count = torch.accelerator.device_count() if current is not None else 0

    def model(self, number: int) -> str:
        """Return the model name of a device."""
        if self.kind == "mps":
            return "Apple GPU"
        module = self._torch.get_device_module(self.kind)
        return str(module.get_device_name(number)) if hasattr(module, "get_device_name") else self.kind.upper()

    def memory(self, number: int) -> tuple[int, int]:
        """Return free and total memory in bytes; zeros where they are not known."""
        if self.kind == "mps":  # shared with the CPU; the recommended limit counts as the total
            limit = int(self._torch.mps.recommended_max_memory())
            return limit - int(self._torch.mps.driver_allocated_memory()), limit
        with contextlib.suppress(AttributeError, NotImplementedError):
            free, total = self._torch.accelerator.get_memory_info(number)
            return int(free), int(total)
        return 0, 0

    def capability(self, number: int) -> str:
        """Return the compute capability, such as `9.0`; empty for devices without one."""
        if self.kind != "cuda":
            return ""
        major, minor = self._torch.cuda.get_device_capability(number)
        return f"{major}.{minor}"

    def product(self, number: int) -> float:
        """Return the sum of the product of two 8 by 8 matrices of ones, added up in float64, as a run sums losses."""
        ones = self._torch.ones(8, 8, device=f"{self.kind}:{number}")
        return float((ones @ ones).double().sum().item())


def find(accelerators: Accelerators) -> list[Device]:
    """Return all devices, each tested."""
    return [_device(accelerators, number) for number in range(accelerators.count)]


def _device(accelerators: Accelerators, number: int) -> Device:
    """Return one device, tested, since drivers also list devices that a program cannot use."""
    name, model, total = f"{accelerators.kind}:{number}", "GPU", 0
    try:
        model = accelerators.model(number)
        free, total = accelerators.memory(number)
        if total and free < NEEDED_BYTES:
            refusal = f"only {free / 2**20:,.0f} MiB of its {total / 2**30:.0f} GiB are free; another program uses it"
            return Device(name, model, total, refusal)
        if accelerators.product(number) != 512.0:
            return Device(name, model, total, "it computes wrong results")
    except (RuntimeError, TypeError) as error:
        return Device(name, model, total, refusal_of(str(error)))
    return Device(name, model, total)


def refusal_of(words: str) -> str:
    """Return a plain reason for an error message of the driver, which is shortened where it is not recognized."""
    if "busy or unavailable" in words or "exclusive" in words:
        return "it is taken by another program"
    if "out of memory" in words:
        return "its memory is full; another program uses it"
    if "no kernel image" in words or "not compatible" in words:
        return "this torch is not built for this kind of GPU"
    if "driver version is insufficient" in words or "unsupported toolchain" in words:
        return "its driver is too old for this torch"
    if "float64" in words or "fp64" in words:
        return "it has no numbers of double precision, in which losses and metrics are added up"
    return words.strip().partition("\n")[0][:200]
