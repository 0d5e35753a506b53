"""Normalisation with known scales, shifts and statistics."""

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import MICROSOFT, Node
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import affine, combined
from netwright.engine.exchange.importing.lifts.lift_registry import lift
from netwright.engine.exchange.importing.values import (
    LAST,
    NotLiftable,
    Tensor,
    apart,
    epsilon_of,
    joined_with_batch,
    together,
)
from netwright.engine.layers.combination import Addition
from netwright.engine.layers.normalisation import (
    BatchNorm,
    CrossChannelNorm,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    RmsNorm,
)


@lift("BatchNormalization", becomes=("batch_norm",), note="with known statistics")
def batch_norm(ctx: Context, node: Node) -> Tensor:
    """Normalise by the running mean and variance. ONNX's momentum is the weight of the old statistics."""
    mean, variance = (ctx.numbers(node, index).reshape(-1) for index in (3, 4))
    if ctx.attribute(node, "training_mode", 0):
        raise NotLiftable("computes the statistics of the batch")
    if ctx.attribute(node, "spatial", 1) != 1:
        raise NotLiftable("normalises each place by itself")
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    momentum = 1.0 - ctx.attribute(node, "momentum", 0.9)
    weights = scale_and_shift(ctx, node, len(mean))
    type = ctx.make(
        BatchNorm,
        affine=bool(weights),
        epsilon=epsilon_of(ctx.attribute(node, "epsilon", 1e-5)),
        momentum=round(momentum, 6) if 0 < momentum <= 1 else 0.1,
    )
    running = {"running_mean": mean, "running_var": variance, "num_batches_tracked": np.zeros((), np.int64)}
    return ctx.add(node, type, x, weights={**weights, **running})


def scale_and_shift(ctx: Context, node: Node, count: int) -> dict[str, np.ndarray]:
    """Return scale and shift of each channel, which are the inputs 2 and 3; none where nothing is learned."""
    scale, shift = ctx.learned(node, 1, 1.0), ctx.learned(node, 2, 0.0)
    if scale is None and shift is None:
        return {}
    parts = {"weight": (scale, np.ones), "bias": (shift, np.zeros)}
    return {
        name: neutral(count, np.float32) if numbers is None else np.broadcast_to(numbers.reshape(-1), (count,))
        for name, (numbers, neutral) in parts.items()
    }


@lift("LayerNormalization", becomes=("layer_norm",), note="over the last dimension")
def layer_norm(ctx: Context, node: Node) -> Tensor:
    """Normalise each step, or each place of an image, over its channels."""
    x = ctx.tensor(node, 0)
    if x.axis(ctx.attribute(node, "axis", -1)) != x.rank - 1:
        raise NotLiftable("normalises over several dimensions")
    if any(ctx.is_used(name) for name in node.outputs[1:]):
        raise NotLiftable("gives mean and deviation as well")
    x = channels_last(ctx, node, x)
    weights = scale_and_shift(ctx, node, x.known(x.rank - 1))
    over = "channel-only" if x.type.layout in ("image", "volume") else "auto"
    epsilon = epsilon_of(ctx.attribute(node, "epsilon", 1e-5))
    type = ctx.make(LayerNorm, epsilon=epsilon, over=over, affine=bool(weights))
    return ctx.add(node, type, x, weights=weights)


def channels_last(ctx: Context, node: Node, x: Tensor) -> Tensor:
    """Return the tensor with the channels as its last dimension."""
    if x.dims[-1] == "C":
        return x
    if joined_with_batch(x):
        return together(channels_last(ctx, node, apart(x)), joined_with_batch(x))
    if x.rank not in LAST:
        raise NotLiftable(f"works on {x.rank} dimensions")
    return ctx.relayout(node, x, LAST[x.rank])


@lift("RMSNormalization", "SimplifiedLayerNormalization", becomes=("rms_norm",), note="over the last dimension")
def rms_norm(ctx: Context, node: Node) -> Tensor:
    """Scale each step to a root mean square of 1."""
    x = ctx.tensor(node, 0)
    if x.axis(ctx.attribute(node, "axis", -1)) != x.rank - 1:
        raise NotLiftable("normalises over several dimensions")
    x = channels_last(ctx, node, x)
    weight = np.broadcast_to(ctx.numbers(node, 1).reshape(-1), (x.known(x.rank - 1),))
    type = ctx.make(RmsNorm, epsilon=epsilon_of(ctx.attribute(node, "epsilon", 1e-5)))
    return ctx.add(node, type, x, weights={"weight": weight})


@lift("InstanceNormalization", becomes=("instance_norm",))
def instance_norm(ctx: Context, node: Node) -> Tensor:
    """Normalise each channel of each sample over its places."""
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    weights = scale_and_shift(ctx, node, x.known(1))
    epsilon = epsilon_of(ctx.attribute(node, "epsilon", 1e-5))
    type = ctx.make(InstanceNorm, epsilon=epsilon, affine=bool(weights))
    return ctx.add(node, type, x, weights=weights)


@lift("GroupNormalization", becomes=("group_norm",))
def group_norm(ctx: Context, node: Node) -> Tensor:
    """Normalise groups of channels. Before version 21 scale and shift are one number a group."""
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    groups, channels = ctx.attribute(node, "num_groups"), x.known(1)
    is_per_group = ctx.numbers(node, 1).size == groups != channels
    weights = scale_and_shift(ctx, node, groups if is_per_group else channels)
    if is_per_group:
        weights = {name: np.repeat(numbers, channels // groups) for name, numbers in weights.items()}
    epsilon = epsilon_of(ctx.attribute(node, "epsilon", 1e-5))
    type = ctx.make(GroupNorm, groups=groups, epsilon=epsilon, affine=bool(weights))
    return ctx.add(node, type, x, weights=weights)


@lift("LRN", becomes=("cross_channel_norm",))
def local_response(ctx: Context, node: Node) -> Tensor:
    """Divide by the size of the neighbours in other channels."""
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    type = ctx.make(
        CrossChannelNorm,
        window=ctx.attribute(node, "size"),
        alpha=epsilon_of(ctx.attribute(node, "alpha", 1e-4)),
        beta=epsilon_of(ctx.attribute(node, "beta", 0.75)),
        k=epsilon_of(ctx.attribute(node, "bias", 1.0)),
    )
    return ctx.add(node, type, x)


@lift("MeanVarianceNormalization", becomes=("instance_norm",), note="over all positions of each sample")
def mean_variance(ctx: Context, node: Node) -> Tensor:
    """Normalise each channel of each sample over its places. ONNX's epsilon is that of its function."""
    x = ctx.as_channels_first(node, ctx.tensor(node, 0))
    axes = [x.axis(axis) for axis in ctx.attribute(node, "axes", [0, 2, 3])]
    if sorted(axes) != list(range(2, x.rank)):
        raise NotLiftable("normalises over other dimensions than the places of each sample")
    return ctx.add(node, ctx.make(InstanceNorm, epsilon=1e-9, affine=False), x)


@lift(
    "SkipLayerNormalization",
    "SkipSimplifiedLayerNormalization",
    domain=MICROSOFT,
    becomes=("addition", "layer_norm", "rms_norm"),
)
def skip_norm(ctx: Context, node: Node) -> tuple[Tensor | None, ...]:
    """Two inputs and known numbers added, then normalised; the fourth output is the sum."""
    is_rms = "Simplified" in node.op
    scale = ctx.numbers(node, 2).reshape(-1)
    shift = None if is_rms else ctx.optional_numbers(node, 3)
    added = ctx.optional_numbers(node, 3 if is_rms else 4)
    total = combined(ctx, node, Addition(), ctx.tensor(node, 0), ctx.tensor(node, 1))
    total = total if added is None else affine(ctx, node, total, None, added)
    x = channels_last(ctx, node, total)
    epsilon = epsilon_of(ctx.attribute(node, "epsilon", 1e-12 if not is_rms else 1e-5))
    weights = {"weight": scale}
    if not is_rms:
        weights["bias"] = np.zeros(scale.size, np.float32) if shift is None else shift.reshape(-1)
    kind = RmsNorm if is_rms else LayerNorm
    norm = ctx.add(node, ctx.make(kind, epsilon=epsilon), x, weights=weights, name="norm")
    return (norm, None, None, total)[: len(node.outputs)]
