"""Functions of each number by itself."""

from typing import Any

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import MICROSOFT, OWN_DOMAIN, Node
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import affine, combined
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import (
    NotLiftable,
    Tensor,
    apart,
    epsilon_of,
    joined_with_batch,
    together,
)
from netwright.engine.layers import activation
from netwright.engine.layers.activation_channels import LogSoftmax, Softmax
from netwright.engine.layers.arithmetic import MathFunction, Power, Scaling
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.combination import Multiplication

SIMPLE: dict[str, LayerType] = {
    "Relu": activation.Relu(),
    "Sigmoid": activation.Sigmoid(),
    "Tanh": activation.Tanh(),
    "Softplus": activation.Softplus(),
    "Softsign": activation.Softsign(),
    "HardSwish": activation.Hardswish(),
    "Mish": activation.Mish(),
    "Neg": MathFunction(function="negate"),
    "Reciprocal": Power(exponent=-1.0),
}
"""The layer of each operator without attributes."""
FUNCTIONS = (
    *("Abs", "Exp", "Sin", "Cos", "Sign", "Floor", "Round", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Erf"),
    *("Asin", "Acos", "Acosh", "Atanh", "Sqrt", "Log"),
)
"""Operators that a layer has as a function of the same name."""
SIMPLE |= {op: MathFunction(function=op.lower()) for op in FUNCTIONS}
NOTES = dict.fromkeys(("Asin", "Acos", "Acosh", "Atanh"), "where they are defined")
NOTES |= dict.fromkeys(("Sqrt", "Log"), "of numbers above 1e-12")
"""Limits of these operators: the layer takes what is smaller as epsilon."""
WITH_ALPHA: dict[str, tuple[type[LayerType], str, float]] = {
    "LeakyRelu": (activation.LeakyRelu, "scale", 0.01),
    "Elu": (activation.Elu, "alpha", 1.0),
    "Celu": (activation.Celu, "alpha", 1.0),
    "ThresholdedRelu": (activation.Threshold, "threshold", 1.0),
}
"""The layer of each operator with the one attribute alpha: its type, the field that alpha is, and ONNX's default."""


def _simple(ctx: Context, node: Node) -> Tensor:
    return ctx.add(node, SIMPLE[node.op], ctx.tensor(node, 0))


def _with_alpha(ctx: Context, node: Node) -> Tensor:
    kind, name, default = WITH_ALPHA[node.op]
    type = ctx.make(kind, **{name: epsilon_of(ctx.attribute(node, "alpha", default))})
    return ctx.add(node, type, ctx.tensor(node, 0))


for _op, _type in SIMPLE.items():
    lift(_op, becomes=(_type.key,), note=NOTES.get(_op, ""))(_simple)
for _op, _row in WITH_ALPHA.items():
    lift(_op, becomes=(_row[0].key,))(_with_alpha)


@lift("Selu", becomes=("selu",), note="with the constants of the source")
def selu(ctx: Context, node: Node) -> Tensor:
    """The layer has alpha 1.6733 and gamma 1.0507."""
    alpha, gamma = ctx.attribute(node, "alpha", 1.67326319), ctx.attribute(node, "gamma", 1.05070102)
    if not np.allclose((alpha, gamma), (1.6732632, 1.050701), rtol=1e-4):
        raise NotLiftable(f"has alpha {alpha:g} and gamma {gamma:g}")
    return ctx.add(node, activation.Selu(), ctx.tensor(node, 0))


@lift("Gelu", becomes=("gelu",))
def gelu(ctx: Context, node: Node) -> Tensor:
    """Exact, or with tanh."""
    type = ctx.make(activation.Gelu, approximation=ctx.attribute(node, "approximate", "none"))
    return ctx.add(node, type, ctx.tensor(node, 0))


@lift("Swish", becomes=("swish",), note="with alpha 1")
def swish(ctx: Context, node: Node) -> Tensor:
    """x times its sigmoid."""
    if ctx.attribute(node, "alpha", 1.0) != 1.0:
        raise NotLiftable("has another alpha than 1")
    return ctx.add(node, activation.Swish(), ctx.tensor(node, 0))


@lift("Activation", domain=OWN_DOMAIN)
def written_out(ctx: Context, node: Node) -> Tensor:
    """An activation that was written out in several operators; its layer is in the attribute `type`."""
    type: Any = node.attributes["type"]
    return ctx.add(node, type, ctx.tensor(node, 0))


@lift("HardSigmoid", becomes=("hardsigmoid",), note="with alpha 1/6")
def hard_sigmoid(ctx: Context, node: Node) -> Tensor:
    """max(0, min(1, x / 6 + 1 / 2)), as torch's."""
    alpha, beta = ctx.attribute(node, "alpha", 0.2), ctx.attribute(node, "beta", 0.5)
    if abs(alpha - 1 / 6) < 1e-6 and beta == 0.5:
        return ctx.add(node, activation.Hardsigmoid(), ctx.tensor(node, 0))
    scaled = ctx.add(
        node, ctx.make(Scaling, scale=epsilon_of(alpha), shift=epsilon_of(beta)), ctx.tensor(node, 0), name="scale"
    )
    return ctx.add(node, activation.Hardtanh(low=0.0, high=1.0), scaled)


@lift("PRelu", becomes=("prelu",), note="with a slope for each channel, or one for all")
def prelu(ctx: Context, node: Node) -> Tensor:
    """The slope has the sizes of the channels and 1 elsewhere."""
    x, slope = ctx.tensor(node, 0), ctx.numbers(node, 1)
    if slope.size == 1:
        type = ctx.make(activation.Prelu, per_channel=False)
        return ctx.add(node, type, x, weights={"weight": slope.reshape(1)})
    shape = (1,) * (x.rank - slope.ndim) + slope.shape
    if len(shape) != x.rank or any(size != 1 and x.dims[dim] != "C" for dim, size in enumerate(shape)):
        raise NotLiftable("has slopes for more than the channels")
    return ctx.add(node, activation.Prelu(), x, weights={"weight": slope.reshape(-1)})


@lift("Clip", becomes=("clipped_relu", "relu", "hardtanh"), note="with known limits")
def clip(ctx: Context, node: Node) -> Tensor:
    """Limits are attributes before version 11."""
    limits = []
    for index, name in ((1, "min"), (2, "max")):
        limit = node.attributes.get(name)
        numbers = ctx.optional_numbers(node, index)
        limits.append(limit if limit is not None else None if numbers is None else float(numbers.reshape(-1)[0]))
    low, high = limits
    x = ctx.tensor(node, 0)
    if (low is None or low < -3e38) and (high is None or high > 3e38):
        return x
    if low == 0.0 and (high is None or high > 3e38):
        return ctx.add(node, activation.Relu(), x)
    if low == 0.0 and high is not None and high > 0:
        return ctx.add(node, ctx.make(activation.ClippedRelu, ceiling=epsilon_of(high)), x)
    bounds = (-1e12 if low is None else epsilon_of(low), 1e12 if high is None else epsilon_of(high))
    return ctx.add(node, ctx.make(activation.Hardtanh, low=bounds[0], high=bounds[1]), x)


@lift("Shrink", becomes=("hardshrink", "softshrink"), note="with a bias of 0, or of lambd")
def shrink(ctx: Context, node: Node) -> Tensor:
    """x ± bias beyond lambd, else 0."""
    limit, bias = ctx.attribute(node, "lambd", 0.5), ctx.attribute(node, "bias", 0.0)
    if bias not in (0.0, limit):
        raise NotLiftable(f"has the bias {bias:g}")
    kind = activation.Softshrink if bias else activation.Hardshrink
    return ctx.add(node, ctx.make(kind, threshold=epsilon_of(limit)), ctx.tensor(node, 0))


@lift("Softmax", "LogSoftmax", becomes=("softmax", "log_softmax"), note="along the channels")
def softmax(ctx: Context, node: Node) -> Tensor:
    """Before version 13 all dimensions from the axis on are taken together."""
    x = ctx.tensor(node, 0)
    old = ctx.opset < 13
    axis = x.axis(ctx.attribute(node, "axis", 1 if old else -1))
    if old and any(size != 1 for size in x.sizes[axis + 1 :]):
        raise NotLiftable("takes several dimensions together")
    return along(ctx, node, Softmax() if node.op == "Softmax" else LogSoftmax(), x, axis)


def along(ctx: Context, node: Node, type: LayerType, x: Tensor, axis: int) -> Tensor:
    """Return a softmax along a dimension."""
    if x.dims[axis] == "C":
        return ctx.add(node, type, x)
    count = joined_with_batch(x) if axis else 0
    x = _with_channels_at(ctx, node, apart(x), axis + count)
    return together(ctx.add(node, type, x), count)


def _with_channels_at(ctx: Context, node: Node, x: Tensor, axis: int) -> Tensor:
    """Return the tensor with a dimension as its channels."""
    others = {2: "", 3: "T", 4: "HW", 5: "DHW"}.get(x.rank)
    if others is None or axis == 0:
        raise NotLiftable(f"works along dimension {axis} of {x.rank}")
    want = ["N", *others]
    want.insert(axis, "C")
    return ctx.relayout(node, x, want)


@lift("Gelu", "BiasGelu", "FastGelu", domain=MICROSOFT, becomes=("gelu", "learned_scale"))
def microsoft_gelu(ctx: Context, node: Node) -> Tensor:
    """Exact, or with tanh (FastGelu), of the input plus known numbers where there are some."""
    x = ctx.tensor(node, 0)
    if ctx.optional(node, 1) is not None:
        x = affine(ctx, node, x, None, ctx.numbers(node, 1))
    return ctx.add(node, activation.Gelu(approximation="tanh" if node.op == "FastGelu" else "none"), x)


@lift("QuickGelu", domain=MICROSOFT, becomes=("scaling", "sigmoid", "multiplication"))
def quick_gelu(ctx: Context, node: Node) -> Tensor:
    """x · sigmoid(alpha · x)."""
    x = ctx.tensor(node, 0)
    scaled = affine(ctx, node, x, np.asarray(ctx.attribute(node, "alpha", 1.702), np.float32), None)
    return combined(ctx, node, Multiplication(), x, ctx.add(node, activation.Sigmoid(), scaled, name="sigmoid"))
