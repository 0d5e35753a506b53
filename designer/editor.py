"""What a person does to the project on screen: layers, connections, blocks, clipboard. Each is one step to undo."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject

from designer import clipboard, placement
from designer.clipboard import Piece, piece
from designer.document import Document
from engine.core.errors import ShapeError, UserError
from engine.layers.base import LayerType
from engine.network import annotations, blocks, edits
from engine.network import blocks as grouping
from engine.network.arrangement import arrange
from engine.network.block import Block, BlockInput, BlockOutput
from engine.network.catalog import layer_type
from engine.network.layout import Layout, Position
from engine.network.network import Connection, Layer, Network, Port, bypass_refusal, free_name
from engine.network.problems import Problem
from engine.project.project import Project


class Editor(Document):
    """The document with all its edits; everything that shows or edits a project takes an `Editor`."""

    def __init__(self, project: Project | None = None, parent: QObject | None = None) -> None:
        super().__init__(project, parent)
        self.centre: Callable[[], Position] = lambda: (0.0, 0.0)
        """Where a layer goes that nobody placed; the canvas sets it to the middle of what is visible."""

    def set_fields(self, ids: Collection[str], values: Mapping[str, object], merge: str = "") -> bool:
        """Give some layers other field values."""

        def change(network: Network) -> Network:
            for id in ids:
                network = edits.set_fields(network, id, values)
            return network

        return self.edit_network(f"Change {', '.join(values)}", change, merge=merge)

    def rename(self, id: str, name: str) -> bool:
        """Give a layer another name."""
        return self.edit_network(f"Rename to {name}", lambda network: edits.rename(network, id, name))

    def connect_ports(self, source: Port, target: Port) -> bool:
        """Connect an output to an input; it takes the place of what was connected there."""
        return self.edit_network("Connect", lambda network: edits.connect(network, source, target))

    def disconnect_all(self, connections: Collection[Connection]) -> bool:
        """Cut connections."""
        return self.edit_network("Disconnect", lambda network: edits.disconnect(network, connections))

    def move(self, positions: Mapping[str, Position], merge: str = "") -> None:
        """Put layers elsewhere."""
        layout = self.layout.moved(positions)
        self.apply_here("Move", layout=layout, merge=merge)

    def arrange(self) -> None:
        """Lay the whole network out in rows."""
        self.apply_here("Arrange", layout=arrange(self.network, self.layout))

    def add_layer(self, what: str | Piece, at: Position | None = None, connect_from: str | None = None) -> str | None:
        """Add a layer, of the type with a key or a piece of the user's own, and select it; its id, or None if it was
        refused.

        Without a place it goes below the one selected layer, else to the middle of the canvas. It is connected to
        `connect_from`, or without a place to the selected layer, if it can take what leaves there; where that layer
        feeds one other, the new one goes between the two.
        """
        if at is None and connect_from is None and len(self._selection) == 1:
            (connect_from,) = self._selection
        try:
            made = piece(what)
            type = made.type
            if isinstance(type, BlockInput | BlockOutput) and not self._scope:
                raise UserError(f"A {type.label.lower()} stands inside a block. Open a block first.")
        except UserError as error:
            self.refused.emit(str(error))
            return None
        if connect_from is not None and at is None:
            leaving = self.network.outgoing[connect_from]
            if len(leaving) == 1 and self.insert_refusal(type, leaving[0]) is None:
                return self.insert_layer(made, self.layout.at(connect_from), leaving[0])
        network, layer = _added(self.network, made)
        if connect_from is not None:
            network = self._joined(network, connect_from, layer.id)
        layout = self.layout.moved({layer.id: placement.snapped(at) if at else self._place(connect_from)})
        return self._show_added(f"Add {made.name or type.label}", network, layout, layer.id, made)

    def insert_refusal(self, type: LayerType, into: Connection) -> str | None:
        """Why a layer of this type cannot stand in the middle of a connection, in words, or None."""
        if not type.input_ports() or not type.output_ports():
            return f"{type.label} has no input: it cannot be inserted into a connection."
        given = self.analysis.type_at(into.source)
        if given is not None and len(type.input_ports()) == 1 and not type.is_measured:
            try:
                type.output(given)
            except ShapeError as error:
                return f"{type.label} does not fit here. {error}"
        return None

    def insert_layer(self, what: str | Piece, at: Position, into: Connection) -> str | None:
        """Add a layer in the middle of a connection, and make room for it; its id, or None if it was refused."""
        try:
            made = piece(what)
            type = made.type
            if (why := self.insert_refusal(type, into)) is not None:
                raise UserError(why)
            network, layer = _added(edits.disconnect(self.network, [into]), made)
            network = edits.connect(network, into.source, Port(layer.id, type.input_ports()[0]))
            network = edits.connect(network, Port(layer.id, type.output_ports()[0]), into.target)
        except UserError as error:
            self.refused.emit(str(error))
            return None
        layout = placement.inserted(self.network, self.layout, into, layer.id, at)
        return self._show_added(f"Insert {made.name or type.label}", network, layout, layer.id, made)

    def add_at_port(self, what: str | Piece, at: Position, port: Port, *, is_input: bool) -> str | None:
        """Add a layer that is connected to an open port, with its own port at a place; its id, or None if refused."""
        try:
            made = piece(what)
            type = made.type
            network, layer = _added(self.network, made)
            ports = type.output_ports() if is_input else type.input_ports()
            if not ports:
                raise UserError(f"{type.label} has no {'output' if is_input else 'input'} to connect.")
            own = Port(layer.id, ports[0])
            network = edits.connect(network, *((own, port) if is_input else (port, own)))
        except UserError as error:
            self.refused.emit(str(error))
            return None
        layout = self.layout.moved(
            {layer.id: placement.with_port_at(at, len(ports), is_output=is_input, flow=self.layout.flow)}
        )
        return self._show_added(f"Add {made.name or type.label}", network, layout, layer.id, made)

    def _show_added(self, text: str, network: Network, layout: Layout, id: str, made: Piece) -> str | None:
        if made.inside is not None:
            layout = layout.with_inside([id], made.inside)
        if not self.apply_here(text, network, layout):
            return None
        self.set_selection({id})
        return id

    def replace_layer(self, id: str, key: str) -> bool:
        """Make a layer one of another type; it keeps its place and all that both types have."""
        try:
            type = layer_type(key)
        except UserError as error:
            self.refused.emit(str(error))
            return False
        return self.edit_network(f"Replace with {type.label}", lambda network: edits.replace_type(network, id, type))

    def _place(self, below: str | None) -> Position:
        if below is None:
            return placement.free_place(self.layout, placement.snapped(self.centre()))
        return placement.behind(self.layout, below)

    def _joined(self, network: Network, source: str, target: str) -> Network:
        """The network with the two layers connected, if the second can take what leaves the first."""
        outputs = network.layers[source].type.output_ports()
        type = network.layers[target].type
        inputs = type.input_ports()
        if not outputs or not inputs:
            return network
        start = Port(source, outputs[0])
        given = self.analysis.type_at(start)
        if given is not None and len(inputs) == 1 and not type.is_measured:
            try:
                type.output(given)
            except ShapeError:
                return network
        return edits.connect(network, start, Port(target, inputs[0]))

    # Blocks

    def group(self) -> str | None:
        """Put the selected layers, frames and comments into a new block and select it; its id, or None if it was
        refused. What cannot be inside a block stays where it is, which is told."""
        fixed = grouping.fixed_layers(self.network, self._selection)
        chosen = self._selection - set(fixed) or self._selection
        try:
            network, layout, id = grouping.group(self.network, self.layout, chosen)
        except UserError as error:
            self.refused.emit(str(error))
            return None
        frames, comments = annotations.part(layout, self._selected_marks)
        inside = replace(layout.within([id]), frames=frames, comments=comments)
        layout = annotations.remove(layout, self._selected_marks).with_inside([id], inside)
        self.apply_here("Group into a block", network, layout)
        self.set_selection({id})
        if fixed:
            names = ", ".join(layer.name for layer in fixed.values())
            self.refused.emit(f"The other layers are one block now. Inputs and ports stay outside: {names}.")
        return id

    def ungroup(self) -> None:
        """Put what is inside the selected blocks in their place, and select it."""
        network, layout, freed = self.network, self.layout, set(self._selection)
        chosen = [id for id in self._selection if isinstance(network.layers[id].type, Block)]
        if not chosen:
            self.refused.emit("Select the block that is to be dissolved.")
            return
        try:
            for id in chosen:
                network, layout, ids = grouping.ungroup(network, layout, id)
                freed = freed - {id} | set(ids)
        except UserError as error:
            self.refused.emit(str(error))
            return
        text = f"Ungroup {self.network.layers[chosen[0]].name}" if len(chosen) == 1 else f"Ungroup {len(chosen)} blocks"
        self.apply_here(text, network, layout)
        self.set_selection(freed)

    def open_block(self, id: str) -> bool:
        """Show what is inside a block of the network that is shown; whether it is one."""
        layer = self.network.layers.get(id)
        if layer is None or not isinstance(layer.type, Block):
            return False
        self.open_scope((*self._scope, id))
        return True

    def rename_port(self, block: str, port: str, name: str) -> bool:
        """Give a port of a block another name: the layer inside that stands for it. Connections follow."""

        def change(network: Network) -> Network:
            inner = edits.rename(blocks.network_in(network, [block]), port, name)
            return blocks.with_network_in(network, [block], inner)

        return self.edit_network(f"Rename port to {name}", change)

    def leave_block(self) -> None:
        """Show what is around the open block, with the block selected."""
        if self._scope:
            *outer, id = self._scope
            self.open_scope(outer)
            self.set_selection({id})

    def go_to(self, problem: Problem) -> str:
        """Open the block that a problem is in and select its layer; the layer's id, or nothing where there is none."""
        *path, id = problem.path
        if not problem.layer:
            return ""
        self.open_scope(path)
        if id not in self.network.layers:
            return ""
        self.set_selection({id})
        return id

    # Selection and clipboard

    def select_all(self) -> None:
        """Select every layer, frame and comment."""
        self.set_selection(self.network.layers, marks=annotations.marks(self.layout))

    def delete_selection(self, *, heal: bool = True) -> None:
        """Remove the selected layers, connections, frames and comments. What fed a layer then feeds what it fed, where
        that is clear. The layers in a frame stay."""
        marks = self._selected_marks
        if not self._selection and not self._selected_connections and not marks:
            return
        cut = edits.disconnect(self.network, self._selected_connections)
        remove = edits.remove_and_heal if heal else edits.remove_layers
        network = remove(cut, self._selection)
        layout = annotations.remove(self.layout.without(self._selection), marks)
        count = len(self._selection)
        text = "Delete layer" if count == 1 else f"Delete {count} layers"
        if not count:
            text = f"Delete {next(iter(marks)).kind}" if marks else "Delete connection"
        self.apply_here(text, network, layout)

    def toggle_bypass(self) -> None:
        """Bypass the selected layers; where all that can be are bypassed, they work again."""
        layers = [self.network.layers[id] for id in self._selection]
        able = [layer for layer in layers if bypass_refusal(layer.type) is None]
        chosen = able or layers  # where none can be, the edit says why
        if chosen:
            bypassed = not all(layer.bypassed for layer in chosen)
            what = chosen[0].name if len(chosen) == 1 else f"{len(chosen)} layers"
            ids = [layer.id for layer in chosen]
            text = f"{'Bypass' if bypassed else 'Use'} {what}"
            self.edit_network(text, lambda network: edits.set_bypassed(network, ids, bypassed))

    def copy(self) -> None:
        """Put the selected layers, frames and comments on the clipboard."""
        if self._selection or self._selected_marks:
            clipboard.put(edits.part(self.network, self._selection), self._selected_part())

    def _selected_part(self) -> Layout:
        frames, comments = annotations.part(self.layout, self._selected_marks)
        return replace(self.layout.part(self._selection), frames=frames, comments=comments)

    def cut(self) -> None:
        """Put the selected layers on the clipboard and remove them."""
        self.copy()
        self.delete_selection(heal=False)

    def paste(self, at: Position | None = None) -> None:
        """Add what is on the clipboard, beside the originals or with its top left corner at a place."""
        try:
            clip, layout = clipboard.take()
        except UserError as error:
            self.refused.emit(str(error))
            return
        self._add_clip("Paste", clip, layout, at)

    def duplicate(self) -> None:
        """Add copies of the selected layers, frames and comments beside them."""
        if self._selection or self._selected_marks:
            self._add_clip("Duplicate", edits.part(self.network, self._selection), self._selected_part(), None)

    def _add_clip(self, text: str, clip: Network, layout: Layout, at: Position | None) -> bool:
        network, new_ids = edits.paste(self.network, clip)
        places = {id: layout.at(id) for id in clip.layers}
        written = [one.at for one in annotations.every(layout)]
        if at is None:
            dx, dy = placement.beside(self.layout, [*places.values(), *written])
        else:
            corners = [*places.values(), *written]
            left, top = min(x for x, _ in corners), min(y for _, y in corners)
            dx, dy = placement.snapped((at[0] - left, at[1] - top))
        positions = {new_ids[id]: placement.snapped((x + dx, y + dy)) for id, (x, y) in places.items()}
        inside = {new_ids[id]: layout.inside[id] for id in clip.layers if id in layout.inside}
        try:
            moved, marks = annotations.paste(self.layout.moved(positions), layout, (dx, dy))
        except UserError as error:
            self.refused.emit(str(error))
            return False
        done = self.apply_here(text, network, replace(moved, inside={**moved.inside, **inside}))
        if done:
            self.set_selection(new_ids.values(), marks=marks)
        return done


def _added(network: Network, made: Piece) -> tuple[Network, Layer]:
    """The network with one more layer, under its own name where it has one that is free."""
    name = made.name
    if name in network.by_name:
        name = free_name(name, network.by_name)
    return edits.add_layer(network, made.type, name)
