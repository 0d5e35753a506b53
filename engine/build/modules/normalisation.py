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
