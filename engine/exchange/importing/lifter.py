"""Turn a graph into layers: fold what is known, rewrite patterns, lift operator by operator."""

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np

from netwright.engine.core import progress
from netwright.engine.core.errors import UserError
from netwright.engine.core.types import Symbol
from netwright.engine.exchange.importing.branches import inline_branches, is_branching, taken_branch
from netwright.engine.exchange.importing.context import Context
from netwright.engine.exchange.importing.folding import fold
from netwright.engine.exchange.importing.graph import Constant, Graph, Node
from netwright.engine.exchange.importing.heads import OPERATORS, Headed, follow, laid_out
from netwright.engine.exchange.importing.input_layers import add_inputs, free_sizes
from netwright.engine.exchange.importing.lift_registry import lifts
from netwright.engine.exchange.importing.opaque import keep
from netwright.engine.exchange.importing.operator_probes import helped
from netwright.engine.exchange.importing.projections import with_projections
from netwright.engine.exchange.importing.sharing import note_transposed
from netwright.engine.exchange.importing.subgraphs import Failure, join
from netwright.engine.exchange.importing.tidying import tidied
from netwright.engine.exchange.importing.values import Held, NotLiftable, Sizes, Tensor
from netwright.engine.layers.utility import Identity
from netwright.engine.network.network import Port

MOST_NAMED = 8
MOST_ROUNDS = 30
"""Times that the operators are lifted again after some of them were joined."""
WAY_OUT = (
    "Take the part of the file before them (onnx.utils.extract_model with the names of the values where it ends), "
    "or export the network without what follows it, such as the selection of boxes."
)
LAYOUTS = ("Identity", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten")
"""Operators whose results are the numbers of their first input."""
LENGTH = 16
"""Example of a size to set."""
UNKNOWN = "the network runs"
SYMBOL = re.compile(r"(?<!\w)[A-Z]'*(?![\w'])")
"""In the reasons for operators without a layer: what they need is known only when the network runs."""
T = TypeVar("T")


@dataclass
class Fate:
    """What became of the operators of one name."""

    lifted: int = 0
    folded: int = 0
    vanished: int = 0
    opaque: int = 0
    layers: Counter[str] = field(default_factory=Counter)


@dataclass
class Lifted:
    """The layers of a graph, and what became of each operator. `outputs` are the tensors of the graph's outputs,
    `left_out` sentences on outputs that are not among them."""

    context: Context
    outputs: list[tuple[str, Tensor]]
    fates: dict[str, Fate]
    left_out: list[str]


def lift_graph(graph: Graph, sizes: dict[str, int] | None = None) -> Lifted:
    """Return the layers of a graph. `sizes` are for free sizes by name.

    Outputs of whole numbers or texts, such as the label of a classifier of scikit-learn, are left out where an operator
    before them has no layer and another output stays. Raises `UserError` that lists the operators without a layer.
    """
    fates: dict[str, Fate] = {}
    note_transposed(graph)
    _prune(graph, fates)
    _fold_constants(graph, fates)
    while count := inline_branches(graph):
        fates.setdefault("If", Fate()).folded += count
        _prune(graph, fates)
        _fold_constants(graph, fates)
    tidied(graph)
    _prune(graph, None)
    known = copy.deepcopy(fates)
    with helped(graph):
        ctx, fates, reasons = _lift_joined(graph, sizes or {}, known)
        left_out: list[str] = []
        if reasons:
            left_out = _without_labels(graph, ctx, reasons)
            _prune(graph, known)
            first = reasons
            ctx, fates, reasons = _lift_joined(graph, sizes or {}, known) if left_out else (ctx, fates, reasons)
            if reasons:
                raise _without_layers(first, _sizes_to_set(ctx, first))
    outputs = _outputs(ctx)
    made = {name: fate.layers for name, fate in fates.items()}
    with_projections(ctx, {tensor.port for _, tensor in outputs}, made)
    return Lifted(ctx, outputs, fates, left_out)


def _lift_joined(
    graph: Graph, sizes: dict[str, int], known: dict[str, Fate]
) -> tuple[Context, dict[str, Fate], list[str]]:
    """Lift operator by operator; those that cannot be kept by themselves together with others. Return the layers, what
    became of each operator, and the reasons for what has no layer, with the graph as it was."""
    nodes = list(graph.nodes)
    first: tuple[Context, dict[str, Fate], list[str]] | None = None
    for _ in range(MOST_ROUNDS):
        fates = copy.deepcopy(known)
        ctx, failures = _lift_nodes(graph, sizes, fates)
        reasons = [_reason(one) for one in failures if not one.is_behind]
        first = first or (ctx, fates, reasons)
        if not failures:
            return ctx, fates, []
        if not join(ctx, failures):
            break
    graph.nodes = nodes
    return first or (ctx, fates, reasons)


def _reason(failure: Failure) -> str:
    node = failure.node
    name = f" ({node.name})" if node.name else ""
    return f"{'+'.join(node.parts or (node.label,))}{name} {failure.error}"


def _lift_nodes(graph: Graph, sizes: dict[str, int], fates: dict[str, Fate]) -> tuple[Context, list[Failure]]:
    """Lift operator by operator, and return the layers with the operators that have none."""
    ctx = Context(graph, users=graph.users())
    add_inputs(ctx, sizes)
    failures: list[Failure] = []
    names = graph.names() if any(map(is_branching, graph.nodes)) else set()
    for number, node in enumerate(graph.nodes):
        if number % 64 == 0:
            progress.report(number, len(graph.nodes), "operators")
        for one in _unbranched(ctx, node, fates, names):
            _lift_node(ctx, one, fates, failures)
    return ctx, failures


def _unbranched(ctx: Context, node: Node, fates: dict[str, Fate], names: set[str]) -> Iterator[Node]:
    """Yield the node; for an If whose condition follows from sizes, the nodes of the branch that is taken."""
    is_open = is_branching(node) and node.inputs and not node.members
    known = ctx.values.get(node.inputs[0]) if is_open else None
    inner = taken_branch(ctx.graph, node, known, names) if isinstance(known, np.ndarray) else None
    if inner is None:
        yield node
        return
    fates.setdefault("If", Fate()).folded += 1
    for one in inner:
        for name in one.inputs:
            ctx.users.setdefault(name, []).append(one)
    for one in inner:
        yield from _unbranched(ctx, one, fates, names)


def _without_labels(graph: Graph, ctx: Context, reasons: list[str]) -> list[str]:
    """Take the outputs of whole numbers or texts that have no layers from the graph, and return a sentence on each;
    none where no other output is left."""
    gone = [one for one in graph.outputs if one.name not in ctx.values and not one.is_real]
    if not gone or len(gone) == len(graph.outputs):
        return []
    graph.outputs = tuple(one for one in graph.outputs if one not in gone)
    return [f"The output '{one.name}' is left out: {reasons[0]}." for one in gone]


def _lift_node(ctx: Context, node: Node, fates: dict[str, Fate], failures: list[Failure]) -> None:
    before = len(ctx.layers)
    parts = node.parts or (node.label,)
    found: tuple[Held | Headed | None, ...]
    try:
        known = None if node.members else _followed(ctx, node) or _tried(fold, ctx, node)
        found = known or _lifted(ctx, node)
    except NotLiftable as reason:
        ctx.forget(before)
        try:
            found = _tried(partial(keep, reason=str(reason)), ctx, node)
            for part in parts:
                fates.setdefault(part, Fate()).opaque += 1
        except NotLiftable as final:
            failed = {name for one in failures for name in one.node.outputs}
            failures.append(Failure(node, final, is_behind=not failed.isdisjoint((*node.inputs, *node.outer_names()))))
            found = tuple(None for _ in node.outputs)
    else:
        made = Counter(layer.type.label for layer in ctx.layers[before:])
        for at, part in enumerate(parts):
            fate = fates.setdefault(part, Fate())
            if any(isinstance(one, Tensor | Headed) for one in found):
                fate.lifted += bool(made)
                fate.vanished += not made
            else:
                fate.folded += 1
            if at == 0:
                fate.layers.update(made)
    for name, value in zip(node.outputs, found, strict=False):
        if name and value is not None:
            ctx.values[name] = _checked(value, name)


def _followed(ctx: Context, node: Node) -> tuple[Headed | None, ...] | None:
    """Return what an operator around an attention gives without a layer; None for another operator, or where that is
    not possible."""
    if node.domain or node.op not in OPERATORS or not node.inputs:
        return None
    held = ctx.values.get(node.inputs[0])
    if not isinstance(held, Headed) and not (isinstance(held, Tensor) and node.outputs[0] in ctx.headed):
        return None
    before = len(ctx.layers)
    try:
        return _tried(follow, ctx, node)
    except NotLiftable:
        ctx.forget(before)
        return None


def _checked(value: Held | Headed, name: str) -> Held | Headed:
    if isinstance(value, Headed):
        return value
    if isinstance(value, Tensor):
        return replace(value, name=name)
    return value if isinstance(value, np.ndarray | Sizes) else np.asarray(value)


def _lifted(ctx: Context, node: Node) -> tuple[Held | Headed | None, ...]:
    known = lifts().get((node.domain, node.op))
    if known is None:
        raise NotLiftable("is not known")
    given = _tried(known.function, ctx, node)
    found = given if isinstance(given, tuple) else (given,)
    if any(one is None and ctx.is_used(name) for name, one in zip(node.outputs, found, strict=False)):
        raise NotLiftable("gives more than its layer")
    return found


def _tried(function: Callable[[Context, Node], T], ctx: Context, node: Node) -> T:
    """Return what a function makes of a node; attributes of a wrong type, or too few inputs, are no defect of ours."""
    try:
        return function(ctx, node)
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, AttributeError, ArithmeticError) as error:
        raise NotLiftable(f"has inputs or attributes that do not fit ({type(error).__name__}: {error})") from error


def _sizes_to_set(ctx: Context, reasons: list[str]) -> list[str]:
    """Return the names of the sizes that the file leaves free, where a reason is that they are not known."""
    types = [held.type for held in ctx.values.values() if isinstance(held, Tensor)]
    symbols = {str(size) for type in types for size in type.sizes if isinstance(size, Symbol)}
    is_open = any(UNKNOWN in reason or symbols.intersection(SYMBOL.findall(reason)) for reason in reasons)
    return free_sizes(ctx) if is_open else []


def _without_layers(reasons: list[str], free: list[str]) -> UserError:
    shown = "; ".join(reasons[:MOST_NAMED])
    more = f"; and {len(reasons) - MOST_NAMED:,} more" if len(reasons) > MOST_NAMED else ""
    count = "An operator has" if len(reasons) == 1 else f"{len(reasons):,} operators have"
    sizes = " ".join(f"--size {name}={LENGTH}" for name in free)
    hint = (
        f"Set the sizes that the file leaves free, to such as it takes: {sizes}. Or t{WAY_OUT[1:]}" if free else WAY_OUT
    )
    return UserError(f"{count} no layer here: {shown}{more}.", hint=hint, code="not_supported")


def _prune(graph: Graph, fates: dict[str, Fate] | None) -> None:
    """Leave out nodes that no output needs."""
    needed = {one.name for one in graph.outputs}
    kept = []
    for node in reversed(graph.nodes):
        if any(name in needed for name in node.outputs):
            needed.update(node.inputs)
            needed.update(node.outer_names())
            kept.append(node)
        elif fates is not None:
            fates.setdefault(node.label, Fate()).vanished += 1
    graph.nodes = kept[::-1]


def _fold_constants(graph: Graph, fates: dict[str, Fate]) -> None:
    """Compute the nodes whose inputs are all constants; their outputs become constants."""
    ctx = Context(graph)
    left = []
    for node in graph.nodes:
        if node.op == "Constant" or all(not name or name in graph.constants for name in node.inputs):
            try:
                found = _tried(fold, ctx, node) if node.inputs or node.op == "Constant" else None
            except NotLiftable:
                found = None
            if found is not None and all(isinstance(one, np.ndarray) for one in found):
                origin = graph.origin(node.inputs[0]) if node.op in LAYOUTS else ""
                for name, value in zip(node.outputs, found, strict=False):
                    if name and isinstance(value, np.ndarray):
                        graph.constants[name] = Constant.of(value, origin)
                        ctx.values[name] = value
                fates.setdefault(node.label, Fate()).folded += 1
                continue
        left.append(node)
    graph.nodes = left


def _outputs(ctx: Context) -> list[tuple[str, Tensor]]:
    """Return the tensor of each output of the graph. One that a layer takes as well gets an identity behind it."""
    used = {connection.source for connection in ctx.connections}
    found: list[tuple[str, Tensor]] = []
    taken: dict[Port, Tensor] = {}
    for value in ctx.graph.outputs:
        held = ctx.values.get(value.name)
        if isinstance(held, Headed):
            held = laid_out(ctx, Node("Identity", [], [value.name]), held)
        if not isinstance(held, Tensor):
            ctx.notes.append(f"The output '{value.name}' does not depend on the inputs and is left out.")
            continue
        if held.port in taken:
            held = taken[held.port].viewed(held.dims)
            ctx.notes.append(f"The output '{value.name}' is the same as another one.")
        elif held.port in used or any(held.port == tensor.port for _, tensor in ctx.inputs):
            node = Node("Identity", [], [value.name], name=value.name)
            passed = ctx.add(node, Identity(), held)
            taken[held.port] = held = passed
        else:
            taken[held.port] = held
        found.append((value.name, held))
    if not found:
        raise UserError("No output of the file depends on its inputs, so there is no network in it.")
    return found
