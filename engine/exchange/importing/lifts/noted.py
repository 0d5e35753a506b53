"""Layers that a file of Netwright notes: each takes the place of the operators between its values."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netwright.engine.core.errors import FieldErrors
from netwright.engine.core.types import Sizes, TensorType
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Constant, Graph, Node
from netwright.engine.exchange.importing.lifts.lift_registry import Values, lift
from netwright.engine.exchange.importing.values import BATCH, NotLiftable
from netwright.engine.exchange.onnx_notes import GATES, KEY, NOTED, with_gates
from netwright.engine.layers.base import LayerType
from netwright.engine.network.catalog import catalog

OP = "Layer"
LONGEST_NOTE = 10_000_000
MOST_NOTES = 10_000
WHOLE = (6, 7)
"""ONNX's numbers of int32 and int64."""
_Refused = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, FieldErrors)


def with_noted_layers(graph: Graph) -> Graph | None:
    """Return a copy of the graph with the layers that its metadata notes in the place of their operators; None where
    there are none. Notes that do not fit the graph are left out."""
    text = graph.metadata.get(KEY, "")
    if not text or len(text) > LONGEST_NOTE:
        return None
    try:
        rows = json.loads(text)
        nodes = [node for row in rows[:MOST_NOTES] if (node := _node(row, graph)) is not None]
    except _Refused:
        return None
    copied = replace(graph, nodes=list(graph.nodes), constants=dict(graph.constants))
    placed = [_put(copied, node) for node in nodes]
    return copied if any(placed) else None


def _node(row: Any, graph: Graph) -> Node | None:
    """Return a noted layer as a node without its operators, None for a note of another version or about values that
    the graph lacks."""
    try:
        if row["type"] not in NOTED:
            return None
        type = catalog()[row["type"]].read(row["fields"], "layers")
        ends = [*row["inputs"], *(entry for entry in row["outputs"] if entry is not None)]
        weights = {str(name): _weight(weight, graph.constants) for name, weight in row.get("weights", {}).items()}
        attributes = {
            "type": type,
            "inputs": [tuple(map(str, entry["dims"])) for entry in row["inputs"]],
            "kinds": [str(entry["kind"]) for entry in row["inputs"]],
            "outputs": [tuple(map(str, entry["dims"])) if entry is not None else () for entry in row["outputs"]],
            "weights": weights,
            "stored": [name for weight in row.get("weights", {}).values() for name in weight["tensors"]],
        }
        names = [entry["value"] for entry in ends]
        counts = (len(row["inputs"]), len(row["outputs"]))
        if not all(isinstance(name, str) and name for name in names) or not row["inputs"]:
            return None
        if counts != (len(type.input_ports()), len(type.output_ports())) or not set(names) <= graph.names():
            return None
        outputs = [entry["value"] if entry is not None else "" for entry in row["outputs"]]
        inputs = [entry["value"] for entry in row["inputs"]]
        scope = tuple(part for part in str(row["name"]).split("/")[:32] if part)
    except _Refused:
        return None
    return Node(OP, inputs, outputs, attributes, "/".join(scope), OWN_DOMAIN, scope)


@dataclass(frozen=True)
class _Stored:
    """A weight in the file: its tensors one after another, maybe transposed; or one direction of the tensor of a
    recurrent operator, from a row on and with its `gates` in this order."""

    tensors: tuple[Constant, ...]
    is_transposed: bool
    direction: int
    start: int
    gates: tuple[int, ...]

    def array(self, sizes: Sizes) -> np.ndarray:
        """Return the weight of these sizes. Raises `ValueError` or `IndexError` where the tensors have others."""
        arrays = [tensor.array() for tensor in self.tensors]
        if self.gates:
            rows = arrays[0][self.direction, self.start : self.start + sizes[0]]
            return with_gates(rows, self.gates).reshape(sizes)
        weight = np.concatenate(arrays) if len(arrays) > 1 else arrays[0]
        return weight.T if self.is_transposed else weight


def _weight(note: Any, constants: Mapping[str, Constant]) -> _Stored:
    """Return where a weight is in the file."""
    tensors = tuple(constants[name] for name in note["tensors"])
    gates = tuple(note.get("gates", ()))
    if gates and gates not in GATES:
        raise ValueError("gates of no operator")
    return _Stored(tensors, bool(note["transposed"]), int(note.get("direction", 0)), int(note.get("start", 0)), gates)


def _put(graph: Graph, node: Node) -> bool:
    """Put a noted layer behind what it takes, and remove what it gives from the operators that computed it; False where
    what it gives is not computed behind what it takes."""
    makers = {name: at for at, maker in enumerate(graph.nodes) for name in maker.outputs if name}
    input_names = {value.name for value in graph.inputs}
    input_places = [makers.get(name, -1) for name in node.inputs if name in makers or name in input_names]
    output_places = [makers.get(name, -1) for name in node.outputs if name]
    if len(input_places) != len(node.inputs) or not output_places or min(output_places) <= (place := max(input_places)):
        return False
    node.parts = tuple(operator.label for operator in _between(graph, node)) or (OP,)
    for at in set(output_places):
        maker = graph.nodes[at]
        graph.nodes[at] = replace(
            maker, outputs=[f"{name}.operator" if name in node.outputs else name for name in maker.outputs]
        )
    graph.nodes.insert(place + 1, node)
    return True


def _between(graph: Graph, node: Node) -> Iterator[Node]:
    """Yield the operators that compute what a noted layer gives from what it takes."""
    makers = graph.makers()
    waiting, visited = [name for name in node.outputs if name], set(node.inputs)
    while waiting:
        name = waiting.pop()
        maker = makers.get(name)
        if name in visited or maker is None:
            continue
        if visited.isdisjoint(maker.outputs):
            yield maker
        visited.update(maker.outputs)
        waiting += [*maker.inputs, *maker.outer_names()]


@lift(OP, domain=OWN_DOMAIN)
def noted(ctx: Context, node: Node) -> Values:
    """A layer that the file notes, with the dimensions that its values have there."""
    type: LayerType = node.attributes["type"]
    inputs = [ctx.relayout(node, ctx.tensor(node, at), dims) for at, dims in enumerate(node.attributes["inputs"])]
    outputs = ctx.add_all(node, type, *inputs, weights=_weights(node, type, tuple(x.type for x in inputs)))
    dims = node.attributes["outputs"]
    if any(
        file_dims and sorted(file_dims) != sorted((BATCH, *output.type.axes))
        for output, file_dims in zip(outputs, dims, strict=True)
    ):
        raise NotLiftable("gives other dimensions than its note says")
    return tuple(
        output.viewed(file_dims) if file_dims else None for output, file_dims in zip(outputs, dims, strict=True)
    )


def _weights(node: Node, type: LayerType, inputs: tuple[TensorType, ...]) -> dict[str, np.ndarray]:
    weights = {}
    for name, sizes in type.weights(*inputs).items():
        stored: _Stored = node.attributes["weights"][name]
        if not stored.gates and sum(tensor.count for tensor in stored.tensors) != math.prod(sizes):
            raise NotLiftable(f"has no weights '{name}' of its sizes")
        weights[name] = stored.array(sizes)
    return weights


def is_noted(node: Node) -> bool:
    """Return whether a node is a layer that the file notes."""
    return node.op == OP and node.domain == OWN_DOMAIN


def takes_indices(node: Node, name: str) -> bool:
    """Return whether a noted layer takes a value as indices."""
    kinds = [kind for source, kind in zip(node.inputs, node.attributes["kinds"], strict=True) if source == name]
    return bool(kinds) and all(kind == "index" for kind in kinds)


def dims_of(node: Node, name: str) -> tuple[str, ...]:
    """Return the dimensions of a value that a noted layer takes."""
    return next(dims for source, dims in zip(node.inputs, node.attributes["inputs"], strict=True) if source == name)


def is_rounded(ctx: Context, name: str) -> bool:
    """Return whether every operator that takes the numbers of a value rounds them, and something does."""
    users = ctx.users.get(name, ())
    return bool(users) and all(
        (is_noted(node) and takes_indices(node, name))
        or node.op == "Shape"
        or (node.op == "Cast" and node.attributes.get("to") in WHOLE)
        or (node.op in ("Cast", "Identity") and is_rounded(ctx, node.outputs[0]))
        for node in users
    )
