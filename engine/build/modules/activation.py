"""Activations that torch does not have."""

import torch
from torch import nn


def squared_relu(x: torch.Tensor) -> torch.Tensor:
    """max(0, x) squared."""
    return nn.functional.relu(x).square()


def swiglu(x: torch.Tensor, dim: int) -> torch.Tensor:
    """swish(a) b, with a and b the two halves along an axis."""
    a, b = x.chunk(2, dim)
    return nn.functional.silu(a) * b


def geglu(x: torch.Tensor, dim: int) -> torch.Tensor:
    """a GELU(b), with a and b the two halves along an axis."""
    a, b = x.chunk(2, dim)
    return a * nn.functional.gelu(b)
