"""Small modules where torch has none. Each needs torch alone, so that the printed source can carry it along."""

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


def add_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The sum of any number of tensors, from left to right."""
    for other in others:
        first = first + other
    return first


def multiply_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The product of any number of tensors, from left to right."""
    for other in others:
        first = first * other
    return first


class SelfAttention(nn.Module):
    """Scaled dot-product attention of a sequence (batch, steps, channels) with itself, in several heads."""

    def __init__(
        self,
        channels: int,
        key_channels: int,
        heads: int,
        causal: bool = False,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.query = nn.Linear(channels, key_channels, bias=bias)
        self.key = nn.Linear(channels, key_channels, bias=bias)
        self.value = nn.Linear(channels, key_channels, bias=bias)
        self.result = nn.Linear(key_channels, channels, bias=bias)
        self.heads = heads
        self.causal = causal
        self.dropout = dropout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (part(x).unflatten(2, (self.heads, -1)) for part in (self.query, self.key, self.value))
        mixed = nn.functional.scaled_dot_product_attention(
            query.transpose(1, 2),
            key.transpose(1, 2),
            value.transpose(1, 2),
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=self.causal,
        )
        result: torch.Tensor = self.result(mixed.transpose(1, 2).flatten(2))
        return result


class PositionEmbedding(nn.Module):
    """Adds a learned vector to each step of a sequence (batch, steps, channels)."""

    def __init__(self, positions: int, channels: int) -> None:
        super().__init__()
        self.table = nn.Embedding(positions, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.table.weight[: x.shape[1]]


class SinusoidalPosition(nn.Module):
    """Adds sines and cosines of the position to each step of a sequence (batch, steps, channels)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(x.shape[1], device=x.device, dtype=torch.float32).unsqueeze(1)
        even = torch.arange(0, self.channels, 2, device=x.device, dtype=torch.float32)
        angles = steps * 10000.0 ** (-even / self.channels)
        waves = torch.stack((angles.sin(), angles.cos()), 2).flatten(1)
        return x + waves[:, : self.channels].to(x.dtype)
