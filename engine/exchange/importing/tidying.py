"""Simplify a graph before its operators are lifted: casts that change nothing go, sums of Einstein that are products of
matrices become such (Keras writes both), and patterns of several operators become one node each."""

from collections.abc import Mapping

import numpy as np

from netwright.engine.exchange.importing import patterns, patterns_normalisation
from netwright.engine.exchange.importing.graph import Constant, Graph, Node
from netwright.engine.exchange.importing.rewrites import REWRITES, Match, Rewrite

PATTERNS = (patterns, patterns_normalisation)
"""Modules that register rewrites."""
ALIKE = (
    *("Abs", "Add", "BatchNormalization", "Clip", "Concat", "Conv", "Div", "Dropout", "Einsum", "Elu", "Erf", "Exp"),
    *("Expand", "Flatten", "Gather", "Gelu", "Gemm", "Identity", "LayerNormalization", "LeakyRelu", "MatMul", "Mul"),
    *("Neg", "Pad", "Pow", "ReduceMean", "ReduceSum", "Relu", "Reshape", "Sigmoid", "Slice", "Softmax", "Softplus"),
    *("Split", "Sqrt", "Squeeze", "Sub", "Tanh", "Tile", "Transpose", "Unsqueeze"),
)
"""Operators whose results have the number format of their first input."""
TRUTHS = ("Equal", "Not", "And", "Or", "Xor", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "IsNaN", "IsInf")
"""Operators whose results are true or false."""
OLDEST = 13
"""Version of the operators in which axes and sizes are inputs."""


def tidied(graph: Graph) -> None:
    """Leave out casts to the number format that a value has, write products with known numbers as MatMul, and make one
    node of each pattern, in place."""
    _without_casts(graph)
    if graph.opset >= OLDEST:
        match = Match(graph)
        nodes: list[Node] = []
        old_ids: set[int] = set()
        for node in graph.nodes:
            if id(node) not in old_ids:
                nodes += (_product(match, node, old_ids) if node.op == "Einsum" and not node.domain else None) or [node]
        graph.nodes = [node for node in nodes if id(node) not in old_ids]
    _rewrite(graph)


# ---- casts ----


def _without_casts(graph: Graph) -> None:
    fixed = {value.name for value in graph.outputs} | {name for node in graph.nodes for name in node.outer_names()}
    formats = {value.name: value.dtype for value in graph.inputs}
    formats |= {name: str(constant.dtype) for name, constant in graph.constants.items()}
    names: dict[str, str] = {}
    nodes = []
    for node in graph.nodes:
        node.inputs = [names.get(name, name) for name in node.inputs]
        if not node.domain and node.inputs:
            format = _format(node, formats)
            is_alike = node.op == "Cast" and bool(format) and format == formats.get(node.inputs[0])
            if is_alike and not fixed.intersection(node.outputs):
                names[node.outputs[0]] = node.inputs[0]
                continue
            formats |= dict.fromkeys(node.outputs, format) if format else {}
        nodes.append(node)
    graph.nodes = nodes


def _format(node: Node, formats: Mapping[str, str]) -> str:
    """Return the number format of what a node gives; empty where it is not known."""
    if node.op == "Cast":
        from onnx import helper

        return str(helper.tensor_dtype_to_np_dtype(node.attributes["to"])) if node.attributes.get("to") else ""
    if node.op in TRUTHS:
        return "bool"
    if node.op == "Where":
        return formats.get(node.inputs[1], "")
    return formats.get(node.inputs[0], "") if node.op in ALIKE else ""


# ---- sums ----


def _product(match: Match, node: Node, old_ids: set[int]) -> list[Node] | None:
    """Return nodes that compute a sum with known numbers as a product of matrices: the last letters of the input are
    summed, and those of the numbers take their place. A sum of a known vector behind it is added before they are
    divided. Nodes that go are added to `old_ids`. None for another equation."""
    if len(node.inputs) != 2:
        return None
    x, weight = node.inputs
    numbers = match.constant(weight)
    terms, _, right = node.attributes["equation"].replace(" ", "").partition("->")
    first, _, second = terms.partition(",")
    if numbers is None or match.constant(x) is not None or not (first + second + right).isalpha():
        return None
    summed = "".join(letter for letter in first if letter in second and letter not in right)
    new = "".join(letter for letter in right if letter not in first)
    rest = first[: -len(summed)] if summed else ""
    is_product = rest and first == rest + summed and right == rest + new and sorted(second) == sorted(summed + new)
    if not is_product or not new or len(set(second)) < len(second) or len(second) != len(numbers.shape):
        return None
    array = np.transpose(numbers.array(), [second.index(letter) for letter in summed + new])
    sizes = array.shape[len(summed) :]
    last, bias = node, _bias(match, node, sizes)
    nodes: list[Node] = []
    if len(summed) > 1:
        x = _reshaped(match, node, nodes, x, f"{node.outputs[0]}/joined", [*(0 for _ in rest), -1])
    matrix = f"{node.outputs[0]}/matrix"
    match.graph.constants[matrix] = Constant.of(array.reshape(-1, int(np.prod(sizes))), match.graph.origin(weight))
    parts = [("MatMul", [x, matrix])]
    if bias is not None:
        last, vector = bias
        old_ids.add(id(last))
        match.graph.constants[f"{node.outputs[0]}/bias"] = Constant.of(vector)
        parts.append(("Add", ["", f"{node.outputs[0]}/bias"]))
    for number, (op, inputs) in enumerate(parts):
        is_end = number == len(parts) - 1 and len(new) == 1
        name = last.outputs[0] if is_end else f"{node.outputs[0]}/{op}"
        nodes.append(
            Node(op, [source or nodes[-1].outputs[0] for source in inputs], [name], name=node.name, scope=node.scope)
        )
    nodes[-1].parts = ("Einsum",)
    if len(new) > 1:
        _reshaped(match, node, nodes, nodes[-1].outputs[0], last.outputs[0], [*(0 for _ in rest), *sizes])
    return nodes


def _bias(match: Match, node: Node, sizes: tuple[int, ...]) -> tuple[Node, np.ndarray] | None:
    """Return the sum behind a node with known numbers of the last dimensions, and these as a vector."""
    add = match.only_user(node.outputs[0], "Add")
    numbers = match.constant(match.other(add, node.outputs[0])) if add is not None else None
    if add is None or numbers is None or numbers.shape[-len(sizes) :] != sizes or numbers.count != int(np.prod(sizes)):
        return None
    return add, numbers.array().reshape(-1)


def _reshaped(match: Match, like: Node, nodes: list[Node], x: str, name: str, sizes: list[int]) -> str:
    match.graph.constants[f"{name}/sizes"] = Constant.of(np.array(sizes, np.int64))
    nodes.append(Node("Reshape", [x, f"{name}/sizes"], [name], name=like.name, scope=like.scope))
    return name


# ---- patterns ----


def _rewrite(graph: Graph) -> None:
    """Make a single node of each pattern, in place."""
    match = Match(graph)
    graph.plain = dict(match.makers)
    places = {id(node): at for at, node in enumerate(graph.nodes)}
    for node in list(graph.nodes):
        for rule in REWRITES.get(node.op, []) if not node.domain else []:
            if id(node) not in places:
                break
            new = _tried(rule, match, node)
            if new is not None:
                last = match.makers[new.outputs[0]]
                at = places.pop(id(last))
                graph.nodes[at] = new
                places[id(new)] = at
                _relink(match, new, last)
                break


def _tried(rule: Rewrite, match: Match, node: Node) -> Node | None:
    """Return the node of a rewrite; attributes of a wrong type, or too few inputs, are no pattern."""
    try:
        return rule(match, node)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, ArithmeticError):
        return None


def _relink(match: Match, node: Node, last: Node) -> None:
    for name in dict.fromkeys(last.inputs):
        match.users[name] = [user for user in match.users.get(name, []) if user is not last]
    for name in node.outputs:
        match.makers[name] = node
    for name in dict.fromkeys(node.inputs):
        if name:
            match.users.setdefault(name, []).append(node)
