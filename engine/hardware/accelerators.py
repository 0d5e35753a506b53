"""The accelerators that torch names, whoever made them: CUDA, ROCm (which torch calls cuda), XPU, MPS.

`find` asks through `Accelerators`, so that tests can put any machine in the place of torch's answers.
"""

import contextlib
from typing import Protocol

from engine.placement.inventory import Device

NEEDED_BYTES = 256 * 2**20
MAKERS = {"cuda": "CUDA", "rocm": "ROCm", "xpu": "XPU", "mps": "MPS"}


class Accelerators(Protocol):
    """What there is of one kind. Each question about a device raises `RuntimeError` where its driver refuses, or
    `TypeError` for a kind of number that it lacks."""

    @property
    def kind(self) -> str:
        """The name of torch's devices: cuda, xpu, mps."""

    @property
    def count(self) -> int:
        """How many there are."""

    def model(self, number: int) -> str:
        """What it is."""

    def memory(self, number: int) -> tuple[int, int]:
        """Bytes that are free, and all; zeros where that is not known."""

    def capability(self, number: int) -> str:
        """The generation of its instructions, `9.0`; empty where there is no such number."""

    def product(self, number: int) -> float:
        """The sum over the product of two 8 by 8 matrices of ones, in double precision as a run adds up its losses."""


class TorchAccelerators:
    """Those of the torch that is installed, in this process, which initialises them."""

    def __init__(self) -> None:
        import torch

        self._torch = torch
        found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
        self.kind = found.type if found is not None else ""
        self.count = torch.accelerator.device_count() if found is not None else 0

    def model(self, number: int) -> str:
        """What it is."""
        if self.kind in ("cuda", "xpu"):
            return str(getattr(self._torch, self.kind).get_device_properties(number).name)
        if self.kind == "mps":
            return "Apple GPU"
        module = self._torch.get_device_module(self.kind)
        return str(module.get_device_name(number)) if hasattr(module, "get_device_name") else self.kind.upper()

    def memory(self, number: int) -> tuple[int, int]:
        """Bytes that are free, and all; zeros where that is not known."""
        if self.kind == "mps":  # shared with the CPU: no more than this is meant to be taken
            most = int(self._torch.mps.recommended_max_memory())
            return most - int(self._torch.mps.driver_allocated_memory()), most
        if self.kind == "cuda":
            free, total = self._torch.cuda.mem_get_info(number)
            return int(free), int(total)
        with contextlib.suppress(AttributeError, NotImplementedError):
            free, total = self._torch.accelerator.get_memory_info(number)
            return int(free), int(total)
        return 0, 0

    def capability(self, number: int) -> str:
        """The generation of its instructions, `9.0`; empty where there is no such number."""
        if self.kind != "cuda":
            return ""
        major, minor = self._torch.cuda.get_device_capability(number)
        return f"{major}.{minor}"

    def product(self, number: int) -> float:
        """The sum over the product of two 8 by 8 matrices of ones, in double precision as a run adds up its losses."""
        ones = self._torch.ones(8, 8, device=f"{self.kind}:{number}")
        return float((ones @ ones).double().sum().item())


def find(accelerators: Accelerators) -> list[Device]:
    """All devices, each tried out."""
    return [_device(accelerators, number) for number in range(accelerators.count)]


def _device(accelerators: Accelerators, number: int) -> Device:
    """One device, tried out: a driver lists devices that a program then cannot use."""
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
    """The driver's words in ours."""
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
