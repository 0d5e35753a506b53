"""Mark torch's modules of attention in a program of `torch.export`, by their class.

Other attention is recognised by its form, as in an ONNX file (`patterns.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from netwright.engine.exchange.importing.pt2_layers import ATEN, FxNode, Marker, NotMarked

ATTENTION = "torch.nn.modules.activation.MultiheadAttention"
ENCODER_LAYER = "torch.nn.modules.transformer.TransformerEncoderLayer"
PRODUCT = ATEN.scaled_dot_product_attention.default
PACKED = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
APART = ("q_proj_weight", "k_proj_weight", "v_proj_weight", *PACKED[1:])


def mark_attention(marker: Marker) -> None:
    """Mark modules of torch, from the inside to the outside."""
    for nodes in marker.regions(ATTENTION):
        marker.attempt(attention, nodes)
    marker.clean()
    for nodes in marker.regions(ENCODER_LAYER):
        marker.attempt(encoder_layer, nodes)
    marker.clean()


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


def _fused(node: FxNode) -> Core:
    if _argument(node, 7, "enable_gqa", False):
        raise NotMarked("shares keys among heads")
    query, key, value = node.args[:3]
    causal = bool(_argument(node, 5, "is_causal", False))
    return Core(query, key, value, _argument(node, 3, "attn_mask"), causal, query.meta["val"].shape[-1])


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
