"""Operators that select, mask and lay out by known places."""

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import affine, combined, parameter
from netwright.engine.exchange.importing.lifts.gathering import padded_by, taken
from netwright.engine.exchange.importing.lifts.layout_lifts import sliced
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import BATCH, NotLiftable, Tensor
from netwright.engine.layers.combination import Multiplication
from netwright.engine.layers.reshape_layouts import OneHot
from netwright.engine.layers.resizing import Fold


@lift("OneHot", becomes=("one_hot", "scaling"), note="of a sequence of indices, along the last or the second dimension")
def one_hot(ctx: Context, node: Node) -> Tensor:
    """A vector for each index, with known numbers for what is on and off."""
    x, depth, values = ctx.tensor(node, 0), ctx.numbers(node, 1), ctx.numbers(node, 2).reshape(-1)
    if x.type.kind != "index" or x.dims != (BATCH, "T"):
        raise NotLiftable("has indices that are no sequence")
    axis = ctx.attribute(node, "axis", -1)
    dims = {-1: (BATCH, "T", "C"), 2: (BATCH, "T", "C"), 1: (BATCH, "C", "T"), -2: (BATCH, "C", "T")}.get(axis)
    if dims is None:
        raise NotLiftable("puts the vectors along the batch")
    out = ctx.add(node, ctx.make(OneHot, classes=int(depth.reshape(-1)[0])), x, dims=dims)
    off, on = (float(value) for value in values)
    return affine(ctx, node, out, np.asarray(on - off, np.float32), np.asarray(off, np.float32))


@lift("Compress", becomes=("slice", "concatenation"), note="with known places, along a dimension")
def compress(ctx: Context, node: Node) -> Tensor:
    """The places at which a known condition holds."""
    if "axis" not in node.attributes:
        raise NotLiftable("takes all dimensions together")
    x, condition = ctx.tensor(node, 0), ctx.numbers(node, 1)
    places = [int(at) for at in np.flatnonzero(condition)]
    if not places:
        raise NotLiftable("leaves nothing")
    return taken(ctx, node, x, x.axis(ctx.attribute(node, "axis")), places)


@lift("CenterCropPad", becomes=("slice", "pad1d", "pad2d", "pad3d"), note="to known sizes")
def center_crop_pad(ctx: Context, node: Node) -> Tensor:
    """Cut to a size around the middle, or add zeros around; of an odd number the larger part lies behind."""
    x = ctx.tensor(node, 0)
    sizes = [int(size) for size in ctx.numbers(node, 1).reshape(-1)]
    axes = [x.axis(axis) for axis in ctx.attribute(node, "axes", range(x.rank))]
    sides = {}
    for axis, size in zip(axes, sizes, strict=True):
        if x.dims[axis] == BATCH and size == ctx.fixed_batch:
            continue
        length = x.known(axis)
        if size < length:
            start = (length - size) // 2
            x = sliced(ctx, node, x, axis, start, start + size)
        elif size > length:
            before = (size - length) // 2
            sides[axis] = (before, size - length - before)
    return padded_by(ctx, node, x, sides, "zeros", 0.0)


@lift("Trilu", becomes=("multiplication", "learned_parameter"), note="of known sizes")
def triangle(ctx: Context, node: Node) -> Tensor:
    """The upper or lower triangle of matrices: a product with a known mask."""
    x = ctx.tensor(node, 0)
    offset = ctx.optional_numbers(node, 1)
    ones = np.ones((x.known(x.rank - 2), x.known(x.rank - 1)), np.float32)
    cut = np.triu if ctx.attribute(node, "upper", 1) else np.tril
    mask = cut(ones, 0 if offset is None else int(offset.reshape(())))
    return combined(ctx, node, Multiplication(), x, parameter(ctx, node, mask, x, "mask"))


@lift("Col2Im", becomes=("fold",), note="to images of known sizes")
def col2im(ctx: Context, node: Node) -> Tensor:
    """Lay windows over each other and add them where they overlap."""
    size, kernel = (tuple(int(number) for number in ctx.numbers(node, at).reshape(-1)) for at in (1, 2))
    if len(size) != 2:
        raise NotLiftable(f"makes images of {len(size)} dimensions")
    pads = ctx.attribute(node, "pads", [0] * 4)
    if pads[:2] != pads[2:]:
        raise NotLiftable("pads its sides differently")
    type = ctx.make(
        Fold,
        size=size,
        kernel=kernel,
        stride=ctx.attribute(node, "strides", [1, 1]),
        padding=tuple(pads[:2]),
        dilation=ctx.attribute(node, "dilations", [1, 1]),
    )
    x = ctx.relayout(node, ctx.tensor(node, 0), (BATCH, "C", "T"))
    return ctx.add(node, type, x, dims=(BATCH, "C", "H", "W"))
