"""Arithmetic with one input: functions of each number, scaling, sums and the like along an axis, numbers of one's own.

Functions of several inputs are in `combination`.
"""

import math
from typing import Any

from netwright.engine.core.errors import ShapeError
from netwright.engine.core.fields import Bool, Choice, Float
from netwright.engine.core.list_fields import Ints
from netwright.engine.core.types import LAYOUTS, Sizes, TensorType, with_article
from netwright.engine.layers.base import (
    LENGTHS,
    LayerType,
    Lowered,
    expect,
    expect_real,
    function,
    masked,
    method,
    module,
    with_lengths,
)
from netwright.engine.layers.weighted import (
    BIAS_INITIALIZERS,
    SCALE_INITIALIZERS,
    Weighted,
    WithScaleAndOffset,
    initializer_field,
    l2_field,
    rate_field,
)

OWN = "netwright.engine.lowering.modules.arithmetic."


class _EachNumber(LayerType):
    """A function of each number by itself: sizes stay."""

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x


FUNCTIONS = {
    "exp": "e to the power of x",
    "log": "ln(max(x, epsilon)): the natural logarithm",
    "sqrt": "√max(x, epsilon): the square root",
    "abs": "|x|",
    "negate": "-x",
    "sin": "sin(x), x in radians",
    "cos": "cos(x), x in radians",
    "tan": "tan(x), x in radians",
    "asin": "The angle from -π/2 to π/2 whose sine is x, limited to -1 to 1",
    "acos": "The angle from 0 to π whose cosine is x, limited to -1 to 1",
    "atan": "The angle from -π/2 to π/2 whose tangent is x",
    "sinh": "(exp(x) - exp(-x)) / 2",
    "cosh": "(exp(x) + exp(-x)) / 2",
    "asinh": "ln(x + √(x² + 1)), which sinh undoes",
    "acosh": "ln(x + √(x² - 1)) of max(x, 1), which cosh undoes",
    "atanh": "ln((1 + x) / (1 - x)) / 2, which tanh undoes; x is limited to just below 1 in size",
    "erf": "The error function: the share of a normal distribution with variance 1/2 between -x and x",
    "sign": "-1 below zero, 1 above it, 0 at zero; it passes no gradient",
    "floor": "The next whole number below; it passes no gradient",
    "round": "The nearest whole number, halves to the even one; it passes no gradient",
}
_OF_POSITIVE = ("log", "sqrt")
_LIMITS: dict[str, dict[str, float]] = {
    "asin": {"min": -1.0, "max": 1.0},
    "acos": {"min": -1.0, "max": 1.0},
    "acosh": {"min": 1.0},
    "atanh": {"min": -0.9999999, "max": 0.9999999},
}
"""Ends of what a function is defined for."""


class MathFunction(_EachNumber):
    """Applies one function to each number: exp, log, sqrt, abs, sin, atan, erf, sign, floor and others.

        y = f(x)

    A logarithm and a root know positive numbers only: what is smaller than epsilon counts as epsilon, and passes no
    gradient. What lies outside of what asin, acos, acosh or atanh are defined for counts as the nearest number within.
    Powers have a layer of their own, and so has clamping: the hard tanh.
    """

    key, label, family = "math_function", "Math function", "Arithmetic"
    function = Choice("exp", options=tuple(FUNCTIONS), notes=FUNCTIONS, help="Function of each value")
    epsilon = Float(
        1e-12,
        above=0.0,
        high=1.0,
        help="Lower limit of the function's argument",
        visible_when=lambda layer: layer.function in _OF_POSITIVE,
    )

    def lower(self, *x: TensorType) -> Lowered:
        call = function("torch.neg" if self.function == "negate" else f"torch.{self.function}")
        limits = {"min": self.epsilon} if self.function in _OF_POSITIVE else _LIMITS.get(self.function)
        return (function("torch.clamp", **limits), call) if limits else call

    def short_value(self) -> str:
        return self.function


class Power(_EachNumber):
    """Raises each number to a power: 2 squares it, -1 gives one over it, 0.5 its root.

        y = x^exponent, or max(x, epsilon)^exponent where the exponent is no whole number

    A power that is not whole knows positive numbers only: what is smaller than epsilon counts as epsilon. With a
    negative exponent zero becomes infinite.
    """

    key, label, family = "power", "Power", "Arithmetic"
    exponent = Float(2.0, low=-16.0, high=16.0, help="Exponent")
    epsilon = Float(
        1e-6,
        above=0.0,
        high=1.0,
        help="Lower limit of the base where the exponent is not a whole number",
        visible_when=lambda layer: not layer.exponent.is_integer(),
    )

    def lower(self, *x: TensorType) -> Lowered:
        raised = function("torch.pow", self.exponent)
        return raised if self.exponent.is_integer() else (function("torch.clamp", min=self.epsilon), raised)

    def lower_padded(self, *x: TensorType) -> Lowered:
        return masked(self.lower(*x), 1.0) if self.exponent < 1 else self.lower(*x)  # 0 to that power is not finite

    def short_value(self) -> str:
        return f"x^{self.exponent:g}"


class Scaling(_EachNumber):
    """Multiplies each number by one fixed number and adds another: scale · x + shift. Nothing is learned.

        y = scale · x + shift

    It brings the range of a layer to another one: behind a tanh, scale 2 and shift 1 give numbers from -1 to 3.
    """

    key, label, family = "scaling", "Scaling", "Arithmetic"
    matlab = "scalingLayer"
    scale = Float(1.0, low=-1e12, high=1e12, help="Factor of each value")
    shift = Float(0.0, low=-1e12, high=1e12, help="Constant added to each value; MATLAB: Bias")

    def lower(self, *x: TensorType) -> Lowered:
        scaled = () if self.scale == 1 else (function("torch.mul", self.scale),)
        return (*scaled, *(() if self.shift == 0 else (function("torch.add", self.shift),)))

    def short_value(self) -> str:
        return f"{self.scale:g} · x{f' {self.shift:+g}' if self.shift else ''}"


def _has_bias(layer: Any) -> bool:
    return bool(layer.bias)


class LearnedScale(WithScaleAndOffset):
    """Multiplies each channel by a learned number, and adds another unless told not to. (LayerScale)

        y[c] = scale[c] · x[c] + shift[c]

    At the end of a branch, before it is added to what came in, scales that start small or at zero let the branch grow
    into the network: LayerScale, ReZero.

    Input: (N, C), (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: the same shape.

    Source: Touvron, Cord, Sablayrolles, Synnaeve, Jégou: Going deeper with image transformers, 2021.
    """

    key, label, family = "learned_scale", "Learned scale", "Arithmetic"
    bias = Bool(True, label="Shift", help="Adds a learned shift to each channel")
    offset_initializer = initializer_field(
        "shift", "zeros", BIAS_INITIALIZERS, label="Shift initialiser", visible_when=_has_bias
    )
    offset_learn_rate_factor = rate_field("shift", label="Shift rate factor", visible_when=_has_bias)
    offset_l2_factor = l2_field("shift", 0.0, label="Shift L2 factor", visible_when=_has_bias)

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        return x.with_sizes(C=x.channels)

    def weights(self, x: TensorType) -> dict[str, Sizes]:
        return {"weight": (x.channels,), **({"bias": (x.channels,)} if self.bias else {})}

    def lower(self, x: TensorType) -> Lowered:
        return module(
            f"{OWN}LearnedScale",
            channels=x.channels,
            dim=x.dim("C"),
            rank=x.rank,
            **({} if self.bias else {"bias": False}),
        )


MOST_SQUARED = 1000


class Quadratic(LayerType):
    """Multiplies each pair of numbers: from n come all n (n + 1) / 2 products, squares included.

        y = (x1 x1, x1 x2, ..., x1 xn, x2 x2, x2 x3, ..., xn xn)

    A fully connected layer behind it learns any quadratic function, such as the cost of a linear regulator in
    reinforcement learning. On a sequence it works at every step by itself.

    Input: (N, C) or (N, T, C). Output: the same with C (C + 1) / 2 channels.
    """

    key, label, family = "quadratic", "Quadratic", "Arithmetic"
    matlab = "quadraticLayer"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "features", "sequence")
        if x.channels > MOST_SQUARED:
            raise ShapeError(
                f"{x.channels:,} numbers have {math.comb(x.channels + 1, 2):,} products: expected at most "
                f"{MOST_SQUARED:,} numbers. Use fewer, such as behind a fully connected layer.",
                port="in",
            )
        return x.with_sizes(C=math.comb(x.channels + 1, 2))

    def lower(self, *x: TensorType) -> Lowered:
        return function(f"{OWN}quadratic")


REDUCTIONS = {
    "mean": "The mean",
    "sum": "The sum",
    "max": "The largest",
    "min": "The smallest",
    "norm": "The length of a vector: the root of the summed squares",
    "variance": "The mean squared distance from the mean, divided by the count",
    "logsumexp": "ln of the sum of exp(x): a smooth maximum",
}
OVER = {
    "places": "All axes but the channels: steps, or height and width, and depth",
    "C": "Channels",
    "H": "Height",
    "W": "Width",
    "D": "Depth",
    "T": "Steps",
}
_DIMENSION_NAMES = {"mean": "mean", "sum": "sum", "max": "amax", "min": "amin", "logsumexp": "logsumexp"}


def _refuse_absent(axis: str, x: TensorType, field: str) -> None:
    """Refuse an axis that the input does not have."""
    if not x.has(axis):
        raise ShapeError(f"The input has no axis {axis}: received {x}. Choose one of {', '.join(x.axes)}.", field=field)


class Reduction(LayerType):
    """Makes one number of all along an axis: mean, sum, max, min, norm, variance or logsumexp.

        mean: y = (x1 + ... + xn) / n
        norm: y = √(x1² + ... + xn²)
        variance: y = ((x1 - mean)² + ... + (xn - mean)²) / n

    Over places an image or a sequence becomes features, one number per channel. An axis that is kept has size 1, so
    that the result can be combined with the input: subtracted from it, or divided by.

    Input: any shape of real numbers. Output: the shape without the axis, or with size 1 there if it is kept.
    """

    key, label, family = "reduction", "Reduction", "Arithmetic"
    function = Choice("mean", options=tuple(REDUCTIONS), notes=REDUCTIONS, help="Reduction of the values to one")
    over = Choice("places", options=tuple(OVER), notes=OVER, help="Axis to reduce")
    keep = Bool(
        False, label="Keep the axis", help="Keeps the reduced axis with size 1, so that the layout stays the same"
    )

    def _axes(self, x: TensorType) -> tuple[str, ...]:
        return tuple(axis for axis in x.axes if axis != "C") if self.over == "places" else (self.over,)

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        if self.over != "places":
            _refuse_absent(self.over, x, "over")
        reduced_axes = self._axes(x)
        if not reduced_axes:
            raise ShapeError(f"Expected an input with places, received {x}. Reduce it over C.", field="over")
        if self.keep:
            return x.with_sizes(**dict.fromkeys(reduced_axes, 1))
        remaining = [(axis, size) for axis, size in zip(x.axes, x.sizes, strict=True) if axis not in reduced_axes]
        axes = tuple(axis for axis, _ in remaining)
        if axes not in LAYOUTS.values():
            axes_text = " × ".join(axes)
            words = f"What is left has axes {axes_text}, which no layer takes" if axes else "No axis is left"
            raise ShapeError(f"{words}: received {x}. Keep the axis, or reduce over another.", field="keep")
        return TensorType(axes, tuple(size for _, size in remaining))

    def lower(self, x: TensorType) -> Lowered:
        dims = tuple(x.dim(axis) for axis in self._axes(x))
        keep = {"keepdim": True} if self.keep else {}
        match self.function:
            case "norm":
                return function("torch.linalg.vector_norm", dim=dims, **keep)
            case "variance":
                return method("var", dims, correction=0, **keep)
        return method(_DIMENSION_NAMES[self.function], dims, **keep)

    def lower_padded(self, x: TensorType) -> Lowered:
        if "T" not in self._axes(x):
            return self.lower(x)
        return with_lengths(
            function(f"{LENGTHS}reduce_steps", self.function, **({"keepdim": True} if self.keep else {}))
        )

    def short_value(self) -> str:
        return f"{self.function} over {self.over}"


class CumulativeSum(LayerType):
    """Sums up along an axis, from its start to each place: what has come so far. (cumsum)

        y[t] = x[0] + x[1] + ... + x[t]

    Along the steps of a sequence it turns changes into levels.

    Input: any shape with the axis. Output: the same shape.
    """

    key, label, family = "cumulative_sum", "Cumulative sum", "Arithmetic"
    axis = Choice("T", options=tuple("CHWDT"), help="Axis along which values are summed")

    def output(self, x: TensorType) -> TensorType:
        expect_real(x)
        _refuse_absent(self.axis, x, "axis")
        return x

    def lower(self, x: TensorType) -> Lowered:
        return method("cumsum", x.dim(self.axis))

    def short_value(self) -> str:
        return f"along {self.axis}"


class ArgMax(LayerType):
    """Tells which channel is the largest, at each place: the index of the most likely class.

        y = the c at which x[c] is largest, counted from 0; the first of several

    Of a sequence it makes tokens, which an embedding takes; of an image a map of indices with one channel. It passes no
    gradient, so nothing before it learns from what is behind it.

    Input: (N, T, C), (N, C, H, W) or (N, C, D, H, W). Output: indices (N, T), (N, 1, H, W) or (N, 1, D, H, W).
    """

    key, label, family = "arg_max", "Arg max", "Arithmetic"

    def output(self, x: TensorType) -> TensorType:
        expect(x, "sequence", "image", "volume")
        if x.layout == "sequence":
            return TensorType(("T",), (x["T"],), "index")
        return TensorType(x.axes, x.with_sizes(C=1).sizes, "index")

    def lower(self, x: TensorType) -> Lowered:
        keep = {} if x.layout == "sequence" else {"keepdim": True}
        return method("argmax", x.dim("C"), **keep)


class _Source(LayerType):
    """Numbers that do not come from the data. The input says how many samples there are, nothing else."""

    layout = Choice("features", options=tuple(LAYOUTS), help="Output of the layer")
    sizes = Ints((1,), low=1, high=1_000_000_000, separator=" × ", help="Size of each axis of the layout")

    def output(self, x: TensorType) -> TensorType:
        axes = LAYOUTS[self.layout]
        if len(self.sizes) != len(axes):
            raise ShapeError(
                f"{with_article(self.layout).capitalize()} need{'s' * (len(axes) > 1)} {len(axes)} "
                f"size{'s' * (len(axes) > 1)} ({' × '.join(axes)}), received {self._shown() or 'none'}.",
                field="sizes",
            )
        return TensorType(axes, self.sizes)

    def _shown(self) -> str:
        return " × ".join(map(str, self.sizes))


class Constant(_Source):
    """Returns a tensor of fixed sizes with the same number everywhere, whatever the input.

        y = value

    The input sets only the number of samples; connect any layer. With sizes of 1 it broadcasts in an addition or a
    comparison.

    Input: any shape, of which N alone counts. Output: (N, ...) with the sizes of the field `sizes`.
    """

    key, label, family = "constant", "Constant", "Arithmetic"
    value = Float(0.0, low=-1e12, high=1e12, help="Value of the output")

    def lower(self, *x: TensorType) -> Lowered:
        return function(f"{OWN}constant", self.sizes, self.value)

    def short_value(self) -> str:
        return f"{self.value:g}"


class LearnedParameter(Weighted, _Source):
    """Returns learned numbers, equal for every sample: queries, prompts, an initial state. (nn.Parameter)

        y = weight

    The input sets only the number of samples; connect any layer. As a sequence it can be the queries of a
    cross-attention.

    Input: any shape, of which N alone counts. Output: (N, ...) with the sizes of the field `sizes`.

    Source: Jaegle et al.: Perceiver: general perception with iterative attention, 2021.
    """

    key, label, family = "learned_parameter", "Learned parameter", "Arithmetic"
    weights_initializer = initializer_field("numbers", "narrow-normal", SCALE_INITIALIZERS, label="Initialiser")
    weight_learn_rate_factor = rate_field("numbers", label="Learn rate factor")
    weight_l2_factor = l2_field("numbers", 0.0, label="L2 factor")

    def weights(self, *x: TensorType) -> dict[str, Sizes]:
        return {"weight": self.sizes}

    def lower(self, *x: TensorType) -> Lowered:
        return module(f"{OWN}LearnedParameter", sizes=self.sizes)

    def short_value(self) -> str:
        return self._shown()
