"""Reductions over dimensions, the places of largest and smallest numbers, and cumulative sums."""

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import BATCH, ONE, NotLiftable, Tensor
from netwright.engine.layers.arithmetic import ArgMax, CumulativeSum, MathFunction, Power, Reduction, Scaling
from netwright.engine.layers.base import LayerType
from netwright.engine.layers.combination import Division
from netwright.engine.layers.pooling import GlobalAveragePool

FUNCTIONS = {
    "ReduceMean": "mean",
    "ReduceSum": "sum",
    "ReduceMax": "max",
    "ReduceMin": "min",
    "ReduceL2": "norm",
    "ReduceLogSumExp": "logsumexp",
    "ReduceL1": "sum",
    "ReduceSumSquare": "sum",
    "ReduceLogSum": "sum",
}
BEFORE: dict[str, LayerType] = {"ReduceL1": MathFunction(function="abs"), "ReduceSumSquare": Power(exponent=2.0)}
FLATTENING = ("Flatten", "Reshape", "Squeeze", "Identity")
USUAL = {1: (BATCH,), 2: (BATCH, "C"), 3: (BATCH, "T", "C"), 4: (BATCH, "C", "H", "W"), 5: (BATCH, "C", "D", "H", "W")}


@lift(*FUNCTIONS, becomes=("reduction", "global_average_pool"), note="over any dimensions but the batch")
def reduce(ctx: Context, node: Node) -> Tensor:
    """Axes are an attribute before version 18, of a sum before version 13."""
    x = ctx.tensor(node, 0)
    listed_axes = ctx.ints(node, 1, "axes")
    if not listed_axes and ctx.attribute(node, "noop_with_empty_axes", 0):
        return x
    axes = [x.axis(axis) for axis in listed_axes or range(x.rank)]
    dims = [x.dims[axis] for axis in axes if x.dims[axis] != ONE]
    if BATCH in dims or any("*" in name for name in dims):
        raise NotLiftable("takes the samples of a batch together")
    keeps = bool(ctx.attribute(node, "keepdims", 1))
    if node.op in BEFORE:
        x = ctx.add(node, BEFORE[node.op], x, name="each")
    places = set(x.type.axes) - {"C"}
    if places and set(dims) == places and x.type.has("C") and (not keeps or _flattens(ctx, node)):
        whole = GlobalAveragePool() if node.op == "ReduceMean" else Reduction(function=FUNCTIONS[node.op])
        out = ctx.add(node, whole, x, dims=[dim if dim in (BATCH, "C") else ONE for dim in x.dims])
    else:
        out = x
        for axis in dims:
            type = ctx.make(Reduction, function=FUNCTIONS[node.op], over=axis, keep=True)
            out = ctx.add(node, type, out, name="" if len(dims) == 1 else axis.lower())
    if node.op == "ReduceLogSum":
        out = ctx.add(node, MathFunction(function="log"), out, name="log")
    return out if keeps else without(ctx, node, out, axes)


def _flattens(ctx: Context, node: Node) -> bool:
    return all(follower.op in FLATTENING for follower in ctx.users.get(node.outputs[0], ()))


def without(ctx: Context, node: Node, x: Tensor, axes: list[int]) -> Tensor:
    """Return the tensor without dimensions of size 1; as the layout with as many, where sizes are known."""
    dims = tuple(dim for at, dim in enumerate(x.dims) if at not in axes)
    x = x.viewed(dims)
    if all(axis in dims for axis in x.type.axes) or len(dims) not in USUAL or dims[0] != BATCH or len(dims) == 1:
        return x
    try:
        return ctx.relayout(node, x, USUAL[len(dims)])
    except NotLiftable:
        return x


@lift("GlobalLpPool", becomes=("reduction",), note="with p 2")
def global_lp_pool(ctx: Context, node: Node) -> Tensor:
    """The root of the summed squares over all places."""
    if ctx.attribute(node, "p", 2) != 2:
        raise NotLiftable("has another p than 2")
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    if _flattens(ctx, node):
        return ctx.add(node, Reduction(function="norm"), x, dims=[BATCH, "C", *[ONE] * (x.rank - 2)])
    for axis in x.dims[2:]:
        x = ctx.add(node, ctx.make(Reduction, function="norm", over=axis, keep=True), x, name=axis.lower())
    return x


@lift("LpNormalization", becomes=("reduction", "division"))
def lp_normalization(ctx: Context, node: Node) -> Tensor:
    """x divided by its norm along an axis."""
    x = ctx.tensor(node, 0)
    axis = x.dims[x.axis(ctx.attribute(node, "axis", -1))]
    if axis in (BATCH, ONE) or "*" in axis:
        raise NotLiftable("normalises over the samples of a batch")
    is_one = ctx.attribute(node, "p", 2) == 1
    sized = ctx.add(node, MathFunction(function="abs"), x, name="size") if is_one else x
    type = ctx.make(Reduction, function="sum" if is_one else "norm", over=axis, keep=True)
    return ctx.add(node, Division(), x, ctx.add(node, type, sized, name="norm"))


@lift("ArgMax", "ArgMin", becomes=("arg_max",), note="of tensors with places; of equal numbers the first")
def arg_max(ctx: Context, node: Node) -> Tensor:
    """The smallest is the largest of the negated numbers."""
    x = ctx.tensor(node, 0)
    at = x.axis(ctx.attribute(node, "axis", 0))
    others = {3: "T", 4: "HW", 5: "DHW"}.get(x.rank)
    if others is None or at == 0 or ctx.attribute(node, "select_last_index", 0):
        raise NotLiftable("takes the last of equal numbers, or has no places")
    want = [BATCH, *others]
    want.insert(at, "C")
    x = ctx.relayout(node, x, want)
    if node.op == "ArgMin":
        x = ctx.add(node, Scaling(scale=-1.0), x, name="negated")
    is_sequence = x.type.layout == "sequence"
    out = ctx.add(node, ArgMax(), x, dims=[ONE if is_sequence and dim == "C" else dim for dim in x.dims])
    if ctx.attribute(node, "keepdims", 1):
        return out
    return out.viewed((*out.dims[:at], *out.dims[at + 1 :]))


@lift("CumSum", becomes=("cumulative_sum",), note="forwards, with the number itself")
def cumulative_sum(ctx: Context, node: Node) -> Tensor:
    """The axis is a known number."""
    x = ctx.tensor(node, 0)
    axis = x.dims[x.axis(int(ctx.numbers(node, 1).reshape(())))]
    if ctx.attribute(node, "exclusive", 0) or ctx.attribute(node, "reverse", 0):
        raise NotLiftable("sums backwards, or without the number itself")
    if axis in (BATCH, ONE):
        raise NotLiftable("sums over the samples of a batch")
    return ctx.add(node, ctx.make(CumulativeSum, axis=axis), x)
