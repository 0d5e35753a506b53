"""Attention of one sequence to another, in groups and with positions, and the layers of transformers."""

import torch
from torch import nn


class Attention(nn.Module):
    """Scaled dot-product attention of sequences (batch, steps, channels) in several heads, without weights.

    `lengths` tell where the sequences of a batch end, of queries, keys and values: no step sees what stands behind.
    """

    def __init__(self, heads: int, causal: bool = False, dropout: float = 0.0, scale: float | None = None) -> None:
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.dropout = dropout
        self.scale = scale

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        lengths: tuple[torch.Tensor | None, ...] = (None, None, None),
    ) -> torch.Tensor:
        seen, ends = None, lengths[1] if lengths[1] is not None else lengths[2]
        if ends is not None:
            steps = torch.arange(key.shape[1], device=key.device)
            seen = (steps < ends.unsqueeze(1))[:, None, None]
            if self.causal:
                seen = seen & (steps <= torch.arange(query.shape[1], device=key.device).unsqueeze(1))
        q, k, v = (torch.unflatten(x, 2, (self.heads, -1)).transpose(1, 2) for x in (query, key, value))
        mixed = nn.functional.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=seen,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=self.causal and seen is None,
            scale=self.scale,
        )
        return mixed.transpose(1, 2).flatten(2)


class MultiheadAttention(nn.Module):
    """Attention of sequences (batch, steps, channels) with learned projections of query, key, value and result.

    `lengths` tell where the sequences of a batch end, of queries, keys and values: no step sees what stands behind.
    """

    def __init__(
        self,
        channels: tuple[int, int, int],
        key_channels: int,
        value_channels: int,
        outputs: int,
        heads: int,
        causal: bool = False,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.query = nn.Linear(channels[0], key_channels, bias=bias)
        self.key = nn.Linear(channels[1], key_channels, bias=bias)
        self.value = nn.Linear(channels[2], value_channels, bias=bias)
        self.result = nn.Linear(value_channels, outputs, bias=bias)
        self.heads = heads
        self.causal = causal
        self.dropout = dropout

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        lengths: tuple[torch.Tensor | None, ...] = (None, None, None),
    ) -> torch.Tensor:
        seen, ends = None, lengths[1] if lengths[1] is not None else lengths[2]
        if ends is not None:
            steps = torch.arange(key.shape[1], device=key.device)
            seen = (steps < ends.unsqueeze(1))[:, None, None]
            if self.causal:
                seen = seen & (steps <= torch.arange(query.shape[1], device=key.device).unsqueeze(1))
        projected = (self.query(query), self.key(key), self.value(value))
        q, k, v = (torch.unflatten(x, 2, (self.heads, -1)).transpose(1, 2) for x in projected)
        mixed = nn.functional.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=seen,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=self.causal and seen is None,
        )
        result: torch.Tensor = self.result(mixed.transpose(1, 2).flatten(2))
        return result


class GroupedAttention(nn.Module):
    """Self-attention of a sequence (batch, steps, channels) whose heads share keys and values in groups.

    `positions`: `rotary` turns pairs of neighbouring channels of queries and keys by angles that grow with the step;
    `linear` lowers the scores of steps far away (ALiBi). `lengths` tell where the sequences of a batch end: no step
    sees what stands behind.
    """

    def __init__(
        self,
        channels: int,
        head_channels: int,
        heads: int,
        groups: int,
        positions: str = "none",
        causal: bool = False,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.query = nn.Linear(channels, heads * head_channels, bias=bias)
        self.key = nn.Linear(channels, groups * head_channels, bias=bias)
        self.value = nn.Linear(channels, groups * head_channels, bias=bias)
        self.result = nn.Linear(heads * head_channels, channels, bias=bias)
        self.heads = heads
        self.groups = groups
        self.positions = positions
        self.causal = causal
        self.dropout = dropout

    def forward(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        query = torch.unflatten(self.query(x), 2, (self.heads, -1)).transpose(1, 2)
        key, value = (torch.unflatten(part(x), 2, (self.groups, -1)).transpose(1, 2) for part in (self.key, self.value))
        if self.positions == "rotary":
            query, key = self.turned(query), self.turned(key)
        key, value = (
            part.unsqueeze(2).expand(-1, -1, self.heads // self.groups, -1, -1).flatten(1, 2) for part in (key, value)
        )
        mask = self.scores(x, lengths)
        mixed = nn.functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=self.causal and mask is None,
        )
        result: torch.Tensor = self.result(mixed.transpose(1, 2).flatten(2))
        return result

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        """Pairs of channels of (batch, heads, steps, channels), turned by step · 10000^(-2 i / channels)."""
        steps = torch.arange(x.shape[2], device=x.device, dtype=torch.float32).unsqueeze(1)
        even = torch.arange(0, x.shape[3], 2, device=x.device, dtype=torch.float32)
        angles = steps * 10000.0 ** (-even / x.shape[3])
        sine, cosine = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cosine - b * sine, a * sine + b * cosine), 4).flatten(3)

    def scores(self, x: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor | None:
        """What is added to the scores, or nothing where torch's causal mask does it."""
        steps = torch.arange(x.shape[1], device=x.device)
        after = steps - steps.unsqueeze(1)
        added = torch.zeros((1, 1, x.shape[1], x.shape[1]), dtype=x.dtype, device=x.device)
        if self.positions == "linear":
            head = torch.arange(1, self.heads + 1, device=x.device, dtype=x.dtype)
            added = added - 2.0 ** (-8.0 * head / self.heads).view(-1, 1, 1) * after.abs()
        elif lengths is None:
            return None
        if self.causal:
            added = added.masked_fill(after > 0, float("-inf"))
        if lengths is not None:
            added = added.masked_fill((steps >= lengths.unsqueeze(1))[:, None, None], float("-inf"))
        return added


class TransformerEncoderLayer(nn.Module):
    """Self-attention and a feedforward network on each step, each with a normalisation and a way around it.

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
        super().__init__()
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels)
        self.value = nn.Linear(channels, channels)
        self.result = nn.Linear(channels, channels)
        self.expand = nn.Linear(channels, feedforward)
        self.reduce = nn.Linear(feedforward, channels)
        self.norm_1 = nn.LayerNorm(channels, eps=eps)
        self.norm_2 = nn.LayerNorm(channels, eps=eps)
        self.heads = heads
        self.activation = activation
        self.norm_first = norm_first
        self.causal = causal
        self.dropout = dropout

    def forward(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if self.norm_first:
            x = x + self.attention(self.norm_1(x), lengths)
            return x + self.feedforward(self.norm_2(x))
        x = self.norm_1(x + self.attention(x, lengths))
        y: torch.Tensor = self.norm_2(x + self.feedforward(x))
        return y

    def attention(self, x: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """What each step gathers from the others."""
        seen = None
        if lengths is not None:
            steps = torch.arange(x.shape[1], device=x.device)
            seen = (steps < lengths.unsqueeze(1))[:, None, None]
            seen = seen & (steps <= steps.unsqueeze(1)) if self.causal else seen
        q, k, v = (
            torch.unflatten(p(x), 2, (self.heads, -1)).transpose(1, 2) for p in (self.query, self.key, self.value)
        )
        mixed = nn.functional.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=seen,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=self.causal and seen is None,
        )
        return nn.functional.dropout(self.result(mixed.transpose(1, 2).flatten(2)), self.dropout, self.training)

    def feedforward(self, x: torch.Tensor) -> torch.Tensor:
        """Two layers on each step."""
        inner = self.expand(x)
        inner = nn.functional.gelu(inner) if self.activation == "gelu" else inner.relu()
        inner = nn.functional.dropout(inner, self.dropout, self.training)
        return nn.functional.dropout(self.reduce(inner), self.dropout, self.training)


class TransformerDecoderLayer(nn.Module):
    """Self-attention, attention to a memory and a feedforward network, each with a normalisation and a way around it.

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
    ) -> None:
        super().__init__()
        self.query = nn.Linear(channels, channels)
        self.key = nn.Linear(channels, channels)
        self.value = nn.Linear(channels, channels)
        self.result = nn.Linear(channels, channels)
        self.cross_query = nn.Linear(channels, channels)
        self.cross_key = nn.Linear(memory_channels, channels)
        self.cross_value = nn.Linear(memory_channels, channels)
        self.cross_result = nn.Linear(channels, channels)
        self.expand = nn.Linear(channels, feedforward)
        self.reduce = nn.Linear(feedforward, channels)
        self.norm_1 = nn.LayerNorm(channels, eps=eps)
        self.norm_2 = nn.LayerNorm(channels, eps=eps)
        self.norm_3 = nn.LayerNorm(channels, eps=eps)
        self.heads = heads
        self.activation = activation
        self.norm_first = norm_first
        self.causal = causal
        self.dropout = dropout

    def forward(
        self, x: torch.Tensor, memory: torch.Tensor, lengths: tuple[torch.Tensor | None, ...] = (None, None)
    ) -> torch.Tensor:
        if self.norm_first:
            x = x + self.own(self.norm_1(x), lengths[0])
            x = x + self.cross(self.norm_2(x), memory, lengths[1])
            return x + self.feedforward(self.norm_3(x))
        x = self.norm_1(x + self.own(x, lengths[0]))
        x = self.norm_2(x + self.cross(x, memory, lengths[1]))
        y: torch.Tensor = self.norm_3(x + self.feedforward(x))
        return y

    def own(self, x: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """What each step gathers from the others."""
        mixed = self.attention(self.query(x), self.key(x), self.value(x), self.causal, lengths)
        return nn.functional.dropout(self.result(mixed), self.dropout, self.training)

    def cross(self, x: torch.Tensor, memory: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor:
        """What each step gathers from the memory."""
        key, value = self.cross_key(memory), self.cross_value(memory)
        mixed = self.attention(self.cross_query(x), key, value, False, lengths)
        return nn.functional.dropout(self.cross_result(mixed), self.dropout, self.training)

    def attention(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        causal: bool,
        lengths: torch.Tensor | None,
    ) -> torch.Tensor:
        """Scaled dot-product attention in heads, before the last projection."""
        seen = None
        if lengths is not None:
            steps = torch.arange(key.shape[1], device=key.device)
            seen = (steps < lengths.unsqueeze(1))[:, None, None]
            seen = seen & (steps <= steps.unsqueeze(1)) if causal else seen
        q, k, v = (torch.unflatten(x, 2, (self.heads, -1)).transpose(1, 2) for x in (query, key, value))
        mixed = nn.functional.scaled_dot_product_attention(
            q,
            k,
            v,
            attn_mask=seen,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal and seen is None,
        )
        return mixed.transpose(1, 2).flatten(2)

    def feedforward(self, x: torch.Tensor) -> torch.Tensor:
        """Two layers on each step."""
        inner = self.expand(x)
        inner = nn.functional.gelu(inner) if self.activation == "gelu" else inner.relu()
        inner = nn.functional.dropout(inner, self.dropout, self.training)
        return nn.functional.dropout(self.reduce(inner), self.dropout, self.training)
