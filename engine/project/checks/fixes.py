"""The edits that remove problems, as functions from a project to a new one. Each is one step to undo."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from engine.layers.catalog import layer_type
from engine.network import edits
from engine.network.network import Connection, Layer, Network, Port
from engine.network.problems import Fix
from engine.project.project import Project

_ROW = 60.0
"""How far below each other layers stand; `engine.network.arrange` has the same."""


def named(layer: Layer) -> str:
    """A layer as messages say it."""
    return f"'{layer.name}'"


def fields(label: str, values: Mapping[str, Mapping[str, object]]) -> Fix:
    """Give layers, by their ids, other field values."""

    def edit(project: Project) -> Project:
        network = project.network
        for id, given in values.items():
            network = edits.set_fields(network, id, given)
        return replace(project, network=network)

    return Fix(label, edit)


def option(label: str, **values: object) -> Fix:
    """Give training options other values."""

    def edit(project: Project) -> Project:
        return replace(project, training=project.training.replace(**values))

    return Fix(label, edit)


def removal(network: Network, ids: Collection[str]) -> Fix:
    """Remove layers with all their connections."""
    names = [layer.name for id, layer in network.layers.items() if id in ids]
    label = f"Remove {names[0]}" if len(names) == 1 else f"Remove {len(names):,} layers"

    def edit(project: Project) -> Project:
        rest = edits.remove_layers(project.network, ids)
        return replace(project, network=rest, layout=project.layout.without(ids))

    return Fix(label, edit)


def healing(layer: Layer) -> Fix:
    """Take a layer out; what fed it feeds what it fed."""

    def edit(project: Project) -> Project:
        network = edits.remove_and_heal(project.network, {layer.id})
        return replace(project, network=network, layout=project.layout.without({layer.id}))

    return Fix(f"Remove {layer.name}", edit)


def insertion(key: str, into: Connection) -> Fix:
    """Put a layer of a type into a connection, and make room: what stands at the target or below it moves down."""
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
