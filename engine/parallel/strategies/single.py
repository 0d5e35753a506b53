"""One worker: nothing is divided."""

import contextlib
from typing import Any

import torch
from torch import nn

from engine.parallel.strategies.strategy import Replicated


class Single(Replicated):
    """Plain backward."""

    def __init__(self, network: nn.Module, called: nn.Module | None = None) -> None:
        super().__init__(network)
        self.module = network if called is None else called
        self._parameters = [p for p in network.parameters() if p.requires_grad]

    def zero_grad(self) -> None:
        """Clear the gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    def no_sync(self) -> contextlib.AbstractContextManager[Any]:
        """No synchronization: there is one worker."""
        return contextlib.nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        """Add to the gradients."""
        torch.autograd.backward(loss)
