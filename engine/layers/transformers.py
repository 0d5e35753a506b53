"""Layers of transformers, a whole one, and patches of images as its steps."""

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Float, Int
from netwright.engine.core.list_fields import Size
from netwright.engine.core.types import Sizes, TensorType, derive, sequence
from netwright.engine.layers.attention import MASKS
from netwright.engine.layers.base import LENGTHS, Call, LayerType, Lowered, expect, function, method, module
from netwright.engine.layers.cross_attention import (
    Padded,
    dropout_field,
    expect_divisible,
    expect_sequence,
    heads_field,
    mask_field,
    told_heads,
)
from netwright.engine.layers.weighted import Weighted, WithScaleAndOffset, WithWeightsAndBias

MODULES = "netwright.engine.lowering.modules.transformers."

ACTIVATIONS = {"relu": "max(0, x)", "gelu": "x times the probability that a standard normal variable is below x"}
NORMS = {
    "after": "After each residual connection, as first published (post-norm)",
    "before": "Before each part, which trains more easily in deep networks (pre-norm); add a normalisation at the end",
}


class _TransformerLayer(Padded, WithWeightsAndBias, WithScaleAndOffset):
    """Base of encoder and decoder layers."""

    heads = heads_field()
    feedforward = Int(
        0,
        low=0,
        high=10_000_000,
        help="Number of channels between the two layers of the feedforward network; 0: 4 × the input's",
    )
    activation = Choice(
        "relu", options=tuple(ACTIVATIONS), notes=ACTIVATIONS, help="Activation function between those two layers"
    )
    norm = Choice(
        "after", options=tuple(NORMS), notes=NORMS, label="Normalisation", help="Position of the normalisation"
    )
    dropout = dropout_field(
        0.1, ("Probability that a value is set to zero during training, after each part and inside it")
    )
    epsilon = Float(1e-5, above=0.0, high=1.0, help="Constant added to the variance to avoid division by zero")

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

    def short_value(self) -> str:
        return told_heads(self.heads)


def _mask_of(name: str, default: str, help: str) -> Choice:
    return Choice(default, options=tuple(MASKS), notes=MASKS, label=f"{name.capitalize()} mask", help=help)


class TransformerEncoderLayer(_TransformerLayer):
    """One layer of a transformer's encoder: self-attention, then a feedforward network on each step.

        x = norm(x + attention(x))
        y = norm(x + W2 activation(W1 x + b1) + b2)

    With the normalisation before: x = x + attention(norm(x)), y = x + W2 activation(W1 norm(x) + b1) + b2, and a layer
    normalisation belongs behind the last one. A whole encoder is a block that holds this layer and is repeated; with
    the mask `causal` it is what language models are made of. It computes what torch's TransformerEncoderLayer does.

    Input: (N, T, C). Output: (N, T, C).

    Source: Vaswani et al.: Attention is all you need, 2017; normalisation before: Xiong et al.: On layer normalization
    in the transformer architecture, 2020.
    """

    key, label, family, random = "transformer_encoder_layer", "Transformer encoder layer", "Attention", True
    found_as = "encoder"
    mask = mask_field()

    def output(self, x: TensorType) -> TensorType:
        expect_sequence(x, "in")
        expect_divisible(x.channels, self.heads, "channels")
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

    Inputs: (N, T, C) and the memory (N, S, M). Output: (N, T, C).

    Source: Vaswani et al.: Attention is all you need, 2017; normalisation before: Xiong et al.: On layer normalization
    in the transformer architecture, 2020.
    """

    key, label, family, random = "transformer_decoder_layer", "Transformer decoder layer", "Attention", True
    found_as = "decoder"
    mask = mask_field("causal")

    def input_ports(self) -> tuple[str, ...]:
        return ("in", "memory")

    def output(self, x: TensorType, memory: TensorType) -> TensorType:
        expect_sequence(x, "in")
        expect_sequence(memory, "memory")
        expect_divisible(x.channels, self.heads, "channels")
        return x.with_sizes(C=x.channels)

    def _linear(self, x: TensorType, *others: TensorType) -> dict[str, tuple[int, int]]:
        channels, source_channels = x.channels, others[0].channels
        own = dict.fromkeys(("cross_query", "cross_result"), (channels, channels))
        return super()._linear(x) | own | dict.fromkeys(("cross_key", "cross_value"), (channels, source_channels))

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


class Transformer(_TransformerLayer):
    """A whole transformer: an encoder reads the source, a decoder reads the target and looks at what that gives.

        memory = norm(encoder layers, one after the other (source))
        y = norm(decoder layers, one after the other (target, memory))

    What leaves has the steps of the target. Source and target have as many channels: put an embedding, or a fully
    connected layer, and a position encoding before each, and a fully connected layer behind. In training the target is
    what the decoder has to continue, one step behind what it has to give; the mask `causal` of the target keeps it from
    looking ahead. Layers and weights are those of a Transformer encoder layer and decoder layer, with a normalisation
    behind the last of each, as in torch's Transformer. (There a mask is given with each batch; here it is a field.)

    Inputs: source (N, S, C) and target (N, T, C). Output: (N, T, C).

    Source: Vaswani et al.: Attention is all you need, 2017.
    """

    key, label, family, random = "transformer", "Transformer", "Attention", True
    encoder_layers = Int(6, low=1, high=1000, help="Number of encoder layers")
    decoder_layers = Int(6, low=1, high=1000, help="Number of decoder layers")
    source_mask = _mask_of("source", "none", "Steps of the source that each of its steps attends to")
    mask = _mask_of("target", "causal", "Steps of the target that each of its steps attends to")
    memory_mask = _mask_of("memory", "none", "Steps of the source that each step of the target attends to")

    def input_ports(self) -> tuple[str, ...]:
        return ("source", "target")

    def output(self, source: TensorType, target: TensorType) -> TensorType:
        expect_sequence(source, "source")
        expect_sequence(target, "target")
        if source["C"] != target["C"]:
            raise ShapeError(
                f"Expected as many channels as the source, {source['C']}, received {target}.", port="target"
            )
        expect_divisible(source.channels, self.heads, "channels")
        return target.with_sizes(C=target.channels)

    def _parts(self) -> tuple[tuple[str, int, LayerType], ...]:
        """Encoder and decoder: name, number of layers, and one of them."""
        shared = {name: getattr(self, name) for name in ("heads", "feedforward", "activation", "norm")}
        encoder = TransformerEncoderLayer(**shared, mask=self.source_mask)
        decoder = TransformerDecoderLayer(**shared, mask=self.mask)
        return ("encoder", self.encoder_layers, encoder), ("decoder", self.decoder_layers, decoder)

    def weights(self, *x: TensorType) -> dict[str, Sizes]:
        (source, target), weights = x, dict[str, Sizes]()
        for part, count, layer in self._parts():
            inputs = (target, source) if part == "decoder" else (source,)
            layer_weights = layer.weights(*inputs)
            weights |= {
                f"{part}.{number}.{name}": sizes for number in range(count) for name, sizes in layer_weights.items()
            }
            weights |= {f"{part}_norm.{name}": (source.channels,) for name in ("weight", "bias")}
        return weights

    def role(self, name: str) -> str:
        parts = name.split(".")
        return super().role(parts[-2] + "." + parts[-1] if parts[0] in ("encoder", "decoder") else f"norm_.{parts[-1]}")

    def flops(self, source: TensorType, target: TensorType) -> int:
        if not isinstance(source["T"], int) or not isinstance(target["T"], int):
            return 0
        (_, reads, encoder), (_, writes, decoder) = self._parts()
        return reads * encoder.flops(source) + writes * decoder.flops(target, source)

    def lower(self, source: TensorType, target: TensorType) -> Lowered:
        return module(
            f"{MODULES}Transformer",
            channels=source.channels,
            heads=self.heads,
            feedforward=self._inner(source),
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            activation=self.activation,
            norm_first=self.norm == "before",
            causal=tuple(mask == "causal" for mask in (self.source_mask, self.mask, self.memory_mask)),
            dropout=self.dropout,
            eps=self.epsilon,
        )

    def lengths_after(self, source: TensorType, target: TensorType) -> Call:
        return function(f"{LENGTHS}lengths_of", port=1)

    def short_value(self) -> str:
        return f"{self.encoder_layers} + {self.decoder_layers} layers"


class PatchEmbedding(WithWeightsAndBias):
    """Cuts an image into patches and makes a vector of each by learned weights: an image becomes a sequence.

        y[t] = W (numbers of patch t) + b

    Patches do not overlap and are counted row by row from the upper left (MATLAB counts down the columns); their size
    must divide that of the image. It is a convolution whose stride is its filter's size. A class token and a position
    embedding usually follow, then transformer layers.

    Input: (N, C, H, W). Output: (N, P, K) with P = (H / patch height) (W / patch width) patches and vectors of K
    numbers.

    Source: Dosovitskiy et al.: An image is worth 16x16 words, 2021.
    """

    key, label, family = "patch_embedding", "Patch embedding", "Attention"
    matlab = "patchEmbeddingLayer"
    patch = Size(4, length=2, high=10_000, label="Patch size", unit="pixels", help="Height and width of a patch")
    dimension = Int(64, low=1, high=1_000_000, help="Length of the vector of a patch")
    bias = Bool(True, help="Adds a learned bias to each of its elements")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image")
        x.known("C", "the number of channels decides the size of the weights")
        for axis, patch in zip("HW", self.patch, strict=True):
            size = x[axis]
            if isinstance(size, int) and size % patch:
                raise ShapeError(
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
        arguments = {"in_channels": x.channels, "out_channels": self.dimension}
        bias = {} if self.bias else {"bias": False}
        cut = module("Conv2d", **arguments, kernel_size=self.patch, stride=self.patch, **bias)
        return cut, method("flatten", 2), method("transpose", 1, 2)

    def short_value(self) -> str:
        return " × ".join(map(str, self.patch))
