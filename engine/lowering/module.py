"""Build a torch module from a network: a `torch.fx.GraphModule` whose forward is straight-line Python."""

import importlib
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from torch import fx, nn
from torch.fx.proxy import GraphAppendingTracer

from netwright.engine.core.errors import UserError
from netwright.engine.layers.addons import AddOn
from netwright.engine.lowering import run_user_code
from netwright.engine.lowering.plan import Logits, NamedCall, Plan, Step, plan, unique
from netwright.engine.network.analysis import Analysis, copy_path
from netwright.engine.network.catalog import add_on_of
from netwright.engine.network.network import Network, Port
from netwright.engine.user_code.expression import is_users

ALLOWED = ("torch.", "operator.", "netwright.engine.lowering.modules.")
LAYER = "netwright_layer"
"""Key in the `meta` of a graph node; its value is the path of the layer's name."""


class Value(NamedTuple):
    """Value of a connection: the node of its tensor and that of its lengths (steps per sample) if it is padded."""

    tensor: fx.Node
    lengths: fx.Node | None = None


def build(network: Network, analysis: Analysis, *, logits: Logits = False, lengths: bool = False) -> fx.GraphModule:
    """Return the network as a module. Its weights are torch's default ones until
    `netwright.engine.lowering.initialization` or a file sets them.

    `forward` takes one tensor per input layer, in the order of `network.inputs`, and returns the output tensor, or a
    tuple in the order of `network.output_ports`. `logits=True` omits the softmax at each output; a mapping names the
    layer to omit per output port. The state-dict keys are the same either way: those of a layer in a block begin with
    the block's name, followed by the number of the copy where the block is repeated (`stage.2.conv.weight`).

    With `lengths`, sequences of variable length may be padded at their ends. After the tensors, `forward` then takes
    the lengths (int64, one per sample, at least 1) of each input that is such a sequence, and after the output tensors
    it returns the lengths of each output that is one. Valid steps have the same values as in the unpadded sequence;
    steps after the end of an output sequence are undefined. Only the built module supports padding; the printed source
    takes a batch of any length, in which all sequences have that length.

    `meta["layer"]` of each node is the id of the layer, or of the block, that it belongs to, `meta["path"]` the id path
    of the layer, as in `Analysis.all_shapes`.

    Raises `UserError` for a network with errors, and with `lengths` for a layer that cannot tell padding from data.
    """
    network_plan = plan(network, analysis, logits=logits, lengths=lengths)
    root, graph = nn.Module(), fx.Graph()
    placeholders = [graph.placeholder(name) for name in network_plan.arguments]
    used_names = set(network_plan.arguments)
    inputs = [
        Value(node, graph.placeholder(unique(f"{node.name}_lengths", used_names)) if lengths and type.is_open else None)
        for node, type in zip(placeholders, network_plan.types, strict=True)
    ]
    outputs = _add_plan(root, graph, network_plan, inputs, "")
    results = [value.tensor for value in outputs]
    results += [value.lengths for value in outputs if value.lengths is not None]
    graph.output(results[0] if len(results) == 1 else tuple(results))
    return fx.GraphModule(root, graph, "Network")


def _add_plan(
    root: nn.Module, graph: fx.Graph, planned: Plan, arguments: Sequence[Value], prefix: str, path: str = ""
) -> list[Value]:
    """Add the steps of a network, or of the network of a block, with inputs `arguments`. Return the output values.

    `prefix` and `path` stand before the attributes and the ids of layers in a block."""
    inputs = dict(zip(planned.inputs, arguments, strict=True))
    values: dict[Port, Value] = {Port(id, "out"): value for id, value in inputs.items()}
    for step in planned.steps:
        before = next(iter(reversed(graph.nodes)), None)  # torch 2.11: `reversed` gives no iterator here
        step_inputs = [values[port] for port in step.feeds] or [inputs[step.layer.id]]
        if step.copies and step.calls:
            step_outputs = _add_function(root, graph, step, step_inputs, prefix, path)
        elif step.copies:
            step_outputs = _add_copies(root, graph, step, step_inputs, prefix, path)
        else:
            step_outputs = _add_step(root, graph, step, step_inputs, prefix)
        _note_layer(graph, before, step.layer.id, path)
        values |= zip(step.ports, step_outputs, strict=True)
    return [values[port] for port in planned.outputs]


def _note_layer(graph: fx.Graph, before: fx.Node | None, id: str, path: str) -> None:
    """Set `meta["layer"]` and `meta["path"]` of each node after `before`, except the path of those inside a block."""
    for node in reversed(graph.nodes):
        if node is before:
            return
        node.meta["layer"] = id  # the outermost block notes its own last
        node.meta.setdefault("path", path + id)


def _add_copies(
    root: nn.Module, graph: fx.Graph, step: Step, values: list[Value], prefix: str, path: str
) -> list[Value]:
    """Add the copies of a block in series and return the last outputs. Inputs without an output enter every copy."""
    count = len(step.copies)
    for number, copy in enumerate(step.copies):
        inner = prefix + f"{copy_path(step.attribute, number, count)}/".replace("/", ".")
        outputs = _add_plan(root, graph, copy, values, inner, f"{path}{copy_path(step.layer.id, number, count)}/")
        values = [*outputs, *values[len(outputs) :]]
    return outputs


def _add_function(
    root: nn.Module, graph: fx.Graph, step: Step, values: list[Value], prefix: str, path: str
) -> list[Value]:
    """Add the operations of a function that takes the network of a block as an argument: trace it once with `fx.Proxy`
    values. Each evaluation shares the modules of that network."""
    (copy,), (named_call,), (value,) = step.copies, step.calls, values
    tracer = GraphAppendingTracer(graph)

    def inner(x: fx.Proxy) -> fx.Proxy:
        inside = f"{path}{step.layer.id}/"
        (output,) = _add_plan(root, graph, copy, [Value(x.node, value.lengths)], f"{prefix}{step.attribute}.", inside)
        return fx.Proxy(output.tensor, tracer)

    result = resolve(named_call.call.target)(inner, fx.Proxy(value.tensor, tracer), **named_call.call.kwargs)
    return [Value(result.node, value.lengths)]


def _add_step(root: nn.Module, graph: fx.Graph, step: Step, values: list[Value], prefix: str) -> list[Value]:
    """Add the modules and nodes of one layer and return its outputs. An input layer returns its placeholder."""
    tensors = tuple(value.tensor for value in values)
    before = tuple(value.lengths for value in values)
    after = next((lengths for lengths in before if lengths is not None), None)
    if step.lengths is not None:
        kwargs = dict(step.lengths.kwargs)
        after = graph.call_function(resolve(step.lengths.target), (*before, *step.lengths.args), kwargs)
    lengths_by_role = {"before": before[0] if len(before) == 1 else before, "after": after}
    for named_call in step.calls:
        if named_call.call.kind == "module":
            make = run_user_code.construct if is_users(named_call.call.target) else _construct
            _hold(root, prefix + named_call.attribute, partial(make, named_call.call.target, named_call.call.kwargs))
        if named_call.call.lengths == "each":
            each = zip(tensors, before, strict=True)
            tensors = tuple(_add_call(graph, named_call, (x,), prefix, {"lengths": n}) if n else x for x, n in each)
            continue
        lengths = {"lengths": lengths_by_role[named_call.call.lengths]} if named_call.call.lengths else {}
        tensors = (_add_call(graph, named_call, tensors, prefix, lengths),)
        tensors[0].meta[LAYER] = f"{prefix.replace('.', '/')}{step.layer.name}"
    if len(step.ports) < 2:
        nodes = [tensors[0]]
    else:
        nodes = [graph.call_function(operator.getitem, (tensors[0], number)) for number in range(len(step.ports))]
    return [Value(node, after if type.is_open else None) for node, type in zip(nodes, step.outputs, strict=True)]


def _construct(target: str, kwargs: Mapping[str, Any]) -> nn.Module:
    make = resolve(target)
    try:
        module: nn.Module = make(**kwargs)
    except Exception as error:
        if add_on := add_on_of(target):
            raise _failed(add_on, f"cannot make {target}", error) from error
        raise
    return module


def _hold(root: nn.Module, path: str, make: Callable[[], nn.Module]) -> None:
    """Add the module that `make` returns to the root, in one container per block of the path, unless it exists."""
    *blocks, name = path.split(".")
    for block in blocks:
        if block not in root._modules:
            root.add_module(block, nn.Module())
        root = root.get_submodule(block)
    if name not in root._modules:
        root.add_module(name, make())


def _add_call(
    graph: fx.Graph, named_call: NamedCall, tensors: tuple[fx.Node, ...], prefix: str, lengths: dict[str, Any]
) -> fx.Node:
    call = named_call.call
    arguments: tuple[Any, ...] = (list(tensors),) if call.as_list else tensors * call.repeat
    match call.kind:
        case "module":
            node = graph.call_module(prefix + named_call.attribute, arguments, {**call.call_kwargs, **lengths})
        case "function":
            node = graph.call_function(resolve(call.target), (*arguments, *call.args), {**call.kwargs, **lengths})
        case "method":
            node = graph.call_method(call.target, (*arguments, *call.args), dict(call.kwargs))
    return node if call.pick is None else graph.call_function(operator.getitem, (node, call.pick))


def _of_add_on(add_on: AddOn, target: str) -> Callable[..., Any]:
    """Return the class or function of an add-on. Raises `UserError` if its package lacks it or cannot be imported."""
    path, _, name = target.rpartition(".")
    try:
        function: Callable[..., Any] = getattr(importlib.import_module(path), name)
    except Exception as error:
        raise _failed(add_on, f"does not give {target}", error) from error
    return function


def _failed(add_on: AddOn, failure: str, error: Exception) -> UserError:
    reason = f"{type(error).__name__}: {error}".rstrip(".")
    return UserError(f"The add-on '{add_on.title}' {failure}: {reason}. Tell its makers.")


def resolve(target: str) -> Callable[..., Any]:
    """Return the class or function of a qualified name: in torch, `operator`, `netwright.engine.lowering.modules`, an
    installed add-on, or user code, which runs only where it is trusted. Raises `ValueError` for any other module."""
    if is_users(target):
        return run_user_code.find(target)
    add_on = add_on_of(target)
    if add_on is not None:
        return _of_add_on(add_on, target)
    if not target.startswith(ALLOWED):
        raise ValueError(f"A layer may call only {', '.join(ALLOWED)} and what is in them; received {target}.")
    path, _, name = target.rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(path), name)
    return function


def prefixes(network: Network, analysis: Analysis) -> dict[str, tuple[str, ...]]:
    """Return, per id path of a layer, the attributes of the built module that hold its weights: the prefixes of its
    state-dict keys. A layer in a block has, for example, the path `b1/2/c3` and the prefix `stage.2.conv`. A layer that
    uses the weights of another one has none."""
    return dict(_prefixes(plan(network, analysis), "", ""))


def _prefixes(
    planned: Plan, path: str, prefix: str, *, is_shared: bool = False
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for step in planned.steps:
        if not step.copies:
            calls = () if step.holder or is_shared else step.calls
            yield path + step.layer.id, tuple(prefix + c.attribute for c in calls if c.attribute)
        for number, copy in enumerate(step.copies):
            suffix = f"{copy_path('', number, len(step.copies))}/"
            yield from _prefixes(
                copy,
                f"{path}{step.layer.id}{suffix}",
                f"{prefix}{step.variable}{suffix.replace('/', '.')}",
                is_shared=is_shared or bool(step.holder),
            )
