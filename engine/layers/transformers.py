"""Attention of one sequence to another, in groups and with positions, layers of transformers, and patches."""

from typing import Any

from engine.errors import MisfitError
from engine.fields import Bool, Choice, Float, Int, Size
from engine.layers.attention import MASKS
from engine.layers.base import LayerType, Lowered, as_chain, expect, method, module, with_lengths
from engine.layers.types import Sizes, TensorType, clash, derive, sequence
from engine.layers.weighted import Weighted, WithScaleAndOffset, WithWeightsAndBias

MODULES = "engine.build.modules.transformers."


def _heads_field() -> Int:
    return Int(4, low=1, high=4096, help="Attentions side by side; they share the channels")


def _mask_field(default: str = "none") -> Choice:
    return Choice(default, options=tuple(MASKS), notes=MASKS, label="Attention mask", help="Which steps a step sees")


def _dropout_field(default: float, help: str) -> Float:
    return Float(default, low=0.0, high=0.999, help=help)


OF_WEIGHTS = "Chance of each attention weight to become zero in training"


def _expect_sequence(x: TensorType, port: str) -> None:
    try:
        expect(x, "sequence")
        x.known("C", "the number of channels is divided among the heads")
    except MisfitError as misfit:
        raise MisfitError(str(misfit), port=port) from None


def _expect_divisible(count: int, heads: int, what: str, field: str = "heads") -> None:
    if count % heads:
        raise MisfitError(
            f"The {count:,} {what} cannot be divided among {heads:,} heads. "
            f"Use a number of heads that divides {count:,}, or another number of channels.",
            field=field,
        )


def _expect_same_steps(key: TensorType, value: TensorType) -> None:
    if clash(key["T"], value["T"]):
        raise MisfitError(f"Expected one value for each key, {key['T']} steps, received {value}.", port="value")


def _told_heads(heads: int) -> str:
    return f"{heads:,} head{'s' * (heads > 1)}"


class _Padded(LayerType):
    """A layer of one module, which is told the lengths of padded sequences."""

    def lower_padded(self, *x: TensorType) -> Lowered:
        (call,) = as_chain(self.lower(*x))
        return with_lengths(call)


class Attention(_Padded):
    """Gathers, for each query, values whose keys resemble it. Nothing is learned.

        head = softmax(scale · Q Kᵀ) V
        y = heads side by side

    The channels of queries, keys and values are divided among the heads in order. Queries and keys have as many
    channels; keys and values have as many steps. What leaves has the steps of the queries and the channels of the
    values. With the mask `causal` a query sees keys of its own step and before.

    Source: Vaswani et al.: Attention is all you need, 2017.
    """

    key, label, family, random = "attention", "Attention", "Attention", True
    matlab = "attentionLayer"
    heads = Int(1, low=1, high=4096, help="Attentions side by side; they share the channels")
    scale = Float(0.0, low=0.0, high=1e6, help="Multiplies the scores; 0: 1 / √(channels of a head)")
    mask = _mask_field()
    dropout = _dropout_field(0.0, OF_WEIGHTS)

    def input_ports(self) -> tuple[str, ...]:
        return ("query", "key", "value")

    def output(self, query: TensorType, key: TensorType, value: TensorType) -> TensorType:
        for x, port in ((query, "query"), (key, "key"), (value, "value")):
            _expect_sequence(x, port)
        if query["C"] != key["C"]:
            raise MisfitError(f"Expected as many channels as the queries, {query['C']}, received {key}.", port="key")
        _expect_same_steps(key, value)
        _expect_divisible(query.channels, self.heads, "channels of the queries")
        _expect_divisible(value.channels, self.heads, "channels of the values")
        return query.with_sizes(C=value["C"])

    def flops(self, query: TensorType, key: TensorType, value: TensorType) -> int:
        steps, others = query["T"], key["T"] if isinstance(key["T"], int) else value["T"]
        if not isinstance(steps, int) or not isinstance(others, int):
            return 0
        return 2 * steps * others * (query.channels + value.channels)

    def lower(self, *x: TensorType) -> Lowered:
        given: dict[str, Any] = {"heads": self.heads}
        given |= {"causal": True} if self.mask == "causal" else {}
        given |= {"dropout": self.dropout} if self.dropout else {}
        given |= {"scale": self.scale} if self.scale else {}
        return module(f"{MODULES}Attention", **given)

    def telling(self) -> str:
        return _told_heads(self.heads)


class MultiheadAttention(_Padded, WithWeightsAndBias):
    """Attention to another sequence: queries from one, keys and values from others, each by weights of its own.

        Q, K, V = query Wqᵀ + bq, key Wkᵀ + bk, value Wvᵀ + bv
        head = softmax(Q Kᵀ / √(channels of a head)) V
        y = (heads side by side) Woᵀ + bo

    For cross-attention connect one sequence, such as what an encoder gives, to both `key` and `value`. The three may
    have different channels. With the mask `causal` a query sees keys of its own step and before. The weights are those
    of torch's MultiheadAttention, as four matrices.

    Source: Vaswani et al.: Attention is all you need, 2017.
    """

    key, label, family, random = "multihead_attention", "Multi-head attention", "Attention", True
    heads = _heads_field()
    key_channels = Int(0, low=0, high=1_000_000, help="Numbers of query and key over all heads; 0: as the queries have")
    value_channels = Int(0, low=0, high=1_000_000, help="Numbers of the value over all heads; 0: as the key channels")
    outputs = Int(0, low=0, high=1_000_000, help="Channels that leave; 0: as the queries have")
    mask = _mask_field()
    dropout = _dropout_field(0.0, OF_WEIGHTS)
    bias = Bool(True, help="Adds learned numbers to query, key, value and result")

    def input_ports(self) -> tuple[str, ...]:
        return ("query", "key", "value")

    def _channels(self, query: TensorType) -> tuple[int, int, int]:
        """Channels of keys, of values, and of the result."""
        keys = self.key_channels or query.channels
        return keys, self.value_channels or keys, self.outputs or query.channels

    def output(self, query: TensorType, key: TensorType, value: TensorType) -> TensorType:
        for x, port in ((query, "query"), (key, "key"), (value, "value")):
            _expect_sequence(x, port)
        _expect_same_steps(key, value)
        keys, values, outputs = self._channels(query)
        _expect_divisible(keys, self.heads, "key channels", "key_channels" if self.key_channels else "heads")
        _expect_divisible(values, self.heads, "value channels", "value_channels" if self.value_channels else "heads")
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
        )

    def telling(self) -> str:
        return _told_heads(self.heads)


POSITIONS = {
    "none": "Nothing: positions are told by a layer before, or do not matter",
    "rotary": "Rotary position embedding: queries and keys are turned by angles that grow with the step",
    "linear": "ALiBi: scores fall with the distance of two steps",
}


class GroupedAttention(_Padded, WithWeightsAndBias):
    """Self-attention whose heads share keys and values in groups, with rotary or linear positions (RoPE, ALiBi).

        Q, K, V = x Wqᵀ + bq, x Wkᵀ + bk, x Wvᵀ + bv
        head h = softmax(Q[h] K[g]ᵀ / √(channels of a head) + bias[h]) V[g], g = floor(h · groups / heads)
        y = (heads side by side) Woᵀ + bo

    One group is multi-query attention; as many groups as heads is self-attention. `rotary` turns channels 2i and 2i + 1
    of each query and key at step t by the angle t · 10000^(-2i / channels of a head), neighbours in pairs as in the
    paper. (Some networks pair channel i with the one half of the channels further: the same, with the rows of the
    weights in another order.) `linear` adds -2^(-8 (h + 1) / heads) · |t - s| to the score of steps t and s for head
    h = 0, 1, ...

    Source: Ainslie et al.: GQA: Training generalized multi-query transformer models from multi-head checkpoints, 2023;
    rotary: Su et al.: RoFormer, 2021; linear: Press, Smith, Lewis: Train short, test long, 2022.
    """

    key, label, family, random = "grouped_attention", "Grouped-query attention", "Attention", True
    heads = _heads_field()
    groups = Int(2, low=1, high=4096, help="Groups of heads, each with keys and values of its own; 1: all share them")
    head_channels = Int(0, low=0, high=100_000, help="Channels of one head; 0: those of the input, divided among heads")
    positions = Choice("rotary", options=tuple(POSITIONS), notes=POSITIONS, help="How steps know where they are")
    mask = _mask_field("causal")
    dropout = _dropout_field(0.0, OF_WEIGHTS)
    bias = Bool(False, help="Adds learned numbers to query, key, value and result")

    def _of_head(self, x: TensorType) -> int:
        return self.head_channels or x.channels // self.heads

    def output(self, x: TensorType) -> TensorType:
        _expect_sequence(x, "in")
        if self.heads % self.groups:
            raise MisfitError(
                f"The {self.heads:,} heads cannot be divided among {self.groups:,} groups. "
                f"Use a number of groups that divides {self.heads:,}.",
                field="groups",
            )
        if not self.head_channels:
            _expect_divisible(x.channels, self.heads, "channels")
        if self.positions == "rotary" and self._of_head(x) % 2:
            raise MisfitError(
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
        )

    def telling(self) -> str:
        return _told_heads(self.heads)


ACTIVATIONS = {"relu": "max(0, x)", "gelu": "x times the probability that a normal number is below it"}
NORMS = {
    "after": "After each part and the way around it, as first published (post-norm)",
    "before": "Before each part: trains more easily when there are many (pre-norm); norm once more at the end",
}


class _TransformerLayer(_Padded, WithWeightsAndBias, WithScaleAndOffset):
    """What encoder and decoder layers share."""

    heads = _heads_field()
    feedforward = Int(0, low=0, high=10_000_000, help="Channels between the two layers of the feedforward part; 0: 4 ×")
    activation = Choice("relu", options=tuple(ACTIVATIONS), notes=ACTIVATIONS, help="Between those two layers")
    norm = Choice("after", options=tuple(NORMS), notes=NORMS, label="Normalisation", help="Where layers are normalised")
    dropout = _dropout_field(0.1, "Chance of numbers to become zero in training, behind each part and inside it")
    epsilon = Float(1e-5, above=0.0, high=1.0, help="Added to the variance, so that nothing is divided by zero")

    def role(self, name: str) -> str:
        return WithScaleAndOffset.role(self, name) if name.startswith("norm_") else Weighted.role(self, name)

    def _inner(self, x: TensorType) -> int:
        return self.feedforward or 4 * x.channels

    def _linear(self, x: TensorType, *others: TensorType) -> dict[str, tuple[int, int]]:
        """Rows and columns of the linear parts, by name."""
        channels = x.channels
        attention = dict.fromkeys(("query", "key", "value", "result"), (channels, channels))
        return attention | {"expand": (self._inner(x), channels), "reduce": (channels, self._inner(x))}

    def weights(self, *x: TensorType) -> dict[str, Sizes]:
        linear = self._linear(*x)
        norms = dict.fromkeys([f"norm_{number}" for number in range(1, len(linear) // 4 + 2)], (x[0].channels,))
        weights: dict[str, Sizes] = {f"{name}.weight": sizes for name, sizes in linear.items()}
        weights |= {f"{name}.weight": sizes for name, sizes in norms.items()}
        return weights | {f"{name}.bias": sizes[:1] for name, sizes in (*linear.items(), *norms.items())}

    def telling(self) -> str:
        return _told_heads(self.heads)


class TransformerEncoderLayer(_TransformerLayer):
    """One layer of a transformer's encoder: self-attention, then a feedforward network on each step.

        x = norm(x + attention(x))
        y = norm(x + W2 activation(W1 x + b1) + b2)

    With the normalisation before: x = x + attention(norm(x)), y = x + W2 activation(W1 norm(x) + b1) + b2, and a layer
    normalisation belongs behind the last one. A whole encoder is a block that holds this layer and is repeated; with
    the mask `causal` it is what language models are made of. It computes what torch's TransformerEncoderLayer does.

    Source: Vaswani et al.: Attention is all you need, 2017; normalisation before: Xiong et al.: On layer normalization
    in the transformer architecture, 2020.
    """

    key, label, family, random = "transformer_encoder_layer", "Transformer encoder layer", "Attention", True
    mask = _mask_field()

    def output(self, x: TensorType) -> TensorType:
        _expect_sequence(x, "in")
        _expect_divisible(x.channels, self.heads, "channels")
        return x.with_sizes(C=x.channels)

    def flops(self, x: TensorType) -> int:
        steps = x["T"]
        if not isinstance(steps, int):
            return 0
        linear = sum(rows * columns for rows, columns in self._linear(x).values())
        return 2 * steps * (linear + 2 * steps * x.channels)

    def lower(self, x: TensorType) -> Lowered:
        return module(
            f"{MODULES}TransformerEncoderLayer",
            channels=x.channels,
            heads=self.heads,
            feedforward=self._inner(x),
            activation=self.activation,
            norm_first=self.norm == "before",
            causal=self.mask == "causal",
            dropout=self.dropout,
            eps=self.epsilon,
        )


class TransformerDecoderLayer(_TransformerLayer):
    """One layer of a transformer's decoder: self-attention, attention to a memory, then a feedforward network.

        x = norm(x + attention(x))
        x = norm(x + attention(x to memory))
        y = norm(x + W2 activation(W1 x + b1) + b2)

    `memory` is what the encoder gives; it may have another length and other channels. With the normalisation before,
    each part works on norm(x) instead, and a layer normalisation belongs behind the last layer. A whole decoder is a
    block that holds this layer and is repeated: the memory enters each copy. It computes what torch's
    TransformerDecoderLayer does.

    Source: Vaswani et al.: Attention is all you need, 2017; normalisation before: Xiong et al.: On layer normalization
    in the transformer architecture, 2020.
    """

    key, label, family, random = "transformer_decoder_layer", "Transformer decoder layer", "Attention", True
    mask = _mask_field("causal")

    def input_ports(self) -> tuple[str, ...]:
        return ("in", "memory")

    def output(self, x: TensorType, memory: TensorType) -> TensorType:
        _expect_sequence(x, "in")
        _expect_sequence(memory, "memory")
        _expect_divisible(x.channels, self.heads, "channels")
        return x.with_sizes(C=x.channels)

    def _linear(self, x: TensorType, *others: TensorType) -> dict[str, tuple[int, int]]:
        channels, given = x.channels, others[0].channels
        own = dict.fromkeys(("cross_query", "cross_result"), (channels, channels))
        return super()._linear(x) | own | dict.fromkeys(("cross_key", "cross_value"), (channels, given))

    def flops(self, x: TensorType, memory: TensorType) -> int:
        steps, others, channels = x["T"], memory["T"], x.channels
        if not isinstance(steps, int) or not isinstance(others, int):
            return 0
        linear = {name: rows * columns for name, (rows, columns) in self._linear(x, memory).items()}
        of_memory = linear.pop("cross_key") + linear.pop("cross_value")
        products = 2 * steps * (steps + others) * channels
        return 2 * (steps * sum(linear.values()) + others * of_memory + products)

    def lower(self, x: TensorType, memory: TensorType) -> Lowered:
        return module(
            f"{MODULES}TransformerDecoderLayer",
            channels=x.channels,
            memory_channels=memory.channels,
            heads=self.heads,
            feedforward=self._inner(x),
            activation=self.activation,
            norm_first=self.norm == "before",
            causal=self.mask == "causal",
            dropout=self.dropout,
            eps=self.epsilon,
        )


class PatchEmbedding(WithWeightsAndBias):
    """Cuts an image into patches and makes a vector of each by learned weights: an image becomes a sequence.

        y[t] = W (numbers of patch t) + b

    Patches do not overlap and are counted row by row from the upper left (MATLAB counts down the columns); their size
    must divide that of the image. It is a convolution whose stride is its filter's size. A class token and a position
    embedding usually follow, then transformer layers.

    Source: Dosovitskiy et al.: An image is worth 16x16 words, 2021.
    """

    key, label, family = "patch_embedding", "Patch embedding", "Attention"
    matlab = "patchEmbeddingLayer"
    patch = Size(4, length=2, high=10_000, label="Patch size", unit="pixels", help="Height and width of a patch")
    dimension = Int(64, low=1, high=1_000_000, help="Numbers that stand for one patch")
    bias = Bool(True, help="Adds a learned number to each of them")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image")
        x.known("C", "the number of channels decides the size of the weights")
        for axis, patch in zip("HW", self.patch, strict=True):
            size = x[axis]
            if isinstance(size, int) and size % patch:
                raise MisfitError(
                    f"The image of {x.short()} cannot be cut into patches of {patch:,} along axis {axis}. "
                    f"Use a patch size that divides {size:,}, or resize or pad the image before.",
                    field="patch",
                )
        steps = derive(lambda h, w: (h // self.patch[0]) * (w // self.patch[1]), x["H"], x["W"])
        return sequence(steps, self.dimension)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        weight: dict[str, Sizes] = {"weight": (self.dimension, x.channels, *self.patch)}
        return weight | ({"bias": (self.dimension,)} if self.bias else {})

    def flops(self, x: TensorType) -> int:
        count = x.count
        return 2 * self.dimension * count if count is not None else 0

    def lower(self, x: TensorType) -> Lowered:
        given = {"in_channels": x.channels, "out_channels": self.dimension}
        bias = {} if self.bias else {"bias": False}
        cut = module("Conv2d", **given, kernel_size=self.patch, stride=self.patch, **bias)
        return cut, method("flatten", 2), method("transpose", 1, 2)

    def telling(self) -> str:
        return " × ".join(map(str, self.patch))
