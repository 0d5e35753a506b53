"""Data parallel with one all-reduce over all gradients at once.

Over gloo this is faster than DistributedDataParallel for networks of the usual size: latency matters more than
overlap, and the compiler that DDP imports (0.8 s) is not needed.
"""

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.strategies.strategy import Replicated


class FlatAllReduce(Replicated):
    """Data parallel strategy whose gradients are views into one buffer per dtype, summed by one all-reduce each."""

    def __init__(self, network: nn.Module, module: nn.Module, group: ProcessGroup) -> None:
        super().__init__(network)
        self.module = module
        self._group = group
        parameters = [p for p in network.parameters() if p.requires_grad]
        self._buffers = [_share_gradients(group_of_type) for group_of_type in _by_type(parameters)]
        self._is_accumulating = False

    def zero_grad(self) -> None:
        """Set the gradients to zero."""
        for buffer in self._buffers:
            buffer.zero_()

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate gradients without communication in this context."""
        self._is_accumulating = True
        try:
            yield
        finally:
            self._is_accumulating = False

    def backward(self, loss: torch.Tensor) -> None:
        """Accumulate the gradients, and all-reduce them outside of `no_sync`."""
        torch.autograd.backward(loss)
        if not self._is_accumulating:
            for buffer in self._buffers:
                self._group.all_reduce(buffer)


def _by_type(parameters: list[nn.Parameter]) -> list[list[nn.Parameter]]:
    groups: dict[torch.dtype, list[nn.Parameter]] = {}
    for parameter in parameters:
        groups.setdefault(parameter.dtype, []).append(parameter)
    return list(groups.values())


def _share_gradients(parameters: list[nn.Parameter]) -> torch.Tensor:
    """Make the gradients of these parameters views into one buffer; autograd adds to them in place."""
    total = sum(p.numel() for p in parameters)
    buffer = torch.zeros(total, dtype=parameters[0].dtype, device=parameters[0].device)
    for parameter, part in zip(parameters, torch.split(buffer, [p.numel() for p in parameters]), strict=True):
        parameter.grad = part.view_as(parameter)
    return buffer
