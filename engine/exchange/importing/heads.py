"""Tensors whose channels are divided among heads: what exporters write around attention vanishes.

Between a projection and the products of an attention stand reshapes, transpositions and the like. In these an axis of
our tensor is a product of factors (channels = heads × channels per head), which the file has as dimensions of their
own, joined with the batch, or in another order. `headed` finds the values, `follow` computes them without any layer.
"""

from collections.abc import Sequence
from dataclasses import replace

from netwright.engine.core.types import LAYOUTS
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Graph, Node
from netwright.engine.exchange.importing.values import (
    BATCH,
    ONE,
    Dim,
    Factor,
    Free,
    Headed,
    NotLiftable,
    Tensor,
    as_sizes,
    divided,
    product,
)
from netwright.engine.layers.reshape import Slice

OPERATORS = ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity", "Gather", "Split", "Slice")
BY_RANK = {len(axes): axes for axes in LAYOUTS.values()}


def headed(graph: Graph) -> set[str]:
    """Return the values before and behind each attention that operators compute which change the layout alone."""
    makers, users = graph.makers(), graph.users()
    values: set[str] = set()
    for node in graph.nodes:
        if node.domain not in ("", OWN_DOMAIN) or node.op != "Attention":
            continue
        waiting = list(node.inputs[:3])
        while waiting:
            before = makers.get(waiting.pop())
            if before is not None and before.op in OPERATORS and not before.domain and before.outputs[0] not in values:
                values.update(before.outputs)
                waiting.append(before.inputs[0])
        values.update(node.outputs)
        waiting = list(node.outputs)
        while waiting:
            for after in users.get(waiting.pop(), ()):
                if after.op in OPERATORS and not after.domain and after.outputs[0] not in values:
                    values.update(after.outputs)
                    waiting += after.outputs
    return values


def follow(ctx: Context, node: Node) -> tuple[Headed | None, ...]:
    """Return the values that an operator of `OPERATORS` gives. Raises `NotLiftable`."""
    x = ctx.headed_input(node, 0)
    match node.op:
        case "Reshape":
            return (_reshaped(ctx, x, _sizes(ctx, node, x)),)
        case "Transpose":
            order = ctx.attribute(node, "perm", list(reversed(range(len(x.dims)))))
            return (replace(x, dims=tuple(x.dims[at] for at in order)),)
        case "Unsqueeze":
            axes = ctx.ints(node, 1, "axes") or []
            places = {axis % (len(x.dims) + len(axes)) for axis in axes}
            dims = iter(x.dims)
            rank = len(x.dims) + len(places)
            return (replace(x, dims=tuple(() if at in places else next(dims) for at in range(rank))),)
        case "Squeeze":
            listed_axes = ctx.ints(node, 1, "axes")
            squeeze_axes = (
                {axis % len(x.dims) for axis in listed_axes} if listed_axes is not None else set(range(len(x.dims)))
            )
            squeeze_axes = {at for at in squeeze_axes if not x.dims[at]}
            if listed_axes is not None and len(squeeze_axes) < len(listed_axes):
                raise NotLiftable("leaves out a dimension that is not 1")
            return (replace(x, dims=tuple(dim for at, dim in enumerate(x.dims) if at not in squeeze_axes)),)
        case "Gather":
            place = ctx.numbers(node, 1)
            if place.ndim:
                raise NotLiftable("takes several places of a dimension")
            axis = ctx.attribute(node, "axis", 0) % len(x.dims)
            part = _selected(ctx, node, x, axis, int(place.reshape(())))
            return (replace(part, dims=tuple(dim for at, dim in enumerate(part.dims) if at != axis)),)
        case "Split":
            axis = ctx.attribute(node, "axis", 0) % len(x.dims)
            if x.sizes[axis] != len(node.outputs):
                raise NotLiftable("splits a dimension into several places")
            return tuple(
                _selected(ctx, node, x, axis, at) if ctx.is_used(name) else None for at, name in enumerate(node.outputs)
            )
        case "Slice":
            return (_sliced(ctx, node, x),)
    return (x,)


def _sliced(ctx: Context, node: Node, x: Headed) -> Headed:
    """Return one place of a dimension, which stays with a size of 1."""
    starts, ends = ctx.ints(node, 1, "starts") or [], ctx.ints(node, 2, "ends") or []
    axes = ctx.ints(node, 3, "axes") or list(range(len(starts)))
    if len(starts) != 1 or len(ends) != 1 or (ctx.ints(node, 4, "steps") or [1]) != [1]:
        raise NotLiftable("takes parts of several dimensions")
    axis = axes[0] % len(x.dims)
    size = x.sizes[axis]
    if not isinstance(size, int) or len(places := range(size)[starts[0] : ends[0]]) != 1:
        raise NotLiftable("takes several places of a dimension")
    return _selected(ctx, node, x, axis, places[0])


def _sizes(ctx: Context, node: Node, x: Headed) -> list[Dim]:
    sizes = as_sizes(ctx.optional(node, 1))
    if sizes is None:
        raise NotLiftable("computes its sizes")
    keeps = not ctx.attribute(node, "allowzero", 0)
    items = [x.sizes[at] if item == 0 and keeps and at < len(x.dims) else item for at, item in enumerate(sizes.items)]
    fixed = [_fixed(ctx, item) for item in items]
    if -1 in items:
        at = items.index(-1)
        others = product(item for item in fixed if item != -1)
        rest = divided(product(_fixed(ctx, size) for size in x.sizes), others)
        if rest is None:
            raise NotLiftable("changes sizes that are known only when the network runs")
        fixed[at] = rest
    return fixed


def _fixed(ctx: Context, size: Dim) -> Dim:
    """Return a size with the number of samples in place of the batch, where the file has a fixed number."""
    if ctx.fixed_batch is None or not isinstance(size, Free):
        return size
    return product([size.factor, *(ctx.fixed_batch if name == BATCH else Free((name,)) for name in size.names)])


def _reshaped(ctx: Context, x: Headed, items: Sequence[Dim]) -> Headed:
    """Return the tensor with other dimensions, for which factors are joined, or divided again."""
    waiting = [factor for dim in x.dims for factor in dim]
    factors = {axis: list(own) for axis, own in x.factors.items()}
    dims: list[tuple[Factor, ...]] = []
    for item in items:
        rest, parts = item, []
        if rest == 1 and waiting and _fixed(ctx, waiting[0].size) == 1:
            parts.append(waiting.pop(0))
        while rest != 1:
            if not waiting:
                raise NotLiftable("makes other sizes")
            front = waiting.pop(0)
            size = _fixed(ctx, front.size)
            remainder = divided(rest, size)
            if remainder is None:
                if not isinstance(rest, int) or not isinstance(front.size, int) or front.size % rest:
                    raise NotLiftable("joins parts of dimensions")
                outer, inner = Factor(front.axis, rest), Factor(front.axis, front.size // rest)
                own = factors[front.axis]
                at = next(number for number, factor in enumerate(own) if factor is front)
                own[at : at + 1] = [outer, inner]
                waiting.insert(0, inner)
                front, remainder = outer, 1
            parts.append(front)
            rest = remainder
        dims.append(tuple(parts))
    for factor in waiting:
        if _fixed(ctx, factor.size) != 1 or not dims:
            raise NotLiftable("makes other sizes")
        dims[-1] = (*dims[-1], factor)
    return Headed(x.tensor, tuple(dims), {axis: tuple(own) for axis, own in factors.items()})


def _selected(ctx: Context, node: Node, x: Headed, axis: int, place: int) -> Headed:
    """Return one place of a dimension that is the outermost factor of an axis: a slice of that axis."""
    (factor, *others) = x.dims[axis] or (None,)
    if factor is None or others or x.factors[factor.axis][0] is not factor or factor.axis == BATCH:
        raise NotLiftable("takes places of a dimension that is no factor of an axis")
    inner_factors = x.factors[factor.axis][1:]
    inner = product(part.size for part in inner_factors)
    if not isinstance(inner, int) or not isinstance(factor.size, int) or not -factor.size <= place < factor.size:
        raise NotLiftable("takes places of sizes that are known only when the network runs")
    start = place % factor.size * inner
    end = 0 if start + inner == factor.size * inner else start + inner
    type = ctx.make(Slice, axis=factor.axis, start=start, end=end)
    out = ctx.add(node, type, x.tensor, dims=(BATCH, *x.tensor.type.axes))
    own = inner_factors or (Factor(factor.axis, 1),)
    dims = tuple(() if at == axis else dim for at, dim in enumerate(x.dims))
    return Headed(out, dims, {**x.factors, factor.axis: own})


def laid_out(ctx: Context, node: Node, x: Headed) -> Tensor:
    """Return the tensor as layers have it: as it is where that is possible, else with each factor as an axis, else with
    the factors of each dimension brought together."""
    view = x.whole()
    if view is not None and not any("*" in dim and BATCH not in dim.split("*") for dim in view.dims):
        return view
    if len(x.factors[BATCH]) > 1:
        raise NotLiftable("divides the batch")
    if view is not None and view.dims[0] == BATCH and len(view.dims) - 1 in BY_RANK:
        return _joined(ctx, node, view, x)
    order = [factor for axis in x.tensor.type.axes for factor in x.factors[axis]]
    batch = x.factors[BATCH][0]
    if len(order) not in BY_RANK or any(len(dim) > 1 + (batch in dim) for dim in x.dims):
        return _brought_together(ctx, node, x, order)
    layout = BY_RANK[len(order)]
    whole = ctx.reshaped(node, x.tensor.viewed((BATCH, *x.tensor.type.axes)), layout, [factor.size for factor in order])
    names = {id(factor): axis for factor, axis in zip(order, layout, strict=True)} | {id(batch): BATCH}
    return whole.viewed(["*".join(names[id(factor)] for factor in dim) or ONE for dim in x.dims])


def _joined(ctx: Context, node: Node, view: Tensor, x: Headed) -> Tensor:
    """Return the tensor with axes that the file sees as one dimension joined in memory."""
    names = [name for dim in view.dims[1:] for name in dim.split("*") if name != ONE]
    plain = replace(view, dims=(BATCH, *names))
    return ctx.reshaped(node, ctx.in_order(node, plain), BY_RANK[len(view.dims) - 1], x.sizes[1:])


def _brought_together(ctx: Context, node: Node, x: Headed, order: list[Factor]) -> Tensor:
    """Return the tensor with the factors of each dimension next to each other in memory, such as the windows of an
    image. The batch may be joined with others in one dimension, in front of them."""
    batch = x.factors[BATCH][0]
    groups = [[factor for factor in dim if factor is not batch] for dim in x.dims]
    layout = BY_RANK.get(sum(map(bool, groups)))
    if layout is None or any(batch in dim[1:] for dim in x.dims):
        raise NotLiftable(f"makes {sum(map(bool, groups))} dimensions beside the batch")
    flat = x.tensor.viewed((BATCH, *x.tensor.type.axes))
    flat = _ordered(ctx, node, flat, order, [factor for group in groups for factor in group])
    sizes = [product(factor.size for factor in group) for group in groups if group]
    view = (
        flat if flat.sizes[1:] == tuple(sizes) and flat.type.axes == layout else ctx.reshaped(node, flat, layout, sizes)
    )
    names = iter(layout)
    dims = [
        [*([BATCH] if batch in dim else []), *([next(names)] if group else [])]
        for dim, group in zip(x.dims, groups, strict=True)
    ]
    return view.viewed(["*".join(dim) or ONE for dim in dims])


def _ordered(ctx: Context, node: Node, x: Tensor, order: list[Factor], target: list[Factor]) -> Tensor:
    """Return the tensor with its factors in another order in memory: in one permutation where those that stay together
    are at most four, else piece by piece."""
    while order != target:
        runs = _runs(order, target)
        if len(runs) not in BY_RANK:
            runs = _exchanged(order, target)
        now = sorted(runs, key=lambda run: order.index(run[0]))
        layout = BY_RANK[len(now)]
        sizes = [product(factor.size for factor in run) for run in now]
        if x.type.axes != layout or list(x.sizes[1:]) != sizes:
            x = ctx.reshaped(node, x, layout, sizes)
        x = ctx.in_order(node, x.viewed((BATCH, *(layout[now.index(run)] for run in runs))))
        x = x.viewed((BATCH, *x.type.axes))
        order = [factor for run in runs for factor in run]
    return x


def _runs(order: list[Factor], target: list[Factor]) -> list[list[Factor]]:
    """Return the factors in the wanted order, those that follow each other now as one run."""
    after = dict(zip(map(id, order), order[1:], strict=False))
    runs: list[list[Factor]] = []
    for factor in target:
        if runs and after.get(id(runs[-1][-1])) is factor:
            runs[-1].append(factor)
        else:
            runs.append([factor])
    return runs


def _exchanged(order: list[Factor], target: list[Factor]) -> list[list[Factor]]:
    """Return the order after two neighbouring pieces of it are exchanged, so that more of it is as wanted."""
    start = next(at for at, pair in enumerate(zip(order, target, strict=True)) if pair[0] is not pair[1])
    at = order.index(target[start])
    end = at + len(next(run for run in _runs(order, target) if run[0] is target[start]))
    return [run for run in (order[:start], order[at:end], order[start:at], order[end:]) if run]
