"""Numeric precision of a run: types of weights and data, autocast, loss scaling, tf32."""

import contextlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn

from netwright.engine.data.loading.batches import ResidentDataset, Tensors
from netwright.engine.parallel.process_group import ProcessGroup

_LOW = {"bf16": torch.bfloat16, "fp16": torch.float16}
_DOUBLE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
AMPERE = (8, 0)


class Precision:
    """Applies the option `precision`. Weights and loss are float32, or float64 for fp64."""

    def __init__(self, option: str, device: torch.device, group: ProcessGroup) -> None:
        has_tf32 = device.type == "cuda" and torch.version.hip is None
        has_tf32 = has_tf32 and torch.cuda.get_device_capability(device) >= AMPERE
        self.name = ("tf32" if has_tf32 else "fp32") if option == "auto" else option
        self.notes: list[str] = []
        """Notes for the user."""
        if option == "tf32" and not has_tf32:
            self.notes.append("The precision tf32 has no effect here: only NVIDIA GPUs from Ampere on have it.")
        self._device = device
        self._low = _LOW.get(self.name)
        self.scale = LossScale(device, group) if self.name == "fp16" else None
        """Scales the loss, for fp16."""

    def begin(self) -> None:
        """Set tf32 and the default dtype of this process."""
        if self.name == "fp64":
            torch.set_default_dtype(torch.float64)
        if self._device.type == "cuda":
            allow_tf32(self.name == "tf32")

    def state_dict(self) -> dict[str, Any]:
        """Return the loss scale, and for how many steps it was good."""
        return {} if self.scale is None else self.scale.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the loss scale."""
        if self.scale is not None:
            self.scale.load_state_dict(state)

    def network(self, network: nn.Module) -> nn.Module:
        """Convert weights and statistics of a network to this precision, in place."""
        if self._low is not None:
            for module in network.modules():
                if isinstance(module, nn.Bilinear):
                    module.register_forward_pre_hook(_to_weight_dtype)
        if self.name == "fp64":
            for tensor in (*network.parameters(), *network.buffers()):
                tensor.data = _doubled(tensor.data)
        return network

    def data(self, split: ResidentDataset) -> ResidentDataset:
        """Convert a split of the data to this precision."""
        if self.name != "fp64":
            return split
        return split.converted(_doubled)

    def computing(self) -> AbstractContextManager[Any]:
        """Return the context that forward is computed in."""
        if self._low is None:
            return contextlib.nullcontext()
        return torch.autocast(self._device.type, self._low)

    def call(self, module: nn.Module, *inputs: torch.Tensor) -> torch.Tensor | Tensors:
        """Compute the outputs of a module; low precision ones become float32 again, for the loss."""
        if self._low is None:
            return module(*inputs)  # type: ignore[no-any-return]
        with self.computing():
            output = module(*inputs)
        return tuple(map(self._to_float, output)) if isinstance(output, tuple) else self._to_float(output)

    def _to_float(self, output: torch.Tensor) -> torch.Tensor:
        return output.float() if output.dtype == self._low else output


def allow_tf32(is_allowed: bool) -> None:
    """Let float32 matrix products, convolutions and recurrent layers of this process use tf32 on a GPU, or not.

    Uses torch's older settings, which set the newer ones (`fp32_precision`) too. Where the newer ones alone are set,
    reading the older raises, and torch.compile reads them as it lowers a product.
    """
    torch.set_float32_matmul_precision("high" if is_allowed else "highest")
    torch.backends.cudnn.allow_tf32 = is_allowed


def _to_weight_dtype(module: nn.Module, inputs: Tensors) -> Tensors:
    """Convert inputs to the type of the weights: autocast on a CPU does not support this kind of layer."""
    return tuple(x.to(next(module.parameters()).dtype) for x in inputs)


def _doubled(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(_DOUBLE.get(tensor.dtype, tensor.dtype))


class LossScale(torch.amp.GradScaler):
    """torch's GradScaler for several workers: if the gradients of one of them overflow, all skip the step."""

    def __init__(self, device: torch.device, group: ProcessGroup) -> None:
        super().__init__(device.type)
        self._group = group

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients by the scale, and share whether they overflowed. A collective."""
        super().unscale_(optimizer)
        for overflow in self._overflows(optimizer):
            self._group.all_reduce(overflow).clamp_(max=1.0)

    def has_overflow(self, optimizer: torch.optim.Optimizer) -> bool:
        """Return whether gradients overflowed, so that the step is to be skipped.

        In place of `step`: it lets a fused optimizer skip, and the fused SGD of torch 2.13 then reads a momentum that
        was never written.
        """
        return any(overflow.item() for overflow in self._overflows(optimizer))

    def keep(self) -> None:
        """End a step that was skipped for another reason than an overflow: the scale stays as it is."""
        self.update(self._scale)

    def _overflows(self, optimizer: torch.optim.Optimizer) -> Iterable[torch.Tensor]:
        overflow: dict[torch.device, torch.Tensor] = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        return overflow.values()
