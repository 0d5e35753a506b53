"""Reductions over dimensions."""

from engine.exchange.importing.context import Context
from engine.exchange.importing.graph import Node
from engine.exchange.importing.registry import lift
from engine.exchange.importing.values import BATCH, ONE, NotLiftable, Tensor
from engine.layers.pooling import GlobalAveragePool


@lift("ReduceMean", becomes=("global_average_pool",), note="over all places")
def reduce_mean(ctx: Context, node: Node) -> Tensor:
    """Axes are an attribute before version 18."""
    x = ctx.tensor(node, 0)
    axes = [x.axis(axis) for axis in ctx.ints(node, 1, "axes") or range(x.rank)]
    gone = {x.dims[axis] for axis in axes} - {ONE}
    if gone != set(x.type.axes) - {"C"} or not x.type.has("C"):
        raise NotLiftable("takes the mean over other dimensions than all places")
    out = ctx.add(node, GlobalAveragePool(), x, dims=[dim if dim in (BATCH, "C") else ONE for dim in x.dims])
    if ctx.attribute(node, "keepdims", 1):
        followers = ctx.users.get(node.outputs[0], ())
        flattens = all(one.op in ("Flatten", "Reshape", "Squeeze", "Identity") for one in followers)
        return out if flattens else ctx.relayout(node, out, x.dims)
    return out.viewed([dim for at, dim in enumerate(out.dims) if at not in axes])
