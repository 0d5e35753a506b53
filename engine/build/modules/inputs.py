"""Input normalisation."""

import torch
from torch import nn


class Normalize(nn.Module):
    """Input normalisation, one shift and scale a channel: y = (x - shift) * scale."""

    shift: torch.Tensor
    scale: torch.Tensor

    def __init__(self, channels: int, dim: int, rank: int) -> None:
        super().__init__()
        self.sizes = [channels if axis == dim else 1 for axis in range(1, rank + 1)]
        self.register_buffer("shift", torch.zeros(channels))
        self.register_buffer("scale", torch.ones(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.shift.view(self.sizes)) * self.scale.view(self.sizes)
