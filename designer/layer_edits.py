"""Edits that change layers and their places together: add, insert, group, paste. Pure functions.

Each takes the project as the open block shows it (`here`) and returns a `LayerEdit`, which `Editor` applies as one undo
step. Edits of the network alone are those of `netwright.engine.network.edits`.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from netwright.designer import clipboard, placement
from netwright.designer.clipboard import Piece
from netwright.designer.language import LAYER, in_sentence, layer_label, tr
from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.layers.base import LayerType
from netwright.engine.network import annotations, blocks, edits
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.annotations import Mark
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.layout import Layout, Position, difference
from netwright.engine.network.network import Connection, Layer, Network, Port, bypass_refusal, free_name
from netwright.engine.project.project import Project


@dataclass(frozen=True)
class Selection:
    """The selection in the open block."""

    layers: frozenset[str] = frozenset()
    connections: frozenset[Connection] = frozenset()
    marks: frozenset[Mark] = frozenset()
    """Frames and comments."""

    def after(self, before: Project, now: Project, *, select_new: bool) -> "Selection":
        """Return the selection without removed items; with `select_new`, if it is empty then, the new items."""
        layers = frozenset(id for id in self.layers if id in now.network.layers)
        if select_new and not layers:
            layers = difference(before.network, now.network).added
        connections, marks = self.connections, self.marks
        if connections:
            connections &= frozenset(now.network.connections)
        if before.layout is not now.layout:
            marks_now = frozenset(annotations.marks(now.layout))
            marks &= marks_now
            if select_new and not (layers or marks):
                marks = marks_now - frozenset(annotations.marks(before.layout))
        return Selection(layers, connections, marks)


@dataclass(frozen=True)
class LayerEdit:
    """The open block after an edit, with its selection."""

    text: str
    """The name of the undo step."""
    network: Network
    layout: Layout
    selection: Selection = Selection()


def piece(layer: str | Piece, *, is_in_block: bool) -> Piece:
    """Return the piece to add. Raises `UserError` for an unknown key, and for a port of a block outside one."""
    piece = clipboard.piece(layer)
    if isinstance(piece.type, BlockInput | BlockOutput) and not is_in_block:
        label = in_sentence(piece.type.label, LAYER)
        raise UserError(tr("A {type} stands inside a block. Open a block first.", type=label))
    return piece


def insert_refusal(type: LayerType, analysis: Analysis, into: Connection) -> str | None:
    """Why a layer of a type cannot be inserted into a connection, or None."""
    if not type.input_ports() or not type.output_ports():
        return tr("{type} has no input: it cannot be inserted into a connection.", type=layer_label(type.label))
    error = _shape_error(type, analysis, into.source)
    return tr("{type} does not fit here. {error}", type=layer_label(type.label), error=error) if error else None


def _shape_error(type: LayerType, analysis: Analysis, source: Port) -> str:
    """Return why a type with one input does not accept the type at a port; empty where it does or that is not known."""
    input_type = analysis.type_at(source)
    if input_type is not None and len(type.input_ports()) == 1 and not type.is_measured:
        try:
            type.output(input_type)
        except ShapeError as error:
            return str(error)
    return ""


def add(
    here: Project, analysis: Analysis, piece: Piece, at: Position | None, source: str | None, centre: Position
) -> LayerEdit:
    """Add a layer at a place; without one below `source`, else at `centre`.

    It is connected to `source` if it accepts what leaves there. Without a place, and where `source` feeds one other
    layer, it is inserted between the two.
    """
    network, layout, type = here.network, here.layout, piece.type
    if source is not None and at is None:
        outgoing = network.outgoing[source]
        if len(outgoing) == 1 and insert_refusal(type, analysis, outgoing[0]) is None:
            return insert(here, analysis, piece, layout.at(source), outgoing[0])
    added, layer = _added(network, piece)
    if source is not None:
        added = _connected(added, analysis, source, layer.id)
    if at is not None:
        place = placement.snapped(at)
    elif source is not None:
        place = placement.behind(layout, source)
    else:
        place = placement.free_place(layout, placement.snapped(centre))
    return _new_layer(
        tr("Add {layer}", layer=piece.name or layer_label(type.label)),
        added,
        layout.moved({layer.id: place}),
        layer.id,
        piece,
    )


def insert(here: Project, analysis: Analysis, piece: Piece, at: Position, into: Connection) -> LayerEdit:
    """Insert a layer into a connection, and make room for it. Raises `UserError`."""
    network, type = here.network, piece.type
    if (refusal := insert_refusal(type, analysis, into)) is not None:
        raise UserError(refusal)
    changed, layer = _added(edits.disconnect(network, [into]), piece)
    changed = edits.connect(changed, into.source, Port(layer.id, type.input_ports()[0]))
    changed = edits.connect(changed, Port(layer.id, type.output_ports()[0]), into.target)
    places = placement.inserted(network, here.layout, into, layer.id, at)
    return _new_layer(
        tr("Insert {layer}", layer=piece.name or layer_label(type.label)), changed, places, layer.id, piece
    )


def add_at_port(here: Project, piece: Piece, at: Position, port: Port, *, is_input: bool) -> LayerEdit:
    """Add a layer that is connected to an open port, with its own port at a place. Raises `UserError`."""
    layout, type = here.layout, piece.type
    changed, layer = _added(here.network, piece)
    ports = type.output_ports() if is_input else type.input_ports()
    if not ports:
        raise UserError(
            (tr("{name} has no output to connect.") if is_input else tr("{name} has no input to connect.")).format(
                name=layer_label(type.label)
            )
        )
    own = Port(layer.id, ports[0])
    changed = edits.connect(changed, *((own, port) if is_input else (port, own)))
    place = placement.with_port_at(at, len(ports), is_output=is_input, flow=layout.flow)
    return _new_layer(
        tr("Add {layer}", layer=piece.name or layer_label(type.label)),
        changed,
        layout.moved({layer.id: place}),
        layer.id,
        piece,
    )


def _added(network: Network, piece: Piece) -> tuple[Network, Layer]:
    """The network with one more layer, under its own name where it has one that is free."""
    name = piece.name
    if name in network.by_name:
        name = free_name(name, network.by_name)
    return edits.add_layer(network, piece.type, name)


def _connected(network: Network, analysis: Analysis, source: str, target: str) -> Network:
    """Return the network with two layers connected, if the second accepts the output of the first."""
    outputs = network.layers[source].type.output_ports()
    type = network.layers[target].type
    inputs = type.input_ports()
    if not outputs or not inputs or _shape_error(type, analysis, Port(source, outputs[0])):
        return network
    return edits.connect(network, Port(source, outputs[0]), Port(target, inputs[0]))


def _new_layer(text: str, network: Network, layout: Layout, id: str, piece: Piece) -> LayerEdit:
    if piece.inside is not None:
        layout = layout.with_inside([id], piece.inside)
    return LayerEdit(text, network, layout, Selection(frozenset({id})))


def group(here: Project, ids: Collection[str], marks: Collection[Mark]) -> LayerEdit:
    """Move layers, frames and comments into a new block. Raises `UserError`."""
    changed, places, id = blocks.group(here.network, here.layout, ids)
    frames, comments = annotations.part(places, marks)
    inside = replace(places.within([id]), frames=frames, comments=comments)
    places = annotations.remove(places, marks).with_inside([id], inside)
    return LayerEdit(tr("Group into a block"), changed, places, Selection(frozenset({id})))


def ungroup(here: Project, ids: Collection[str]) -> LayerEdit:
    """Replace the blocks among some layers by their contents. Raises `UserError`."""
    network, layout = here.network, here.layout
    block_ids = [id for id in ids if isinstance(network.layers[id].type, Block)]
    if not block_ids:
        raise UserError(tr("Select the block that is to be dissolved."))
    name = network.layers[block_ids[0]].name if len(block_ids) == 1 else tr("%n block(s)", "", len(block_ids))
    selected = set(ids)
    for id in block_ids:
        network, layout, freed = blocks.ungroup(network, layout, id)
        selected = selected - {id} | set(freed)
    return LayerEdit(tr("Ungroup {name}", name=name), network, layout, Selection(frozenset(selected)))


def rename_port(network: Network, block: str, port: str, name: str) -> Network:
    """Rename a port of a block: the layer inside that stands for it. Raises `UserError`."""
    inner = edits.rename(blocks.network_in(network, [block]), port, name)
    return blocks.with_network_in(network, [block], inner)


def toggle_bypass(here: Project, selection: Selection) -> LayerEdit:
    """Bypass the selected layers; where all that can be are bypassed, stop bypassing them. Raises `UserError`."""
    layers = [here.network.layers[id] for id in selection.layers]
    able = [layer for layer in layers if bypass_refusal(layer.type) is None]
    targets = able or layers  # where none can be, the edit says why
    bypassed = not all(layer.bypassed for layer in targets)
    name = targets[0].name if len(targets) == 1 else tr("%n layer(s)", "", len(targets))
    network = edits.set_bypassed(here.network, [layer.id for layer in targets], bypassed)
    text = tr("Bypass {name}") if bypassed else tr("Use {name}")
    return LayerEdit(text.format(name=name), network, here.layout, selection)


def toggle_sharing(here: Project, selection: Selection) -> LayerEdit:
    """Let the selected layers have the weights of the first of them; where they have, give each its own. Raises
    `UserError`."""
    network = here.network
    ids = [id for id in dict.fromkeys((*network.order, *network.layers)) if id in selection.layers]
    if is_shared(network, ids):
        text = tr("Own weights for {name}", name=network.layers[ids[-1]].name)
        return LayerEdit(text, edits.own_weights(network, ids), here.layout, selection)
    text = tr("Share the weights of {name}", name=network.layers[network.sharing(ids[0])[0]].name)
    return LayerEdit(text, edits.share_weights(network, ids), here.layout, selection)


def is_shared(network: Network, ids: Collection[str]) -> bool:
    """Return whether these layers have the same weights as each other, a single layer as any."""
    groups = {network.sharing(id) for id in ids}
    return len(groups) == 1 and len(next(iter(groups))) > 1


def delete(here: Project, selection: Selection, *, heal: bool) -> LayerEdit:
    """Remove the selection. With `heal`, connect the source of a removed layer to its targets, where that is clear."""
    ids, marks = selection.layers, selection.marks
    cut = edits.disconnect(here.network, selection.connections)
    network = (edits.remove_and_heal if heal else edits.remove_layers)(cut, ids)
    layout = annotations.remove(here.layout.without(ids), marks)
    if ids:
        names = [here.network.layers[id].name for id in ids]
        text = tr("Delete {name}", name=names[0]) if len(names) == 1 else tr("Delete %n layer(s)", "", len(names))
    else:
        is_frame = bool(marks) and next(iter(marks)).kind == "frame"
        text = (tr("Delete frame") if is_frame else tr("Delete comment")) if marks else tr("Delete connection")
    return LayerEdit(text, network, layout)


def part(here: Project, selection: Selection) -> tuple[Network, Layout]:
    """Return the selected layers, frames and comments alone, as they are copied."""
    frames, comments = annotations.part(here.layout, selection.marks)
    layout = replace(here.layout.part(selection.layers), frames=frames, comments=comments)
    return edits.part(here.network, selection.layers), layout


def paste(text: str, here: Project, clip: Network, clip_layout: Layout, at: Position | None) -> LayerEdit:
    """Add copied layers, where they were or with their top left corner at a place, or beside that so that they lie on
    no others. Raises `UserError`."""
    layout = here.layout
    changed, new_ids = edits.paste(here.network, clip)
    places = {id: clip_layout.at(id) for id in clip.layers}
    shift = (0.0, 0.0)
    if at is not None:
        corners = [*places.values(), *(annotation.at for annotation in annotations.every(clip_layout))]
        shift = placement.snapped((at[0] - min(x for x, _ in corners), at[1] - min(y for _, y in corners)))
    dx, dy = placement.beside(layout, replace(clip_layout, positions=places), shift)
    positions = {new_ids[id]: placement.snapped((x + dx, y + dy)) for id, (x, y) in places.items()}
    inside = {new_ids[id]: clip_layout.inside[id] for id in clip.layers if id in clip_layout.inside}
    moved, marks = annotations.paste(layout.moved(positions), clip_layout, (dx, dy))
    moved = replace(moved, inside={**moved.inside, **inside})
    selection = Selection(frozenset(new_ids.values()), marks=frozenset(marks))
    return LayerEdit(text, changed, moved, selection)
