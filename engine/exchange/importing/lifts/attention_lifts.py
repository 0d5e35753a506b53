"""Attention: written out by exporters, or one operator of newer versions of ONNX."""

from typing import Any

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Node
from netwright.engine.exchange.importing.heads import laid_out
from netwright.engine.exchange.importing.lifts.activation_lifts import along
from netwright.engine.exchange.importing.lifts.arithmetic_lifts import affine, combined, parameter
from netwright.engine.exchange.importing.lifts.lift_registry import Values, lift
from netwright.engine.exchange.importing.lifts.linear_lifts import product
from netwright.engine.exchange.importing.patterns import HIDDEN
from netwright.engine.exchange.importing.values import BATCH, Factor, Headed, NotLiftable, Tensor, epsilon_of
from netwright.engine.exchange.importing.values import product as product_of
from netwright.engine.layers.activation_channels import Softmax
from netwright.engine.layers.arithmetic import LearnedParameter
from netwright.engine.layers.attention import PositionEmbedding
from netwright.engine.layers.combination import Addition
from netwright.engine.layers.cross_attention import Attention


@lift("Attention", domain=OWN_DOMAIN, becomes=("attention",))
def written_out(ctx: Context, node: Node) -> Values | Headed:
    """softmax(scale · Q Kᵀ + mask) V. The keys come with their channels before their steps."""
    if not any(
        isinstance(ctx.values.get(name), Headed) or ctx.is_tensor(node, at) for at, name in enumerate(node.inputs[:3])
    ):
        return _known(ctx, node)
    query, key, value = known_or_headed(ctx, node)
    mask, is_causal = ctx.optional(node, 3), bool(node.attributes["causal"])
    if mask is not None and not isinstance(mask, np.ndarray):
        raise NotLiftable("adds a mask that is not known before the network runs")
    sizes = [size for size in (query.sizes[-2], key.sizes[-1]) if isinstance(size, int)]
    if is_causal and len(sizes) == 2:
        mask = np.triu(np.full(sizes, -3e38, np.float32), 1)  # for products of matrices
    return attended(ctx, node, (query, key, value), mask, _scale(ctx, node), is_causal=is_causal)


def _is_computed(ctx: Context, node: Node, at: int) -> bool:
    return isinstance(ctx.values.get(node.inputs[at]), Headed) or ctx.is_tensor(node, at)


def _known(ctx: Context, node: Node) -> np.ndarray:
    """Return an attention of known numbers, such as that of the queries of a decoder to each other."""
    query, key, value = (ctx.numbers(node, at).astype(np.float64) for at in range(3))
    scores = _scale(ctx, node) * (query @ key)
    mask = ctx.optional_numbers(node, 3)
    if node.attributes["causal"]:
        mask = np.triu(np.full(scores.shape[-2:], -np.inf), 1)
    scores = scores if mask is None else scores + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True) @ value, np.float32)


def known_or_headed(ctx: Context, node: Node, *, transposed: bool = True) -> list[Headed]:
    """Return queries, keys and values; known ones, equal for each sample, as a layer that learns them. The keys come
    with their channels before their steps if they are `transposed`. Raises `NotLiftable` where all are known."""
    computed = [at for at in range(3) if _is_computed(ctx, node, at)]
    if not computed:
        raise NotLiftable("has known numbers as its input 1")
    like = ctx.headed_input(node, computed[0])
    return [
        ctx.headed_input(node, at) if at in computed else _learned(ctx, node, at, like, turns=transposed and at == 1)
        for at in range(3)
    ]


def _learned(ctx: Context, node: Node, at: int, like: Headed, *, turns: bool) -> Headed:
    """Return known queries, keys or values as a sequence that a layer learns; its channels are divided among the heads
    as those of another input are, which may be joined with the batch."""
    numbers = ctx.numbers(node, at)
    numbers = np.swapaxes(numbers, -1, -2) if turns else numbers
    heads = product_of([factor.size for factor in like.dims[0] if factor.axis != BATCH]) if numbers.ndim == 3 else 1
    if numbers.ndim not in (3, 4) or not isinstance(heads, int) or numbers.shape[0] % heads:
        raise NotLiftable("has known numbers that differ between the samples")
    apart = numbers.reshape(-1, heads, *numbers.shape[1:]) if numbers.ndim == 3 else numbers
    apart = ctx.for_all(apart, 0)
    if apart.shape[0] != 1:
        raise NotLiftable("has known numbers that differ between the samples")
    _, count, steps, channels = apart.shape
    weight = apart[0].transpose(1, 0, 2).reshape(steps, count * channels)
    type = ctx.make(LearnedParameter, layout="sequence", sizes=weight.shape)
    name = ("query", "key", "value")[at]
    source = like.tensor.viewed((BATCH, *like.tensor.type.axes))
    weights = {"weight": weight.astype(np.float32)}
    out = Headed.of(ctx.add(node, type, source, weights=weights, dims=(BATCH, "T", "C"), name=name))
    (batch,), (step,) = out.factors[BATCH], out.factors["T"]
    outer, inner = Factor("C", count), Factor("C", channels)
    own = {**out.factors, "C": (outer, inner) if count > 1 else (inner,)}
    first: tuple[tuple[Factor, ...], ...]
    if numbers.ndim == 4:
        first = ((batch,), (outer,) if count > 1 else ())
    else:
        first = ((batch, outer) if count > 1 else (batch,),)
    last = ((inner,), (step,)) if turns else ((step,), (inner,))
    return Headed(out.tensor, (*first, *last), own)


def attended(
    ctx: Context,
    node: Node,
    inputs: tuple[Headed, Headed, Headed],
    mask: np.ndarray | None,
    scale: float,
    *,
    is_causal: bool = False,
) -> Tensor | Headed:
    """Return softmax(scale · Q Kᵀ + mask) V of tensors with an axis of heads, the keys with their channels before their
    steps: a layer, or products of matrices. With `is_causal`, `mask` is None only where the steps are not known."""
    query, key, value = inputs
    heads = {_heads(query), _heads(key, transposed=True), _heads(value)}
    kind = "causal" if is_causal else mask_kind(mask)
    if len(heads) > 1 or None in heads or kind is None:
        if is_causal and mask is None:
            raise NotLiftable("has a mask whose size is known only when the network runs")
        return _products(ctx, node, inputs, mask, scale)
    (count,) = heads
    assert count is not None
    each = query.factors["C"][-1].size
    values: dict[str, Any] = {"heads": count, "mask": kind}
    if not isinstance(each, int):
        raise NotLiftable("has channels that are known only when the network runs")
    if not np.isclose(scale, each**-0.5, rtol=1e-4):
        values["scale"] = epsilon_of(scale)
    dims = (BATCH, "T", "C")
    out = ctx.add(node, ctx.make(Attention, **values), *(x.tensor for x in (query, key, value)), dims=dims)
    return _divided(Headed.of(out), query, value)


def _heads(x: Headed, *, transposed: bool = False) -> int | None:
    """Return the number of heads of a sequence whose dimensions are batch, heads, steps and channels; None for another
    layout."""
    if x.tensor.type.axes != ("T", "C") or len(x.dims) < 3:
        return None
    *first, steps, channels = x.dims
    if transposed:
        steps, channels = channels, steps
    *outer, inner = x.factors["C"]
    is_apart = steps == x.factors["T"] and len(x.factors["T"]) == 1 and channels == (inner,)
    if not is_apart or len(outer) > 1 or [factor for dim in first for factor in dim] != [*x.factors[BATCH], *outer]:
        return None
    count = outer[0].size if outer else 1
    return count if isinstance(count, int) else None


def _divided(out: Headed, query: Headed, value: Headed) -> Headed:
    """Return the output with the dimensions of the queries, and the channels of the values."""
    outer = value.factors["C"][:-1]
    own = {**out.factors, "C": value.factors["C"]}
    names = {id(query.factors[BATCH][0]): own[BATCH][0], id(query.factors["T"][0]): own["T"][0]}
    names |= {id(query.factors["C"][-1]): own["C"][-1]}
    names |= {id(factor): out_factor for factor, out_factor in zip(query.factors["C"][:-1], outer, strict=True)}
    return Headed(out.tensor, tuple(tuple(names[id(factor)] for factor in dim) for dim in query.dims), own)


def _scale(ctx: Context, node: Node) -> float:
    """Return the product of the factors of queries, keys and scores."""
    scale = 1.0
    for at, kind in enumerate(node.attributes["kinds"], 4):
        number = ctx.numbers(node, at)
        if number.size != 1:
            raise NotLiftable("scales its scores by several numbers")
        value = float(number.reshape(()))
        scale = scale * value if kind == "Mul" else scale / value
    return scale


def mask_kind(mask: np.ndarray | None) -> str | None:
    """Return the mask of the layer that known numbers are: none, causal, or None for another one."""
    if mask is None or not np.any(mask):
        return "none"
    if mask.ndim < 2 or mask.size != mask.shape[-1] * mask.shape[-2] or mask.shape[-1] != mask.shape[-2]:
        return None
    square = mask.reshape(mask.shape[-2:])
    later = np.triu(np.ones_like(square, bool), 1)
    return "causal" if not np.any(square[~later]) and bool((square[later] <= HIDDEN).all()) else None


def _products(ctx: Context, node: Node, inputs: tuple[Headed, ...], mask: np.ndarray | None, scale: float) -> Tensor:
    """Return an attention as products of matrices, for masks and layouts that the layer does not have."""
    query, key, value = (laid_out(ctx, node, x) for x in inputs)
    scores = product(ctx, node, query, key)
    if scale != 1.0:
        scores = affine(ctx, node, scores, np.asarray(scale, np.float32), None)
    if mask is not None:
        finite = np.maximum(mask.astype(np.float32), -3e38)
        scores = combined(ctx, node, Addition(), scores, parameter(ctx, node, finite, scores, "mask"))
    return product(ctx, node, along(ctx, node, Softmax(), scores, scores.rank - 1), value)


@lift("PositionEmbedding", domain=OWN_DOMAIN, becomes=("position_embedding",))
def position_embedding(ctx: Context, node: Node) -> Tensor:
    """A row of a table for each step, added to it."""
    x, table = ctx.tensor(node, 0), ctx.numbers(node, 1)
    if x.rank != 3 or x.dims[0] != BATCH:
        raise NotLiftable("adds rows of a table to something else than steps of samples")
    x, rows = ctx.as_sequence(node, x), table.reshape(table.shape[-2:])[node.attributes["start"] :]
    return ctx.add(node, ctx.make(PositionEmbedding, positions=len(rows)), x, weights={"table.weight": rows})
