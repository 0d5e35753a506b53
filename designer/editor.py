"""One project on screen: the value that is shown, what is wrong with it, the undo history and the selection.

A project is never changed in place. An edit hands a new one to `apply`, which is the one way in; undo keeps the old
ones. So there is one undo command, and every view draws the value it is told about.

A block can be open. `project` is always all of it; `network`, `layout`, `analysis` and the selection are those inside
the open block, so that whatever draws or edits a network needs to know nothing of blocks.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from designer import clipboard, placing
from designer.own_blocks import Piece, piece
from engine.data.facts import DataFacts
from engine.errors import MisfitError, UserError
from engine.layers.base import LayerType
from engine.layers.block import Block, BlockInput, BlockOutput
from engine.layers.catalog import layer_type
from engine.network import annotations, blocks, edits
from engine.network.analysis import Analysis
from engine.network.annotations import Mark
from engine.network.arrange import arrange
from engine.network.compare import difference
from engine.network.layout import Layout, Position
from engine.network.network import Connection, Layer, Network, Port, bypass_refusal, free_name
from engine.network.problems import Problem
from engine.project.check import Report, check, report_in
from engine.project.project import Project

# Old values share what did not change, but each keeps its own table of layers: a bound for large networks.
UNDO_LIMIT = 200


class Replace(QUndoCommand):
    """One value of the project took the place of another: the only undo command there is."""

    def __init__(self, editor: "Editor", text: str, before: Project, after: Project, merge: str) -> None:
        super().__init__(text)
        self._editor = editor
        self._before = before
        self._after = after
        self._scope = editor.scope
        self._merge = merge
        self._is_back = False

    def redo(self) -> None:
        self._editor._show(self._after, self._scope, select_new=self._is_back)

    def undo(self) -> None:
        self._is_back = True
        self._editor._show(self._before, self._scope, select_new=True)

    def id(self) -> int:
        return hash(self._merge) & 0x7FFFFFFF if self._merge else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, Replace) or (other._merge, other._scope) != (self._merge, self._scope):
            return False
        self._after = other._after
        return True


class Editor(QObject):
    """Holds the project; everything that shows or edits it takes an `Editor`."""

    project_changed = Signal(object)
    """The `Project` that is shown now, with the network and the layout of the open block."""
    analysis_changed = Signal(object)
    """The `Report` on what is shown; not after mere moves."""
    scope_changed = Signal(object)
    """The path of the block that is open now: a tuple of ids, empty for the network itself."""
    selection_changed = Signal(object)
    """Ids of the selected layers, a frozenset."""
    refused = Signal(str)
    """Why the last request was not carried out, in words."""
    modified_changed = Signal(bool)

    def __init__(self, project: Project | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project = project or Project()
        self._facts: DataFacts | None = None
        self._scope: tuple[str, ...] = ()
        self._here = self._project
        self._report = self._report_here = check(self._project)
        self._selection: frozenset[str] = frozenset()
        self._selected_connections: frozenset[Connection] = frozenset()
        self._selected_marks: frozenset[Mark] = frozenset()
        self.stack = QUndoStack(self)
        self.stack.setUndoLimit(UNDO_LIMIT)
        self.stack.cleanChanged.connect(self._tell_modified)
        self.centre: Callable[[], Position] = lambda: (0.0, 0.0)
        """Where a layer goes that nobody placed; the canvas sets it to the middle of what is visible."""

    def _tell_modified(self, is_clean: bool) -> None:
        self.modified_changed.emit(not is_clean)

    # What is shown

    @property
    def project(self) -> Project:
        """The project as it is now, all of it."""
        return self._project

    @property
    def scope(self) -> tuple[str, ...]:
        """The path of the open block: ids from the outside in, empty for the network itself."""
        return self._scope

    @property
    def here(self) -> Project:
        """The project with the network and the layout of the open block."""
        return self._here

    @property
    def network(self) -> Network:
        """The network of the open block."""
        return self._here.network

    @property
    def layout(self) -> Layout:
        """Where its layers stand."""
        return self._here.layout

    @property
    def report(self) -> Report:
        """Analysis and problems of the whole project."""
        return self._report

    @property
    def report_here(self) -> Report:
        """Analysis and problems of the open block, told with the ids of its layers."""
        return self._report_here

    @property
    def analysis(self) -> Analysis:
        """Sizes, parameters and work of the network of the open block, in its first copy."""
        return self._report_here.analysis

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems of the project, errors first."""
        return self._report.problems

    @property
    def facts(self) -> DataFacts | None:
        """What is known about the data."""
        return self._facts

    @property
    def selection(self) -> frozenset[str]:
        """Ids of the selected layers."""
        return self._selection

    @property
    def selected_connections(self) -> frozenset[Connection]:
        """The selected connections."""
        return self._selected_connections

    @property
    def selected_marks(self) -> frozenset[Mark]:
        """The selected frames and comments."""
        return self._selected_marks

    @property
    def is_modified(self) -> bool:
        """Whether the project differs from what was last saved."""
        return not self.stack.isClean()

    def mark_saved(self) -> None:
        """The project as it is now is what the file holds."""
        self.stack.setClean()

    def open(self, project: Project) -> None:
        """Show another project; the history starts anew."""
        self._facts = None
        self.set_selection(())
        self.stack.clear()
        self.stack.setClean()
        self._show(project, ())

    def open_scope(self, path: Sequence[str]) -> None:
        """Show what is inside the block at the end of a path of ids, as far as it still leads into blocks."""
        scope = blocks.known_path(self._project.network, path)
        if scope != self._scope:
            self.set_selection(())
            self._show(self._project, scope)

    def set_facts(self, facts: DataFacts | None) -> None:
        """Tell what is known about the data now; the problems follow."""
        if facts != self._facts:
            self._facts = facts
            self._check()

    def set_selection(
        self, ids: Iterable[str], connections: Iterable[Connection] = (), marks: Iterable[Mark] = ()
    ) -> None:
        """Select these layers, connections, frames and comments, and nothing else."""
        chosen = frozenset(id for id in ids if id in self.network.layers)
        lines, notes = frozenset(connections), frozenset(marks)
        if (chosen, lines, notes) != (self._selection, self._selected_connections, self._selected_marks):
            self._selection, self._selected_connections, self._selected_marks = chosen, lines, notes
            self.selection_changed.emit(chosen)

    def apply(self, text: str, project: Project, *, merge: str = "") -> None:
        """Make this the project, as one undo step named `text`. Steps in a row with the same `merge` become one."""
        if project != self._project:
            self.stack.push(Replace(self, text, self._project, project, merge))

    def undo(self) -> None:
        """Take the last step back."""
        self.stack.undo()

    def redo(self) -> None:
        """Do what was taken back."""
        self.stack.redo()

    def _show(self, project: Project, path: Sequence[str], *, select_new: bool = False) -> None:
        """Shows another value, or another block of it. What undo or redo brings back is selected, so that the eye
        finds it."""
        before, self._project = self._project, project
        here, scope = self._here, self._scope
        self._scope = blocks.known_path(project.network, path)
        self._here = self._with_scope(project)
        network = self._here.network
        if is_elsewhere := self._scope != scope:
            self._selection, self._selected_connections, self._selected_marks = frozenset(), frozenset(), frozenset()
        selected = frozenset(id for id in self._selection if id in network.layers)
        if select_new and not selected and not is_elsewhere:
            selected = difference(here.network, network).added
        lines = self._selected_connections
        if lines:
            lines &= frozenset(network.connections)
        marks = self._selected_marks
        if here.layout is not self._here.layout and not is_elsewhere:
            there = annotations.marks(self._here.layout)
            marks &= frozenset(there)
            if select_new and not (selected or marks):
                marks = frozenset(there) - frozenset(annotations.marks(here.layout))
        was = self._selection, self._selected_connections, self._selected_marks
        self._selection, self._selected_connections, self._selected_marks = selected, lines, marks
        if is_elsewhere:
            self.scope_changed.emit(self._scope)
        self.project_changed.emit(self._here)
        if replace(before, layout=project.layout) != project:
            self._check()
        elif is_elsewhere:
            self._report_here = self._report_on_scope()
            self.analysis_changed.emit(self._report_here)
        if (selected, lines, marks) != was or is_elsewhere:
            self.selection_changed.emit(selected)

    def _with_scope(self, project: Project) -> Project:
        if not self._scope:
            return project
        network = blocks.network_in(project.network, self._scope)
        return replace(project, network=network, layout=project.layout.within(self._scope))

    def recheck(self) -> None:
        """Check again: something that is known beside the project, such as measured sizes, has changed."""
        self._check()

    def _check(self) -> None:
        self._report = check(self._project, self._facts)
        self._report_here = self._report_on_scope()
        self.analysis_changed.emit(self._report_here)

    def _report_on_scope(self) -> Report:
        return report_in(self._report, self._scope)

    # Edits

    def edit(self, text: str, change: Callable[[Project], Project], *, merge: str = "") -> bool:
        """Apply a function of the project. What it refuses (`UserError`) goes to `refused`."""
        try:
            project = change(self._project)
        except UserError as error:
            self.refused.emit(str(error))
            return False
        self.apply(text, project, merge=merge)
        return True

    def edit_network(self, text: str, change: Callable[[Network], Network], *, merge: str = "") -> bool:
        """Apply a function of the network."""
        return self.edit(text, lambda _: self._with(change(self.network)), merge=merge)

    def _with(self, network: Network | None = None, layout: Layout | None = None) -> Project:
        """All of the project, with another network or layout in the open block. Raises `UserError`."""
        project = self._project
        if network is not None:
            project = replace(project, network=blocks.with_network_in(project.network, self._scope, network))
        if layout is not None:
            project = replace(project, layout=project.layout.with_inside(self._scope, layout))
        return project

    def edit_layout(self, text: str, change: Callable[[Layout], Layout], *, merge: str = "") -> bool:
        """Apply a function of the layout."""
        return self.edit(text, lambda _: self._with(layout=change(self.layout)), merge=merge)

    def apply_here(
        self, text: str, network: Network | None = None, layout: Layout | None = None, *, merge: str = ""
    ) -> bool:
        """Give the open block another network or layout, as one undo step."""
        return self.edit(text, lambda _: self._with(network, layout), merge=merge)

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
        layout = self.layout.moved({layer.id: placing.snapped(at) if at else self._place(connect_from)})
        return self._show_added(f"Add {made.name or type.label}", network, layout, layer.id, made)

    def insert_refusal(self, type: LayerType, into: Connection) -> str | None:
        """Why a layer of this type cannot stand in the middle of a connection, in words, or None."""
        if not type.input_ports() or not type.output_ports():
            return f"{type.label} has no input: it cannot be inserted into a connection."
        given = self.analysis.type_at(into.source)
        if given is not None and len(type.input_ports()) == 1 and not type.is_measured:
            try:
                type.output(given)
            except MisfitError as misfit:
                return f"{type.label} does not fit here. {misfit}"
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
        layout = placing.inserted(self.network, self.layout, into, layer.id, at)
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
            {layer.id: placing.with_port_at(at, len(ports), is_output=is_input, flow=self.layout.flow)}
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
            return placing.free_place(self.layout, placing.snapped(self.centre()))
        return placing.behind(self.layout, below)

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
            except MisfitError:
                return network
        return edits.connect(network, start, Port(target, inputs[0]))

    # Blocks

    def group(self) -> str | None:
        """Put the selected layers, frames and comments into a new block and select it; its id, or None if it was
        refused."""
        try:
            network, layout, id = blocks.group(self.network, self.layout, self._selection)
        except UserError as error:
            self.refused.emit(str(error))
            return None
        frames, comments = annotations.part(layout, self._selected_marks)
        inside = replace(layout.within([id]), frames=frames, comments=comments)
        layout = annotations.remove(layout, self._selected_marks).with_inside([id], inside)
        self.apply_here("Group into a block", network, layout)
        self.set_selection({id})
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
                network, layout, ids = blocks.ungroup(network, layout, id)
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
            dx, dy = placing.beside(self.layout, [*places.values(), *written])
        else:
            corners = [*places.values(), *written]
            left, top = min(x for x, _ in corners), min(y for _, y in corners)
            dx, dy = placing.snapped((at[0] - left, at[1] - top))
        positions = {new_ids[id]: placing.snapped((x + dx, y + dy)) for id, (x, y) in places.items()}
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
