"""Activations that look at several channels at once: gates, and softmax."""

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.types import TensorType, derive
from netwright.engine.layers.activation import Activation
from netwright.engine.layers.base import LayerType, Lowered, expect_real, function, module


class _Gated(LayerType):
    """One half of the channels gates the other. The output has half the channels."""

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        if x.channels % 2:
            raise ShapeError(f"Expected an even number of channels to halve, received {x}.", port="in")
        return x.with_sizes(C=derive(lambda channels: channels // 2, x["C"]))


class Glu(_Gated):
    """Gates one half of the channels with the other: a · sigmoid(b). The output has half the channels.

    The first half of the channels is a, the second half b: place it after a layer with twice the outputs.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same with C / 2 channels.

    Source: Dauphin, Fan, Auli, Grangier: Language modeling with gated convolutional networks, 2017.
    """

    key, label, family = "glu", "GLU", "Activation"

    def lower(self, x: TensorType) -> Lowered:
        return module("GLU", dim=x.dim("C"))


class SwiGlu(_Gated):
    """A GLU whose gate is a swish: swish(a) · b, with a and b the halves of the channels. The output has half of them.

        y = a / (1 + exp(-a)) · b

    The first half of the channels is a, the second half b. Behind a fully connected layer with twice the outputs it is
    the gate of LLaMA's feed-forward blocks.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same with C / 2 channels.

    Source: Shazeer: GLU variants improve transformer, 2020.
    """

    key, label, family = "swiglu", "SwiGLU", "Activation"

    def lower(self, x: TensorType) -> Lowered:
        return function("netwright.engine.lowering.modules.arithmetic.swiglu", x.dim("C"))


class GeGlu(_Gated):
    """A GLU whose gate is a GELU: a · GELU(b), with a and b the halves of the channels. The output has half of them.

        y = a · b Φ(b)

    The first half of the channels is a, the second half b, as diffusion models have it; T5 has them the other way
    round.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same with C / 2 channels.

    Source: Shazeer: GLU variants improve transformer, 2020.
    """

    key, label, family = "geglu", "GEGLU", "Activation"

    def lower(self, x: TensorType) -> Lowered:
        return function("netwright.engine.lowering.modules.arithmetic.geglu", x.dim("C"))


class _OverChannels(Activation):
    """A softmax: its numbers depend on all channels."""

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        if not x.has("C"):
            raise ShapeError(f"Expected an input with channels, received {x}.", port="in")
        return x


class Softmax(_OverChannels):
    """Turns scores into probabilities over the channels: exp(x) / sum exp(x).

    At each place or step by itself. At the output of a network it is folded into the cross-entropy for training and
    kept for export.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Bridle: Probabilistic interpretation of feedforward classification network outputs, 1990.
    """

    key, label, family = "softmax", "Softmax", "Activation"
    matlab = "softmaxLayer"
    found_as = "Softmax2d"

    def lower(self, x: TensorType) -> Lowered:
        return module("Softmax", dim=x.dim("C"))


class LogSoftmax(_OverChannels):
    """The logarithm of a softmax over the channels: x - ln sum exp(x).

    Computed in one go, it does not overflow where the logarithm of a softmax would.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Bridle: Probabilistic interpretation of feedforward classification network outputs, 1990.
    """

    key, label, family = "log_softmax", "Log-softmax", "Activation"

    def lower(self, x: TensorType) -> Lowered:
        return module("LogSoftmax", dim=x.dim("C"))


class Softmin(_OverChannels):
    """A softmax of the negated scores: exp(-x) / sum exp(-x), so that the smallest gets most.

    It turns distances into probabilities: the nearest gets most.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.
    """

    key, label, family = "softmin", "Softmin", "Activation"

    def lower(self, x: TensorType) -> Lowered:
        return module("Softmin", dim=x.dim("C"))
