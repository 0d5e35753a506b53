"""Normalisation that torch does not have."""

import torch
from torch import nn


class CrossChannelNorm(nn.Module):
    """Local response normalisation whose window goes from channel c - (size - 1) // 2 to c + size // 2."""

    def __init__(self, size: int, alpha: float, beta: float, k: float) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        squares = x.square().flatten(2).unsqueeze(1)
        around = nn.functional.pad(squares, (0, 0, (self.size - 1) // 2, self.size // 2))
        mean = nn.functional.avg_pool2d(around, (self.size, 1), stride=1).reshape(x.shape)
        return x / (self.k + self.alpha * mean) ** self.beta


class InverseNormalize(nn.Module):
    """Turns normalised numbers back into units, one scale and shift a channel: y = x * scale + shift."""

    shift: torch.Tensor
    scale: torch.Tensor

    def __init__(self, channels: int, dim: int, rank: int) -> None:
        super().__init__()
        self.sizes = [channels if axis == dim else 1 for axis in range(1, rank + 1)]
        self.register_buffer("shift", torch.zeros(channels))
        self.register_buffer("scale", torch.ones(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale.view(self.sizes) + self.shift.view(self.sizes)
