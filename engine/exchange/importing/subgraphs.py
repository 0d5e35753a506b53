"""Subgraphs of operators that are kept as they are, and operators that can only be kept together.

What an operator gives may have no place between two layers: a condition for the whole batch, a sequence, a size that is
known only when the network runs. Then the operators before or behind it join it (`join`), until what enters and leaves
them are tensors of samples. They become the branches of an If whose condition is always true.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.graph import OWN_DOMAIN, Constant, Graph, Node
from netwright.engine.exchange.importing.values import AcrossSamples, Free, Known, NotLiftable, Sizes

if TYPE_CHECKING:
    import onnx

MOST_JOINED = 200
"""Operators that one layer holds."""


@dataclass(frozen=True)
class Failure:
    """An operator that cannot be kept by itself, and why. `is_behind` says that one before it failed."""

    node: Node
    error: NotLiftable
    is_behind: bool


# ---- joining ----


def join(ctx: Context, failures: Sequence[Failure]) -> bool:
    """Join each operator that failed with those before or behind it, in place in the graph; return whether each could
    be."""
    graph = ctx.graph
    joined: set[int] = set()
    nodes, outputs = list(graph.nodes), {value.name for value in graph.outputs}
    for failure in failures:
        if failure.is_behind or id(failure.node) in joined:
            continue
        makers = graph.makers()
        members = _joined(ctx, failure, makers, outputs)
        is_across = any(member.is_across for member in members) or _reads_samples(ctx, failure)
        ids = members and _contract(graph, members, outputs, is_across=is_across)
        if not ids:
            graph.nodes = nodes
            return False
        joined.update(ids)
    return bool(joined)


def _joined(ctx: Context, failure: Failure, makers: Mapping[str, Node], outputs: set[str]) -> list[Node]:
    """Return the operators that have to be one; none where there is no way."""
    if failure.error.entering:
        nodes = {id(failure.node): failure.node}
        names = list(failure.error.entering)
        while names:
            maker = makers.get(names.pop())
            if maker is None:
                return []
            if id(maker) not in nodes:
                nodes[id(maker)] = maker
                names += [name for name in (*maker.inputs, *maker.outer_names()) if not _can_enter(ctx, name)]
        return list(nodes.values())
    leaving = failure.error.leaving
    if not leaving or outputs & set(leaving):
        return []
    users = ctx.graph.users()
    return [failure.node, *(user for name in leaving for user in users.get(name, ()))]


def _reads_samples(ctx: Context, failure: Failure) -> bool:
    """Return whether an operator gives something for all samples together that depends on their numbers: what follows
    from sizes alone keeps the samples apart, unless a trial says otherwise."""
    if not isinstance(failure.error, AcrossSamples):
        return False
    from_sizes = {*ctx.graph.constants, *(name for name, value in ctx.values.items() if isinstance(value, Known))}
    for node in _apart(ctx.graph.nodes):
        if node.op in ("Shape", "Size") or from_sizes.issuperset(_taken(node)):
            from_sizes.update(node.outputs)
    return not failure.error.leaving or not from_sizes.issuperset(failure.error.leaving)


def _can_enter(ctx: Context, name: str) -> bool:
    value = ctx.values.get(name)
    if isinstance(value, Sizes):
        return not any(isinstance(item, Free) for item in value.items)
    return not name or value is not None or name in ctx.graph.constants


def _contract(graph: Graph, members: Sequence[Node], outputs: set[str], *, is_across: bool) -> set[int]:
    """Put one node in the place of several and of those between them. Return the ids of all; none where one of them is
    not as the file has it."""
    inside = _with_between(graph, members)
    ordered = _as_in_file(graph, [node for node in graph.nodes if id(node) in inside])
    if len(ordered) > MOST_JOINED or any(node.raw is None or node.domain == OWN_DOMAIN for node in ordered):
        return set()
    values = [name for node in ordered for name in node.outputs if name]
    needed = outputs.union(*(_taken(node) for node in graph.nodes if id(node) not in inside))
    node = _one_of(graph, ordered, [name for name in values if name in needed])
    node.is_across = is_across
    last = max(at for at, other in enumerate(graph.nodes) if id(other) in inside)
    before: list[Node] = []
    after: list[Node] = []
    later_names = set(node.outputs)
    for other in graph.nodes[:last]:
        if id(other) not in inside:
            is_after = not later_names.isdisjoint(_taken(other))
            later_names.update(other.outputs if is_after else ())
            (after if is_after else before).append(other)
    graph.nodes = [*before, node, *after, *graph.nodes[last + 1 :]]
    return inside


def _apart(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes, and for one that holds several these."""
    for node in nodes:
        yield from node.members or (node,)


def _as_in_file(graph: Graph, nodes: Sequence[Node]) -> list[Node]:
    """Return the operators of nodes as the file has them, in order, those of a rewrite with all in between."""
    places = {id(node): place for place, node in enumerate(graph.plain.values())}
    names = graph.names()
    members: dict[int, Node] = {}
    for node in _apart(nodes):
        waiting = list(node.outputs) if node.raw is None else []
        if node.raw is not None:
            members[id(node)] = node
        while waiting:
            maker = graph.plain.get(waiting.pop(), node)
            if id(maker) not in members:
                members[id(maker)] = maker
                waiting += [name for name in _taken(maker) if name not in names]
    return sorted(members.values(), key=lambda node: places.get(id(node), -1))


def _taken(node: Node) -> list[str]:
    return [name for name in (*node.inputs, *node.outer_names()) if name]


def _with_between(graph: Graph, members: Iterable[Node]) -> set[int]:
    """Return the ids of nodes and of all that are on a way from one of them to another."""
    inside = {id(node) for node in members}
    behind: set[str] = set()
    before: set[str] = set()
    follows: set[int] = set()
    for node in graph.nodes:
        if id(node) in inside or not behind.isdisjoint(_taken(node)):
            behind.update(name for name in node.outputs if name)
            follows.add(id(node))
    between = set(inside)
    for node in reversed(graph.nodes):
        if id(node) in inside or not before.isdisjoint(node.outputs):
            before.update(_taken(node))
            if id(node) in follows:
                between.add(id(node))
    return between


def _one_of(graph: Graph, members: Sequence[Node], outputs: Sequence[str]) -> Node:
    """Return an If that computes these nodes and gives these values."""
    from onnx import helper

    always = f"{outputs[0]}/always"
    graph.constants[always] = Constant.of(np.array(True))
    nodes = []
    for node in members:
        raw = type(node.raw)()
        raw.CopyFrom(node.raw)
        raw.input[:], raw.output[:] = node.inputs, node.outputs
        nodes.append(raw)
    body = helper.make_graph(nodes, "operators", [], [helper.make_empty_tensor_value_info(name) for name in outputs])
    last = members[-1]
    raw = helper.make_node("If", [always], list(outputs), last.name, then_branch=body, else_branch=body)
    return Node(
        "If",
        [always],
        list(outputs),
        {"then_branch": body, "else_branch": body},
        name=last.name,
        scope=last.scope,
        raw=raw,
        parts=tuple(node.label for node in members),
        members=tuple(members),
    )


# ---- names ----


def enclosed(proto: "onnx.AttributeProto", prefix: str, around: Mapping[str, str]) -> "onnx.AttributeProto":
    """Return an attribute whose subgraphs take values around them by the names `around`, and whose own names begin with
    a prefix, so that they are nobody else's."""
    whole = type(proto)()
    whole.CopyFrom(proto)
    for graph in _graphs(whole):
        _rename(graph, prefix, around)
    return whole


def _graphs(proto: "onnx.AttributeProto") -> list["onnx.GraphProto"]:
    return [*([proto.g] if proto.HasField("g") else []), *proto.graphs]


def _rename(graph: "onnx.GraphProto", prefix: str, around: Mapping[str, str]) -> None:
    from onnx import helper

    own = [tensor.name for tensor in (*graph.input, *graph.initializer)] + [
        n for node in graph.node for n in node.output
    ]
    new = {name: f"{prefix}/{name}" for name in own if name}
    names = {**around, **new, "": ""}
    del graph.value_info[:], graph.quantization_annotation[:]
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names[name] for name in node.output]
        for attribute in node.attribute:
            for inner in _graphs(attribute):
                _rename(inner, prefix, names)
    for at, value in enumerate(graph.output):
        if value.name not in new:  # a branch that passes on what is around it, which ONNX Runtime refuses
            passed = f"{prefix}/passed{at}"
            graph.node.append(helper.make_node("Identity", [names.get(value.name, value.name)], [passed]))
            value.name = passed
        else:
            value.name = names[value.name]
    for tensor in (*graph.input, *graph.initializer):
        tensor.name = names[tensor.name]


def inner_domains(graph: "onnx.GraphProto") -> set[str]:
    """Return the domains of the operators of a graph and of its subgraphs."""
    domains = {"" if node.domain == "ai.onnx" else node.domain for node in graph.node}
    return domains.union(
        *(inner_domains(inner) for node in graph.node for attribute in node.attribute for inner in _graphs(attribute))
    )
