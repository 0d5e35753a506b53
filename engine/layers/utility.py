"""Layers that change numbers only while the network trains, round them as an integer format does, or pass them on."""

from netwright.engine.core.fields import Bool, Float, Int
from netwright.engine.core.types import TensorType
from netwright.engine.layers.base import (
    LayerType,
    Lowered,
    channels_first,
    expect,
    expect_real,
    function,
    method,
    module,
)


def _probability(help: str) -> Float:
    return Float(0.5, low=0.0, high=0.999, help=help)


class Dropout(LayerType):
    """Zeroes numbers at random while training, and scales the others up by 1 / (1 - probability).

        y = x · mask / (1 - probability), each number of the mask 0 with the probability, else 1

    Otherwise y = x, so the expected value is the same; it is not in what is exported.

    Source: Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov: Dropout: a simple way to prevent neural networks
    from overfitting, 2014.
    """

    key, label, family, random = "dropout", "Dropout", "Utility", True
    matlab = "dropoutLayer"
    probability = _probability("Probability that a value is set to zero")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("Dropout", p=self.probability)

    def short_value(self) -> str:
        return f"{self.probability:g}"


class SpatialDropout(LayerType):
    """Zeroes whole channels at random while training, and scales the others up by 1 / (1 - probability).

        y[c] = x[c] · mask[c] / (1 - probability)

    Neighbouring places tell nearly the same: a place that is dropped alone would be known from them. Otherwise y = x.

    Input: (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Tompson, Goroshin, Jain, LeCun, Bregler: Efficient object localization using convolutional networks, 2015.
    """

    key, label, family, random = "spatial_dropout", "Spatial dropout", "Utility", True
    matlab = "spatialDropoutLayer"
    found_as = "SpatialDropout2D"
    probability = _probability("Probability that a channel of a sample is set to zero")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image", "volume", "sequence")
        return x

    def lower(self, x: TensorType) -> Lowered:
        return channels_first(x, module(f"Dropout{len(x.spatial)}d", p=self.probability))

    def short_value(self) -> str:
        return f"{self.probability:g}"


class AlphaDropout(LayerType):
    """Drops numbers at random while training so that mean and variance stay: for networks of SELUs.

        y = a · (x · mask + (1 - mask) · -1.7581) + b

    What is dropped becomes what a SELU gives far below zero, -1.0507 · 1.6733; a and b bring mean and variance back to
    0 and 1. Otherwise y = x.

    Source: Klambauer, Unterthiner, Mayr, Hochreiter: Self-normalizing neural networks, 2017.
    """

    key, label, family, random = "alpha_dropout", "Alpha dropout", "Utility", True
    probability = _probability("Probability that a value is dropped")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("AlphaDropout", p=self.probability)

    def short_value(self) -> str:
        return f"{self.probability:g}"


class FeatureAlphaDropout(LayerType):
    """Drops whole channels at random while training so that mean and variance stay: for networks of SELUs.

        y[c] = a · (x[c] · mask[c] + (1 - mask[c]) · -1.7581) + b

    The spatial dropout of self-normalising networks. Otherwise y = x.

    Input: (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Klambauer, Unterthiner, Mayr, Hochreiter: Self-normalizing neural networks, 2017.
    """

    key, label, family, random = "feature_alpha_dropout", "Feature alpha dropout", "Utility", True
    probability = _probability("Probability that a channel of a sample is dropped")

    def output(self, x: TensorType) -> TensorType:
        expect(x, "image", "volume", "sequence")
        return x

    def lower(self, x: TensorType) -> Lowered:
        return channels_first(x, module("FeatureAlphaDropout", p=self.probability))

    def short_value(self) -> str:
        return f"{self.probability:g}"


class DropPath(LayerType):
    """Zeroes whole samples at random while training, and scales the others up: stochastic depth.

        y = x · mask / (1 - probability), one mask for all numbers of a sample

    At the end of a branch, before it is added to what came in: for that sample the branch is left out. Deeper branches
    usually get a higher probability. Otherwise y = x.

    Source: Huang, Sun, Liu, Sedra, Weinberger: Deep networks with stochastic depth, 2016.
    """

    key, label, family, random = "drop_path", "Drop path", "Utility", True
    found_as = "StochasticDepth"
    probability = Float(0.1, low=0.0, high=0.999, help="Probability that a sample is set to zero")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("netwright.engine.lowering.modules.normalization.DropPath", probability=self.probability)

    def short_value(self) -> str:
        return f"{self.probability:g}"


class GaussianNoise(LayerType):
    """Adds random numbers while training, drawn anew each time: what comes behind learns not to mind them.

        y = x + deviation · n, with n normal of mean 0 and variance 1

    At the input it works as a regularisation of the weights. Otherwise y = x.

    Source: Bishop: Training with noise is equivalent to Tikhonov regularization, 1995.
    """

    key, label, family, random = "gaussian_noise", "Gaussian noise", "Utility", True
    deviation = Float(0.1, low=0.0, high=1e6, help="Standard deviation of the noise, in the units of the input")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("netwright.engine.lowering.modules.normalization.GaussianNoise", deviation=self.deviation)

    def short_value(self) -> str:
        return f"{self.deviation:g}"


class FakeQuantization(LayerType):
    """Rounds each number to what an integer format with one scale holds, so that a network learns to live with it.

        q = clamp(round(x / scale) + zero point, lowest, highest)
        y = (q - zero point) · scale

    Halves are rounded to the even number. In training the gradient passes as if nothing had been rounded, and not at
    all where x is beyond the range (a straight-through estimate). It is what QuantizeLinear and DequantizeLinear of
    ONNX compute one after the other. (QAT)

    Source: Jacob et al.: Quantization and training of neural networks for efficient integer-arithmetic-only inference,
    2018.
    """

    key, label, family = "fake_quantization", "Fake quantisation", "Utility"
    found_as = "fake quantize qdq qat"
    scale = Float(0.1, above=0.0, high=1e12, help="Distance of two neighbouring values")
    zero_point = Int(0, low=-65536, high=65536, help="Integer that stands for zero")
    bits = Int(8, low=2, high=16, unit="bits", help="Size of the integers")
    signed = Bool(True, help="Integers below zero too: -128 to 127 with 8 bits, otherwise 0 to 255")

    @property
    def _ends(self) -> tuple[int, int]:
        """The smallest and the largest integer."""
        half = 2 ** (self.bits - 1)
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x

    def lower(self, *x: TensorType) -> Lowered:
        low, high = self._ends
        arguments = {"scale": self.scale, "zero_point": self.zero_point, "low": low, "high": high}
        return function("netwright.engine.lowering.modules.arithmetic.fake_quantize", **arguments)

    def short_value(self) -> str:
        return f"{self.bits} bits, {self.scale:g}"


class StopGradient(LayerType):
    """Passes its input on, but no gradient back: what is before it does not learn from what is behind it. (detach)

        y = x, with a gradient of zero

    It makes a target of one of two branches, as in learning without labels; frozen layers are another thing, they
    still pass the gradient on.

    Source: Chen, He: Exploring simple Siamese representation learning, 2021.
    """

    key, label, family = "stop_gradient", "Stop gradient", "Utility"

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return method("detach")


class Identity(LayerType):
    """Passes its input on unchanged, such as to give an output of the network a name.

    Nothing of it is computed; in the exported source it stands as `nn.Identity`.
    """

    key, label, family = "identity", "Identity", "Utility"
    matlab = "identityLayer"

    def output(self, x: TensorType) -> TensorType:
        return x

    def lower(self, *x: TensorType) -> Lowered:
        return module("Identity")
