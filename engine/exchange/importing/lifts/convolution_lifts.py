"""Convolution and transposed convolution."""

from collections.abc import Sequence

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import Free, NotLiftable, Tensor
from netwright.engine.layers import convolution, padding
from netwright.engine.layers.convolution_transposed import TransposedConv1d, TransposedConv2d, TransposedConv3d
from netwright.engine.layers.windows import reach_of, same_padding

PLAIN = {1: convolution.Conv1d, 2: convolution.Conv2d, 3: convolution.Conv3d}
GROUPED = {1: convolution.GroupedConv1d, 2: convolution.GroupedConv2d, 3: convolution.GroupedConv3d}
PADS = {1: padding.Pad1d, 2: padding.Pad2d, 3: padding.Pad3d}
Sides = list[tuple[int, int]]


@lift(
    "Conv",
    becomes=("conv1d", "conv2d", "conv3d", "grouped_conv1d", "grouped_conv2d", "grouped_conv3d"),
    note="with weights that are known; padding that differs between the sides is a layer of its own",
)
def conv(ctx: Context, node: Node) -> Tensor:
    """Convolve; the weights are (filters, channels per group, kernel), as in torch."""
    weight = ctx.numbers(node, 1)
    bias = ctx.learned(node, 2, 0.0)
    dims = weight.ndim - 2
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    if dims not in PLAIN or x.rank != dims + 2:
        raise NotLiftable(f"slides over {dims} dimensions of a tensor with {x.rank}")
    groups = ctx.attribute(node, "group", 1)
    kernel = weight.shape[2:]
    stride = ctx.attribute(node, "strides", [1] * dims)
    dilation = ctx.attribute(node, "dilations", [1] * dims)
    sides = sides_of(ctx, node, x, kernel, stride, dilation)
    x, padding_value = padded(ctx, node, x, sides)
    values = {
        "kernel": kernel,
        "stride": stride,
        "padding": padding_value,
        "dilation": dilation,
        "bias": bias is not None,
    }
    if groups == 1:
        type = ctx.make(PLAIN[dims], filters=weight.shape[0], **values)
    else:
        if weight.shape[0] % groups or x.known(1) != groups * weight.shape[1]:
            raise NotLiftable(f"has {groups} groups, which do not fit its weights")
        same = groups == x.known(1)
        type = ctx.make(GROUPED[dims], filters=weight.shape[0] // groups, groups=0 if same else groups, **values)
    weights = {"weight": weight} | ({"bias": bias.reshape(-1)} if bias is not None else {})
    return ctx.add(node, type, x, weights=weights)


def sides_of(
    ctx: Context, node: Node, x: Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Sides:
    """Return the padding before and after each axis, from the attributes `auto_pad` and `pads`."""
    dims = len(kernel)
    mode = ctx.attribute(node, "auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        sides = []
        for axis in range(dims):
            size = x.size(axis + 2)
            if isinstance(size, Free):
                if stride[axis] != 1:
                    raise NotLiftable("pads by a size that is known only when the network runs")
                size = kernel[axis]
            before, after = same_padding(size, kernel[axis], stride[axis], dilation[axis])
            sides.append((before, after) if mode == "SAME_UPPER" else (after, before))
        return sides
    pads = ctx.attribute(node, "pads", [0] * 2 * dims) if mode == "NOTSET" else [0] * 2 * dims
    if len(pads) != 2 * dims:
        raise NotLiftable(f"has {len(pads)} numbers of padding for {dims} axes")
    return list(zip(pads[:dims], pads[dims:], strict=True))


def padded(ctx: Context, node: Node, x: Tensor, sides: Sides) -> tuple[Tensor, tuple[int, ...]]:
    """Return the tensor and the padding that the layer itself adds; what is not equal on both sides is a layer."""
    if any(size < 0 for pair in sides for size in pair):
        raise NotLiftable("crops by a negative padding")
    if all(before == after for before, after in sides):
        return x, tuple(before for before, _ in sides)
    border = tuple(size for pair in sides for size in pair)
    type = ctx.make(PADS[len(sides)], border=border)
    return ctx.add(node, type, x, name="pad"), (0,) * len(sides)


@lift(
    "ConvTranspose",
    becomes=("transposed_conv1d", "transposed_conv2d", "transposed_conv3d"),
    note="with one group and weights that are known",
)
def transposed(ctx: Context, node: Node) -> Tensor:
    """Convolve transposed; the weights are (channels, filters, kernel), as in torch."""
    kinds = {1: TransposedConv1d, 2: TransposedConv2d, 3: TransposedConv3d}
    weight, bias = ctx.numbers(node, 1), ctx.learned(node, 2, 0.0)
    dims = weight.ndim - 2
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    if dims not in kinds or x.rank != dims + 2:
        raise NotLiftable(f"slides over {dims} dimensions of a tensor with {x.rank}")
    if ctx.attribute(node, "group", 1) != 1:
        raise NotLiftable("has several groups")
    kernel = weight.shape[2:]
    stride = ctx.attribute(node, "strides", [1] * dims)
    dilation = ctx.attribute(node, "dilations", [1] * dims)
    more = ctx.attribute(node, "output_padding", [0] * dims)
    sides = _crops(ctx, node, x, kernel, stride, dilation, more)
    if any(before != after for before, after in sides):
        shifted = [(before, after - before + extra) for (before, after), extra in zip(sides, more, strict=True)]
        if any(gap > 0 for _, gap in shifted):
            raise NotLiftable("crops more behind than before")
        sides = [(before, before) for before, _ in sides]
        more = [
            extra + before - after
            for (before, after), extra in zip(_crops(ctx, node, x, kernel, stride, dilation, more), more, strict=True)
        ]
    type = ctx.make(
        kinds[dims],
        filters=weight.shape[1],
        kernel=kernel,
        stride=stride,
        dilation=dilation,
        cropping=tuple(before for before, _ in sides),
        output_padding=tuple(more),
        bias=bias is not None,
    )
    return ctx.add(node, type, x, weights={"weight": weight} | ({} if bias is None else {"bias": bias.reshape(-1)}))


def _crops(
    ctx: Context,
    node: Node,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    more: Sequence[int],
) -> Sides:
    """Return the places cut off before and after each axis, from `pads`, `auto_pad` or `output_shape`."""
    dims = len(kernel)
    mode, shape = ctx.attribute(node, "auto_pad", "NOTSET"), ctx.attribute(node, "output_shape")
    if mode not in ("SAME_UPPER", "SAME_LOWER") and not shape:
        pads = ctx.attribute(node, "pads", [0] * 2 * dims) if mode == "NOTSET" else [0] * 2 * dims
        return list(zip(pads[:dims], pads[dims:], strict=True))
    sides: Sides = []
    for axis in range(dims):
        size = x.known(axis + 2)
        out_size = shape[-dims:][axis] if shape else size * stride[axis]
        total = stride[axis] * (size - 1) + more[axis] + reach_of(kernel[axis], dilation[axis]) - out_size
        if total < 0:
            raise NotLiftable("makes a larger output than its window does")
        small, large = total // 2, total - total // 2
        sides.append((small, large) if mode == "SAME_UPPER" else (large, small))
    return sides
