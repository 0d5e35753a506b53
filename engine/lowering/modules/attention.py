"""Attention, and what tells it of positions."""

import torch
from torch import nn


def seen_keys(query: torch.Tensor, key: torch.Tensor, causal: bool, ends: torch.Tensor | None) -> torch.Tensor | None:
    """Mask of the keys that each query sees, to be broadcast to (batch, heads, queries, keys); None where it sees all.

    Steps are dimension 2. `ends` tell how many keys of each sample are real.
    """
    steps = torch.arange(key.shape[2], device=key.device)
    mask = None if ends is None else (steps < ends.unsqueeze(1))[:, None, None]
    if causal:
        before = steps <= torch.arange(query.shape[2], device=key.device).unsqueeze(1)
        mask = before if mask is None else mask & before
    return mask


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    heads: int,
    causal: bool = False,
    ends: torch.Tensor | None = None,
    dropout: float = 0.0,
    scale: float | None = None,
) -> torch.Tensor:
    """Scaled dot-product attention of sequences (batch, steps, channels) whose channels are divided among heads."""
    q, k, v = (torch.unflatten(x, 2, (heads, -1)).transpose(1, 2) for x in (query, key, value))
    mask = None if ends is None else seen_keys(q, k, causal, ends)
    mixed = nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=causal and mask is None, scale=scale
    )
    return mixed.transpose(1, 2).flatten(2)


def attention_scores(
    query: torch.Tensor,
    key: torch.Tensor,
    seen: torch.Tensor | None = None,
    added: torch.Tensor | None = None,
    scale: float | None = None,
) -> torch.Tensor:
    """Weights of the keys for each query, (batch, heads, queries, keys); those of one query sum to 1."""
    products = query @ key.transpose(2, 3) * (query.shape[3] ** -0.5 if scale is None else scale)
    products = products if added is None else products + added
    products = products if seen is None else products.masked_fill(~seen, float("-inf"))
    return products.softmax(3)


def attend_with_scores(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    heads: int,
    causal: bool = False,
    ends: torch.Tensor | None = None,
    dropout: float = 0.0,
    scale: float | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same as `attend`, and the scores of each head before dropout."""
    q, k, v = (torch.unflatten(x, 2, (heads, -1)).transpose(1, 2) for x in (query, key, value))
    scores = attention_scores(q, k, seen_keys(q, k, causal, ends), scale=scale)
    mixed = nn.functional.dropout(scores, dropout) @ v
    return mixed.transpose(1, 2).flatten(2), scores


class ScoredAttention(nn.Module):
    """Base of attention layers: heads, mask and dropout, and which scores are returned.

    `scores`: `heads` returns those of each head as well, (batch, heads, queries, keys), `mean` their mean over heads,
    (batch, 1, queries, keys). `lengths` tell where the sequences of a batch end: no step sees what stands behind.
    """

    def __init__(
        self, heads: int, causal: bool = False, dropout: float = 0.0, scale: float | None = None, scores: str = "none"
    ) -> None:
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.dropout = dropout
        self.scale = scale
        self.scores = scores

    def mix(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, ends: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Mix the values (batch, steps, channels) for each query, and return the scores if they are asked for. `ends`
        tell how many keys of each sample are real."""
        dropout = self.dropout if self.training else 0.0
        arguments = (query, key, value, self.heads, self.causal, ends, dropout, self.scale)
        if self.scores == "none":
            return attend(*arguments), None
        mixed, scores = attend_with_scores(*arguments)
        return mixed, scores.mean(1, keepdim=True) if self.scores == "mean" else scores


class SelfAttention(ScoredAttention):
    """Scaled dot-product attention of a sequence (batch, steps, channels) with itself, in several heads."""

    def __init__(
        self,
        channels: int,
        key_channels: int,
        heads: int,
        causal: bool = False,
        dropout: float = 0.0,
        bias: bool = True,
        scores: str = "none",
        value_channels: int | None = None,
        outputs: int | None = None,
    ) -> None:
        super().__init__(heads, causal, dropout, scores=scores)
        value_channels = value_channels or key_channels
        self.query = nn.Linear(channels, key_channels, bias=bias)
        self.key = nn.Linear(channels, key_channels, bias=bias)
        self.value = nn.Linear(channels, value_channels, bias=bias)
        self.result = nn.Linear(value_channels, outputs or channels, bias=bias)

    def forward(
        self, x: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        mixed, scores = self.mix(self.query(x), self.key(x), self.value(x), lengths)
        y: torch.Tensor = self.result(mixed)
        return y if scores is None else (y, scores)


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


def encoded_values(x: torch.Tensor, channels: int, dim: int) -> torch.Tensor:
    """Sines and cosines of each number, side by side along this dimension, which had one."""
    even = torch.arange(0, channels, 2, device=x.device, dtype=x.dtype)
    angles = x.movedim(dim, -1) * 10000.0 ** (-even / channels)
    waves = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
    return waves[..., :channels].movedim(-1, dim)


class ClassToken(nn.Module):
    """Puts a learned vector before the first step of a sequence (batch, steps, channels)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1)


class Attention(ScoredAttention):
    """Scaled dot-product attention of sequences (batch, steps, channels) in several heads, without weights."""

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        lengths: tuple[torch.Tensor | None, ...] = (None, None, None),
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        mixed, scores = self.mix(query, key, value, lengths[1] if lengths[1] is not None else lengths[2])
        return mixed if scores is None else (mixed, scores)


class MultiheadAttention(ScoredAttention):
    """Attention of sequences (batch, steps, channels) with learned projections of query, key, value and result."""

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
        scores: str = "none",
    ) -> None:
        super().__init__(heads, causal, dropout, scores=scores)
        self.query = nn.Linear(channels[0], key_channels, bias=bias)
        self.key = nn.Linear(channels[1], key_channels, bias=bias)
        self.value = nn.Linear(channels[2], value_channels, bias=bias)
        self.result = nn.Linear(value_channels, outputs, bias=bias)

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        lengths: tuple[torch.Tensor | None, ...] = (None, None, None),
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        ends = lengths[1] if lengths[1] is not None else lengths[2]
        mixed, scores = self.mix(self.query(query), self.key(key), self.value(value), ends)
        y: torch.Tensor = self.result(mixed)
        return y if scores is None else (y, scores)


class GroupedAttention(nn.Module):
    """Self-attention of a sequence (batch, steps, channels) whose heads share keys and values in groups.

    `positions`: `rotary` turns pairs of neighbouring channels of queries and keys by angles that grow with the step;
    `linear` lowers the scores of steps far away (ALiBi). `lengths` tell where the sequences of a batch end: no step
    sees what stands behind. `scores`: `heads` gives those of each head as well, (batch, heads, steps, steps), `mean`
    their mean.
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
        scores: str = "none",
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
        self.scores = scores

    def forward(
        self, x: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        query = torch.unflatten(self.query(x), 2, (self.heads, -1)).transpose(1, 2)
        key, value = (torch.unflatten(part(x), 2, (self.groups, -1)).transpose(1, 2) for part in (self.key, self.value))
        if self.positions == "rotary":
            query, key = self.turned(query), self.turned(key)
        key, value = (
            part.unsqueeze(2).expand(-1, -1, self.heads // self.groups, -1, -1).flatten(1, 2) for part in (key, value)
        )
        added, dropout = self.added(x, lengths), self.dropout if self.training else 0.0
        if self.scores == "none":
            mixed = nn.functional.scaled_dot_product_attention(
                query,
                key,
                value,
                attn_mask=added,
                dropout_p=dropout,
                is_causal=self.causal and added is None,
            )
            result: torch.Tensor = self.result(mixed.transpose(1, 2).flatten(2))
            return result
        scores = attention_scores(query, key, added=added)
        mixed = nn.functional.dropout(scores, dropout) @ value
        scores = scores.mean(1, keepdim=True) if self.scores == "mean" else scores
        return self.result(mixed.transpose(1, 2).flatten(2)), scores

    def turned(self, x: torch.Tensor) -> torch.Tensor:
        """Pairs of channels of (batch, heads, steps, channels), turned by step · 10000^(-2 i / channels)."""
        steps = torch.arange(x.shape[2], device=x.device, dtype=torch.float32).unsqueeze(1)
        even = torch.arange(0, x.shape[3], 2, device=x.device, dtype=torch.float32)
        angles = steps * 10000.0 ** (-even / x.shape[3])
        sine, cosine = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cosine - b * sine, a * sine + b * cosine), 4).flatten(3)

    def added(self, x: torch.Tensor, lengths: torch.Tensor | None) -> torch.Tensor | None:
        """Bias of the scores, (1, heads or 1, steps, steps), or None where torch's causal mask is enough."""
        steps = torch.arange(x.shape[1], device=x.device)
        after = steps - steps.unsqueeze(1)
        added = torch.zeros((1, 1, x.shape[1], x.shape[1]), dtype=x.dtype, device=x.device)
        if self.positions == "linear":
            head = torch.arange(1, self.heads + 1, device=x.device, dtype=x.dtype)
            added = added - 2.0 ** (-8.0 * head / self.heads).view(-1, 1, 1) * after.abs()
        elif lengths is None and self.scores == "none":
            return None
        if self.causal:
            added = added.masked_fill(after > 0, float("-inf"))
        if lengths is not None:
            added = added.masked_fill((steps >= lengths.unsqueeze(1))[:, None, None], float("-inf"))
        return added
