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
from netwright.engine.exchange.importing.heads import OPERATORS, follow, headed, laid_out
from netwright.engine.exchange.importing.input_layers import add_inputs, free_sizes
from netwright.engine.exchange.importing.lifts.lift_registry import lifts
from netwright.engine.exchange.importing.opaque import keep
from netwright.engine.exchange.importing.operator_probes import helped
from netwright.engine.exchange.importing.projections import with_projections
from netwright.engine.exchange.importing.sharing import note_transposed
from netwright.engine.exchange.importing.subgraphs import Failure, join
from netwright.engine.exchange.importing.tidying import tidied
from netwright.engine.exchange.importing.values import Headed, Held, NotLiftable, Sizes, Tensor
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
    """Counts of the operators of one name: lifted, folded, without a layer, or kept."""

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
    base_fates = copy.deepcopy(fates)
    with helped(graph):
        ctx, fates, reasons = _lift_joined(graph, sizes or {}, base_fates)
        left_out: list[str] = []
        if reasons:
            left_out = _without_labels(graph, ctx, reasons)
            _prune(graph, base_fates)
            first = reasons
            ctx, fates, reasons = _lift_joined(graph, sizes or {}, base_fates) if left_out else (ctx, fates, reasons)
            if reasons:
                raise _without_layers(first, _sizes_to_set(ctx, first))
    outputs = _outputs(ctx)
    counts = {name: fate.layers for name, fate in fates.items()}
    with_projections(ctx, {tensor.port for _, tensor in outputs}, counts)
    return Lifted(ctx, outputs, fates, left_out)


def _lift_joined(
    graph: Graph, sizes: dict[str, int], base_fates: dict[str, Fate]
) -> tuple[Context, dict[str, Fate], list[str]]:
    """Lift operator by operator; those that cannot be kept by themselves together with others. Return the layers, what
    became of each operator, and the reasons for what has no layer, with the graph as it was."""
    nodes = list(graph.nodes)
    first: tuple[Context, dict[str, Fate], list[str]] | None = None
    for _ in range(MOST_ROUNDS):
        fates = copy.deepcopy(base_fates)
        ctx, failures = _lift_nodes(graph, sizes, fates)
        reasons = [_reason(failure) for failure in failures if not failure.is_behind]
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
    ctx = Context(graph, users=graph.users(), around_attention=headed(graph), lay_out=laid_out)
    add_inputs(ctx, sizes)
    failures: list[Failure] = []
    names = graph.names() if any(map(is_branching, graph.nodes)) else set()
    for number, node in enumerate(graph.nodes):
        if number % 64 == 0:
            progress.report(number, len(graph.nodes), "operators")
        for inner in _unbranched(ctx, node, fates, names):
            _lift_node(ctx, inner, fates, failures)
    return ctx, failures


def _unbranched(ctx: Context, node: Node, fates: dict[str, Fate], names: set[str]) -> Iterator[Node]:
    """Yield the node; for an If whose condition follows from sizes, the nodes of the branch that is taken."""
    is_open = is_branching(node) and node.inputs and not node.members
    condition = ctx.values.get(node.inputs[0]) if is_open else None
    inner = taken_branch(ctx.graph, node, condition, names) if isinstance(condition, np.ndarray) else None
    if inner is None:
        yield node
        return
    fates.setdefault("If", Fate()).folded += 1
    for inner_node in inner:
        for name in inner_node.inputs:
            ctx.users.setdefault(name, []).append(inner_node)
    for inner_node in inner:
        yield from _unbranched(ctx, inner_node, fates, names)


def _without_labels(graph: Graph, ctx: Context, reasons: list[str]) -> list[str]:
    """Take the outputs of whole numbers or texts that have no layers from the graph, and return a sentence on each;
    none where no other output is left."""
    labels = [value for value in graph.outputs if value.name not in ctx.values and not value.is_real]
    if not labels or len(labels) == len(graph.outputs):
        return []
    graph.outputs = tuple(value for value in graph.outputs if value not in labels)
    return [f"The output '{value.name}' is left out: {reasons[0]}." for value in labels]


def _lift_node(ctx: Context, node: Node, fates: dict[str, Fate], failures: list[Failure]) -> None:
    before = len(ctx.layers)
    parts = node.parts or (node.label,)
    values: tuple[Held | Headed | None, ...]
    try:
        folded = None if node.members else _followed(ctx, node) or _tried(fold, ctx, node)
        values = folded or _lifted(ctx, node)
    except NotLiftable as reason:
        ctx.forget(before)
        try:
            values = _tried(partial(keep, reason=str(reason)), ctx, node)
            for part in parts:
                fates.setdefault(part, Fate()).opaque += 1
        except NotLiftable as final:
            failed = {name for failure in failures for name in failure.node.outputs}
            failures.append(Failure(node, final, is_behind=not failed.isdisjoint((*node.inputs, *node.outer_names()))))
            values = tuple(None for _ in node.outputs)
    else:
        counts = Counter(layer.type.label for layer in ctx.layers[before:])
        for at, part in enumerate(parts):
            fate = fates.setdefault(part, Fate())
            if any(isinstance(value, Tensor | Headed) for value in values):
                fate.lifted += bool(counts)
                fate.vanished += not counts
            else:
                fate.folded += 1
            if at == 0:
                fate.layers.update(counts)
    for name, value in zip(node.outputs, values, strict=False):
        if name and value is not None:
            ctx.values[name] = _checked(value, name)


def _followed(ctx: Context, node: Node) -> tuple[Headed | None, ...] | None:
    """Return the outputs of an operator around an attention, which needs no layer; None for another operator, or where
    a layer is needed."""
    if node.domain or node.op not in OPERATORS or not node.inputs:
        return None
    value = ctx.values.get(node.inputs[0])
    if not isinstance(value, Headed) and not (isinstance(value, Tensor) and node.outputs[0] in ctx.around_attention):
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
    lift = lifts().get((node.domain, node.op))
    if lift is None:
        raise NotLiftable("is not known")
    result = _tried(lift.function, ctx, node)
    values = result if isinstance(result, tuple) else (result,)
    if any(value is None and ctx.is_used(name) for name, value in zip(node.outputs, values, strict=False)):
        raise NotLiftable("gives more than its layer")
    return values


def _tried(function: Callable[[Context, Node], T], ctx: Context, node: Node) -> T:
    """Return the result of a function of a node. Raises `NotLiftable` where attributes or inputs do not fit."""
    try:
        return function(ctx, node)
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, AttributeError, ArithmeticError) as error:
        raise NotLiftable(f"has inputs or attributes that do not fit ({type(error).__name__}: {error})") from error


def _sizes_to_set(ctx: Context, reasons: list[str]) -> list[str]:
    """Return the names of the sizes that the file leaves free, where a reason is that they are not known."""
    types = [value.type for value in ctx.values.values() if isinstance(value, Tensor)]
    symbols = {str(size) for type in types for size in type.sizes if isinstance(size, Symbol)}
    is_open = any(UNKNOWN in reason or symbols.intersection(SYMBOL.findall(reason)) for reason in reasons)
    return free_sizes(ctx) if is_open else []


def _without_layers(reasons: list[str], free: list[str]) -> UserError:
    text = "; ".join(reasons[:MOST_NAMED])
    more = f"; and {len(reasons) - MOST_NAMED:,} more" if len(reasons) > MOST_NAMED else ""
    count = "An operator has" if len(reasons) == 1 else f"{len(reasons):,} operators have"
    sizes = " ".join(f"--size {name}={LENGTH}" for name in free)
    hint = (
        f"Set the sizes that the file leaves free, to such as it takes: {sizes}. Or t{WAY_OUT[1:]}" if free else WAY_OUT
    )
    return UserError(f"{count} no layer here: {text}{more}.", hint=hint, code="not_supported")


def _prune(graph: Graph, fates: dict[str, Fate] | None) -> None:
    """Leave out nodes that no output needs."""
    needed = {output.name for output in graph.outputs}
    nodes = []
    for node in reversed(graph.nodes):
        if any(name in needed for name in node.outputs):
            needed.update(node.inputs)
            needed.update(node.outer_names())
            nodes.append(node)
        elif fates is not None:
            fates.setdefault(node.label, Fate()).vanished += 1
    graph.nodes = nodes[::-1]


def _fold_constants(graph: Graph, fates: dict[str, Fate]) -> None:
    """Compute the nodes whose inputs are all constants; their outputs become constants."""
    ctx = Context(graph)
    rest = []
    for node in graph.nodes:
        if node.op == "Constant" or all(not name or name in graph.constants for name in node.inputs):
            try:
                values = _tried(fold, ctx, node) if node.inputs or node.op == "Constant" else None
            except NotLiftable:
                values = None
            if values is not None and all(isinstance(value, np.ndarray) for value in values):
                origin = graph.origin(node.inputs[0]) if node.op in LAYOUTS else ""
                for name, value in zip(node.outputs, values, strict=False):
                    if name and isinstance(value, np.ndarray):
                        graph.constants[name] = Constant.of(value, origin)
                        ctx.values[name] = value
                fates.setdefault(node.label, Fate()).folded += 1
                continue
        rest.append(node)
    graph.nodes = rest


def _outputs(ctx: Context) -> list[tuple[str, Tensor]]:
    """Return the tensor of each output of the graph. One that a layer takes as well gets an identity behind it."""
    sources = {connection.source for connection in ctx.connections}
    outputs: list[tuple[str, Tensor]] = []
    by_port: dict[Port, Tensor] = {}
    for value in ctx.graph.outputs:
        output = ctx.values.get(value.name)
        if isinstance(output, Headed):
            output = laid_out(ctx, Node("Identity", [], [value.name]), output)
        if not isinstance(output, Tensor):
            ctx.notes.append(f"The output '{value.name}' does not depend on the inputs and is left out.")
            continue
        if output.port in by_port:
            output = by_port[output.port].viewed(output.dims)
            ctx.notes.append(f"The output '{value.name}' is the same as another one.")
        elif output.port in sources or any(output.port == tensor.port for _, tensor in ctx.inputs):
            node = Node("Identity", [], [value.name], name=value.name)
            passed = ctx.add(node, Identity(), output)
            by_port[output.port] = output = passed
        else:
            by_port[output.port] = output
        outputs.append((value.name, output))
    if not outputs:
        raise UserError("No output of the file depends on its inputs, so there is no network in it.")
    return outputs
