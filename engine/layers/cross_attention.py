"""Attention of one sequence to another, and self-attention in groups and with positions."""

from typing import Any

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Float, Int
from netwright.engine.core.types import Sizes, TensorType, clash
from netwright.engine.layers.attention import MASKS, WithScores, scores_field
from netwright.engine.layers.base import LayerType, Lowered, as_chain, expect, module, with_lengths
from netwright.engine.layers.weighted import WithWeightsAndBias

MODULES = "netwright.engine.lowering.modules.attention."


def heads_field() -> Int:
    """The number of attention heads."""
    return Int(4, low=1, high=4096, help="Number of attention heads, among which the channels are divided")


def mask_field(default: str = "none") -> Choice:
    """The mask: the steps that a step attends to."""
    return Choice(
        default, options=tuple(MASKS), notes=MASKS, label="Attention mask", help="Steps that each step attends to"
    )


def dropout_field(default: float, help: str) -> Float:
    """The probability with which training drops attention weights."""
    return Float(default, low=0.0, high=0.999, help=help)


OF_WEIGHTS = "Probability that an attention weight is set to zero during training"


def expect_sequence(x: TensorType, port: str) -> None:
    """Raise `ShapeError` for an input that is no sequence of known channels."""
    try:
        expect(x, "sequence")
        x.known("C", "the number of channels is divided among the heads")
    except ShapeError as error:
        raise ShapeError(str(error), port=port) from None


def expect_divisible(count: int, heads: int, noun: str, field: str = "heads") -> None:
    """Refuse channels that cannot be divided among heads, in words."""
    if count % heads:
        raise ShapeError(
            f"The {count:,} {noun} cannot be divided among {heads:,} heads. "
            f"Use a number of heads that divides {count:,}, or another number of channels.",
            field=field,
        )


def expect_same_steps(key: TensorType, value: TensorType) -> None:
    """Refuse keys and values of which there are not as many, in words."""
    if clash(key["T"], value["T"]):
        raise ShapeError(f"Expected one value for each key, {key['T']} steps, received {value}.", port="value")


def told_heads(heads: int) -> str:
    """The number of heads, for the canvas."""
    return f"{heads:,} head{'s' * (heads > 1)}"


class Padded(LayerType):
    """A layer of one module, which is told the lengths of padded sequences."""

    def lower_padded(self, *x: TensorType) -> Lowered:
        (call,) = as_chain(self.lower(*x))
        return with_lengths(call)


class Attention(Padded, WithScores):
    """Gathers, for each query, values whose keys resemble it. Nothing is learned.

        head = softmax(scale · Q Kᵀ) V
        y = heads side by side

    The channels of queries, keys and values are divided among the heads in order. Queries and keys have as many
    channels; keys and values have as many steps. The output has the steps of the queries and the channels of the
    values. With the mask `causal` a query sees the keys of its step and earlier ones.

    With `scores` a second port has the weights softmax(...) before dropout, as an image of heads × queries × keys;
    each row adds to one. (MATLAB: HasScoresOutput, which gives those of each head)

    Inputs: queries (N, T, C), keys (N, S, C) and values (N, S, K). Output: (N, T, K).

    Source: Vaswani et al.: Attention is all you need, 2017.
    """

    key, label, family, random = "attention", "Attention", "Attention", True
    matlab = "attentionLayer"
    found_as = "scaled_dot_product_attention"
    heads = Int(1, low=1, high=4096, help="Number of attention heads, among which the channels are divided")
    scale = Float(0.0, low=0.0, high=1e6, help="Factor of the scores; 0: 1 / √(channels per head)")
    mask = mask_field()
    dropout = dropout_field(0.0, OF_WEIGHTS)
    scores = scores_field()

    def input_ports(self) -> tuple[str, ...]:
        return ("query", "key", "value")

    def output(self, query: TensorType, key: TensorType, value: TensorType) -> TensorType:
        for x, port in ((query, "query"), (key, "key"), (value, "value")):
            expect_sequence(x, port)
        if query["C"] != key["C"]:
            raise ShapeError(f"Expected as many channels as the queries, {query['C']}, received {key}.", port="key")
        expect_same_steps(key, value)
        expect_divisible(query.channels, self.heads, "channels of the queries")
        expect_divisible(value.channels, self.heads, "channels of the values")
        return query.with_sizes(C=value["C"])

    def flops(self, query: TensorType, key: TensorType, value: TensorType) -> int:
        steps, others = query["T"], key["T"] if isinstance(key["T"], int) else value["T"]
        if not isinstance(steps, int) or not isinstance(others, int):
            return 0
        return 2 * steps * others * (query.channels + value.channels)

    def lower(self, *x: TensorType) -> Lowered:
        arguments: dict[str, Any] = {"heads": self.heads}
        arguments |= {"causal": True} if self.mask == "causal" else {}
        arguments |= {"dropout": self.dropout} if self.dropout else {}
        arguments |= {"scale": self.scale} if self.scale else {}
        return module(f"{MODULES}Attention", **arguments, **self._told_scores())

    def short_value(self) -> str:
        return told_heads(self.heads)


class MultiheadAttention(Padded, WithScores, WithWeightsAndBias):
    """Attention to another sequence: queries from one, keys and values from others, with separate weights.

        Q, K, V = query Wqᵀ + bq, key Wkᵀ + bk, value Wvᵀ + bv
        head = softmax(Q Kᵀ / √(channels of a head)) V
        y = (heads side by side) Woᵀ + bo

    For cross-attention connect one sequence, such as the output of an encoder, to both `key` and `value`. The three may
    have different channels. With the mask `causal` a query sees the keys of its step and earlier ones. The weights are
    those of torch's MultiheadAttention, as four matrices.

    With `scores` a second port has the attention weights before dropout, as an image of heads × queries × keys; each
    row adds to one. (torch: need_weights, average_attn_weights, after dropout; `mean` has no axis for the heads)

    Inputs: queries (N, T, C), keys (N, S, A) and values (N, S, B). Output: (N, T, K) with K output channels, by default
    C.

    Source: Vaswani et al.: Attention is all you need, 2017.
    """

    key, label, family, random = "multihead_attention", "Multi-head attention", "Attention", True
    found_as = "mha MultiHeadAttention"
    heads = heads_field()
    key_channels = Int(
        0, low=0, high=1_000_000, help="Number of query and key channels over all heads; 0: as many as the queries have"
    )
    value_channels = Int(
        0, low=0, high=1_000_000, help="Number of value channels over all heads; 0: as many as key channels"
    )
    outputs = Int(0, low=0, high=1_000_000, help="Number of output channels; 0: as many as the queries have")
    mask = mask_field()
    dropout = dropout_field(0.0, OF_WEIGHTS)
    bias = Bool(True, help="Adds a learned bias to query, key, value and output")
    scores = scores_field()

    def input_ports(self) -> tuple[str, ...]:
        return ("query", "key", "value")

    def _channels(self, query: TensorType) -> tuple[int, int, int]:
        """Channels of keys, of values, and of the result."""
        keys = self.key_channels or query.channels
        return keys, self.value_channels or keys, self.outputs or query.channels

    def output(self, query: TensorType, key: TensorType, value: TensorType) -> TensorType:
        for x, port in ((query, "query"), (key, "key"), (value, "value")):
            expect_sequence(x, port)
        expect_same_steps(key, value)
        keys, values, outputs = self._channels(query)
        expect_divisible(keys, self.heads, "key channels", "key_channels" if self.key_channels else "heads")
        expect_divisible(values, self.heads, "value channels", "value_channels" if self.value_channels else "heads")
        return query.with_sizes(C=outputs)

    def weights(self, query: TensorType, key: TensorType, value: TensorType) -> dict[str, Sizes]:
        keys, values, outputs = self._channels(query)
        rows = {
            "query": (keys, query.channels),
            "key": (keys, key.channels),
            "value": (values, value.channels),
            "result": (outputs, values),
        }
        weights: dict[str, Sizes] = {f"{name}.weight": sizes for name, sizes in rows.items()}
        return weights | ({f"{name}.bias": sizes[:1] for name, sizes in rows.items()} if self.bias else {})

    def flops(self, query: TensorType, key: TensorType, value: TensorType) -> int:
        steps, others = query["T"], key["T"] if isinstance(key["T"], int) else value["T"]
        if not isinstance(steps, int) or not isinstance(others, int):
            return 0
        keys, values, outputs = self._channels(query)
        projections = steps * (query.channels * keys + values * outputs)
        projections += others * (key.channels * keys + value.channels * values)
        return 2 * (projections + steps * others * (keys + values))

    def lower(self, query: TensorType, key: TensorType, value: TensorType) -> Lowered:
        keys, values, outputs = self._channels(query)
        return module(
            f"{MODULES}MultiheadAttention",
            channels=(query.channels, key.channels, value.channels),
            key_channels=keys,
            value_channels=values,
            outputs=outputs,
            heads=self.heads,
            **({"causal": True} if self.mask == "causal" else {}),
            **({"dropout": self.dropout} if self.dropout else {}),
            **({} if self.bias else {"bias": False}),
            **self._told_scores(),
        )

    def short_value(self) -> str:
        return told_heads(self.heads)


POSITIONS = {
    "none": "None: an earlier layer encodes positions, or order does not matter",
    "rotary": "Rotary position embedding: queries and keys are rotated by angles that grow with the step",
    "linear": "ALiBi: scores decrease with the distance of two steps",
}


class GroupedAttention(Padded, WithScores, WithWeightsAndBias):
    """Self-attention whose heads share keys and values in groups, with rotary or linear positions (RoPE, ALiBi).

        Q, K, V = x Wqᵀ + bq, x Wkᵀ + bk, x Wvᵀ + bv
        head h = softmax(Q[h] K[g]ᵀ / √(channels of a head) + bias[h]) V[g], g = floor(h · groups / heads)
        y = (heads side by side) Woᵀ + bo

    One group is multi-query attention; as many groups as heads is self-attention. `rotary` turns channels 2i and 2i + 1
    of each query and key at step t by the angle t · 10000^(-2i / channels of a head), neighbours in pairs as in the
    paper. (Some networks pair channel i with the one half of the channels further: the same, with the rows of the
    weights in another order.) `linear` adds -2^(-8 (h + 1) / heads) · |t - s| to the score of steps t and s for head
    h = 0, 1, ... With `scores` a second port has the attention weights before dropout, as an image of heads × query
    steps × key steps.

    Input: (N, T, C). Output: (N, T, C).

    Source: Ainslie et al.: GQA: Training generalized multi-query transformer models from multi-head checkpoints, 2023;
    rotary: Su et al.: RoFormer, 2021; linear: Press, Smith, Lewis: Train short, test long, 2022.
    """

    key, label, family, random = "grouped_attention", "Grouped-query attention", "Attention", True
    heads = heads_field()
    groups = Int(
        2, low=1, high=4096, help="Number of groups of heads that share keys and values; 1: all heads share them"
    )
    head_channels = Int(
        0, low=0, high=100_000, help="Number of channels per head; 0: those of the input divided by the number of heads"
    )
    positions = Choice("rotary", options=tuple(POSITIONS), notes=POSITIONS, help="Position encoding")
    mask = mask_field("causal")
    dropout = dropout_field(0.0, OF_WEIGHTS)
    bias = Bool(False, help="Adds a learned bias to query, key, value and output")
    scores = scores_field()

    def _of_head(self, x: TensorType) -> int:
        return self.head_channels or x.channels // self.heads

    def output(self, x: TensorType) -> TensorType:
        expect_sequence(x, "in")
        if self.heads % self.groups:
            raise ShapeError(
                f"The {self.heads:,} heads cannot be divided among {self.groups:,} groups. "
                f"Use a number of groups that divides {self.heads:,}.",
                field="groups",
            )
        if not self.head_channels:
            expect_divisible(x.channels, self.heads, "channels")
        if self.positions == "rotary" and self._of_head(x) % 2:
            raise ShapeError(
                f"Rotary positions turn channels in pairs: expected an even number of channels of a head, "
                f"received {self._of_head(x):,}.",
                field="head_channels" if self.head_channels else "heads",
            )
        return x.with_sizes(C=x.channels)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        channels, each = x.channels, self._of_head(x)
        rows = {
            "query": (self.heads * each, channels),
            "key": (self.groups * each, channels),
            "value": (self.groups * each, channels),
            "result": (channels, self.heads * each),
        }
        weights: dict[str, Sizes] = {f"{name}.weight": sizes for name, sizes in rows.items()}
        return weights | ({f"{name}.bias": sizes[:1] for name, sizes in rows.items()} if self.bias else {})

    def flops(self, x: TensorType) -> int:
        steps, each = x["T"], self._of_head(x)
        if not isinstance(steps, int):
            return 0
        return 4 * steps * each * (x.channels * (self.heads + self.groups) + steps * self.heads)

    def lower(self, x: TensorType) -> Lowered:
        return module(
            f"{MODULES}GroupedAttention",
            channels=x.channels,
            head_channels=self._of_head(x),
            heads=self.heads,
            groups=self.groups,
            **({} if self.positions == "none" else {"positions": self.positions}),
            **({"causal": True} if self.mask == "causal" else {}),
            **({"dropout": self.dropout} if self.dropout else {}),
            **({} if self.bias else {"bias": False}),
            **self._told_scores(),
        )

    def short_value(self) -> str:
        return told_heads(self.heads)
