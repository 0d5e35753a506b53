"""Strategy of a single worker, without parallelism."""

import contextlib
from typing import Any

import torch
from torch import nn

from netwright.engine.parallel.strategies.strategy import Replicated


class Single(Replicated):
    """Strategy of a single worker: a plain backward pass."""

    def __init__(self, network: nn.Module, module: nn.Module | None = None) -> None:
        super().__init__(network)
        self.module = network if module is None else module
        self._parameters = [p for p in network.parameters() if p.requires_grad]

    def zero_grad(self) -> None:
        """Clear the gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    def no_sync(self) -> contextlib.AbstractContextManager[Any]:
        """Return an empty context: a single worker has nothing to synchronize."""
        return contextlib.nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        """Accumulate the gradients."""
        torch.autograd.backward(loss)
