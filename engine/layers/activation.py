"""Element-wise non-linearities, and softmax."""

from engine.errors import MisfitError
from engine.fields import Bool, Choice, Float
from engine.layers.base import LayerType, Lowered, channels_first, expect_real, module
from engine.layers.types import Sizes, TensorType, derive


class Activation(LayerType):
    """Anything that keeps the sizes of its one input."""

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x


class Relu(Activation):
    """Passes what is positive, zero otherwise: max(0, x)."""

    key, label, family = "relu", "ReLU", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("ReLU")


class LeakyRelu(Activation):
    """Passes what is positive, and a small share of what is negative: x, or scale · x below zero."""

    key, label, family = "leaky_relu", "Leaky ReLU", "Activation"
    scale = Float(0.01, low=0.0, high=1e6, help="Slope below zero")

    def lower(self, *x: TensorType) -> Lowered:
        return module("LeakyReLU", negative_slope=self.scale)


class Prelu(Activation):
    """A ReLU that learns its slope below zero: x, or alpha · x below zero."""

    key, label, family = "prelu", "PReLU", "Activation"
    alpha = Float(0.25, low=-1e6, high=1e6, help="Slope below zero at the start")
    per_channel = Bool(True, help="Learns one slope for each channel, otherwise one for all")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x.with_sizes(C=x.channels) if self.per_channel else x

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"weight": (x.channels if self.per_channel else 1,)}

    def lower(self, x: TensorType) -> Lowered:
        if not self.per_channel:
            return module("PReLU", init=self.alpha)
        return channels_first(x, module("PReLU", num_parameters=x.channels, init=self.alpha))


class Elu(Activation):
    """Passes what is positive, and bends softly towards -alpha below: alpha (exp(x) - 1)."""

    key, label, family = "elu", "ELU", "Activation"
    alpha = Float(1.0, above=0.0, high=1e6, help="How far it goes below zero")

    def lower(self, *x: TensorType) -> Lowered:
        return module("ELU", alpha=self.alpha)


class Selu(Activation):
    """An ELU with the scale that keeps mean 0 and variance 1: 1.0507 · ELU(x) with alpha 1.6733."""

    key, label, family = "selu", "SELU", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("SELU")


class Celu(Activation):
    """An ELU without a kink for any alpha: max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""

    key, label, family = "celu", "CELU", "Activation"
    alpha = Float(1.0, above=0.0, high=1e6, help="How far it goes below zero")

    def lower(self, *x: TensorType) -> Lowered:
        return module("CELU", alpha=self.alpha)


class Gelu(Activation):
    """Weighs each number by the chance that a normal one is smaller: x Φ(x)."""

    key, label, family = "gelu", "GELU", "Activation"
    approximation = Choice(
        "none",
        options=("none", "tanh"),
        notes={"none": "Exact, with the error function", "tanh": "x / 2 (1 + tanh(√(2/π) (x + 0.044715 x³)))"},
        help="How Φ is computed",
    )

    def lower(self, *x: TensorType) -> Lowered:
        return module("GELU", **({} if self.approximation == "none" else {"approximate": self.approximation}))


class Swish(Activation):
    """Weighs each number by its sigmoid: x / (1 + exp(-x)). Also called SiLU."""

    key, label, family = "swish", "Swish (SiLU)", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("SiLU")


class Mish(Activation):
    """Weighs each number by a soft step: x tanh(ln(1 + exp(x)))."""

    key, label, family = "mish", "Mish", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Mish")


class Sigmoid(Activation):
    """Squeezes numbers between 0 and 1: 1 / (1 + exp(-x))."""

    key, label, family = "sigmoid", "Sigmoid", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Sigmoid")


class Tanh(Activation):
    """Squeezes numbers between -1 and 1: tanh(x)."""

    key, label, family = "tanh", "Tanh", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Tanh")


class Softplus(Activation):
    """A ReLU without a kink: ln(1 + exp(x)). What leaves it is always positive."""

    key, label, family = "softplus", "Softplus", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Softplus")


class ClippedRelu(Activation):
    """A ReLU that stops at a ceiling: min(max(0, x), ceiling). With 6 it is ReLU6."""

    key, label, family = "clipped_relu", "Clipped ReLU", "Activation"
    ceiling = Float(6.0, above=0.0, high=1e12, help="The largest number that leaves the layer")

    def lower(self, *x: TensorType) -> Lowered:
        return module("Hardtanh", min_val=0.0, max_val=self.ceiling)

    def telling(self) -> str:
        return f"up to {self.ceiling:g}"


class Hardsigmoid(Activation):
    """A sigmoid made of straight lines: 0 below -3, 1 above 3, x / 6 + 1/2 between."""

    key, label, family = "hardsigmoid", "Hard sigmoid", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Hardsigmoid")


class Hardswish(Activation):
    """A swish made of cheaper parts: x times the hard sigmoid of x."""

    key, label, family = "hardswish", "Hard swish", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Hardswish")


class Glu(LayerType):
    """Lets one half of the channels open and close the other: a · sigmoid(b). Half of the channels leave."""

    key, label, family = "glu", "GLU", "Activation"

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        if x.channels % 2:
            raise MisfitError(f"Expected an even number of channels to halve, received {x}.", port="in")
        return x.with_sizes(C=derive(lambda channels: channels // 2, x["C"]))

    def lower(self, x: TensorType) -> Lowered:
        return module("GLU", dim=x.dim("C"))


class _OverChannels(Activation):
    """A softmax: its numbers depend on all channels."""

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        if not x.has("C"):
            raise MisfitError(f"Expected an input with channels, received {x}.", port="in")
        return x


class Softmax(_OverChannels):
    """Turns scores into probabilities over the channels: exp(x) / sum exp(x).

    At the output of a network it is folded into the cross-entropy for training and kept for export.
    """

    key, label, family = "softmax", "Softmax", "Activation"

    def lower(self, x: TensorType) -> Lowered:
        return module("Softmax", dim=x.dim("C"))


class LogSoftmax(_OverChannels):
    """The logarithm of a softmax over the channels: x - ln sum exp(x)."""

    key, label, family = "log_softmax", "Log-softmax", "Activation"

    def lower(self, x: TensorType) -> Lowered:
        return module("LogSoftmax", dim=x.dim("C"))
