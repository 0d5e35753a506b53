"""Pooling that torch does not have."""

import torch
from torch import nn


class InnerAveragePool(nn.Module):
    """Average pooling with borders of any width, whose places are left out of the mean."""

    def __init__(self, kernel_size: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...]) -> None:
        super().__init__()
        self.padding = padding
        self.pool = [nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d][len(kernel_size) - 1](kernel_size, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inside = x.new_ones((1, 1, *x.shape[2:]))
        share: torch.Tensor = self.pool(nn.functional.pad(inside, self.padding))
        mean: torch.Tensor = self.pool(nn.functional.pad(x, self.padding))
        return mean / share
