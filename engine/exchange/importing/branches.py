"""If with a condition that is known: the nodes of the branch that is taken stand in its place."""

from typing import TYPE_CHECKING

import numpy as np

from netwright.engine.exchange.importing.graph import Graph, Node

if TYPE_CHECKING:
    import onnx


def inline_branches(graph: Graph) -> int:
    """Put the branches of conditions that are constants in the places of their If, in place; return their number."""
    if not any(map(is_branching, graph.nodes)):
        return 0
    nodes: list[Node] = []
    count, names = 0, graph.names()
    for node in graph.nodes:
        condition = graph.constants.get(node.inputs[0]) if is_branching(node) and node.inputs else None
        inner = None if condition is None else taken_branch(graph, node, condition.array(), names)
        nodes += [node] if inner is None else inner
        count += inner is not None
    graph.nodes = nodes
    return count


def is_branching(node: Node) -> bool:
    """Return whether a node is ONNX's If."""
    return node.op == "If" and not node.domain


def taken_branch(graph: Graph, node: Node, condition: np.ndarray, names: set[str]) -> list[Node] | None:
    """Return the nodes of a branch, whose constants become those of the graph; None where it cannot be taken out.

    Values of the branch whose name is among `names` get the name of the node before it; all are added to `names`.
    """
    if condition.size != 1 or graph.read_branch is None:
        return None
    body = node.attributes.get("then_branch" if condition.reshape(()) else "else_branch")
    if body is None or not hasattr(body, "initializer") or len(body.output) != len(node.outputs) or len(body.input):
        return None
    inner, constants = graph.read_branch(body)
    own = {*constants, *(name for part in inner for name in part.outputs if name)}
    new = {name: f"{node.name or node.outputs[0]}/{name}" for name in own if name in names}
    if any(name in new for part in inner for name in part.outer_names()) or not names.isdisjoint(new.values()):
        return None
    names.update(new.get(name, name) for name in own)
    graph.constants |= {new.get(name, name): constant for name, constant in constants.items()}
    for part in inner:
        _rename(part, new)
    ends = zip(body.output, node.outputs, strict=True)
    passed = [
        Node("Identity", [new.get(end.name, end.name)], [name], name=node.name, scope=node.scope)
        for end, name in ends
        if name
    ]
    return [*inner, *passed]


def _rename(node: Node, new: dict[str, str]) -> None:
    """Give other names to the values of a node, in place; also to those of the node as the file has it."""
    if not any(name in new for name in (*node.inputs, *node.outputs)):
        return
    node.inputs = [new.get(name, name) for name in node.inputs]
    node.outputs = [new.get(name, name) for name in node.outputs]
    raw: onnx.NodeProto = type(node.raw)()
    raw.CopyFrom(node.raw)
    raw.input[:] = node.inputs
    raw.output[:] = node.outputs
    node.raw = raw
