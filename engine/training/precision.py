"""With how many digits a run computes: types of weights and data, autocast, the scale of the loss, a GPU's products."""

import contextlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn

from engine.data.batches import ResidentDataset, Tensors
from engine.parallel.process_group import ProcessGroup

_LOW = {"bf16": torch.bfloat16, "fp16": torch.float16}
_DOUBLE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
AMPERE = (8, 0)


class Precision:
    """What is done to compute as the option says. Weights and loss are float32, or float64 for fp64."""

    def __init__(self, asked: str, device: torch.device, group: ProcessGroup) -> None:
        has_tf32 = device.type == "cuda" and torch.version.hip is None
        has_tf32 = has_tf32 and torch.cuda.get_device_capability(device) >= AMPERE
        self.name = ("tf32" if has_tf32 else "fp32") if asked == "auto" else asked
        self.notes: list[str] = []
        """What the user is to know."""
        if asked == "tf32" and not has_tf32:
            self.notes.append("The precision tf32 has no effect here: only NVIDIA GPUs from Ampere on have it.")
        self._device = device
        self._low = _LOW.get(self.name)
        self.scale = LossScale(device, group) if self.name == "fp16" else None
        """What scales the loss, for fp16."""

    def begin(self) -> None:
        """Set how this process multiplies, and what numbers of no given type are."""
        if self.name == "fp64":
            torch.set_default_dtype(torch.float64)
        if self._device.type == "cuda":
            round_products(self.name == "tf32")

    def state_dict(self) -> dict[str, Any]:
        """The scale of the loss, and how long it was good."""
        return {} if self.scale is None else self.scale.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        if self.scale is not None:
            self.scale.load_state_dict(state)

    def network(self, network: nn.Module) -> nn.Module:
        """The network with its weights and statistics in this precision, in place."""
        if self._low is not None:
            for module in network.modules():
                if isinstance(module, nn.Bilinear):
                    module.register_forward_pre_hook(_as_its_weights)
        if self.name == "fp64":
            for tensor in (*network.parameters(), *network.buffers()):
                tensor.data = _doubled(tensor.data)
        return network

    def data(self, part: ResidentDataset) -> ResidentDataset:
        """A part of the data in this precision."""
        if self.name != "fp64":
            return part
        return part.converted(_doubled)

    def computing(self) -> AbstractContextManager[Any]:
        """Forward is computed in here."""
        if self._low is None:
            return contextlib.nullcontext()
        return torch.autocast(self._device.type, self._low)

    def call(self, module: nn.Module, *inputs: torch.Tensor) -> torch.Tensor | Tensors:
        """What the module gives, as the loss takes it: what was rounded is a float32 again."""
        if self._low is None:
            return module(*inputs)  # type: ignore[no-any-return]
        with self.computing():
            output = module(*inputs)
        return tuple(map(self._whole, output)) if isinstance(output, tuple) else self._whole(output)

    def _whole(self, output: torch.Tensor) -> torch.Tensor:
        return output.float() if output.dtype == self._low else output


def round_products(yes: bool) -> None:
    """Whether this process lets products, convolutions and recurrent layers of float32 round to tf32 on a GPU.

    By torch's older settings, which set the newer ones (`fp32_precision`) too. Not the other way round: where the newer
    ones alone are set, whoever asks for the older is refused, and torch.compile asks as it lowers a product.
    """
    torch.set_float32_matmul_precision("high" if yes else "highest")
    torch.backends.cudnn.allow_tf32 = yes


def _as_its_weights(module: nn.Module, inputs: Tensors) -> Tensors:
    """Autocast on a CPU does not know this kind of layer."""
    return tuple(x.to(next(module.parameters()).dtype) for x in inputs)


def _doubled(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(_DOUBLE.get(tensor.dtype, tensor.dtype))


class LossScale(torch.amp.GradScaler):
    """torch's scaler for several workers: if the gradients of one of them overflow, all leave the step out."""

    def __init__(self, device: torch.device, group: ProcessGroup) -> None:
        super().__init__(device.type)
        self._group = group

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients by the scale, and agree on whether all of them are finite. A collective."""
        super().unscale_(optimizer)
        for found in self._overflows(optimizer):
            self._group.all_reduce(found).clamp_(max=1.0)

    def move(self, optimizer: torch.optim.Optimizer) -> None:
        """A step of the optimizer, unless gradients overflowed; then a lower scale.

        Not `step`: it leaves it to a fused optimizer to skip, and the fused SGD of torch 2.13 then takes up a momentum
        that was never written.
        """
        if not any(found.item() for found in self._overflows(optimizer)):
            optimizer.step()
        self.update()

    def _overflows(self, optimizer: torch.optim.Optimizer) -> Iterable[torch.Tensor]:
        found: dict[torch.device, torch.Tensor] = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        return found.values()
