"""The straight line of calls that a network becomes. The built module and the printed source both follow it."""

from dataclasses import dataclass

from engine.build.names import RESERVED, layer_names, unique
from engine.errors import UserError
from engine.layers.base import Call
from engine.layers.types import TensorType
from engine.network.analysis import Analysis
from engine.network.network import Layer, Network
from engine.network.outputs import output_softmaxes


@dataclass(frozen=True)
class NamedCall:
    """One call, and the attribute that holds its module (empty for functions and methods)."""

    attribute: str
    call: Call


@dataclass(frozen=True)
class Step:
    """One layer: its variable in the forward function, what feeds it, the calls it becomes, what leaves it."""

    layer: Layer
    variable: str
    feeds: tuple[str, ...]
    calls: tuple[NamedCall, ...]
    output: TensorType


@dataclass(frozen=True)
class Plan:
    """Steps in order, and the ids of the layers whose results go in and out."""

    steps: tuple[Step, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def plan(network: Network, analysis: Analysis, *, logits: bool = False) -> Plan:
    """The calls of the network in order. `logits` leaves out a softmax at an output; all names stay the same.

    Raises `UserError` for a network with errors, naming the first.
    """
    refuse_errors(analysis)
    left_out = output_softmaxes(network) if logits else frozenset()
    variables = layer_names(network)
    taken = {*variables.values(), *RESERVED}
    steps = []
    for id in network.order:
        layer = network.layers[id]
        facts = analysis.facts[id]
        lowered = layer.acting.lower(*facts.inputs)
        calls = _named((lowered,) if isinstance(lowered, Call) else lowered, variables[id], taken)
        feeds = tuple(network.incoming[id][port].layer for port in layer.type.input_ports())
        steps.append(Step(layer, variables[id], feeds, () if id in left_out else calls, facts.output))
    inputs = tuple(layer.id for layer in network.inputs)
    return Plan(tuple(steps), inputs, tuple(port.layer for port in network.output_ports))


def refuse_errors(analysis: Analysis) -> None:
    """Raise `UserError` with the first error of the network, if it has one."""
    for problem in analysis.problems:
        if problem.severity == "error":
            where = f"{problem.name}: " if problem.name else ""
            raise UserError(f"The network has an error. {where}{problem.message}")


def _named(calls: tuple[Call, ...], variable: str, taken: set[str]) -> tuple[NamedCall, ...]:
    """The calls with attribute names: the first module without a name of its own is called as the layer is."""
    named = []
    is_free = True
    for call in calls:
        attribute = ""
        if call.kind == "module":
            if not call.name and is_free:
                attribute, is_free = variable, False
            else:
                attribute = unique(f"{variable}_{call.name or 'then'}", taken)
                taken.add(attribute)
        named.append(NamedCall(attribute, call))
    return tuple(named)
