"""The fix for inputs of a combination that do not match: the layers that decide their channels get equal numbers."""

from collections.abc import Mapping
from dataclasses import replace

from engine.errors import UserError
from engine.layers.block import BlockInput
from engine.network import edits
from engine.network.analysis import Analysis, analyse
from engine.network.network import Layer, Network, Port
from engine.network.problems import Fix, Problem
from engine.project.checks import fixes

_DECIDING = ("filters", "outputs", "hidden_units")
_PASSING = ("Activation", "Normalisation", "Pooling", "Utility")

Values = Mapping[str, Mapping[str, int]]


def with_channel_fix(network: Network, analysis: Analysis, problem: Problem) -> Problem:
    """The problem with an edit that solves it, if its layer joins inputs whose channels differ."""
    layer = network.layers.get(problem.layer)
    if layer is None or layer.type.family != "Combination" or problem.severity != "error":
        return problem
    fix = _fix(network, analysis, layer)
    return replace(problem, fix=fix) if fix else problem


def _fix(network: Network, analysis: Analysis, layer: Layer) -> Fix | None:
    """The first change that makes the inputs fit and breaks nothing elsewhere: tried, not only thought of."""
    feeds = network.incoming[layer.id]
    given = {port: analysis.type_at(source) for port, source in feeds.items()}
    sizes = {port: type["C"] for port, type in given.items() if type is not None and type.has("C")}
    if len(sizes) < len(layer.type.input_ports()):
        return None
    for wanted in dict.fromkeys(size for size in sizes.values() if isinstance(size, int)):
        values = _values(network, [feeds[port] for port, size in sizes.items() if size != wanted], wanted)
        if values and _solves(network, analysis, layer, values):
            return fixes.fields(_label(network, values), values)
    return None


def _values(network: Network, sources: list[Port], wanted: int) -> Values:
    """The field values that give all these outputs so many channels; none where one of them is decided nowhere."""
    values: dict[str, dict[str, int]] = {}
    for source in sources:
        decided = _deciding(network, network.layers[source.layer])
        if decided is None:
            return {}
        layer, field = decided
        values[layer.id] = {field: wanted}
    return values


def _deciding(network: Network, layer: Layer) -> tuple[Layer, str] | None:
    """The layer and the field that decide how many channels leave here, up through layers that pass them on."""
    while True:
        for field in _DECIDING:
            if field in layer.acting.fields:
                return layer, field
        feeds = network.incoming[layer.id]
        if len(feeds) != 1 or layer.acting.family not in _PASSING:
            return None
        layer = network.layers[next(iter(feeds.values())).layer]


def _solves(network: Network, analysis: Analysis, layer: Layer, values: Values) -> bool:
    changed = network
    try:
        for id, given in values.items():
            changed = edits.set_fields(changed, id, given)
    except UserError:  # more channels than the field allows
        return False
    ports = [port for port, one in network.layers.items() if isinstance(one.type, BlockInput)]
    entering = {port: analysis.facts[port].output for port in ports if port in analysis.facts}
    after = analyse(changed, entering if ports else None).facts
    return layer.id in after and after.keys() >= analysis.facts.keys()


def _label(network: Network, values: Values) -> str:
    """`Set filters of skip to 16`."""
    ((id, given), *rest) = values.items()
    ((field, wanted),) = given.items()
    where = f"{field.replace('_', ' ')} of {network.layers[id].name}" if not rest else f"{len(values)} layers"
    return f"Set {where} to {wanted:,}"
