"""Element-wise non-linearities."""

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Float
from netwright.engine.core.types import Sizes, TensorType
from netwright.engine.layers.base import LayerType, Lowered, channels_first, expect_real, function, module
from netwright.engine.layers.weighted import WithAlpha


class Activation(LayerType):
    """Base of layers with one input of real numbers, whose output has the same shape."""

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x


class Relu(Activation):
    """Passes what is positive, zero otherwise: max(0, x).

    The gradient is 1 above zero and 0 below it. A place whose input is never positive learns nothing; a leaky ReLU
    avoids that.

    Source: Nair, Hinton: Rectified linear units improve restricted Boltzmann machines, 2010.
    """

    key, label, family = "relu", "ReLU", "Activation"
    matlab = "reluLayer"

    def lower(self, *x: TensorType) -> Lowered:
        return module("ReLU")


class LeakyRelu(Activation):
    """Passes what is positive, and a small share of what is negative: x, or scale · x below zero.

        y = max(0, x) + scale · min(0, x)

    Source: Maas, Hannun, Ng: Rectifier nonlinearities improve neural network acoustic models, 2013.
    """

    key, label, family = "leaky_relu", "Leaky ReLU", "Activation"
    matlab = "leakyReluLayer"
    scale = Float(0.01, low=0.0, high=1e6, help="Slope below zero")

    def lower(self, *x: TensorType) -> Lowered:
        return module("LeakyReLU", negative_slope=self.scale)


class Prelu(WithAlpha, Activation):
    """A ReLU that learns its slope below zero: x, or alpha · x below zero.

        y = max(0, x) + alpha · min(0, x)

    One slope is learned for each channel, or one for all; L2 regularisation draws it to zero.

    Source: He, Zhang, Ren, Sun: Delving deep into rectifiers, 2015.
    """

    key, label, family = "prelu", "PReLU", "Activation"
    matlab = "preluLayer"
    alpha = Float(0.25, low=-1e6, high=1e6, help="Initial slope below zero")
    per_channel = Bool(True, help="Learns one slope for each channel, otherwise one for all")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x.with_sizes(C=x.channels) if self.per_channel else x

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"weight": (x.channels if self.per_channel else 1,)}

    def lower(self, x: TensorType) -> Lowered:
        if not self.per_channel or x.channels == 1:
            return module("PReLU", init=self.alpha)
        return channels_first(x, module("PReLU", num_parameters=x.channels, init=self.alpha))


class Elu(Activation):
    """Passes what is positive, and bends softly towards -alpha below: alpha (exp(x) - 1).

        y = x where x > 0, else alpha · (exp(x) - 1)

    Source: Clevert, Unterthiner, Hochreiter: Fast and accurate deep network learning by exponential linear units, 2016.
    """

    key, label, family = "elu", "ELU", "Activation"
    matlab = "eluLayer"
    alpha = Float(1.0, above=0.0, high=1e6, help="Factor of the part below zero")

    def lower(self, *x: TensorType) -> Lowered:
        return module("ELU", alpha=self.alpha)


class Selu(Activation):
    """An ELU with the scale that keeps mean 0 and variance 1: 1.0507 · ELU(x) with alpha 1.6733.

    Mean and variance are kept only where the weights start as normal numbers of variance 1 / inputs; such a network
    needs no normalisation layers.

    Source: Klambauer, Unterthiner, Mayr, Hochreiter: Self-normalizing neural networks, 2017.
    """

    key, label, family = "selu", "SELU", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("SELU")


class Celu(Activation):
    """An ELU without a kink for any alpha: max(0, x) + min(0, alpha (exp(x / alpha) - 1)).

    Its slope at zero is 1 from both sides, whatever alpha is; with alpha 1 it is the ELU.

    Source: Barron: Continuously differentiable exponential linear units, 2017.
    """

    key, label, family = "celu", "CELU", "Activation"
    alpha = Float(1.0, above=0.0, high=1e6, help="Factor of the part below zero")

    def lower(self, *x: TensorType) -> Lowered:
        return module("CELU", alpha=self.alpha)


class Gelu(Activation):
    """Weighs each number by the chance that a normal one is smaller: x Φ(x).

        y = x / 2 · (1 + erf(x / √2))
        tanh: y ≈ x / 2 · (1 + tanh(√(2 / π) · (x + 0.044715 x³)))

    Source: Hendrycks, Gimpel: Gaussian error linear units, 2016.
    """

    key, label, family = "gelu", "GELU", "Activation"
    matlab = "geluLayer"
    approximation = Choice(
        "none",
        options=("none", "tanh"),
        notes={"none": "Exact, with the error function", "tanh": "x / 2 (1 + tanh(√(2/π) (x + 0.044715 x³)))"},
        help="Computation of Φ",
    )

    def lower(self, *x: TensorType) -> Lowered:
        return module("GELU", **({} if self.approximation == "none" else {"approximate": self.approximation}))


class Swish(Activation):
    """Weighs each number by its sigmoid: x / (1 + exp(-x)). Also called SiLU.

    Smooth, and not monotone: smallest, about -0.278, at x = -1.278.

    Source: Elfwing, Uchibe, Doya: Sigmoid-weighted linear units, 2018; Ramachandran, Zoph, Le: Searching for activation
    functions, 2017.
    """

    key, label, family = "swish", "Swish (SiLU)", "Activation"
    matlab = "swishLayer"
    found_as = "silu"

    def lower(self, *x: TensorType) -> Lowered:
        return module("SiLU")


class Mish(Activation):
    """Weighs each number by a soft step: x tanh(ln(1 + exp(x))).

    Like the swish, a little flatter below zero: smallest, about -0.309, at x = -1.192.

    Source: Misra: Mish: a self regularized non-monotonic activation function, 2019.
    """

    key, label, family = "mish", "Mish", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Mish")


class Sigmoid(Activation):
    """Squeezes numbers between 0 and 1: 1 / (1 + exp(-x)).

    The slope is y (1 - y), at most 1/4 at x = 0: in deep networks gradients fade through it. At the output it gives the
    probability of each of several independent labels.

    Source: Rumelhart, Hinton, Williams: Learning representations by back-propagating errors, 1986.
    """

    key, label, family = "sigmoid", "Sigmoid", "Activation"
    matlab = "sigmoidLayer"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Sigmoid")


class Tanh(Activation):
    """Squeezes numbers between -1 and 1: tanh(x).

        y = (exp(x) - exp(-x)) / (exp(x) + exp(-x)) = 2 · sigmoid(2 x) - 1

    Source: LeCun, Bottou, Orr, Müller: Efficient BackProp, 1998.
    """

    key, label, family = "tanh", "Tanh", "Activation"
    matlab = "tanhLayer"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Tanh")


class Softplus(Activation):
    """A ReLU without a kink: ln(1 + exp(x)). What leaves it is always positive.

    Its slope is the sigmoid. Above 20 it is computed as x, which is the same to rounding.

    Source: Dugas, Bengio, Bélisle, Nadeau, Garcia: Incorporating second-order functional knowledge for better option
    pricing, 2001.
    """

    key, label, family = "softplus", "Softplus", "Activation"
    matlab = "softplusLayer"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Softplus")


class ClippedRelu(Activation):
    """A ReLU that stops at a ceiling: min(max(0, x), ceiling). With 6 it is ReLU6.

    The gradient is 1 between zero and the ceiling, else 0.

    Source: Hannun et al.: Deep Speech: scaling up end-to-end speech recognition, 2014. ReLU6: Krizhevsky: Convolutional
    deep belief networks on CIFAR-10, 2010.
    """

    key, label, family = "clipped_relu", "Clipped ReLU", "Activation"
    matlab = "clippedReluLayer"
    ceiling = Float(6.0, above=0.0, high=1e12, help="Upper limit of the output")

    def lower(self, *x: TensorType) -> Lowered:
        return module("Hardtanh", min_val=0.0, max_val=self.ceiling)

    def short_value(self) -> str:
        return f"up to {self.ceiling:g}"


class Hardsigmoid(Activation):
    """A sigmoid made of straight lines: 0 below -3, 1 above 3, x / 6 + 1/2 between.

        y = min(max(0, x + 3), 6) / 6

    The hard sigmoid of MATLAB's recurrent layers is another: min(max(0, 0.2 x + 0.5), 1).

    Source: Howard et al.: Searching for MobileNetV3, 2019.
    """

    key, label, family = "hardsigmoid", "Hard sigmoid", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Hardsigmoid")


class Hardswish(Activation):
    """A swish made of cheaper parts: x times the hard sigmoid of x.

        y = x · min(max(0, x + 3), 6) / 6

    Source: Howard et al.: Searching for MobileNetV3, 2019.
    """

    key, label, family = "hardswish", "Hard swish", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Hardswish")


class Hardtanh(Activation):
    """Stops at a floor and at a ceiling, and passes what lies between: min(max(x, low), high). (clamp)

    With -1 and 1 it is a tanh made of straight lines.

    Source: Collobert: Large scale machine learning, 2004.
    """

    key, label, family = "hardtanh", "Hard tanh", "Activation"
    low = Float(-1.0, low=-1e12, high=1e12, label="Floor", help="Lower limit of the output")
    high = Float(1.0, low=-1e12, high=1e12, label="Ceiling", help="Upper limit of the output")

    def output(self, x: TensorType) -> TensorType:
        if self.low >= self.high:
            raise ShapeError(
                f"The ceiling must lie above the floor: expected more than {self.low:g}, received {self.high:g}.",
                field="high",
            )
        return super().output(x)

    def lower(self, *x: TensorType) -> Lowered:
        return module("Hardtanh", min_val=self.low, max_val=self.high)

    def short_value(self) -> str:
        return f"{self.low:g} to {self.high:g}"


class RRelu(Activation):
    """A ReLU with a random slope below zero while training, and the middle one afterwards.

        y = max(0, x) + a · min(0, x)

    While training a is drawn for each number between the lower and the upper slope; otherwise it is their mean.

    Source: Xu, Wang, Chen, Li: Empirical evaluation of rectified activations in convolutional network, 2015.
    """

    key, label, family, random = "rrelu", "Randomized ReLU", "Activation", True
    lower_slope = Float(0.125, low=0.0, high=1.0, help="Smallest slope below zero")
    upper_slope = Float(1 / 3, low=0.0, high=1.0, help="Largest slope below zero")

    def output(self, x: TensorType) -> TensorType:
        if self.lower_slope > self.upper_slope:
            raise ShapeError(
                f"The upper slope must be at least the lower one, {self.lower_slope:g}; received {self.upper_slope:g}.",
                field="upper_slope",
            )
        return super().output(x)

    def lower(self, *x: TensorType) -> Lowered:
        return module("RReLU", lower=self.lower_slope, upper=self.upper_slope)


class SquaredRelu(Activation):
    """The square of what is positive, zero otherwise: max(0, x)².

    Its slope grows with x, so it wants a normalisation before or behind it.

    Source: So, Mańke, Liu, Dai, Shazeer, Le: Primer, searching for efficient transformers for language modeling, 2021.
    """

    key, label, family = "squared_relu", "Squared ReLU", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return function("netwright.engine.lowering.modules.arithmetic.squared_relu")


class Threshold(Activation):
    """Passes what is above a threshold, and puts one value in the place of all else: x, or value.

        y = x where x > threshold, else value

    No gradient passes where the value stands.
    """

    key, label, family = "threshold", "Threshold", "Activation"
    threshold = Float(0.0, low=-1e12, high=1e12, help="Limit above which values pass unchanged")
    value = Float(0.0, low=-1e12, high=1e12, help="Output for the other values")

    def lower(self, *x: TensorType) -> Lowered:
        return module("Threshold", threshold=self.threshold, value=self.value)

    def short_value(self) -> str:
        return f"above {self.threshold:g}"


class LogSigmoid(Activation):
    """The logarithm of a sigmoid, without overflow: -ln(1 + exp(-x)).

    Never positive: a logarithm of a probability. It is minus the softplus of -x.
    """

    key, label, family = "log_sigmoid", "Log-sigmoid", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("LogSigmoid")


class Softsign(Activation):
    """Squeezes numbers between -1 and 1, slower than tanh: x / (1 + |x|).

    It reaches its ends like 1 / x, where tanh reaches them like exp(-2x).

    Source: Turian, Bergstra, Bengio: Quadratic features and deep architectures for chunking, 2009.
    """

    key, label, family = "softsign", "Softsign", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Softsign")


class Tanhshrink(Activation):
    """The input minus its tanh: x - tanh(x), nearly zero around zero.

    Around zero it is x³ / 3, far from it x - 1 or x + 1.
    """

    key, label, family = "tanhshrink", "Tanh shrinkage", "Activation"

    def lower(self, *x: TensorType) -> Lowered:
        return module("Tanhshrink")


class Hardshrink(Activation):
    """Zeroes numbers around zero, and passes the others as they are: x where |x| > threshold.

    Hard thresholding: what is kept keeps its value, so there is a jump at the threshold.

    Source: Donoho, Johnstone: Ideal spatial adaptation by wavelet shrinkage, 1994.
    """

    key, label, family = "hardshrink", "Hard shrinkage", "Activation"
    threshold = Float(0.5, low=0.0, high=1e12, help="Distance from zero up to which values become zero")

    def lower(self, *x: TensorType) -> Lowered:
        return module("Hardshrink", lambd=self.threshold)

    def short_value(self) -> str:
        return f"{self.threshold:g}"


class Softshrink(Activation):
    """Moves numbers towards zero by a threshold, and no further: sign(x) · max(0, |x| - threshold).

    Soft thresholding, without a jump: the step of sparse coding (ISTA).

    Source: Donoho: De-noising by soft-thresholding, 1995.
    """

    key, label, family = "softshrink", "Soft shrinkage", "Activation"
    threshold = Float(0.5, low=0.0, high=1e12, help="Distance that each value moves towards zero")

    def lower(self, *x: TensorType) -> Lowered:
        return module("Softshrink", lambd=self.threshold)

    def short_value(self) -> str:
        return f"{self.threshold:g}"
