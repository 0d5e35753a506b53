"""Operators that change the layout of a tensor, join or cut it, or pass it on."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from netwright.engine.core.types import LAYOUTS
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.heads import follow, laid_out
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import parameter
from netwright.engine.exchange.importing.lifts.lift_registry import Values, lift
from netwright.engine.exchange.importing.lifts.noted import is_rounded
from netwright.engine.exchange.importing.values import (
    BATCH,
    ONE,
    Dim,
    Free,
    NotLiftable,
    Tensor,
    as_sizes,
    divided,
    product,
)
from netwright.engine.layers.arithmetic import MathFunction
from netwright.engine.layers.combination import Concatenation
from netwright.engine.layers.reshape import Flatten, Slice, Split
from netwright.engine.layers.reshape_layouts import Cast, Flip, ImageToSequence, SequenceToImage

BY_RANK = {len(axes): axes for axes in LAYOUTS.values()}
FAR = 1_000_000_000
TRUTH = 9
"""ONNX's number of bool."""


@lift("Identity", becomes=(), note="vanishes")
def identity(ctx: Context, node: Node) -> Values:
    """The value itself."""
    return ctx.held(node, 0)


@lift("Dropout", becomes=("dropout",), note="vanishes in a file for inference")
def dropout(ctx: Context, node: Node) -> Values:
    """The value itself: nothing is dropped outside of training. A mask that is asked for is not made."""
    if any(node.outputs[1:]) and node.outputs[1] in ctx.users:
        raise NotLiftable("gives its mask as well")
    return (ctx.held(node, 0), *(None for _ in node.outputs[1:]))


@lift("Transpose", becomes=("permute",), note="mostly vanishes: layers know their axes by name")
def transpose(ctx: Context, node: Node) -> Tensor:
    """The same tensor, whose dimensions have other names."""
    x = ctx.tensor(node, 0)
    order = ctx.attribute(node, "perm", list(reversed(range(x.rank))))
    if sorted(order) != list(range(x.rank)):
        raise NotLiftable(f"orders {x.rank} dimensions as {order}")
    return x.viewed([x.dims[at] for at in order])


@lift("Flatten", becomes=("flatten",))
def flatten(ctx: Context, node: Node) -> Tensor:
    """All dimensions from the axis on as one."""
    x = ctx.tensor(node, 0)
    axis = ctx.attribute(node, "axis", 1)
    axis = axis if axis == x.rank else x.axis(axis)
    return reshaped(ctx, node, x, [product(x.sizes[:axis]), product(x.sizes[axis:])])


@lift(
    "Reshape",
    becomes=("reshape", "flatten", "image_to_sequence", "sequence_to_image"),
    note="to known sizes, with the batch first",
)
def reshape(ctx: Context, node: Node) -> Values:
    """Sizes of 0 are those of the input, -1 is what is left. Sizes are an attribute before version 5.

    Where no layer has the dimensions, such as those of windows before they are moved, what follows tells the layers.
    """
    x = ctx.tensor(node, 0)
    sizes = as_sizes(ctx.optional(node, 1))
    if sizes is None:
        raise NotLiftable("computes its sizes")
    items: list[Dim] = list(sizes.items)
    if not ctx.attribute(node, "allowzero", 0):
        items = [x.size(at) if item == 0 and at < x.rank else item for at, item in enumerate(items)]
    before = len(ctx.layers)
    try:
        return reshaped(ctx, node, x, items)
    except NotLiftable:
        ctx.forget(before)
        (headed,) = follow(ctx, node)
        assert headed is not None
        is_output = any(value.name == node.outputs[0] for value in ctx.graph.outputs)
        return laid_out(ctx, node, headed) if is_output else headed


def reshaped(ctx: Context, node: Node, x: Tensor, items: list[Dim]) -> Tensor:
    """Return a tensor with other sizes, of which one may be -1. A change of names alone is no layer."""
    items = _resolved(ctx, x, items)
    if (view := _view(x, items)) is not None:
        return view
    if (moved := _places(ctx, node, x, items)) is not None:
        return moved
    if not items or items[0] != Free((BATCH,)):
        raise NotLiftable("changes the batch")
    rest = list(items[1:])
    if any(isinstance(item, Free) for item in rest):
        raise NotLiftable("changes sizes that are known only when the network runs")
    x = ctx.in_order(node, x)
    if len(rest) == 1:
        return ctx.add(node, Flatten(), x, dims=(BATCH, "C")) if x.type.rank > 1 else x.viewed((BATCH, "C"))
    ones = [at for at, size in enumerate(rest) if size == 1]
    dropped: list[int] = ones[: len(rest) - max(BY_RANK)] if len(rest) > max(BY_RANK) else []
    places = [at for at in range(len(rest)) if at not in dropped]
    layout = BY_RANK.get(len(places))
    if layout is None:
        raise NotLiftable(f"makes {len(items)} dimensions")
    out = ctx.reshaped(node, x, layout, [rest[at] for at in places])
    names = iter(layout)
    return out.viewed((BATCH, *(ONE if at in dropped else next(names) for at in range(len(rest)))))


def _resolved(ctx: Context, x: Tensor, items: list[Dim]) -> list[Dim]:
    """Return the sizes with -1 computed, and a fixed batch as the batch that it is."""
    total = product(x.sizes)
    names = [name for dim in x.dims for name in dim.split("*")]
    if ctx.fixed_batch is not None and len(names) == len(items) and BATCH in names[1:]:
        at = names.index(BATCH)
        items = [*items[:at], Free((BATCH,)) if items[at] == ctx.fixed_batch else items[at], *items[at + 1 :]]
    if ctx.fixed_batch is not None and items and items[0] == ctx.fixed_batch and x.dims[0].split("*")[0] == BATCH:
        rest = divided(total, Free((BATCH,)))
        others = [item for item in items[1:] if item != -1]
        if rest is not None and (len(others) < len(items) - 1 or product(others) == rest):
            items = [Free((BATCH,)), *items[1:]]
    items = _with_batch(ctx, x, items)
    if -1 in items:
        at = items.index(-1)
        size = divided(total, product(item for item in items if item != -1))
        if size is None and ctx.fixed_batch is not None:
            size = divided(
                product((total.factor if isinstance(total, Free) else total, ctx.fixed_batch)),
                product(items[:at] + items[at + 1 :]),
            )
        if size is None:
            raise NotLiftable("changes sizes that are known only when the network runs")
        items = [*items[:at], size, *items[at + 1 :]]
    if product(items) != total:
        raise NotLiftable(f"makes {product(items)} numbers of {total}")
    return items


def _with_batch(ctx: Context, x: Tensor, items: list[Dim]) -> list[Dim]:
    """Return the sizes with the fixed batch as such where it is another than the first dimension, and only dimensions
    of size 1 come or go."""
    if ctx.fixed_batch is None or x.dims[0].split("*")[0] == BATCH or Free((BATCH,)) in items:
        return items
    for at, item in enumerate(items):
        batched = [*items[:at], Free((BATCH,)), *items[at + 1 :]]
        if item == ctx.fixed_batch and product(batched) == product(x.sizes) and _view(x, batched) is not None:
            return batched
    return items


def _view(x: Tensor, items: Sequence[Dim]) -> Tensor | None:
    """Return the tensor with other dimensions where only sizes of 1 come and go, or the batch is joined with steps."""
    names = [name for dim in x.dims for name in dim.split("*") if name != ONE]
    dims: list[str] = []
    at = 0
    for item in items:
        if at < len(names) and item != 1 and item == x._factor(names[at]):
            dims.append(names[at])
            at += 1
        elif item == 1:
            dims.append(names[at] if at < len(names) and x._factor(names[at]) == 1 else ONE)
            at += dims[-1] != ONE
        elif at + 1 < len(names) and names[at] == BATCH:
            end = at + 1
            while end < len(names) and product(x._factor(name) for name in names[at:end]) != item:
                end += 1
            if product(x._factor(name) for name in names[at:end]) != item or end == len(names):
                return None
            dims.append("*".join(names[at:end]))
            at = end
        else:
            return None
    return x.viewed(dims) if at == len(names) else None


def _places(ctx: Context, node: Node, x: Tensor, items: Sequence[Dim]) -> Tensor | None:
    """Return an image whose places become steps, or steps that become places; None for another change."""
    if len(items) == 3 and x.type.axes == ("C", "H", "W") and items[0] == Free((BATCH,)):
        if x.dims == (BATCH, "C", "H", "W") and items[1] == x.size(1) and x.size(1) != 1:
            return ctx.add(node, ImageToSequence(steps="positions"), x, dims=(BATCH, "C", "T"))
        if x.dims == (BATCH, "H", "W", "C") and items[2] == x.size(3):
            return ctx.add(node, ImageToSequence(steps="positions"), x, dims=(BATCH, "T", "C"))
    if len(items) == 4 and x.type.axes == ("T", "C") and items[0] == Free((BATCH,)) and x.rank == 3:
        for dims, places in (((BATCH, "C", "T"), (2, 3)), ((BATCH, "T", "C"), (1, 2))):
            size = [items[place] for place in places]
            other = items[6 - sum(places)]
            if x.dims == dims and other == x.type["C"] and not any(isinstance(side, Free) for side in size):
                out = "CHW" if places == (2, 3) else "HWC"
                if places == (1, 2) and not _is_channels_last(ctx, node):
                    return None
                return ctx.add(node, ctx.make(SequenceToImage, size=tuple(size)), x, dims=(BATCH, *out))
    return None


def _is_channels_last(ctx: Context, node: Node) -> bool:
    """Return whether what follows moves the last dimension to the front, as for a convolution."""
    followers = ctx.users.get(node.outputs[0], ())
    return bool(followers) and all(
        follower.op == "Transpose" and follower.attributes.get("perm") == [0, 3, 1, 2] for follower in followers
    )


@lift("Squeeze", becomes=("reshape",), note="mostly vanishes")
def squeeze(ctx: Context, node: Node) -> Tensor:
    """Axes are an attribute before version 13."""
    x = ctx.tensor(node, 0)
    axes = ctx.ints(node, 1, "axes")
    ones = {x.axis(axis) for axis in axes} if axes is not None else {at for at, size in enumerate(x.sizes) if size == 1}
    if any(x.size(at) != 1 for at in ones if x.dims[at] != BATCH or ctx.fixed_batch != 1):
        raise NotLiftable("leaves out a dimension that is not 1")
    if any(x.dims[at] == BATCH for at in ones):
        raise NotLiftable("leaves out the batch")
    rest = [at for at in range(x.rank) if at not in ones]
    if all(x.dims[at] == ONE for at in ones):
        return x.viewed([x.dims[at] for at in rest])
    if x.dims[0] != BATCH and rest and x.dims[rest[0]] == BATCH:
        # Where a dimension of size 1 lies makes no difference once it is gone.
        x = x.viewed([BATCH, *(x.dims[at] for at in sorted(ones)), *(x.dims[at] for at in rest[1:])])
        rest = [0, *range(len(ones) + 1, x.rank)]
    return reshaped(ctx, node, x, [x.size(at) for at in rest])


@lift("Unsqueeze", becomes=(), note="vanishes")
def unsqueeze(ctx: Context, node: Node) -> Tensor:
    """Axes are an attribute before version 13."""
    x = ctx.tensor(node, 0)
    axes = ctx.ints(node, 1, "axes") or []
    rank = x.rank + len(axes)
    places = {axis % rank for axis in axes if -rank <= axis < rank}
    if len(places) != len(axes) or rank > 12:
        raise NotLiftable(f"adds the dimensions {axes}")
    names = iter(x.dims)
    return x.viewed([ONE if at in places else next(names) for at in range(rank)])


@lift("Concat", becomes=("concatenation",))
def concat(ctx: Context, node: Node) -> Tensor:
    """Join along one dimension. Known numbers become a learned parameter."""
    values = [ctx.held(node, index) for index in range(len(node.inputs))]
    tensors = [value for value in values if isinstance(value, Tensor)]
    if not tensors:
        raise NotLiftable("joins sizes that are known only when the network runs")
    axis = tensors[0].axis(ctx.attribute(node, "axis", 1))
    like = max(tensors, key=lambda tensor: tensor.type.rank)
    if like.dims[axis] == ONE:
        want = list(like.dims)
        count = sum(dim not in (BATCH, ONE) for dim in want) + 1
        free = list(BY_RANK.get(count, ()))
        if not free:
            raise NotLiftable(f"joins {count} dimensions")
        names = iter(free)
        want = [dim if dim == BATCH or (dim == ONE and at != axis) else next(names) for at, dim in enumerate(want)]
        like = ctx.relayout(node, like, want)
    parts = [
        value if isinstance(value, Tensor) else parameter(ctx, node, ctx.numbers(node, at), like, "numbers")
        for at, value in enumerate(values)
    ]
    parts = [part if part.dims == like.dims else ctx.relayout(node, part, like.dims) for part in parts]
    if like.dims[axis] == BATCH or "*" in like.dims[axis]:
        raise NotLiftable("joins along the batch")
    if len(parts) == 1:
        return parts[0]
    return ctx.add(node, ctx.make(Concatenation, inputs=len(parts), axis=like.dims[axis]), *parts)


@lift("Slice", becomes=("slice", "flip"), note="with known places")
def slice_axes(ctx: Context, node: Node) -> Tensor:
    """One layer per axis. Places are attributes before version 10."""
    x = ctx.tensor(node, 0)
    starts, ends = ctx.ints(node, 1, "starts"), ctx.ints(node, 2, "ends")
    if starts is None or ends is None:
        raise NotLiftable("has no places")
    axes = ctx.ints(node, 3, "axes") or list(range(len(starts)))
    steps = ctx.ints(node, 4, "steps") or [1] * len(starts)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        x = sliced(ctx, node, x, x.axis(axis), start, end, step)
    return x


def sliced(ctx: Context, node: Node, x: Tensor, axis: int, start: int, end: int, step: int = 1) -> Tensor:
    """Return a part of one dimension, from a start up to before an end; below zero they count from the end."""
    size = x.size(axis)
    if isinstance(size, int):
        places = range(size)[slice(start, end, step)]
        if len(places) == size and step == 1:
            return x
        if not places:
            raise NotLiftable("leaves nothing")
        if step < 0:
            return _backwards(ctx, node, x, axis, start, end, step)
        start, end = places[0], places[-1] + 1
        end = 0 if end == size else end
    elif start == 0 and end >= FAR and step == 1:
        return x
    else:
        end = 0 if end >= FAR else end
        if end == 0 and start == 0 and step == 1:
            raise NotLiftable("leaves nothing")
    if step < 1:
        return _backwards(ctx, node, x, axis, start, end, step)
    if x.dims[axis] in (BATCH, ONE) or "*" in x.dims[axis]:
        raise NotLiftable("takes a part of the batch")
    type = ctx.make(Slice, axis=x.dims[axis], start=max(start, -FAR), end=max(end, -FAR), step=step)
    return ctx.add(node, type, x)


def _backwards(ctx: Context, node: Node, x: Tensor, axis: int, start: int, end: int, step: int) -> Tensor:
    """Return places from the last to the first: a part forwards, turned round."""
    size = x.size(axis)
    if isinstance(size, int):
        places = range(size)[slice(start, end if end >= -size else None, step)]
        x = sliced(ctx, node, x, axis, places[-1], places[0] + 1, -step)
    elif step != -1 or start not in (-1, FAR) or end > -FAR:
        raise NotLiftable("goes backwards over sizes that are known only when the network runs")
    if x.dims[axis] in (BATCH, ONE) or "*" in x.dims[axis]:
        raise NotLiftable("turns the batch round")
    return ctx.add(node, ctx.make(Flip, axis=x.dims[axis]), x, name="flip")


@lift("Split", becomes=("split", "slice"), note="with known sizes")
def split(ctx: Context, node: Node) -> tuple[Tensor | None, ...]:
    """Equal parts that are all used are one layer, others a slice each. Sizes are an attribute before version 13."""
    x = ctx.tensor(node, 0)
    axis = x.axis(ctx.attribute(node, "axis", 0))
    size, parts = x.known(axis), len(node.outputs)
    sizes = ctx.ints(node, 1, "split")
    if sizes is None:
        each = -(-size // ctx.attribute(node, "num_outputs", parts))
        sizes = [min(each, size - at * each) for at in range(parts)]
    if sum(sizes) != size or len(sizes) != parts or min(sizes) < 1:
        raise NotLiftable(f"cuts {size} places into {sizes}")
    uses = [bool(name) and bool(ctx.users.get(name)) for name in node.outputs]
    if (
        len(set(sizes)) == 1
        and parts > 1
        and all(uses)
        and x.dims[axis] not in (BATCH, ONE)
        and "*" not in x.dims[axis]
    ):
        return ctx.add_all(node, ctx.make(Split, axis=x.dims[axis], parts=parts), x)
    places = np.cumsum([0, *sizes])
    is_output = {value.name for value in ctx.graph.outputs}
    return tuple(
        sliced(ctx, node, x, axis, int(places[at]), int(places[at + 1]))
        if uses[at] or node.outputs[at] in is_output
        else None
        for at in range(parts)
    )


@lift("Cast", "CastLike", becomes=("cast",), note="between numbers of other precision it vanishes")
def cast(ctx: Context, node: Node) -> Tensor:
    """Indices become numbers with a layer; numbers stay numbers."""
    x = ctx.tensor(node, 0)
    to = ctx.attribute(node, "to", 1)
    is_float = to in (1, 10, 11, 16)
    if node.op == "CastLike":
        is_float = x.type.kind == "real"
    if x.type.kind == "real" and is_float:
        return replace(x, is_whole=False)
    if to == TRUTH and node.op == "Cast" and (x.type.kind == "real" or x.type.axes == ("T",)):
        sign = ctx.add(node, MathFunction(function="sign"), as_numbers(ctx, node, x), name="sign")
        return ctx.add(node, MathFunction(function="abs"), sign)
    if (x.type.kind == "index" or x.is_whole) and not is_float:
        return x
    if x.type.kind == "index" and is_rounded(ctx, node.outputs[0]):
        return x
    if x.type.kind == "index" and is_float and x.type.axes == ("T",):
        return as_numbers(ctx, node, x)
    raise NotLiftable("rounds numbers to whole ones")


def as_numbers(ctx: Context, node: Node, x: Tensor) -> Tensor:
    """Return a tensor of numbers; indices become such with a layer. Raises `NotLiftable` for other whole numbers."""
    if x.type.kind == "real":
        return x
    if x.type.kind != "index" or x.type.axes != ("T",):
        raise NotLiftable("computes with indices that are no sequence")
    numbers = ctx.add(node, Cast(to="numbers"), x, dims=(BATCH, "T", "C"), name="numbers")
    dims = ["C" if dim == "T" else dim for dim in x.dims]
    return ctx.add(node, Flatten(), numbers, dims=dims, name="flatten")
