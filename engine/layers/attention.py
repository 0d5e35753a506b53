"""Layers of transformers: embeddings of indices and positions, and self-attention."""

from typing import Any

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Float, Int, Visible
from netwright.engine.core.types import Sizes, TensorType, derive, image, sequence
from netwright.engine.layers.base import (
    LENGTHS,
    Call,
    LayerType,
    Lowered,
    as_chain,
    expect,
    function,
    method,
    module,
    with_lengths,
)
from netwright.engine.layers.weighted import WithWeights, WithWeightsAndBias, weights_initializer_field


class Embedding(WithWeights):
    """Looks up a learned vector for each index of a sequence, such as for each word.

        y[t] = table[x[t]]

    Indices count from 0 (MATLAB's from 1). The vector of the padding index stays zero and learns nothing.

    Input: indices (N, T). Output: (N, T, K) for vectors of K numbers.

    Source: Bengio, Ducharme, Vincent, Jauvin: A neural probabilistic language model, 2003.
    """

    key, label, family = "embedding", "Embedding", "Attention"
    matlab = "embeddingLayer"
    found_as = "wordEmbeddingLayer"
    vocabulary = Int(
        1000, low=1, high=100_000_000, label="Vocabulary size", help="Number of different indices, which count from 0"
    )
    dimension = Int(64, low=1, high=1_000_000, help="Length of the vector of an index")
    padding_index = Int(-1, low=-1, high=100_000_000, help="Index whose vector stays zero, for padding; -1: none")
    weights_initializer = weights_initializer_field("narrow-normal")

    def output(self, x: TensorType) -> TensorType:
        if x.axes != ("T",) or x.kind != "index":
            raise ShapeError(
                f"Expected tokens: a sequence of indices (T), received {x}. "
                "Set the content of the sequence input to indices.",
                port="in",
            )
        if self.padding_index >= self.vocabulary:
            raise ShapeError(
                f"The padding index must be one of the vocabulary: expected at most {self.vocabulary - 1:,}, "
                f"received {self.padding_index:,}.",
                field="padding_index",
            )
        return sequence(x["T"], self.dimension)

    def weights(self, *x: TensorType) -> dict[str, Sizes]:
        return {"weight": (self.vocabulary, self.dimension)}

    def lower(self, *x: TensorType) -> Lowered:
        padding = {} if self.padding_index < 0 else {"padding_idx": self.padding_index}
        table = module("Embedding", num_embeddings=self.vocabulary, embedding_dim=self.dimension, **padding)
        return method("long"), table

    def short_value(self) -> str:
        return f"{self.vocabulary:,} × {self.dimension:,}"


MASKS = {
    "none": "Every step attends to all steps",
    "causal": "A step attends to itself and to earlier steps",
}


SCORES = {
    "none": "No output of attention weights",
    "heads": "The weights of each head, at a second port",
    "mean": "Their mean over the heads, at a second port",
}


def scores_field() -> Choice:
    """Output of the attention weights."""
    return Choice("none", options=tuple(SCORES), notes=SCORES, help="Also outputs the attention weights")


class WithScores(LayerType):
    """An attention that may give its scores too, by a second port that may stay unused."""

    heads: Int
    scores: Choice

    def output_ports(self) -> tuple[str, ...]:
        return ("out", *self.side_ports())

    def side_ports(self) -> tuple[str, ...]:
        return () if self.scores == "none" else ("scores",)

    def output_types(self, *x: TensorType) -> tuple[TensorType, ...]:
        out = self.output(*x)
        if self.scores == "none":
            return (out,)
        keys = next((type["T"] for type in x[1:] if isinstance(type["T"], int)), x[1 % len(x)]["T"])
        return out, image(1 if self.scores == "mean" else self.heads, x[0]["T"], keys)

    def _told_scores(self) -> dict[str, Any]:
        """Return the arguments of the module for the scores."""
        return {} if self.scores == "none" else {"scores": self.scores}


class SelfAttention(WithScores, WithWeightsAndBias):
    """Lets each step of a sequence gather from the others what resembles what it asks for.

        Q, K, V = x Wqᵀ + bq, x Wkᵀ + bk, x Wvᵀ + bv
        head = softmax(Q Kᵀ / √(channels of a head)) V
        y = (heads side by side) Woᵀ + bo

    The output has as many channels as the input by default. With the mask `causal` a step sees itself and earlier
    steps.

    With `scores` a second port has the weights softmax(...) before dropout, as an image of heads × query steps × key
    steps; each row adds to one. (MATLAB: HasScoresOutput, which gives those of each head)

    Input: (N, T, C). Output: (N, T, C), or (N, T, K) with K output channels.

    Source: Vaswani et al.: Attention is all you need, 2017.
    """

    key, label, family, random = "self_attention", "Self-attention", "Attention", True
    matlab = "selfAttentionLayer"
    found_as = "mhsa"
    heads = Int(4, low=1, high=4096, help="Attentions side by side; they share the key channels")
    key_channels = Int(
        0, low=0, high=1_000_000, help="Number of query and key channels over all heads; 0: as many as the input has"
    )
    value_channels = Int(
        0, low=0, high=1_000_000, help="Number of value channels over all heads; 0: as many as key channels"
    )
    outputs = Int(0, low=0, high=1_000_000, help="Number of output channels; 0: as many as the input has")
    mask = Choice(
        "none", options=tuple(MASKS), notes=MASKS, label="Attention mask", help="Steps that each step attends to"
    )
    dropout = Float(
        0.0, low=0.0, high=0.999, help="Probability that an attention weight is set to zero during training"
    )
    bias = Bool(True, help="Adds a learned bias to query, key, value and output")
    scores = scores_field()

    def _channels(self, x: TensorType) -> tuple[int, int, int]:
        """Channels of keys, of values, and of the result."""
        keys = self.key_channels or x.channels
        return keys, self.value_channels or keys, self.outputs or x.channels

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        keys, values, outputs = self._channels(x)
        for count, name in ((keys, "key"), (values, "value")):
            if count % self.heads:
                field = f"{name}_channels"
                raise ShapeError(
                    f"The {count:,} {name} channels cannot be divided among {self.heads:,} heads. "
                    f"Use a number of heads that divides {count:,}, or other {name} channels.",
                    field=field if getattr(self, field) else "heads",
                )
        return x.with_sizes(C=outputs)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        channels, (keys, values, outputs) = x.channels, self._channels(x)
        rows = {
            "query": (keys, channels),
            "key": (keys, channels),
            "value": (values, channels),
            "result": (outputs, values),
        }
        weights: dict[str, Sizes] = {f"{name}.weight": sizes for name, sizes in rows.items()}
        return weights | ({f"{name}.bias": sizes[:1] for name, sizes in rows.items()} if self.bias else {})

    def flops(self, x: TensorType) -> int:
        steps, (keys, values, outputs) = x["T"], self._channels(x)
        if not isinstance(steps, int):
            return 0
        projections = x.channels * (2 * keys + values) + values * outputs
        return 2 * steps * (projections + steps * (keys + values))

    def lower(self, x: TensorType) -> Lowered:
        keys, values, outputs = self._channels(x)
        arguments = {"channels": x.channels, "key_channels": keys, "heads": self.heads}
        arguments |= {"value_channels": values} if values != keys else {}
        arguments |= {"outputs": outputs} if outputs != x.channels else {}
        arguments |= {"causal": True} if self.mask == "causal" else {}
        return module(
            "netwright.engine.lowering.modules.attention.SelfAttention",
            **arguments,
            **({"dropout": self.dropout} if self.dropout else {}),
            **({} if self.bias else {"bias": False}),
            **self._told_scores(),
        )

    def lower_padded(self, x: TensorType) -> Lowered:
        (call,) = as_chain(self.lower(x))
        return with_lengths(call)

    def short_value(self) -> str:
        return f"{self.heads:,} head{'s' * (self.heads > 1)}"


def _alone_field(visible_when: Visible | None = None) -> Bool:
    help = "Outputs the vectors without adding them to the input, as MATLAB does"
    return Bool(False, label="Vectors alone", help=help, visible_when=visible_when)


def _dimension_field(visible_when: Visible, of_values: str = "") -> Int:
    help = f"Length of the vector of a position; 0: as many as the input has channels{of_values}"
    return Int(0, low=0, high=1_000_000, help=help, visible_when=visible_when)


class PositionEmbedding(WithWeights):
    """Adds a learned vector to each step, one for each position, so that the order of the steps counts.

        y[t] = x[t] + table[t]

    A sequence may be at most as long as the table. In MATLAB this layer gives the vectors alone, table[t], and an
    addition follows it: switch on `alone` for that.

    Input: (N, T, C). Output: (N, T, C), or (N, T, K) for vectors of K numbers alone.

    Source: Gehring, Auli, Grangier, Yarats, Dauphin: Convolutional sequence to sequence learning, 2017.
    """

    key, label, family = "position_embedding", "Position embedding", "Attention"
    matlab = "positionEmbeddingLayer"
    found_as = "pe"
    positions = Int(
        512,
        low=1,
        high=100_000_000,
        help="Number of positions that have a vector, which is the maximum sequence length",
    )
    alone = _alone_field()
    dimension = _dimension_field(lambda layer: layer.alone)
    weights_initializer = weights_initializer_field("narrow-normal")

    def _dimension(self, x: TensorType) -> int:
        return (self.alone and self.dimension) or x.channels

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        steps = x["T"]
        if isinstance(steps, int) and steps > self.positions:
            raise ShapeError(
                f"The sequence has {steps:,} steps, but only {self.positions:,} positions have a vector. "
                f"Use at least {steps:,} positions.",
                field="positions",
            )
        return x.with_sizes(C=self._dimension(x))

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"table.weight": (self.positions, self._dimension(x))}

    def lower(self, x: TensorType) -> Lowered:
        arguments = {"positions": self.positions, "channels": self._dimension(x)}
        alone = {"alone": True} if self.alone else {}
        return module("netwright.engine.lowering.modules.attention.PositionEmbedding", **arguments, **alone)

    def short_value(self) -> str:
        return f"{self.positions:,} positions"


class ClassToken(WithWeights):
    """Puts a learned vector before the first step, to gather what the whole sequence says.

        y = [token, x[0], x[1], ...]

    The sequence gets one step longer. After a transformer its first step stands for all of it.

    Input: (N, T, C). Output: (N, T + 1, C).

    Source: Dosovitskiy et al.: An image is worth 16x16 words, 2021.
    """

    key, label, family = "class_token", "Class token", "Attention"
    matlab = "embeddingConcatenationLayer"
    weights_initializer = weights_initializer_field("zeros")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence")
        return x.with_sizes(T=derive(lambda steps: steps + 1, x["T"]), C=x.channels)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"token": (1, 1, x.channels)}

    def lower(self, x: TensorType) -> Lowered:
        return module("netwright.engine.lowering.modules.attention.ClassToken", channels=x.channels)

    def lengths_after(self, x: TensorType) -> Call:
        return function(f"{LENGTHS}linear_lengths", added=1)


ENCODED = {
    "temporal-indices": "The number of the step, from 0; the encoding is added to the input",
    "data-values": "The input itself, such as a time; each value becomes a vector",
}
ENCODED_LAYOUTS = ("features", "sequence", "image", "volume")


class SinusoidalPosition(LayerType):
    """Adds sines and cosines of the position to each step, so that the order of the steps counts.

        y[t, 2i] = x[t, 2i] + sin(t / 10000^(2i / channels))
        y[t, 2i + 1] = x[t, 2i + 1] + cos(t / 10000^(2i / channels))

    Nothing is learned, and a sequence may have any length. In MATLAB this layer gives the encoding alone and an
    addition follows it: switch on `alone` for that.

    With the positions `data-values` the input is a position, not what is to be encoded with one: one channel, or
    tokens. Each number becomes a vector, so that a network can be told a time or the step of a diffusion:

        y[2i] = sin(x / 10000^(2i / channels)), y[2i + 1] = cos(x / 10000^(2i / channels))

    Input: (N, T, C). Output: (N, T, C), or (N, T, K) for vectors of K numbers alone. With `data-values` the input is
    (N, T), (N, T, 1) or another shape with one channel, the output has K channels.

    Source: Vaswani et al.: Attention is all you need, 2017; of values: Ho, Jain, Abbeel: Denoising diffusion
    probabilistic models, 2020.
    """

    key, label, family = "sinusoidal_position", "Sinusoidal position encoding", "Attention"
    matlab = "sinusoidalPositionEncodingLayer"
    found_as = "pe PositionalEncoding"
    positions = Choice("temporal-indices", options=tuple(ENCODED), notes=ENCODED, help="Source of the positions")
    alone = _alone_field(lambda layer: not layer.is_of_values)
    dimension = _dimension_field(lambda layer: layer.alone or layer.is_of_values, ", or 64 for data values")

    @property
    def is_of_values(self) -> bool:
        """Whether the input holds the positions."""
        return bool(self.positions == "data-values")

    def _dimension(self, x: TensorType) -> int:
        return (self.alone and self.dimension) or x.channels

    def output(self, x: TensorType) -> TensorType:
        if not self.is_of_values:
            expect(x, "sequence")
            return x.with_sizes(C=self._dimension(x))
        numbers = self.dimension or 64
        if x.kind == "index" and x.axes == ("T",):
            return sequence(x["T"], numbers)
        expect(x, *ENCODED_LAYOUTS)
        if x.channels != 1:
            raise ShapeError(f"Expected tokens, or one channel that holds the position, received {x}.", port="in")
        return x.with_sizes(C=numbers)

    def lower(self, x: TensorType) -> Lowered:
        if not self.is_of_values:
            alone = {"alone": True} if self.alone else {}
            return module(
                "netwright.engine.lowering.modules.attention.SinusoidalPosition", channels=self._dimension(x), **alone
            )
        numbers, of_tokens = self.dimension or 64, x.kind == "index"
        encode = function(
            "netwright.engine.lowering.modules.attention.encoded_values",
            channels=numbers,
            dim=2 if of_tokens else x.dim("C"),
        )
        return (method("float"), method("unsqueeze", 2), encode) if of_tokens else encode
