"""The layers of transformers, and a whole one."""

import torch
from torch import nn

from netwright.engine.lowering.modules.attention import attend


class TransformerLayer(nn.Module):
    """Base of both layers: self-attention and a feedforward network, each with a normalisation and a residual.

    With `memory_channels` there are attention to a memory and a third normalisation between the two.
    """

    def __init__(
        self,
        channels: int,
        heads: int,
        feedforward: int,
        activation: str,
        norm_first: bool,
        causal: bool,
        dropout: float,
        eps: float,
        memory_channels: int = 0,
    ) -> None:
        super().__init__()
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels)
        self.value = nn.Linear(channels, channels)
        self.result = nn.Linear(channels, channels)
        if memory_channels:
            self.cross_query = nn.Linear(channels, channels)
            self.cross_key = nn.Linear(memory_channels, channels)
            self.cross_value = nn.Linear(memory_channels, channels)
            self.cross_result = nn.Linear(channels, channels)
        self.expand = nn.Linear(channels, feedforward)
        self.reduce = nn.Linear(feedforward, channels)
        self.norm_1 = nn.LayerNorm(channels, eps=eps)
        self.norm_2 = nn.LayerNorm(channels, eps=eps)
        if memory_channels:
            self.norm_3 = nn.LayerNorm(channels, eps=eps)
        self.heads = heads
        self.activation = activation
        self.norm_first = norm_first
        self.causal = causal
        self.dropout = dropout

    def self_attention(self, x: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """Self-attention among the steps (batch, steps, channels)."""
        dropout = self.dropout if self.training else 0.0
        mixed = attend(self.query(x), self.key(x), self.value(x), self.heads, self.causal, lengths, dropout)
        return nn.functional.dropout(self.result(mixed), self.dropout, self.training)

    def feedforward(self, x: torch.Tensor) -> torch.Tensor:
        """Two fully connected layers on each step."""
        inner = self.expand(x)
        inner = nn.functional.gelu(inner) if self.activation == "gelu" else inner.relu()
        inner = nn.functional.dropout(inner, self.dropout, self.training)
        return nn.functional.dropout(self.reduce(inner), self.dropout, self.training)


class TransformerEncoderLayer(TransformerLayer):
    """Self-attention and a feedforward network on each step, each with a normalisation and a residual.

    `lengths` tell where the sequences (batch, steps, channels) of a batch end: no step sees what stands behind.
    """

    def __init__(
        self,
        channels: int,
        heads: int,
        feedforward: int,
        activation: str = "relu",
        norm_first: bool = False,
        causal: bool = False,
        dropout: float = 0.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__(channels, heads, feedforward, activation, norm_first, causal, dropout, eps)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if self.norm_first:
            x = x + self.self_attention(self.norm_1(x), lengths)
            return x + self.feedforward(self.norm_2(x))
        x = self.norm_1(x + self.self_attention(x, lengths))
        y: torch.Tensor = self.norm_2(x + self.feedforward(x))
        return y


class TransformerDecoderLayer(TransformerLayer):
    """Self-attention, attention to a memory and a feedforward network, each with a normalisation and a residual.

    `lengths` tell where the sequences (batch, steps, channels) of a batch end, and those of the memory: no step sees
    what stands behind.
    """

    def __init__(
        self,
        channels: int,
        memory_channels: int,
        heads: int,
        feedforward: int,
        activation: str = "relu",
        norm_first: bool = False,
        causal: bool = True,
        dropout: float = 0.0,
        eps: float = 1e-5,
        cross_causal: bool = False,
    ) -> None:
        super().__init__(channels, heads, feedforward, activation, norm_first, causal, dropout, eps, memory_channels)
        self.cross_causal = cross_causal

    def forward(
        self, x: torch.Tensor, memory: torch.Tensor, lengths: tuple[torch.Tensor | None, ...] = (None, None)
    ) -> torch.Tensor:
        if self.norm_first:
            x = x + self.self_attention(self.norm_1(x), lengths[0])
            x = x + self.cross_attention(self.norm_2(x), memory, lengths[1])
            return x + self.feedforward(self.norm_3(x))
        x = self.norm_1(x + self.self_attention(x, lengths[0]))
        x = self.norm_2(x + self.cross_attention(x, memory, lengths[1]))
        y: torch.Tensor = self.norm_3(x + self.feedforward(x))
        return y

    def cross_attention(self, x: torch.Tensor, memory: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """Attention of each step (batch, steps, channels) to the memory (batch, memory steps, channels)."""
        dropout = self.dropout if self.training else 0.0
        query, key, value = self.cross_query(x), self.cross_key(memory), self.cross_value(memory)
        mixed = attend(query, key, value, self.heads, self.cross_causal, lengths, dropout)
        return nn.functional.dropout(self.cross_result(mixed), self.dropout, self.training)


class Transformer(nn.Module):
    """An encoder that reads a source sequence (batch, steps, channels), and a decoder that reads a target sequence and
    looks at what the encoder gives; each is so many layers and a normalisation.

    `causal` says of source, target and memory whether a step sees no later one. `lengths` tell where the sources and
    the targets of a batch end: no step sees what stands behind.
    """

    def __init__(
        self,
        channels: int,
        heads: int,
        feedforward: int,
        encoder_layers: int = 6,
        decoder_layers: int = 6,
        activation: str = "relu",
        norm_first: bool = False,
        causal: tuple[bool, bool, bool] = (False, True, False),
        dropout: float = 0.0,
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        reads, writes, looks = causal
        self.encoder = nn.ModuleList(
            TransformerEncoderLayer(channels, heads, feedforward, activation, norm_first, reads, dropout, eps)
            for _ in range(encoder_layers)
        )
        self.encoder_norm = nn.LayerNorm(channels, eps=eps)
        self.decoder = nn.ModuleList(
            TransformerDecoderLayer(
                channels, channels, heads, feedforward, activation, norm_first, writes, dropout, eps, looks
            )
            for _ in range(decoder_layers)
        )
        self.decoder_norm = nn.LayerNorm(channels, eps=eps)

    def forward(
        self, source: torch.Tensor, target: torch.Tensor, lengths: tuple[torch.Tensor | None, ...] = (None, None)
    ) -> torch.Tensor:
        for layer in self.encoder:
            source = layer(source, lengths[0])
        memory = self.encoder_norm(source)
        for layer in self.decoder:
            target = layer(target, memory, (lengths[1], lengths[0]))
        y: torch.Tensor = self.decoder_norm(target)
        return y
