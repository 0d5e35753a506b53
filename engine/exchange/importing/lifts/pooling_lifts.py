"""Pooling over windows, or over all places."""

import math

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.lifts.convolution_lifts import PADS, Sides, sides_of
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import BATCH, ONE, NotLiftable, Tensor
from netwright.engine.layers import pooling, pooling_variants
from netwright.engine.layers.pooling import GlobalAveragePool, GlobalMaxPool

MAX = {1: pooling.MaxPool1d, 2: pooling.MaxPool2d, 3: pooling.MaxPool3d}
AVERAGE = {1: pooling.AveragePool1d, 2: pooling.AveragePool2d, 3: pooling.AveragePool3d}
NORMS = {1: pooling_variants.LpPool1d, 2: pooling_variants.LpPool2d, 3: pooling_variants.LpPool3d}
FLATTENING = ("Flatten", "Reshape", "Squeeze", "Dropout", "Identity")
LOWEST = -1e9


def _window(ctx: Context, node: Node) -> tuple[Tensor, tuple[int, ...], list[int], Sides]:
    """Return the tensor, the kernel, the stride and the padding of a pool; rounding up adds padding behind."""
    kernel = tuple(ctx.attribute(node, "kernel_shape"))
    dims = len(kernel)
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    if dims not in MAX or x.rank != dims + 2:
        raise NotLiftable(f"slides over {dims} dimensions of a tensor with {x.rank}")
    if set(ctx.attribute(node, "dilations", [1])) != {1}:
        raise NotLiftable("has gaps in its window")
    stride = ctx.attribute(node, "strides", [1] * dims)
    return x, kernel, stride, sides_of(ctx, node, x, kernel, stride, [1] * dims)


def _rounded_up(ctx: Context, node: Node, x: Tensor, kernel: tuple[int, ...], stride: list[int], sides: Sides) -> Sides:
    """Return the padding with what rounding up needs behind each axis."""
    if not ctx.attribute(node, "ceil_mode", 0):
        return sides
    padding: Sides = []
    for axis, (before, after) in enumerate(sides):
        room = x.known(axis + 2) + before + after - kernel[axis]
        count = math.ceil(room / stride[axis]) + 1
        if (count - 1) * stride[axis] >= x.known(axis + 2) + before:
            count -= 1  # the last window would begin in the padding
        padding.append((before, max(after, (count - 1) * stride[axis] - room + after)))
    return padding


@lift(
    "MaxPool", becomes=("max_pool1d", "max_pool2d", "max_pool3d"), note="without gaps in the window and without indices"
)
def max_pool(ctx: Context, node: Node) -> Tensor:
    """Uneven padding is a layer of its own, with a very low number."""
    if any(node.outputs[1:]):
        raise NotLiftable("gives the places of the largest numbers as well")
    x, kernel, stride, sides = _window(ctx, node)
    sides = _rounded_up(ctx, node, x, kernel, stride, sides)
    padding = tuple(before for before, _ in sides)
    if any(before != after or 2 * before > size for (before, after), size in zip(sides, kernel, strict=True)):
        border = tuple(size for pair in sides for size in pair)
        type = ctx.make(PADS[len(kernel)], border=border, mode="constant", value=LOWEST)
        x, padding = ctx.add(node, type, x, name="pad"), (0,) * len(kernel)
    return ctx.add(node, ctx.make(MAX[len(kernel)], kernel=kernel, stride=stride, padding=padding), x)


@lift("AveragePool", becomes=("average_pool1d", "average_pool2d", "average_pool3d"), note="without gaps in the window")
def average_pool(ctx: Context, node: Node) -> Tensor:
    """Padding counts as zeros, or not at all (ONNX's default)."""
    x, kernel, stride, sides = _window(ctx, node)
    if _rounded_up(ctx, node, x, kernel, stride, sides) != sides:
        raise NotLiftable("rounds the number of its windows up")
    value = "zeros" if ctx.attribute(node, "count_include_pad", 0) else "mean"
    padding: tuple[int, ...] | str = tuple(before for before, _ in sides)
    if any(before != after or 2 * before > size for (before, after), size in zip(sides, kernel, strict=True)):
        if value == "zeros":
            border = tuple(size for pair in sides for size in pair)
            x, padding = ctx.add(node, ctx.make(PADS[len(kernel)], border=border), x, name="pad"), (0,) * len(kernel)
        elif ctx.attribute(node, "auto_pad", "NOTSET") == "SAME_UPPER":
            padding = "same"
        else:
            raise NotLiftable("leaves uneven padding out of the mean")
    values = {"padding_value": value} if isinstance(padding, str) or any(padding) else {}
    return ctx.add(node, ctx.make(AVERAGE[len(kernel)], kernel=kernel, stride=stride, padding=padding, **values), x)


@lift("GlobalAveragePool", "GlobalMaxPool", becomes=("global_average_pool", "global_max_pool"))
def global_pool(ctx: Context, node: Node) -> Tensor:
    """Features where what follows flattens them, else channels with places of size 1."""
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    kind = GlobalAveragePool if node.op == "GlobalAveragePool" else GlobalMaxPool
    return pooled(ctx, node, x, kind)


def pooled(ctx: Context, node: Node, x: Tensor, kind: type[GlobalAveragePool] | type[GlobalMaxPool]) -> Tensor:
    """Return one number a channel, with as many dimensions as before."""
    followers = ctx.users.get(node.outputs[0], ())
    if all(follower.op in FLATTENING for follower in followers):
        return ctx.add(node, kind(), x, dims=[dim if dim in (BATCH, "C") else ONE for dim in x.dims])
    return ctx.add(node, kind(keep_axes=True), x)


@lift("LpPool", becomes=("lp_pool1d", "lp_pool2d", "lp_pool3d"), note="without gaps in the window")
def lp_pool(ctx: Context, node: Node) -> Tensor:
    """The p-norm of each window; padded places are zeros."""
    x, kernel, stride, sides = _window(ctx, node)
    sides = _rounded_up(ctx, node, x, kernel, stride, sides)
    padding = tuple(before for before, _ in sides)
    if any(before != after for before, after in sides):
        border = tuple(size for pair in sides for size in pair)
        x, padding = ctx.add(node, ctx.make(PADS[len(kernel)], border=border), x, name="pad"), (0,) * len(kernel)
    norm = float(ctx.attribute(node, "p", 2))
    return ctx.add(node, ctx.make(NORMS[len(kernel)], kernel=kernel, stride=stride, padding=padding, norm=norm), x)
