"""Attention as one operator, of ONNX and of ONNX Runtime, and ONNX Runtime's layers with their activation."""

from dataclasses import replace
from typing import Any

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import MICROSOFT, Node
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import affine
from netwright.engine.exchange.importing.lifts.attention_lifts import attended, known_or_headed, mask_kind
from netwright.engine.exchange.importing.lifts.lift_registry import Values, lift, lifts
from netwright.engine.exchange.importing.lifts.linear_lifts import dense
from netwright.engine.exchange.importing.values import BATCH, Headed, NotLiftable, Tensor, epsilon_of
from netwright.engine.layers.cross_attention import Attention
from netwright.engine.layers.linear import FullyConnected

HIDDEN = -1e9
"""A number for what a mask of yes and no hides."""
SEQUENCE = (BATCH, "T", "C")
WINDOWS = ("left_window_size", "right_window_size")
ACTIVATIONS = {"alpha": ("Elu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu"), "beta": ("HardSigmoid",)}


@lift(
    "Attention", becomes=("attention",), note="with as many heads for keys and values, a known mask, and one output"
)  # fmt: skip
def attention(ctx: Context, node: Node) -> Values | Headed:
    """Queries, keys and values are (N, heads, T, C), or (N, T, heads · C)."""
    if any(ctx.optional(node, at) is not None for at in range(4, len(node.inputs))):
        raise NotLiftable("takes earlier keys and values, or lengths")
    if any(map(ctx.is_used, node.outputs[1:])) or ctx.attribute(node, "softcap", 0.0):
        raise NotLiftable("gives its scores or keys as well, or bounds its scores")
    if any(ctx.attribute(node, name, -1) >= 0 for name in WINDOWS):
        raise NotLiftable("sees a window of the steps")
    mask = _mask(ctx, node, 3)
    is_causal = bool(ctx.attribute(node, "is_causal", 0))
    if is_causal and mask is not None:
        raise NotLiftable("has two masks")
    query, key, value = known_or_headed(ctx, node, transposed=False)
    if len(query.dims) == 3:
        heads = {ctx.attribute(node, name, 0) for name in ("q_num_heads", "kv_num_heads")}
        if len(heads) != 1:
            raise NotLiftable("has other heads for keys and values")
        kind = "causal" if is_causal else mask_kind(mask)
        return _over_sequences(ctx, node, [ctx.tensor(node, at) for at in range(3)], heads.pop(), kind)
    each = query.sizes[-1]
    if not isinstance(each, int):
        raise NotLiftable("has channels that are known only when the network runs")
    if is_causal:
        steps = [size for size in (query.sizes[-2], key.sizes[-2]) if isinstance(size, int)]
        mask = np.triu(np.full(steps, HIDDEN, np.float32), 1) if len(steps) == 2 else None
    turned = replace(key, dims=(*key.dims[:-2], key.dims[-1], key.dims[-2]))
    scale = float(ctx.attribute(node, "scale", each**-0.5))
    return attended(ctx, node, (query, turned, value), mask, scale, is_causal=is_causal)


def _mask(ctx: Context, node: Node, at: int) -> np.ndarray | None:
    """Return a known mask as numbers that are added to the scores. Raises `NotLiftable` for one that hides all steps
    from one of them: the operator gives zeros there, a softmax does not."""
    mask = ctx.optional_numbers(node, at)
    if mask is None:
        return None
    if (~mask if mask.dtype == bool else np.isneginf(mask)).all(-1).any():
        raise NotLiftable("has a mask that hides all steps from one of them")
    if mask.dtype != bool:
        return mask
    return np.where(mask, np.float32(0), np.float32(HIDDEN))


def _over_sequences(ctx: Context, node: Node, inputs: list[Tensor], heads: int, mask: str | None) -> Tensor:
    """Return an attention layer over sequences whose channels are divided among heads."""
    if mask is None:
        raise NotLiftable("has a mask that the layer does not have")
    if any(x.rank != 3 for x in inputs):
        raise NotLiftable("takes other dimensions than batch, steps and channels")
    query, key, value = (ctx.as_sequence(node, x) for x in inputs)
    values: dict[str, Any] = {"heads": heads, "mask": mask}
    scale = float(ctx.attribute(node, "scale", 0.0))
    channels = query.type["C"]
    if scale and isinstance(channels, int) and not np.isclose(scale, (channels / heads) ** -0.5, rtol=1e-4):
        values["scale"] = epsilon_of(scale)
    return ctx.add(node, ctx.make(Attention, **values), query, key, value, dims=SEQUENCE)


@lift(
    "Attention",
    domain=MICROSOFT,
    becomes=("self_attention", "fully_connected", "attention"),
    note="without masks of padding and earlier keys",
)
def runtime_attention(ctx: Context, node: Node) -> tuple[Tensor | None, ...]:
    """One known matrix for queries, keys and values, side by side."""
    mask = ctx.optional_numbers(node, 5)
    others = [ctx.optional(node, at) for at in range(3, len(node.inputs)) if at != 5]
    if any(other is not None for other in others) or any(ctx.attribute(node, name, 0) for name in ("do_rotary",)):
        raise NotLiftable("takes lengths, or earlier keys and values")
    matrix, bias = ctx.numbers(node, 1), ctx.optional_numbers(node, 2)
    sizes = ctx.attribute(node, "qkv_hidden_sizes", None) or [matrix.shape[1] // 3] * 3
    ends = np.cumsum(sizes)[:2]
    x = ctx.as_sequence(node, ctx.tensor(node, 0))
    biases = [None] * 3 if bias is None else np.split(bias, ends)
    parts = zip(np.split(matrix, ends, 1), biases, strict=True)
    inputs = [dense(ctx, node, x, weight.T, part_bias) for weight, part_bias in parts]
    kind = "causal" if ctx.attribute(node, "unidirectional", 0) else mask_kind(mask)
    return _over_sequences(ctx, node, inputs, ctx.attribute(node, "num_heads"), kind), *(None for _ in node.outputs[1:])


@lift(
    "MultiHeadAttention",
    domain=MICROSOFT,
    becomes=("attention", "multihead_attention", "self_attention"),
    note="without masks of padding and earlier keys",
)
def runtime_multihead(ctx: Context, node: Node) -> tuple[Tensor | None, ...]:
    """Queries, keys and values apart, and one bias for all of them."""
    if any(ctx.optional(node, at) is not None for at in range(4, len(node.inputs)) if at != 5):
        raise NotLiftable("takes lengths, or earlier keys and values")
    inputs = [ctx.tensor(node, at) for at in range(3)]
    bias = ctx.optional_numbers(node, 3)
    if bias is not None:
        channels = [x.known(x.rank - 1) for x in inputs]
        parts = np.split(bias, np.cumsum(channels)[:2])
        inputs = [_with_bias(ctx, node, at, x, part) for at, (x, part) in enumerate(zip(inputs, parts, strict=True))]
    kind = "causal" if ctx.attribute(node, "unidirectional", 0) else mask_kind(ctx.optional_numbers(node, 5))
    return _over_sequences(ctx, node, inputs, ctx.attribute(node, "num_heads"), kind), *(None for _ in node.outputs[1:])


def _with_bias(ctx: Context, node: Node, index: int, x: Tensor, bias: np.ndarray) -> Tensor:
    """Return the tensor with known numbers added: as the bias of the layer that makes it, where nothing else takes
    its output."""
    at = next((at for at, layer in enumerate(ctx.layers) if layer.id == x.port.layer), None)
    layer = None if at is None else ctx.layers[at]
    is_alone = ctx.users.get(node.inputs[index]) == [node] and node.inputs.count(node.inputs[index]) == 1
    if at is None or layer is None or not isinstance(layer.type, FullyConnected) or layer.type.bias or not is_alone:
        return affine(ctx, node, x, None, bias)
    type = layer.type.replace(bias=True)
    ctx.layers[at] = replace(layer, type=type, weights={**layer.weights, "bias": bias})
    return x


@lift("FusedConv", domain=MICROSOFT, becomes=("conv1d", "conv2d", "conv3d"), note="then its activation")
def fused_conv(ctx: Context, node: Node) -> Values | Headed:
    """A convolution and the activation behind it."""
    if ctx.optional(node, 3) is not None:
        raise NotLiftable("adds another tensor before the activation")
    return _activated(ctx, node, "Conv")


@lift("FusedGemm", domain=MICROSOFT, becomes=("fully_connected",), note="then its activation")
def fused_gemm(ctx: Context, node: Node) -> Values | Headed:
    """A product with a known matrix and the activation behind it."""
    return _activated(ctx, node, "Gemm")


def _activated(ctx: Context, node: Node, op: str) -> Values | Headed:
    """Return the outputs of ONNX's operator, after an activation."""
    out = lifts()["", op].function(ctx, replace(node, op=op, domain=""))
    name = ctx.attribute(node, "activation", "")
    if not name:
        return out
    key = ("", name)
    if key not in lifts() or not isinstance(out, Tensor):
        raise NotLiftable(f"has the activation {name}")
    inner = f"{node.outputs[0]}/{op}"
    ctx.values[inner] = out
    numbers = list(ctx.attribute(node, "activation_params", []))
    attributes = {
        field: number for field, number in zip(ACTIVATIONS, numbers, strict=False) if name in ACTIVATIONS[field]
    }
    attributes |= {
        field: ctx.attribute(node, f"activation_{field}")
        for field in ACTIVATIONS
        if f"activation_{field}" in node.attributes
    }
    inputs = [inner]
    if name == "Clip":
        for at, number in enumerate(numbers[:2]):
            ctx.values[f"{inner}/{at}"] = np.asarray(number, np.float32)
            inputs.append(f"{inner}/{at}")
    return lifts()[key].function(ctx, replace(node, op=name, domain="", inputs=inputs, attributes=attributes))
