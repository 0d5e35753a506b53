"""Operators that look up, repeat, pad and rearrange."""

import numpy as np

from netwright.engine.core.types import LAYOUTS, NAMES
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import Node
from netwright.engine.exchange.importing.lifts.convolution_lifts import PADS
from netwright.engine.exchange.importing.lifts.layout_lifts import reshaped, sliced
from netwright.engine.exchange.importing.lifts.lift_registry import Values, lift
from netwright.engine.exchange.importing.sizes import grown
from netwright.engine.exchange.importing.values import (
    BATCH,
    ONE,
    Free,
    NotLiftable,
    Sizes,
    Tensor,
    as_sizes,
    epsilon_of,
)
from netwright.engine.layers.arithmetic import LearnedParameter
from netwright.engine.layers.attention import Embedding
from netwright.engine.layers.combination import Concatenation
from netwright.engine.layers.reshape import SelectStep, Slice
from netwright.engine.layers.reshape_layouts import Cast, Flip, Repeat
from netwright.engine.layers.resizing import DepthToSpace2d, SpaceToDepth2d

MODES = {"constant": "zeros", "reflect": "reflection", "edge": "replication", "wrap": "circular"}
MOST_SLICES = 32
BY_RANK = {len(axes): axes for axes in LAYOUTS.values()}
WEIGHTED = ("MatMul", "Gemm", "Dense", "LayerNormalization")
PASSING = ("Identity", "Transpose", "Reshape", "Unsqueeze", "Squeeze", "Add", "Dropout")
FARTHEST = 4


@lift("Gather", becomes=("embedding", "slice"), note="with known numbers an embedding, with known places slices")
def gather(ctx: Context, node: Node) -> Tensor:
    """Look up rows of known numbers by indices, or take places of a tensor."""
    axis = ctx.attribute(node, "axis", 0)
    if ctx.is_tensor(node, 1):
        return _looked_up(ctx, node, axis)
    x, places = ctx.tensor(node, 0), ctx.numbers(node, 1)
    axis = x.axis(axis)
    if x.type.kind == "index" and x.dims[axis] == "T" and places.size == 1:
        return _index_at(ctx, node, x, axis, int(places.reshape(())), keeps=places.ndim == 1)
    out = taken(ctx, node, x, axis, [int(place) for place in places.reshape(-1)])
    if places.ndim == 1:
        return out
    if places.ndim > 1:
        raise NotLiftable(f"takes places in {places.ndim} dimensions")
    return without(ctx, node, out, axis)


def _index_at(ctx: Context, node: Node, x: Tensor, axis: int, place: int, *, keeps: bool) -> Tensor:
    """Return one of several indices, such as a column of categories."""
    numbers = ctx.add(node, Cast(to="numbers"), x, dims=(BATCH, "T", "C"), name="numbers")
    column = sliced(ctx, node, numbers, 1, place, place + 1 if place != -1 else 2**62)
    dims = x.dims if keeps else [dim for at, dim in enumerate(x.dims) if at != axis]
    return ctx.add(node, Cast(to="indices"), column, dims=dims, name="indices")


def _looked_up(ctx: Context, node: Node, axis: int) -> Tensor:
    table, x = ctx.numbers(node, 0), ctx.tensor(node, 1)
    if table.ndim != 2 or axis not in (0, -2) or table.dtype.kind != "f":
        raise NotLiftable("looks up other things than rows of a table")
    if x.type.axes != ("T",) or x.type.kind != "index" or x.dims not in ((BATCH, "T"), (BATCH,)):
        raise NotLiftable("looks up indices that are no sequence")
    type = ctx.make(Embedding, vocabulary=table.shape[0], dimension=table.shape[1])
    return ctx.add(node, type, x, weights={"weight": table}, dims=(*x.dims, "C"))


def taken(ctx: Context, node: Node, x: Tensor, axis: int, places: list[int]) -> Tensor:
    """Return some places of a dimension: a slice, the places turned round, or several slices joined."""
    size = x.size(axis)
    if isinstance(size, int):
        if any(not -size <= place < size for place in places):
            raise NotLiftable(f"takes places beyond {size}")
        places = [place % size for place in places]
        if places == list(range(size))[::-1] and size > 1:
            return ctx.add(node, ctx.make(Flip, axis=_named(x, axis)), x)
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and runs[-1][1] == place and place != 0:
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))
    if len(runs) > MOST_SLICES or (len(runs) > 1 and not isinstance(size, int)):
        raise NotLiftable(f"takes {len(places)} places in no order")
    parts = [sliced(ctx, node, x, axis, *_ends(start, end)) for start, end in runs]
    if len(parts) == 1:
        return parts[0]
    return ctx.add(node, ctx.make(Concatenation, inputs=len(parts), axis=_named(x, axis)), *parts)


def _ends(start: int, end: int) -> tuple[int, int]:
    """Return start and end of a slice; the end of one that reaches the last place counted from the end is open."""
    return (start, 2**62) if end == 0 else (start, end)


def _named(x: Tensor, axis: int) -> str:
    name = x.dims[axis]
    if name in (BATCH, ONE) or "*" in name:
        raise NotLiftable("takes places of the batch")
    return name


def without(ctx: Context, node: Node, x: Tensor, axis: int) -> Tensor:
    """Return the tensor without a dimension of size 1."""
    if x.dims[axis] == ONE:
        return x.viewed([dim for at, dim in enumerate(x.dims) if at != axis])
    if x.dims[axis] == "T" and x.type.layout == "sequence":
        last = ctx.layers[-1] if ctx.layers and ctx.layers[-1].id == x.port.layer else None
        dims = [dim for at, dim in enumerate(x.dims) if at != axis]
        if last is not None and isinstance(last.type, Slice) and last.type.axis == "T":
            return _selected(ctx, node, x, last.type.start, dims)
        return ctx.add(node, SelectStep(counted_from="start", step=0), x, dims=dims)
    if next(dim for dim in x.dims if dim != ONE) != BATCH:  # it goes where a layer needs the batch first
        return x.viewed([dim for at, dim in enumerate(x.dims) if at != axis])
    rest = [x.size(at) for at in range(x.rank) if at != axis]
    return reshaped(ctx, node, x, rest)


def _selected(ctx: Context, node: Node, x: Tensor, step: int, dims: list[str]) -> Tensor:
    """Return one step of a sequence in place of the slice that was just made of it."""
    layer = ctx.layers.pop()
    line = next(connection for connection in reversed(ctx.connections) if connection.target.layer == layer.id)
    ctx.connections.remove(line)
    source = ctx.source(line.source)
    steps = source.type["T"]
    if isinstance(steps, int) and step == steps - 1:
        step = -1
    if step < 0:
        type = ctx.make(SelectStep, counted_from="end", step=-1 - step)
    else:
        type = ctx.make(SelectStep, counted_from="start", step=step)
    return ctx.add(node, type, source, dims=dims)


@lift("Pad", becomes=("pad1d", "pad2d", "pad3d"), note="of places, not of channels, by known numbers")
def pad(ctx: Context, node: Node) -> Tensor:
    """Padding is an attribute before version 11; negative padding crops."""
    x = ctx.tensor(node, 0)
    pads = ctx.ints(node, 1, "pads")
    if pads is None:
        raise NotLiftable("has no padding")
    value = ctx.optional_numbers(node, 2)
    number = float(node.attributes.get("value", 0.0) if value is None else value.reshape(()))
    axes = [x.axis(axis) for axis in ctx.ints(node, 3, "axes") or range(x.rank)]
    if len(pads) != 2 * len(axes):
        raise NotLiftable(f"has {len(pads)} numbers of padding for {len(axes)} dimensions")
    sides = dict(zip(axes, zip(pads[: len(axes)], pads[len(axes) :], strict=True), strict=True))
    for axis, (before, after) in list(sides.items()):
        if before < 0 or after < 0:
            x = sliced(ctx, node, x, axis, max(0, -before), x.known(axis) - max(0, -after))
            sides[axis] = (max(0, before), max(0, after))
    mode = MODES.get(ctx.attribute(node, "mode", "constant"))
    if mode is None:
        raise NotLiftable(f"pads in the mode {ctx.attribute(node, 'mode')}")
    return padded_by(ctx, node, x, sides, mode, number)


def padded_by(
    ctx: Context, node: Node, x: Tensor, sides: dict[int, tuple[int, int]], mode: str, number: float
) -> Tensor:
    """Return the tensor with so many places before and behind each dimension, in a mode of the layer."""
    sides = {axis: pair for axis, pair in sides.items() if pair != (0, 0)}
    if not sides:
        return x
    x = _places_for(ctx, node, x, sides)
    values = {"value": max(-1e9, epsilon_of(number))} if mode == "zeros" and number else {}
    mode = "constant" if values else mode
    border = tuple(size for axis in x.type.spatial for size in sides.get(x.dims.index(axis), (0, 0)))
    return ctx.add(node, ctx.make(PADS[len(x.type.spatial)], border=border, mode=mode, **values), x)


def _places_for(ctx: Context, node: Node, x: Tensor, sides: dict[int, tuple[int, int]]) -> Tensor:
    """Return the tensor with places at all dimensions that are padded."""
    if all(x.dims[axis] in x.type.spatial for axis in sides):
        return x
    if any(x.dims[axis] == BATCH for axis in sides):
        raise NotLiftable("pads the batch")
    layouts = {3: "TC", 4: "CHW", 5: "CDHW"}
    for order in (layouts.get(x.rank, ""), *({3: ["CT"], 4: ["HCW", "HWC"], 5: ["DHWC", "DCHW"]}.get(x.rank, []))):
        want = (BATCH, *order)
        if len(want) == x.rank and all(want[axis] in "DHWT" for axis in sides):
            return ctx.relayout(node, x, want)
    raise NotLiftable("pads the channels")


@lift("Expand", becomes=("repeat", "learned_parameter"), note="vanishes where what follows broadcasts by itself")
def expand(ctx: Context, node: Node) -> Values:
    """Known numbers stay as they are, for everything that takes them broadcasts; a tensor is repeated."""
    sizes = as_sizes(ctx.optional(node, 1))
    if sizes is None:
        raise NotLiftable("computes its sizes")
    items = list(sizes.items)
    if not ctx.is_tensor(node, 0):
        numbers = ctx.numbers(node, 0)
        shape = grown(ctx, node, sizes)
        grown_numbers = np.broadcast_to(numbers, np.broadcast_shapes(numbers.shape, tuple(shape)))
        return _for_each_sample(ctx, node, grown_numbers, sizes)
    x = ctx.tensor(node, 0)
    if len(items) > x.rank:
        raise NotLiftable("broadcasts the batch against another dimension")
    for axis, item in enumerate(items, x.rank - len(items)):
        size = x.size(axis)
        if item in (1, size) or (x.dims[axis] == BATCH and item == ctx.fixed_batch):
            continue
        if size != 1 or isinstance(item, Free):
            raise NotLiftable(f"broadcasts {size} to {item}")
        x = repeated(ctx, node, x, axis, item)
    return x


@lift("Tile", becomes=("repeat", "learned_parameter"), note="with known numbers")
def tile(ctx: Context, node: Node) -> Values:
    """Repeat each dimension as a whole. Known numbers for each sample stay as they are: everything broadcasts them."""
    if not ctx.is_tensor(node, 0):
        return _tiled(ctx, node)
    x = ctx.tensor(node, 0)
    for axis, times in enumerate(ctx.ints(node, 1, "repeats") or []):
        if times != 1:
            x = repeated(ctx, node, x, axis, times)
    return x


def _tiled(ctx: Context, node: Node) -> Values:
    numbers, times = ctx.numbers(node, 0), as_sizes(ctx.optional(node, 1))
    if times is None or len(times.items) != numbers.ndim:
        raise NotLiftable("computes its sizes")
    if any(isinstance(item, Free) and size != 1 for item, size in zip(times.items, numbers.shape, strict=True)):
        raise NotLiftable("repeats known numbers by a size that is known only when the network runs")
    return _for_each_sample(ctx, node, np.tile(numbers, grown(ctx, node, times)), times)


def _for_each_sample(ctx: Context, node: Node, numbers: np.ndarray, sizes: Sizes) -> Values:
    """Return known numbers that are repeated for each sample: a layer that learns them where weights take them, such as
    the queries of a decoder, else the numbers."""
    batch = [at for at, item in enumerate(sizes.items) if isinstance(item, Free) and BATCH in item.names]
    layout = BY_RANK.get(numbers.ndim - 1)
    if len(batch) != 1 or layout is None or numbers.dtype.kind != "f" or not _is_weighted(ctx, node.outputs[0]):
        return numbers
    shape = list(np.moveaxis(numbers, batch[0], 0).shape[1:])
    type = ctx.make(LearnedParameter, layout=NAMES[layout], sizes=tuple(shape))
    dims = [*layout[: batch[0]], BATCH, *layout[batch[0] :]]
    weights = {"weight": numbers.reshape(shape).astype(np.float32)}
    return ctx.add(node, type, ctx.inputs[0][1], weights=weights, dims=dims, name="parameter")


def _is_weighted(ctx: Context, name: str, depth: int = 0) -> bool:
    """Return whether a product with weights takes a value, perhaps behind operators that change its layout."""
    return any(
        node.op in WEIGHTED
        or (node.op in PASSING and depth < FARTHEST and _is_weighted(ctx, node.outputs[0], depth + 1))
        for node in ctx.users.get(name, ())
    )


def repeated(ctx: Context, node: Node, x: Tensor, axis: int, times: int) -> Tensor:
    """Return the tensor with a dimension repeated."""
    if x.dims[axis] == ONE:
        x = with_axis(ctx, node, x, axis)
    return ctx.add(node, ctx.make(Repeat, axis=_named(x, axis), times=times), x)


def with_axis(ctx: Context, node: Node, x: Tensor, axis: int) -> Tensor:
    """Return the tensor with a layout that has an axis for a dimension of size 1."""
    real = [at for at, dim in enumerate(x.dims) if dim not in (BATCH, ONE) or at == axis]
    layout = BY_RANK.get(len(real))
    if layout is None or any("*" in dim for dim in x.dims):
        raise NotLiftable(f"has {len(real)} dimensions beside the batch")
    names = dict(zip(real, layout, strict=True))
    return ctx.relayout(node, x, [names.get(at, dim) for at, dim in enumerate(x.dims)])


@lift("DepthToSpace", becomes=("depth_to_space2d",))
def depth_to_space(ctx: Context, node: Node) -> Tensor:
    """Channels become places, in the order DCR or CRD."""
    block = ctx.attribute(node, "blocksize")
    order = ctx.attribute(node, "mode", "DCR").lower()
    x = ctx.as_image(node, ctx.tensor(node, 0))
    return ctx.add(node, ctx.make(DepthToSpace2d, block=(block, block), order=order), x)


@lift("SpaceToDepth", becomes=("space_to_depth2d",))
def space_to_depth(ctx: Context, node: Node) -> Tensor:
    """Places become channels; the places of a block vary slowest."""
    block = ctx.attribute(node, "blocksize")
    x = ctx.as_image(node, ctx.tensor(node, 0))
    order = ctx.attribute(node, "mode", "DCR").lower()
    return ctx.add(node, ctx.make(SpaceToDepth2d, block=(block, block), order=order), x)
