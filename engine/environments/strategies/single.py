"""One worker: nothing is divided."""

import torch
from torch import nn


class Single:
    """Plain backward."""

    def __init__(self, network: nn.Module) -> None:
        self.module = network
        self._parameters = [p for p in network.parameters() if p.requires_grad]

    def backward(self, loss: torch.Tensor) -> None:
        """Replace the gradients by those of this loss."""
        for parameter in self._parameters:
            parameter.grad = None
        torch.autograd.backward(loss)
