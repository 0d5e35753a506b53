"""From a network to a torch module: a `torch.fx.GraphModule` whose forward is straight-line Python."""

import importlib
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from torch import fx, nn
from torch.fx.proxy import GraphAppendingTracer

from engine.core.errors import UserError
from engine.layers.addons import AddOn
from engine.lowering import user_code
from engine.lowering.plan import Logits, NamedCall, Plan, Step, plan, unique
from engine.network.analysis import Analysis, copy_path
from engine.network.catalog import add_on_of
from engine.network.network import Network, Port
from engine.user_code.expression import is_users

ALLOWED = ("torch.", "operator.", "engine.lowering.modules.")
LAYER = "netwright_layer"
"""In the meta of a node of the graph: the path of the layer's name."""


class Value(NamedTuple):
    """What goes along a connection; of a padded sequence also how many steps of each sample are real."""

    tensor: fx.Node
    lengths: fx.Node | None = None


def build(network: Network, analysis: Analysis, *, logits: Logits = False, lengths: bool = False) -> fx.GraphModule:
    """The network as a module. Weights are torch's own until `engine.lowering.initialization` or a file gives others.

    Forward takes one tensor for each input layer, in the order of `network.inputs`, and returns the output tensor, or a
    tuple in the order of `network.output_ports`. `logits` leaves out a softmax at an output,
    or what it says for each output; the keys of the state are
    the same either way: those of a layer in a block begin with the block's name, and the copy's number where it is
    repeated (`stage.2.conv.weight`).

    With `lengths` sequences of any length may be padded at their ends. Forward then takes, behind the tensors, the
    lengths (int64, one per sample, at least 1) for each input that is such a sequence, and returns behind the tensors
    those of each output that is one. Every real step is what it is in the sequence alone; what stands behind the end of
    an output has no meaning. Only the built module does so; the printed source takes a batch of any length,
    in which all sequences have that length.

    Each node's `meta["layer"]` is the id of the layer, or of the block, that it belongs to.

    Raises `UserError` for a network with errors, and with `lengths` for a layer that cannot tell padding from data.
    """
    planned = plan(network, analysis, logits=logits, lengths=lengths)
    root, graph = nn.Module(), fx.Graph()
    placeholders = [graph.placeholder(name) for name in planned.arguments]
    taken = set(planned.arguments)
    given = [
        Value(node, graph.placeholder(unique(f"{node.name}_lengths", taken)) if lengths and type.is_open else None)
        for node, type in zip(placeholders, planned.types, strict=True)
    ]
    outputs = _add_plan(root, graph, planned, given, "")
    leaving = [value.tensor for value in outputs]
    leaving += [value.lengths for value in outputs if value.lengths is not None]
    graph.output(leaving[0] if len(leaving) == 1 else tuple(leaving))
    return fx.GraphModule(root, graph, "Network")


def _add_plan(root: nn.Module, graph: fx.Graph, planned: Plan, given: Sequence[Value], prefix: str) -> list[Value]:
    """Add all steps of a network, or of one inside a block, that is given these; what comes out."""
    entering = dict(zip(planned.inputs, given, strict=True))
    values: dict[Port, Value] = {Port(id, "out"): value for id, value in entering.items()}
    for step in planned.steps:
        before = next(reversed(graph.nodes), None)
        fed = [values[port] for port in step.feeds] or [entering[step.layer.id]]
        if step.copies and step.calls:
            leaving = _add_function(root, graph, step, fed, prefix)
        elif step.copies:
            leaving = _add_copies(root, graph, step, fed, prefix)
        else:
            leaving = _add_step(root, graph, step, fed, prefix)
        if not prefix:
            _note_layer(graph, before, step.layer.id)
        values |= zip(step.ports, leaving, strict=True)
    return [values[port] for port in planned.outputs]


def _note_layer(graph: fx.Graph, before: fx.Node | None, id: str) -> None:
    """Tell the nodes behind this one which layer of the network they belong to."""
    for node in reversed(graph.nodes):
        if node is before:
            return
        node.meta["layer"] = id


def _add_copies(root: nn.Module, graph: fx.Graph, step: Step, given: list[Value], prefix: str) -> list[Value]:
    """Add the copies of a block in a row: what has no output of its own enters each of them."""
    for number, copy in enumerate(step.copies):
        path = prefix + f"{copy_path(step.variable, number, len(step.copies))}/".replace("/", ".")
        leaving = _add_plan(root, graph, copy, given, path)
        given = [*leaving, *given[len(leaving) :]]
    return leaving


def _add_function(root: nn.Module, graph: fx.Graph, step: Step, given: list[Value], prefix: str) -> list[Value]:
    """Add what a function does that is handed the network inside a block: it runs here once, on stand-ins for tensors
    that note down each operation. The modules inside are the same at each evaluation."""
    (copy,), (named,), (value,) = step.copies, step.calls, given
    tracer = GraphAppendingTracer(graph)

    def inner(x: fx.Proxy) -> fx.Proxy:
        (left,) = _add_plan(root, graph, copy, [Value(x.node, value.lengths)], f"{prefix}{step.variable}.")
        return fx.Proxy(left.tensor, tracer)

    result = resolve(named.call.target)(inner, fx.Proxy(value.tensor, tracer), **named.call.kwargs)
    return [Value(result.node, value.lengths)]


def _add_step(root: nn.Module, graph: fx.Graph, step: Step, given: list[Value], prefix: str) -> list[Value]:
    """Add the modules and nodes of one layer; what leaves it. An input layer takes its placeholder."""
    tensors = tuple(value.tensor for value in given)
    before = tuple(value.lengths for value in given)
    after = next((lengths for lengths in before if lengths is not None), None)
    if step.lengths is not None:
        kwargs = dict(step.lengths.kwargs)
        after = graph.call_function(resolve(step.lengths.target), (*before, *step.lengths.args), kwargs)
    told = {"before": before[0] if len(before) == 1 else before, "after": after}
    for named in step.calls:
        if named.call.kind == "module":
            make = user_code.construct if is_users(named.call.target) else _construct
            _hold(root, prefix + named.attribute, partial(make, named.call.target, named.call.kwargs))
        if named.call.lengths == "each":
            each = zip(tensors, before, strict=True)
            tensors = tuple(_add_call(graph, named, (x,), prefix, {"lengths": n}) if n else x for x, n in each)
            continue
        lengths = {"lengths": told[named.call.lengths]} if named.call.lengths else {}
        tensors = (_add_call(graph, named, tensors, prefix, lengths),)
        tensors[0].meta[LAYER] = f"{prefix.replace('.', '/')}{step.layer.name}"
    if len(step.ports) < 2:
        leaving = [tensors[0]]
    else:
        leaving = [graph.call_function(operator.getitem, (tensors[0], number)) for number in range(len(step.ports))]
    return [Value(node, after if type.is_open else None) for node, type in zip(leaving, step.outputs, strict=True)]


def _construct(target: str, kwargs: Mapping[str, Any]) -> nn.Module:
    make = resolve(target)
    try:
        made: nn.Module = make(**kwargs)
    except Exception as error:
        if add_on := add_on_of(target):
            raise _failed(add_on, f"cannot make {target}", error) from error
        raise
    return made


def _hold(root: nn.Module, path: str, make: Callable[[], nn.Module]) -> None:
    """Make a module of the root, in one container for each block on the way; once, however often it is called."""
    *blocks, name = path.split(".")
    for block in blocks:
        if block not in root._modules:
            root.add_module(block, nn.Module())
        root = root.get_submodule(block)
    if name not in root._modules:
        root.add_module(name, make())


def _add_call(
    graph: fx.Graph, named: NamedCall, tensors: tuple[fx.Node, ...], prefix: str, lengths: dict[str, Any]
) -> fx.Node:
    call = named.call
    given: tuple[Any, ...] = (list(tensors),) if call.as_list else tensors * call.repeat
    match call.kind:
        case "module":
            node = graph.call_module(prefix + named.attribute, given, {**call.call_kwargs, **lengths})
        case "function":
            node = graph.call_function(resolve(call.target), (*given, *call.args), {**call.kwargs, **lengths})
        case "method":
            node = graph.call_method(call.target, (*given, *call.args), dict(call.kwargs))
    return node if call.pick is None else graph.call_function(operator.getitem, (node, call.pick))


def _of_add_on(add_on: AddOn, target: str) -> Callable[..., Any]:
    """What an add-on calls. Raises `UserError` where its package does not have it, or cannot be imported."""
    path, _, name = target.rpartition(".")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(path), name)
    except Exception as error:
        raise _failed(add_on, f"does not give {target}", error) from error
    return found


def _failed(add_on: AddOn, what: str, error: Exception) -> UserError:
    why = f"{type(error).__name__}: {error}".rstrip(".")
    return UserError(f"The add-on '{add_on.title}' {what}: {why}. Tell its makers.")


def resolve(target: str) -> Callable[..., Any]:
    """The class or function of this qualified name. Only torch, `operator`, our own modules and those of installed
    add-ons are looked into, and what is marked as code of the user's, which runs only where it is trusted."""
    if is_users(target):
        return user_code.find(target)
    add_on = add_on_of(target)
    if add_on is not None:
        return _of_add_on(add_on, target)
    if not target.startswith(ALLOWED):
        raise ValueError(f"A layer may call only {', '.join(ALLOWED)} and what is in them; received {target}.")
    path, _, name = target.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(path), name)
    return found


def prefixes(network: Network, analysis: Analysis) -> dict[str, tuple[str, ...]]:
    """For each layer's id path, the attributes of the built module that hold its weights: the prefixes of its state
    keys. Ids and keys of a layer in a block: `b1/2/c3` and `stage.2.conv`."""
    return dict(_prefixes(plan(network, analysis), "", ""))


def _prefixes(planned: Plan, path: str, prefix: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for step in planned.steps:
        if not step.copies:
            yield path + step.layer.id, tuple(prefix + c.attribute for c in step.calls if c.attribute)
        for number, copy in enumerate(step.copies):
            at = f"{copy_path('', number, len(step.copies))}/"
            yield from _prefixes(copy, f"{path}{step.layer.id}{at}", f"{prefix}{step.variable}{at.replace('/', '.')}")
