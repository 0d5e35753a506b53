"""Attention, and what tells it of positions."""

import torch
from torch import nn


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
    """Adds a learned vector to each step of a sequence (batch, steps, channels), or gives these vectors alone."""

    def __init__(self, positions: int, channels: int, alone: bool = False) -> None:
        super().__init__()
        self.table = nn.Embedding(positions, channels)
        self.alone = alone

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        vectors = self.table.weight[: x.shape[1]]
        return vectors.unsqueeze(0).repeat(x.shape[0], 1, 1) if self.alone else x + vectors


class SinusoidalPosition(nn.Module):
    """Adds sines and cosines of the position to each step of (batch, steps, channels), or gives them alone."""

    def __init__(self, channels: int, alone: bool = False) -> None:
        super().__init__()
        self.channels = channels
        self.alone = alone

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = torch.arange(x.shape[1], device=x.device, dtype=torch.float32).unsqueeze(1)
        even = torch.arange(0, self.channels, 2, device=x.device, dtype=torch.float32)
        angles = steps * 10000.0 ** (-even / self.channels)
        waves = torch.stack((angles.sin(), angles.cos()), 2).flatten(1)
        waves = waves[:, : self.channels].to(x.dtype)
        return waves.unsqueeze(0).repeat(x.shape[0], 1, 1) if self.alone else x + waves


class ClassToken(nn.Module):
    """Puts a learned vector before the first step of a sequence (batch, steps, channels)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1)
