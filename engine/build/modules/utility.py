"""What changes numbers only while the network trains, where torch has no module for it."""

import torch
from torch import nn


class DropPath(nn.Module):
    """Zeroes whole samples at random in training, and scales the others up."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training or self.probability == 0.0:
            return x
        share = 1.0 - self.probability
        mask = torch.rand((x.shape[0], *[1] * (x.dim() - 1)), device=x.device) < share
        return x * mask / share


class GaussianNoise(nn.Module):
    """Adds normal random numbers in training."""

    def __init__(self, deviation: float) -> None:
        super().__init__()
        self.deviation = deviation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.deviation * torch.randn_like(x) if self.training else x
