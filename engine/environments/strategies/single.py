"""One worker: nothing is divided."""

import contextlib
from typing import Any

import torch
from torch import nn


class Single:
    """Plain backward."""

    def __init__(self, network: nn.Module) -> None:
        self.module = network
        self._parameters = [p for p in network.parameters() if p.requires_grad]

    def clear(self) -> None:
        """Forget the gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    def apart(self) -> contextlib.AbstractContextManager[Any]:
        """Nobody waits for the sum."""
        return contextlib.nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        """Add to the gradients."""
        torch.autograd.backward(loss)
