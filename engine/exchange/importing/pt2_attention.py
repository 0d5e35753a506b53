"""Mark attention in a program of `torch.export`: modules of torch by their class, and products by their form."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from netwright.engine.exchange.importing.pt2_layers import ATEN, FxNode, Marker, NotMarked

ATTENTION = "torch.nn.modules.activation.MultiheadAttention"
ENCODER_LAYER = "torch.nn.modules.transformer.TransformerEncoderLayer"
FUNCTION = "F.scaled_dot_product_attention"
PRODUCT = ATEN.scaled_dot_product_attention.default
PACKED = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
APART = ("q_proj_weight", "k_proj_weight", "v_proj_weight", *PACKED[1:])
SWAPPED = ((1, 2), (2, 1), (-3, -2), (-2, -3))
PASSING = (ATEN.contiguous.default, ATEN.clone.default)
VIEWS = (
    ATEN.view.default,
    ATEN.reshape.default,
    ATEN.unflatten.int,
    ATEN.flatten.using_ints,
    ATEN._unsafe_view.default,
)


def mark_attention(marker: Marker) -> None:
    """Mark modules of torch, from the inside to the outside, then the attention that others wrote."""
    for nodes in marker.regions(ATTENTION):
        marker.attempt(attention, nodes)
    marker.clean()
    for nodes in marker.regions(ENCODER_LAYER):
        marker.attempt(encoder_layer, nodes)
    marker.clean()
    for node in list(marker.graph.nodes):
        if node.target in (PRODUCT, ATEN.matmul.default):
            marker.attempt(product, node)


@dataclass
class Core:
    """The innermost part of an attention: what the three projections lead to, the mask, and channels of a head."""

    query: FxNode
    key: FxNode
    value: FxNode
    mask: Any
    is_causal: bool
    channels: int


def _argument(node: FxNode, place: int, name: str, default: Any = None) -> Any:
    return node.args[place] if len(node.args) > place else node.kwargs.get(name, default)


def _core(nodes: Sequence[FxNode]) -> Core:
    """Return the innermost part: a product in one operator, or two products with a softmax between them."""
    for node in nodes:
        if node.target is PRODUCT:
            return _fused(node)
    softmax = next(node for node in nodes if node.target is ATEN.softmax.int)
    scores = softmax.args[0]
    mask = scores.args[0] if scores.target is ATEN.baddbmm.default else None
    if scores.target not in (ATEN.baddbmm.default, ATEN.bmm.default):
        raise NotMarked("computes its scores in another way")
    query, key = scores.args[-2:]
    mixed = next(user for user in softmax.users if user.target is ATEN.bmm.default)
    return Core(query, key, mixed.args[1], mask, is_causal=False, channels=query.meta["val"].shape[-1])


def _sources(marker: Marker, node: FxNode, inside: set[FxNode]) -> list[FxNode]:
    """Return the tensors from outside of a module, other than its weights, that a node inside of it depends on."""
    waiting, visited, sources = [node], set[FxNode](), dict[FxNode, None]()
    while waiting:
        current = waiting.pop()
        if current in visited or marker.stored(current):
            continue
        visited.add(current)
        if current in inside:
            waiting += current.all_input_nodes
        elif isinstance(current.meta.get("val"), torch.Tensor):
            sources[current] = None
    return list(sources)


def is_causal(marker: Marker, mask: Any) -> bool:
    """Return whether a mask hides later steps; False where it hides nothing. Raises `NotMarked` for others."""
    if mask is None:
        return False
    numbers = mask if isinstance(mask, torch.Tensor) else marker.value(mask)
    rows, columns = numbers.shape[-2:]
    if numbers.numel() != rows * columns:
        raise NotMarked("has a mask for each sample or head")
    numbers = numbers.reshape(rows, columns)
    if numbers.dtype == torch.bool:
        hides = ~numbers
    elif torch.all((numbers == 0) | (numbers == float("-inf"))):
        hides = numbers != 0
    else:
        raise NotMarked("adds numbers to its scores")
    later = torch.ones(rows, columns, dtype=torch.bool).triu(1)
    if not torch.equal(hides, later) and bool(hides.any()):
        raise NotMarked("has a mask of its own")
    return bool(hides.any())


def _leaving(nodes: Iterable[FxNode], inside: set[FxNode]) -> list[FxNode]:
    return [node for node in nodes if any(user not in inside for user in node.users)]


def attention(marker: Marker, nodes: list[FxNode]) -> None:
    """Mark a `nn.MultiheadAttention`: query, key, value and its weights; outputs are torch's."""
    inside = set(nodes)
    stored = {
        marker.stored(source): source for node in nodes for source in node.all_input_nodes if marker.stored(source)
    }
    weights = {
        name: weight
        for path, weight in stored.items()
        for name in {*PACKED, *APART}
        if path == name or path.endswith(f".{name}")
    }
    names = PACKED if "in_proj_weight" in weights else APART
    is_packed = names is PACKED
    if any(name.endswith("bias_k") for name in stored) or not set(weights) <= set(names):
        raise NotMarked("has learned keys")
    core = _core(nodes)
    ends = [_sources(marker, end, inside) for end in (core.query, core.key, core.value)]
    if any(len(sources) != 1 or len(sources[0].meta["val"].shape) != 3 for sources in ends):
        raise NotMarked("is not batched, or mixes its inputs")
    (query,), (key,), (value,) = ends
    causal = core.is_causal or is_causal(marker, core.mask)
    is_batch_first = any(
        user.target is ATEN.transpose.int and sorted(user.args[1:]) == [0, 1] for user in query.users if user in inside
    )
    result = next(node for node in nodes if weights["out_proj.weight"] in node.all_input_nodes)
    main = [output_node for output_node in _leaving(nodes, inside) if result in _behind(output_node, inside)]
    scores = [
        output_node
        for output_node in _leaving(nodes, inside)
        if output_node not in main and isinstance(output_node.meta["val"], torch.Tensor)
    ]
    if len(main) != 1 or len(scores) > 1:
        raise NotMarked("gives more than torch's layer")
    heads = weights["out_proj.weight"].meta["val"].shape[1] // core.channels
    order = marker.order()
    outputs = marker.put(
        min((*main, *scores), key=order.__getitem__),
        "nn.MultiheadAttention",
        [query, key, value, *_in_order(weights, is_packed=is_packed)],
        [output_node.meta["val"].shape for output_node in (*main, *scores)],
        {
            "heads": heads,
            "causal": int(causal),
            "batch_first": int(is_batch_first),
            "packed": int(is_packed),
            "scores": "none" if not scores else "mean" if len(scores[0].meta["val"].shape) == 3 else "heads",
        },
    )
    for output_node, output in zip((*main, *scores), outputs, strict=True):
        output.meta["val"] = output_node.meta["val"]
        output_node.replace_all_uses_with(output)


def _in_order(weights: Mapping[str, FxNode], *, is_packed: bool) -> list[FxNode | None]:
    """Return matrices and biases of query, key and value, then of the result; the biases are one vector."""
    matrices = [weights["in_proj_weight"]] if is_packed else [weights[name] for name in APART[:3]]
    biases = [weights.get("in_proj_bias"), *([] if is_packed else [None, None])]
    return [*matrices, *biases, weights["out_proj.weight"], weights.get("out_proj.bias")]


def _behind(node: FxNode, inside: set[FxNode]) -> set[FxNode]:
    """Return the node and all nodes of the module that it depends on."""
    waiting, visited = [node], set[FxNode]()
    while waiting:
        current = waiting.pop()
        if current not in visited and current in inside:
            visited.add(current)
            waiting += current.all_input_nodes
    return visited


def encoder_layer(marker: Marker, nodes: list[FxNode]) -> None:
    """Mark a `nn.TransformerEncoderLayer`, whose attention is marked already."""
    inside = set(nodes)
    at = marker.order()
    of = {target: [node for node in nodes if node.target is target] for target in {node.target for node in nodes}}
    attends = [node for node in nodes if marker.made.get(node, ("",))[0] == "nn.MultiheadAttention"]
    norms, linear = of.get(ATEN.layer_norm.default, []), of.get(ATEN.linear.default, [])
    relu, gelu = of.get(ATEN.relu.default, []), of.get(ATEN.gelu.default, [])
    counts = [len(group) for group in (attends, norms, linear, relu + gelu, of.get(ATEN.add.Tensor, []))]
    if counts != [1, 2, 2, 1, 2] or any("approximate" in node.kwargs for node in gelu):
        raise NotMarked("is of another form")
    (attend,), fields = attends, marker.made[attends[0]][1]
    query, key, value, *projections = attend.args[0]
    sources = {source for node in nodes for source in _sources(marker, node, inside)}
    (end,) = _leaving(nodes, inside)
    epsilons = {_argument(node, 4, "eps", 1e-5) for node in norms}
    if len(sources) != 1 or query is not key or key is not value or fields["scores"] != "none" or len(epsilons) != 1:
        raise NotMarked("is of another form")
    affine = [_argument(node, place, name) for node in norms for place, name in ((2, "weight"), (3, "bias"))]
    dropouts = [node.args[1] for node in of.get(ATEN.dropout.default, [])]
    (output,) = marker.put(
        end,
        "nn.TransformerEncoderLayer",
        [
            sources.pop(),
            *projections,
            *(_argument(node, place, name) for node in linear for place, name in ((1, "weight"), (2, "bias"))),
            *affine,
        ],
        [end.meta["val"].shape],
        {
            **{name: fields[name] for name in ("heads", "causal", "batch_first", "packed")},
            "norm_first": int(at[norms[0]] < at[attend]),
            "activation": "relu" if relu else "gelu",
            "epsilon": float(epsilons.pop()),
            "dropout": float(max(dropouts, default=0.0)),
        },
    )
    for node in (output, output.args[0]):  # of the module itself, not of the part of it that comes last
        stack = list(node.meta["nn_module_stack"].items())
        at_kind = next(place for place, (_, (_, name)) in enumerate(stack) if name == ENCODER_LAYER)
        node.meta["nn_module_stack"] = dict(stack[: at_kind + 1])
    output.meta["val"] = end.meta["val"]
    end.replace_all_uses_with(output)


# ---- attention that is written out ----


@dataclass
class Steps:
    """A sequence (N, T, C) in the graph, or some of its channels."""

    node: FxNode
    start: int
    stop: int

    @property
    def is_whole(self) -> bool:
        """Return whether these are all channels."""
        return bool(self.stop - self.start == self.node.meta["val"].shape[2])


def product(marker: Marker, node: FxNode) -> None:
    """Mark an attention between changes of shape: from (N, T, C) to heads, and back. With the projections before and
    behind it, it is one layer."""
    core, scale = (_fused(node), _argument(node, 6, "scale")) if node.target is PRODUCT else _written_out(marker, node)
    parts = [_steps(source) for source in (core.query, core.key, core.value)]
    causal = core.is_causal or is_causal(marker, core.mask)
    back = _user(node)
    if not _swaps_heads(back):
        raise NotMarked("does not put its heads side by side")
    end = _user(back)
    batch, heads, steps, channels = node.meta["val"].shape
    shape = end.meta["val"].shape
    if end.target not in VIEWS or len(shape) != 3 or shape[2] != heads * channels or str(shape[1]) != str(steps):
        raise NotMarked("does not put its heads side by side")
    usual = core.query.meta["val"].shape[-1] ** -0.5
    scale = 0.0 if scale is None or abs(scale - usual) < 1e-6 * usual else float(scale)
    whole = _projected(marker, parts, end) if not scale and core.query.meta["val"].shape[-1] == channels else None
    attributes = {"heads": heads, "causal": int(causal)}
    if whole is not None:
        x, weights, is_packed, end = whole
        packed = {"packed": int(is_packed), "batch_first": 1, "scores": "none"}
        (output,) = marker.put(
            node, "nn.MultiheadAttention", [x, x, x, *weights], [end.meta["val"].shape], {**attributes, **packed}
        )
    else:
        with marker.graph.inserting_before(node):
            inputs = [_taken(marker, part, node) for part in parts]
        sizes = [(batch, steps, heads * channels)]
        (output,) = marker.put(node, FUNCTION, inputs, sizes, {**attributes, "scale": scale})
    output.meta["val"] = end.meta["val"]
    end.replace_all_uses_with(output)


def _user(node: FxNode) -> FxNode:
    """Return the one node that takes a value, behind copies of it."""
    (user,) = node.users
    while user.target in PASSING:
        (user,) = user.users
    return user


def _fused(node: FxNode) -> Core:
    if _argument(node, 7, "enable_gqa", False):
        raise NotMarked("shares keys among heads")
    query, key, value = node.args[:3]
    causal = bool(_argument(node, 5, "is_causal", False))
    return Core(query, key, value, _argument(node, 3, "attn_mask"), causal, query.meta["val"].shape[-1])


def _written_out(marker: Marker, node: FxNode) -> tuple[Core, float]:
    """Return the parts of softmax(scale · query keyᵀ, with a mask) value, and the scale."""
    weights, value = node.args[:2]
    while weights.target in (*PASSING, ATEN.dropout.default):
        weights = weights.args[0]
    if weights.target not in (ATEN.softmax.int, ATEN._softmax.default) or weights.args[1] not in (-1, 3):
        raise NotMarked("is another product")
    scores, hides, scale = weights.args[0], None, 1.0
    if scores.target is ATEN.masked_fill.Scalar and scores.args[2] < -1e4:
        hides, scores = scores.args[1], scores.args[0]
    if scores.target in (ATEN.mul.Tensor, ATEN.div.Tensor):
        factor = float(marker.value(scores.args[1]))
        scale, scores = (factor if scores.target is ATEN.mul.Tensor else 1 / factor), scores.args[0]
    query, swapped = scores.args[:2]
    if query.target is ATEN.mul.Tensor and not isinstance(query.args[1], fx.Node):
        scale, query = scale * query.args[1], query.args[0]
    is_swapped = swapped.target is ATEN.transpose.int and tuple(swapped.args[1:]) in (
        (-2, -1),
        (-1, -2),
        (2, 3),
        (3, 2),
    )
    if scores.target is not ATEN.matmul.default or not is_swapped:
        raise NotMarked("is another product")
    mask = None if hides is None else ~marker.value(hides)
    return Core(query, swapped.args[0], value, mask, is_causal=False, channels=query.meta["val"].shape[-1]), scale


def _projected(
    marker: Marker, parts: Sequence["Steps"], end: FxNode
) -> tuple[FxNode, list[FxNode | None], bool, FxNode] | None:
    """Return the sequence that query, key and value are projections of, the weights, whether those are one matrix, and
    the projection behind the attention; None where one of them is missing."""
    nodes = [part.node for part in parts]
    last = _user(end) if len(end.users) == 1 else end
    linear = [*nodes, last]
    if any(
        linear_node.target is not ATEN.linear.default or not marker.stored(linear_node.args[1])
        for linear_node in linear
    ):
        return None
    if last.args[0] is not end or len({linear_node.args[0] for linear_node in nodes}) != 1:
        return None
    biases = [_argument(linear_node, 2, "bias") for linear_node in linear]
    result = [last.args[1], biases[3]]
    third = nodes[0].meta["val"].shape[2] // 3
    if len(set(nodes)) == 1 and [part.start for part in parts] == [0, third, 2 * third]:
        return nodes[0].args[0], [nodes[0].args[1], biases[0], *result], True, last
    if len(set(nodes)) == 3 and all(part.is_whole for part in parts):
        weights = [*(linear_node.args[1] for linear_node in nodes), *biases[:3], *result]
        return nodes[0].args[0], weights, False, last
    return None


def _steps(node: FxNode) -> Steps:
    """Return the sequence that was divided into heads (N, heads, T, channels)."""
    while node.target in PASSING:
        node = node.args[0]
    if _swaps_heads(node):
        inner = node.args[0]
        while inner.target in PASSING:
            inner = inner.args[0]
        x = inner.args[0]
        before, after = x.meta["val"].shape, inner.meta["val"].shape
        if inner.target not in VIEWS or len(before) != 3 or len(after) != 4 or str(before[:2]) != str(after[:2]):
            raise NotMarked("divides its heads in another way")
        if x.target is ATEN.slice.Tensor and x.args[1] in (2, -1) and x.args[3] - x.args[2] == before[2]:
            return Steps(x.args[0], *x.args[2:4])
        return Steps(x, 0, before[2])
    if node.target is operator.getitem and node.args[0].target is ATEN.unbind.int:
        whole, dim, number = node.args[0].args[0], (node.args[0].args[1:] or (0,))[0], node.args[1]
    elif node.target is ATEN.select.int:
        whole, dim, number = node.args
    else:
        raise NotMarked("divides its heads in another way")
    if dim != 0 or whole.target is not ATEN.permute.default or list(whole.args[1]) != [2, 0, 3, 1, 4]:
        raise NotMarked("divides its heads in another way")
    inner = whole.args[0]
    x = inner.args[0]
    before, after = x.meta["val"].shape, inner.meta["val"].shape
    if inner.target not in VIEWS or len(before) != 3 or len(after) != 5 or str(before[:2]) != str(after[:2]):
        raise NotMarked("divides its heads in another way")
    each = before[2] // after[2]
    return Steps(x, number * each, (number + 1) * each)


def _swaps_heads(node: FxNode) -> bool:
    """Return whether a node exchanges steps and heads."""
    if node.target is ATEN.transpose.int:
        return tuple(node.args[1:]) in SWAPPED
    return node.target is ATEN.permute.default and list(node.args[1]) == [0, 2, 1, 3]


def _taken(marker: Marker, steps: Steps, user: FxNode) -> FxNode:
    """Return the node of a sequence, or a new one that takes its channels, in the module of its user."""
    if steps.is_whole:
        return steps.node
    node = marker.graph.call_function(ATEN.slice.Tensor, (steps.node, 2, steps.start, steps.stop))
    node.meta = {**user.meta, "val": steps.node.meta["val"][:, :, steps.start : steps.stop]}
    return node
