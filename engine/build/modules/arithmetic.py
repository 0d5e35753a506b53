"""Arithmetic with one tensor that torch has no module for."""

import torch
from torch import nn


class LearnedScale(nn.Module):
    """A learned scale for each channel, and a learned shift unless told otherwise."""

    def __init__(self, channels: int, dim: int, rank: int, bias: bool = True) -> None:
        super().__init__()
        self.sizes = [channels if axis == dim else 1 for axis in range(1, rank + 1)]
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self.weight.view(self.sizes)
        return x if self.bias is None else x + self.bias.view(self.sizes)


class LearnedParameter(nn.Module):
    """Learned numbers, the same for every sample of the batch that comes in."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(sizes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight.expand(x.shape[0], *self.weight.shape).clone()


def constant(x: torch.Tensor, sizes: tuple[int, ...], value: float) -> torch.Tensor:
    """One number everywhere, for as many samples as come in."""
    return torch.full((x.shape[0], *sizes), value, device=x.device)


def quadratic(x: torch.Tensor) -> torch.Tensor:
    """All products of two numbers along the last axis, squares included, each pair once."""
    pairs = [(i, j) for i in range(x.shape[-1]) for j in range(i, x.shape[-1])]
    return x[..., [i for i, _ in pairs]] * x[..., [j for _, j in pairs]]
