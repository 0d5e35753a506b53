"""Fixes of problems: functions from a project to a new one. Each is one undo step."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from netwright.engine.core.errors import UserError, listed
from netwright.engine.network import edits
from netwright.engine.network.analysis import Analysis, analyse
from netwright.engine.network.block import BlockInput
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.network import Connection, Layer, Network, Port
from netwright.engine.network.problems import Fix, Problem
from netwright.engine.project.project import Project

_ROW = 60.0
"""Vertical distance between layers; the same as in `netwright.engine.network.arrangement`."""
_DECIDING = ("filters", "outputs", "hidden_units")
_PASSING = ("Activation", "Normalisation", "Pooling", "Utility")
_NAMED = 2
"""Number of layers that a button names; beyond one more, its tooltip names the rest."""
Values = Mapping[str, Mapping[str, int]]


def named(layer: Layer) -> str:
    """Return the name of a layer as messages show it."""
    return f"'{layer.name}'"


def fields(label: str, values: Mapping[str, Mapping[str, object]]) -> Fix:
    """Return a fix that sets field values of layers, by their ids."""

    def edit(project: Project) -> Project:
        network = project.network
        for id, field_values in values.items():
            network = edits.set_fields(network, id, field_values)
        return replace(project, network=network)

    return Fix(label, edit)


def option(label: str, **values: object) -> Fix:
    """Return a fix that sets training options."""

    def edit(project: Project) -> Project:
        return replace(project, training=project.training.replace(**values))

    return Fix(label, edit)


def data_option(label: str, **values: object) -> Fix:
    """Return a fix that sets options of the data."""

    def edit(project: Project) -> Project:
        return replace(project, data=project.data.replace(**values))

    return Fix(label, edit)


def removal(network: Network, ids: Collection[str]) -> Fix:
    """Return a fix that removes layers with all their connections."""
    place = {id: number for number, id in enumerate(network.order)}
    names = [network.layers[id].name for id in sorted(ids, key=lambda id: place.get(id, len(place)))]
    more = f"{len(names) - _NAMED:,} more" if len(names) > _NAMED + 1 else ""
    label = f"Remove {listed([*names[:_NAMED], more] if more else names)}"

    def edit(project: Project) -> Project:
        rest = edits.remove_layers(project.network, ids)
        return replace(project, network=rest, layout=project.layout.without(ids))

    return Fix(label, edit, f"Removes {listed(names)}.")


def healing(layer: Layer) -> Fix:
    """Return a fix that removes a layer and connects its source to its targets."""

    def edit(project: Project) -> Project:
        network = edits.remove_and_heal(project.network, {layer.id})
        return replace(project, network=network, layout=project.layout.without({layer.id}))

    return Fix(f"Remove {layer.name}", edit)


def insertion(key: str, into: Connection) -> Fix:
    """Return a fix that inserts a layer of a type into a connection; layers at or below the target move down."""
    type = layer_type(key)()

    def edit(project: Project) -> Project:
        network, layer = edits.add_layer(edits.disconnect(project.network, [into]), type)
        network = edits.connect(network, into.source, Port(layer.id, type.input_ports()[0]))
        network = edits.connect(network, Port(layer.id, type.output_ports()[0]), into.target)
        x, y = project.layout.at(into.target.layer)
        places = {id: project.layout.at(id) for id in project.network.layers}
        lowered = {id: (left, top + _ROW) for id, (left, top) in places.items() if top >= y}
        return replace(project, network=network, layout=project.layout.moved({**lowered, layer.id: (x, y)}))

    return Fix(f"Insert {type.label}", edit)


def with_channel_fix(network: Network, analysis: Analysis, problem: Problem) -> Problem:
    """Return the problem with an edit that solves it, if its layer joins inputs with different channels."""
    layer = network.layers.get(problem.layer)
    if layer is None or layer.type.family != "Combination" or problem.severity != "error":
        return problem
    fix = _fix(network, analysis, layer)
    return replace(problem, fix=fix) if fix else problem


def _fix(network: Network, analysis: Analysis, layer: Layer) -> Fix | None:
    """Return the first edit that makes the inputs fit and causes no error elsewhere; each candidate is applied and
    analysed."""
    feeds = network.incoming[layer.id]
    types = {port: analysis.type_at(source) for port, source in feeds.items()}
    sizes = {port: type["C"] for port, type in types.items() if type is not None and type.has("C")}
    if len(sizes) < len(layer.type.input_ports()):
        return None
    for channels in dict.fromkeys(size for size in sizes.values() if isinstance(size, int)):
        values = _values(network, [feeds[port] for port, size in sizes.items() if size != channels], channels)
        if values and _solves(network, analysis, layer, values):
            return fields(_label(network, values), values)
    return None


def _values(network: Network, sources: list[Port], channels: int) -> Values:
    """Return the field values that give all these outputs this number of channels; none if no field determines one of
    them."""
    values: dict[str, dict[str, int]] = {}
    for source in sources:
        decided = _deciding(network, network.layers[source.layer])
        if decided is None:
            return {}
        layer, field = decided
        values[layer.id] = {field: channels}
    return values


def _deciding(network: Network, layer: Layer) -> tuple[Layer, str] | None:
    """Return the layer and the field that determine the number of channels at a port, upstream through layers that
    keep it."""
    while True:
        for field in _DECIDING:
            if field in layer.effective_type.fields:
                return layer, field
        feeds = network.incoming[layer.id]
        if len(feeds) != 1 or layer.effective_type.family not in _PASSING:
            return None
        layer = network.layers[next(iter(feeds.values())).layer]


def _solves(network: Network, analysis: Analysis, layer: Layer, values: Values) -> bool:
    changed = network
    try:
        for id, field_values in values.items():
            changed = edits.set_fields(changed, id, field_values)
    except UserError:  # more channels than the field allows
        return False
    ports = [port for port, candidate in network.layers.items() if isinstance(candidate.type, BlockInput)]
    entering = {port: analysis.shapes[port].output for port in ports if port in analysis.shapes}
    after = analyse(changed, entering if ports else None).shapes
    return layer.id in after and after.keys() >= analysis.shapes.keys()


def _label(network: Network, values: Values) -> str:
    """Return the text of the button: `Set filters of skip to 16`."""
    ((id, field_values), *rest) = values.items()
    ((field, channels),) = field_values.items()
    where = f"{field.replace('_', ' ')} of {network.layers[id].name}" if not rest else f"{len(values)} layers"
    return f"Set {where} to {channels:,}"
