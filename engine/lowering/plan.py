"""The sequence of calls that computes a network. The built module and the printed source both follow it."""

import importlib
import inspect
import pkgutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from torch import fx, nn

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.core.types import TensorType
from netwright.engine.layers.base import Call, Lowered
from netwright.engine.lowering import modules
from netwright.engine.network.analysis import Analysis, LayerShapes, copy_path, folded, output_softmaxes
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Layer, Network, Port
from netwright.engine.project import check_lengths

# Variables of these names would shadow names that the forward function and the printed file use.
_USED_IN_SOURCE = {"self", "torch", "nn", "operator", "math", "inf", "nan", "device", "Network", "CLASSES", "NoneType"}
Logits = bool | Mapping[Port, str]
"""Layers omitted at outputs: none, each softmax, or per output port the layer of a type (softmax, sigmoid)."""


@cache
def own_names() -> frozenset[str]:
    """Return the unqualified names of the classes and functions in `netwright.engine.lowering.modules`, as the printed
    source has them."""
    names: set[str] = set()
    for file in pkgutil.iter_modules(modules.__path__):
        module = importlib.import_module(f"{modules.__name__}.{file.name}")
        names |= {name for name, value in vars(module).items() if inspect.getmodule(value) is module}
    return frozenset(names)


def _reserved() -> frozenset[str]:
    """Return the names that a layer attribute must not have: attributes of a `GraphModule`, and names in the source."""
    empty = fx.GraphModule(nn.Module(), fx.Graph())
    return frozenset({*dir(empty), *vars(empty), *own_names(), *_USED_IN_SOURCE})


def safe_name(name: str) -> str:
    """Return a layer's name as an attribute of the module: unchanged, unless torch or Python reserves it."""
    if name.startswith("__"):
        name = f"layer{name}"  # inside a class, Python mangles names with two leading underscores
    return f"{name}_layer" if name in RESERVED else name


def unique(name: str, namespace: Collection[str]) -> str:
    """Return the name with as many underscores appended as make it unique among `namespace`."""
    while name in namespace:
        name += "_"
    return name


def layer_names(network: Network) -> dict[str, str]:
    """Return the attribute name of every layer by its id. Layers whose own name is safe always keep it."""
    names = {id: layer.name for id, layer in network.layers.items() if safe_name(layer.name) == layer.name}
    for id, layer in network.layers.items():
        if id not in names:
            names[id] = unique(safe_name(layer.name), set(names.values()))
    return names


@dataclass(frozen=True)
class NamedCall:
    """A call and the attribute that holds its module (empty for functions and methods)."""

    attribute: str
    call: Call


@dataclass(frozen=True)
class Step:
    """One layer: its variable in the forward function, the ports that feed it, its calls, and its outputs.

    A block has the plans of its copies in series instead of calls. If it has a call as well, that is a function which
    takes the network of the block as an argument before the tensor (the solver of a neural ODE). A layer that uses the
    weights of another one calls its modules: `holder` is the variable of that other one. In a plan with
    lengths, `lengths` is the call that computes the lengths of the outputs, or None where they do not change.
    """

    layer: Layer
    variable: str
    feeds: tuple[Port, ...]
    calls: tuple[NamedCall, ...]
    outputs: tuple[TensorType, ...]
    ports: tuple[Port, ...]
    copies: tuple["Plan", ...] = ()
    lengths: Call | None = None
    holder: str = ""

    @property
    def attribute(self) -> str:
        """Attribute of the module that holds the copies of a block."""
        return self.holder or self.variable

    @property
    def output(self) -> TensorType:
        """Type of the first output."""
        return self.outputs[0]


@dataclass(frozen=True)
class Plan:
    """Steps in order; the ids of the input layers, with their variables and types; the output ports.

    With `lengths`, each sequence of variable length has a hidden second value: the number of valid steps per sample.
    """

    steps: tuple[Step, ...]
    inputs: tuple[str, ...]
    arguments: tuple[str, ...]
    types: tuple[TensorType, ...]
    outputs: tuple[Port, ...]
    lengths: bool = False

    def all_steps(self) -> Iterator[Step]:
        """Yield every step, including those inside blocks."""
        for step in self.steps:
            yield step
            for copy in step.copies:
                yield from copy.all_steps()


def plan(network: Network, analysis: Analysis, *, logits: Logits = False, lengths: bool = False) -> Plan:
    """Return the plan of a network. `logits` omits layers at outputs; all names stay the same.

    With `lengths`, sequences of variable length may be padded at their ends: layers that look further than one step
    become calls that take the length of each sequence. Raises `UserError` for a network with errors, naming the first,
    and for a layer that cannot tell padding from data.
    """
    refuse_errors(analysis)
    refuse_unknown(network, analysis)
    inputs = tuple(layer.id for layer in network.inputs)
    layer_types = logits if isinstance(logits, Mapping) else {}
    omitted = output_softmaxes(network) if logits is True else folded(network, layer_types)
    return _plan(network, analysis, inputs, network.output_ports, omitted, "", lengths)


def _plan(
    network: Network,
    analysis: Analysis,
    inputs: tuple[str, ...],
    outputs: tuple[Port, ...],
    left_out: frozenset[str],
    path: str,
    lengths: bool,
) -> Plan:
    """Return the plan of a network, or of the network of a block, whose ids begin with `path`."""
    variables = layer_names(network)
    used_names = {*variables.values(), *RESERVED}
    owners: dict[str, Step] = {}
    steps = []
    for id in network.order:
        layer = network.layers[id]
        if isinstance(layer.type, BlockInput | BlockOutput):
            continue
        shapes, type = analysis.shapes[id], layer.effective_type
        feeds = tuple(network.incoming[id][port] for port in layer.type.input_ports())
        ports = tuple(Port(id, name) for name in layer.type.output_ports())
        if isinstance(type, Block):
            copies = _copies(type, analysis, id, left_out, path, lengths)
            lowered = () if type.gives_what_leaves else type.lower(*shapes.inputs)
            step = Step(layer, variables[id], feeds, (), shapes.outputs, ports, copies)
            steps.append(_with_calls(step, lowered, network, variables, used_names, owners))
            continue
        is_padded = lengths and check_lengths.is_padded(shapes)
        lowered = _padded(layer, shapes) if is_padded else type.lower(*shapes.inputs)
        lengths_after = type.lengths_after(*shapes.inputs) if is_padded else None
        step = Step(layer, variables[id], feeds, (), shapes.outputs, ports, lengths=lengths_after)
        lowered = () if path + id in left_out else lowered
        steps.append(_with_calls(step, lowered, network, variables, used_names, owners))
    types = tuple(analysis.shapes[id].output for id in inputs)
    return Plan(tuple(steps), inputs, tuple(variables[id] for id in inputs), types, outputs, lengths)


def _with_calls(
    step: Step,
    lowered: Lowered,
    network: Network,
    variables: Mapping[str, str],
    used_names: set[str],
    owners: dict[str, Step],
) -> Step:
    """Return the step with its calls, which go to the modules of the layer whose weights it uses. `owners` has the
    first step with the weights of a layer, by the id of that layer. Raises `UserError`."""
    layer = step.layer
    if layer.bypassed or len(network.sharing(layer.id)) == 1:
        return replace(step, calls=_named(_chain(lowered), step.variable, used_names))
    owner = network.sharing(layer.id)[0]
    holder = variables[owner] if layer.weights_of else ""
    if owner not in owners:  # the owner may come later in the order of the network
        owners[owner] = replace(step, calls=_named(_chain(lowered), variables[owner], used_names), holder=holder)
        return owners[owner]
    attributes = iter([call.attribute for call in owners[owner].calls if call.attribute])
    calls = [NamedCall(next(attributes, "") if call.kind == "module" else "", call) for call in _chain(lowered)]
    shared = replace(step, calls=tuple(calls), holder=holder)
    if _modules(shared) != _modules(owners[owner]):
        raise UserError(
            f"'{layer.name}' cannot use the same weights as '{owners[owner].layer.name}': other inputs make them "
            "different modules.",
            hint="Connect the same sizes, or give each weights of its own.",
        )
    return shared


def _modules(step: Step) -> list[object]:
    """Return the modules of a step, with those of the copies of a block."""
    own = [(plan.attribute, plan.call.target, dict(plan.call.kwargs)) for plan in step.calls if plan.attribute]
    return [*own, *([_modules(inner) for inner in copy.steps] for copy in step.copies)]


def _chain(lowered: Lowered) -> tuple[Call, ...]:
    return (lowered,) if isinstance(lowered, Call) else lowered


def _padded(layer: Layer, facts: LayerShapes) -> Lowered:
    """Return the calls of a layer with a padded input sequence. Raises `UserError` if it does not support padding."""
    try:
        return check_lengths.lowered(layer, facts)
    except ShapeError as error:
        raise UserError(f"{layer.name}: {error}") from error


def _copies(
    block: Block, analysis: Analysis, id: str, left_out: frozenset[str], path: str, lengths: bool
) -> tuple[Plan, ...]:
    network, copies = block.network, analysis.inside[id].copies
    outputs = tuple(network.incoming[out]["in"] for out in block.ids(BlockOutput))
    return tuple(
        _plan(
            network,
            copy,
            block.ids(BlockInput),
            outputs,
            left_out,
            f"{path}{copy_path(id, number, len(copies))}/",
            lengths,
        )
        for number, copy in enumerate(copies)
    )


def refuse_errors(analysis: Analysis) -> None:
    """Raise `UserError` with the first error of the network, if it has one."""
    for problem in analysis.problems:
        if problem.severity == "error":
            where = f"{problem.name}: " if problem.name else ""
            raise UserError(f"The network has an error. {where}{problem.message}")


def refuse_unknown(network: Network, analysis: Analysis) -> None:
    """Raise `UserError` for a layer of unknown sizes, because user code was not measured."""
    unknown = next((network.layers[id] for id in network.order if id not in analysis.shapes), None)
    if unknown is not None:
        warning = next((problem for problem in analysis.problems if problem.severity == "warning"), None)
        where = f"{warning.name}: {warning.message}" if warning else "Its sizes were not measured."
        raise UserError(f"The sizes of '{unknown.name}' are not known. {where}")


def _named(calls: tuple[Call, ...], variable: str, namespace: set[str]) -> tuple[NamedCall, ...]:
    """Return the calls with attribute names: the first module without a name of its own has the name of the layer."""
    named_calls = []
    is_free = True
    for call in calls:
        attribute = ""
        if call.kind == "module":
            if not call.name and is_free:
                attribute, is_free = variable, False
            else:
                attribute = unique(f"{variable}_{call.name or 'then'}", namespace)
                namespace.add(attribute)
        named_calls.append(NamedCall(attribute, call))
    return tuple(named_calls)


RESERVED = _reserved()
