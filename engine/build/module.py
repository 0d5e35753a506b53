"""From a network to a torch module: a `torch.fx.GraphModule` whose forward is straight-line Python."""

import importlib
import operator
from collections.abc import Callable, Mapping
from typing import Any

from torch import fx, nn

from engine.build.plan import NamedCall, Step, plan
from engine.network.analysis import Analysis
from engine.network.network import Network

ALLOWED = ("torch.", "operator.", "engine.build.modules.")


def build(network: Network, analysis: Analysis, *, logits: bool = False) -> fx.GraphModule:
    """The network as a module. Weights are torch's own until `engine.build.init` or a file gives others.

    Forward takes one tensor for each input layer, in the order of `network.inputs`, and returns the output tensor, or a
    tuple in the order of `network.output_ports`. `logits` leaves out a softmax at an output; the keys of the state are
    the same either way. Raises `UserError` for a network with errors.
    """
    planned = plan(network, analysis, logits=logits)
    root = nn.Module()
    graph = fx.Graph()
    variables = {step.layer.id: step.variable for step in planned.steps}
    values: dict[str, fx.Node] = {id: graph.placeholder(variables[id]) for id in planned.inputs}
    for step in planned.steps:
        values[step.layer.id] = _add_step(root, graph, step, values)
    outputs = tuple(values[id] for id in planned.outputs)
    graph.output(outputs[0] if len(outputs) == 1 else outputs)
    return fx.GraphModule(root, graph, "Network")


def _add_step(root: nn.Module, graph: fx.Graph, step: Step, values: Mapping[str, fx.Node]) -> fx.Node:
    """Add the modules and nodes of one layer; the node of what leaves it. An input layer takes its placeholder."""
    tensors = tuple(values[id] for id in step.feeds or (step.layer.id,))
    for named in step.calls:
        if named.call.kind == "module":
            root.add_module(named.attribute, resolve(named.call.target)(**named.call.kwargs))
        tensors = (_add_call(graph, named, tensors),)
    return tensors[0]


def _add_call(graph: fx.Graph, named: NamedCall, tensors: tuple[fx.Node, ...]) -> fx.Node:
    call = named.call
    given: tuple[Any, ...] = (list(tensors),) if call.as_list else tensors * call.repeat
    match call.kind:
        case "module":
            node = graph.call_module(named.attribute, given, dict(call.call_kwargs))
        case "function":
            node = graph.call_function(resolve(call.target), (*given, *call.args), dict(call.kwargs))
        case "method":
            node = graph.call_method(call.target, (*given, *call.args), dict(call.kwargs))
    return node if call.pick is None else graph.call_function(operator.getitem, (node, call.pick))


def resolve(target: str) -> Callable[..., Any]:
    """The class or function of this qualified name. Only torch, `operator` and our own modules are looked into."""
    if not target.startswith(ALLOWED):
        raise ValueError(f"A layer may call only {', '.join(ALLOWED)} and what is in them; received {target}.")
    path, _, name = target.rpartition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(path), name)
    return found


def prefixes(network: Network, analysis: Analysis) -> dict[str, tuple[str, ...]]:
    """For each layer id, the attributes of the built module that hold its weights: the prefixes of its state keys."""
    steps = plan(network, analysis).steps
    return {step.layer.id: tuple(c.attribute for c in step.calls if c.attribute) for step in steps}
