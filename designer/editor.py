"""The project on screen: its value, its problems, the undo history and the selection, and the edits that change it.

A project is never changed in place. An edit makes a new one and hands it to `apply`, the one way in; undo keeps the old
ones. So there is one undo command, and every view draws the value it receives.

A block can be open. `project` is always all of it; `network`, `layout`, `analysis` and the selection are those inside
the open block, so that whatever draws or edits a network needs to know nothing of blocks.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from netwright.designer import clipboard, layer_edits, undo_history
from netwright.designer.clipboard import Piece
from netwright.designer.language import layer_label, tr
from netwright.designer.layer_edits import LayerEdit, Selection
from netwright.engine.core.errors import UserError
from netwright.engine.network import annotations, blocks, edits
from netwright.engine.network.analysis import Analysis
from netwright.engine.network.annotations import Mark
from netwright.engine.network.block import Block
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.layout import Layout, Position
from netwright.engine.network.network import Connection, Network, Port
from netwright.engine.network.problems import Problem
from netwright.engine.project.check import CheckResult, check, result_in
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.project import Project, project_in
from netwright.engine.project.stage_edits import with_stages_kept
from netwright.engine.project.sweeps import following_names

UNDO_LIMIT = 200  # old values share what did not change, but each keeps a table of layers of its own


class Editor(QObject):
    """Holds one project and edits it; everything that shows or edits a project takes an `Editor`."""

    about_to_show = Signal(object)
    """The `Project` that `project_changed` is emitted with next, before it is checked: for what its check reads."""
    project_changed = Signal(object)
    """The `Project` that is shown now, with the network and the layout of the open block."""
    analysis_changed = Signal(object)
    """The `CheckResult` of what is shown; not emitted after mere moves."""
    scope_changed = Signal(object)
    """The path of the block that is open now: a tuple of ids, empty for the network itself."""
    selection_changed = Signal(object)
    """Ids of the selected layers, a frozenset."""
    refused = Signal(str)
    """Why the last edit was not carried out."""
    stepped = Signal(object)
    """The `Step` that was undone or redone."""
    modified_changed = Signal(bool)

    def __init__(self, project: Project | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stack = QUndoStack(self)
        self.stack.setUndoLimit(UNDO_LIMIT)
        self.stack.cleanChanged.connect(self._on_clean_changed)
        self._project = project or Project()
        self._dataset_info: DatasetInfo | None = None
        self._data_refusal = ""
        self._scope: tuple[str, ...] = ()
        self._here = self._project
        self._check_result = self._check_result_here = check(self._project).on_canvas()
        self._selection = Selection()
        self.centre: Callable[[], Position] = lambda: (0.0, 0.0)
        """Where a layer goes that nobody placed; the canvas sets it to the middle of what is visible."""

    def __del__(self) -> None:
        """Clear the history before the garbage collector takes the editor apart.

        An editor and its commands refer to each other. PySide 6.10 gives a command that is garbage to Python, which
        deletes it although the stack still holds it: the stack then deletes it again.
        """
        if shiboken6.isValid(self.stack):
            self.stack.blockSignals(True)
            self.stack.clear()

    def _on_clean_changed(self, is_clean: bool) -> None:
        self.modified_changed.emit(not is_clean)

    # What is shown

    @property
    def project(self) -> Project:
        """The whole project."""
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
        """The layout of the open block."""
        return self._here.layout

    @property
    def check_result(self) -> CheckResult:
        """Analysis and problems of the whole project."""
        return self._check_result

    @property
    def check_result_here(self) -> CheckResult:
        """Analysis and problems of the open block, with the ids of its layers."""
        return self._check_result_here

    @property
    def analysis(self) -> Analysis:
        """Sizes, parameters and FLOPs in the open block, in its first copy."""
        return self._check_result_here.analysis

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems of the project, errors first."""
        return self._check_result.problems

    @property
    def dataset_info(self) -> DatasetInfo | None:
        """The facts about the data, where they are known."""
        return self._dataset_info

    @property
    def selection(self) -> frozenset[str]:
        """Ids of the selected layers."""
        return self._selection.layers

    @property
    def selected_connections(self) -> frozenset[Connection]:
        """The selected connections."""
        return self._selection.connections

    @property
    def selected_marks(self) -> frozenset[Mark]:
        """The selected frames and comments."""
        return self._selection.marks

    @property
    def is_modified(self) -> bool:
        """Whether the project differs from the saved one."""
        return not self.stack.isClean()

    def mark_saved(self) -> None:
        """Note that the file holds the project as it is now."""
        self.stack.setClean()

    def open(self, project: Project) -> None:
        """Show another project, with an empty history."""
        self._dataset_info, self._data_refusal = None, ""
        self.set_selection(())
        self.stack.clear()
        self.stack.setClean()
        self._show(project, ())

    def open_scope(self, path: Sequence[str]) -> None:
        """Show the contents of the block at the end of a path of ids, as far as the path leads into blocks."""
        scope = blocks.known_path(self._project.network, path)
        if scope != self._scope:
            self.set_selection(())
            self._show(self._project, scope)

    def open_block(self, id: str) -> bool:
        """Show the contents of a block of the open network; return whether the layer is a block."""
        layer = self.network.layers.get(id)
        if layer is None or not isinstance(layer.type, Block):
            return False
        self.open_scope((*self._scope, id))
        return True

    def leave_block(self) -> None:
        """Show the network around the open block, with the block selected."""
        if self._scope:
            *outer, id = self._scope
            self.open_scope(outer)
            self.set_selection({id})

    def go_to(self, problem: Problem) -> str:
        """Open the block that a problem is in and select its layer; return the layer's id, or "" without a layer."""
        *path, id = problem.path
        if problem.layer:
            self.open_scope(path)
            if id in self.network.layers:
                self.set_selection({id})
                return id
        return ""

    def set_dataset_info(self, info: DatasetInfo | None, refusal: str = "") -> None:
        """Set the facts about the data, or the reason why there are none, and check the project again."""
        if (info, refusal) != (self._dataset_info, self._data_refusal):
            self._dataset_info, self._data_refusal = info, refusal
            self.recheck()

    def set_selection(
        self, ids: Iterable[str], connections: Iterable[Connection] = (), marks: Iterable[Mark] = ()
    ) -> None:
        """Select these layers, connections, frames and comments, and nothing else."""
        layers = frozenset(id for id in ids if id in self.network.layers)
        self._select(Selection(layers, frozenset(connections), frozenset(marks)))

    def _select(self, selection: Selection) -> None:
        if selection != self._selection:
            self._selection = selection
            self.selection_changed.emit(selection.layers)

    def select_all(self) -> None:
        """Select every layer, frame and comment."""
        self.set_selection(self.network.layers, marks=annotations.marks(self.layout))

    # The one way in

    def apply(self, text: str, project: Project, *, merge: str = "") -> None:
        """Make this the project, as one undo step named `text`. Steps in a row with the same `merge` become one.

        Pipeline stages are written by the names of layers: an edit of the network that renames, adds or groups some
        takes the stages along. Without stages, or for the same network, that is one comparison.
        """
        project = with_stages_kept(self._project, project)
        if project != self._project:
            self.stack.push(undo_history.Replace(self, text, self._project, project, merge))

    def edit(self, text: str, change: Callable[[Project], Project], *, merge: str = "") -> bool:
        """Apply a function of the project; a `UserError` goes to `refused`."""
        try:
            changed = change(self._project)
            project = following_names(self._project, changed)
        except UserError as error:
            self.refused.emit(str(error))
            return False
        text = text if project is changed else tr("{text}, also in the experiment", text=text)
        self.apply(text, project, merge=merge)
        return True

    def edit_network(self, text: str, change: Callable[[Network], Network], *, merge: str = "") -> bool:
        """Apply a function of the network of the open block; a `UserError` goes to `refused`."""
        return self.edit(text, lambda _: self._with(change(self.network)), merge=merge)

    def apply_here(
        self, text: str, network: Network | None = None, layout: Layout | None = None, *, merge: str = ""
    ) -> bool:
        """Give the open block another network or layout, as one undo step."""
        return self.edit(text, lambda _: self._with(network, layout), merge=merge)

    def _apply_layers(self, make: Callable[[], LayerEdit]) -> str | None:
        """Apply an edit of layers and select the new layers; return the id of one of these, or None if refused."""
        try:
            edit = make()
            project = self._with(edit.network, edit.layout)
        except UserError as error:
            self.refused.emit(str(error))
            return None
        self.apply(edit.text, project)
        self._select(edit.selection)
        return next(iter(edit.selection.layers), None)

    def _with(self, network: Network | None = None, layout: Layout | None = None) -> Project:
        """The whole project with another network or layout in the open block. Raises `UserError`."""
        project = self._project
        if network is not None:
            project = replace(project, network=blocks.with_network_in(project.network, self._scope, network))
        if layout is not None:
            layout = blocks.with_layout_in(project.network, project.layout, self._scope, layout)
        return project if layout is None else replace(project, layout=layout)

    def undo(self) -> None:
        """Undo the last step."""
        before, text = self._project, self.stack.undoText()
        self.stack.undo()
        if before is not self._project:
            self.stepped.emit(undo_history.step(text, self._project, before, undone=True))

    def redo(self) -> None:
        """Redo the step that was undone last."""
        before, text = self._project, self.stack.redoText()
        self.stack.redo()
        if before is not self._project:
            self.stepped.emit(undo_history.step(text, before, self._project, undone=False))

    def show_step(self, project: Project, path: Sequence[str], *, select_new: bool) -> None:
        """Show one end of a step of the history, in the block where it was done."""
        self._show(project, path, select_new=select_new)

    def _show(self, project: Project, path: Sequence[str], *, select_new: bool = False) -> None:
        """Show another value, or another block of it. With `select_new` select the layers that come back."""
        before, self._project = self._project, project
        here, scope = self._here, self._scope
        self._scope = blocks.known_path(project.network, path)
        self._here = project_in(project, self._scope)
        old_selection, is_elsewhere = self._selection, self._scope != scope
        selected = Selection() if is_elsewhere else old_selection.after(here, self._here, select_new=select_new)
        self._selection = selected
        self.about_to_show.emit(self._here)
        is_checked = replace(before, layout=project.layout) != project
        if is_checked:
            self._check()
        if is_checked or is_elsewhere:
            self._check_result_here = result_in(self._check_result, self._scope)
        if is_elsewhere:
            self.scope_changed.emit(self._scope)
        self.project_changed.emit(self._here)
        if is_checked or is_elsewhere:
            self.analysis_changed.emit(self._check_result_here)
        if is_elsewhere or selected != old_selection:
            self.selection_changed.emit(selected.layers)

    def recheck(self) -> None:
        """Check the project again, after an edit or when something beside it has changed, such as measured sizes."""
        self._check()
        self._check_result_here = result_in(self._check_result, self._scope)
        self.analysis_changed.emit(self._check_result_here)

    def _check(self) -> None:
        self._check_result = check(self._project, self._dataset_info, self._data_refusal).on_canvas()

    # Layers

    def set_fields(self, ids: Collection[str], values: Mapping[str, object], merge: str = "") -> bool:
        """Set field values of some layers."""

        def change(network: Network) -> Network:
            for id in ids:
                network = edits.set_fields(network, id, values)
            return network

        return self.edit_network(tr("Change {fields}", fields=", ".join(values)), change, merge=merge)

    def rename(self, id: str, name: str) -> bool:
        """Rename a layer."""
        return self.edit_network(tr("Rename to {name}", name=name), lambda network: edits.rename(network, id, name))

    def rename_port(self, block: str, port: str, name: str) -> bool:
        """Rename a port of a block: the layer inside that stands for it. Connections follow."""
        return self.edit_network(
            tr("Rename port to {name}", name=name), lambda network: layer_edits.rename_port(network, block, port, name)
        )

    def replace_layer(self, id: str, key: str) -> bool:
        """Give a layer another type; it keeps its place and all that both types have."""
        try:
            type = layer_type(key)
        except UserError as error:
            self.refused.emit(str(error))
            return False
        text = tr("Replace with {type}", type=layer_label(type.label))
        return self.edit_network(text, lambda network: edits.replace_type(network, id, type))

    def edit_selection(self, edit: Callable[[Project, Selection], LayerEdit]) -> None:
        """Apply an edit to the selected layers, one of those in `netwright.designer.layer_edits`."""
        if self.selection:
            self._apply_layers(lambda: edit(self._here, self._selection))

    def disconnect_all(self, connections: Collection[Connection]) -> bool:
        """Remove connections."""
        return self.edit_network(tr("Disconnect"), lambda network: edits.disconnect(network, connections))

    def _piece(self, layer: str | Piece) -> Piece:
        """Return the piece to add. Raises `UserError` for an unknown key, and for a port of a block outside one."""
        return layer_edits.piece(layer, is_in_block=bool(self._scope))

    def add_layer(self, layer: str | Piece, at: Position | None = None, connect_from: str | None = None) -> str | None:
        """Add a layer, by the key of its type or as a piece of the user's own, and select it.

        Without a place it goes below the one selected layer and is connected to it, or into the connection that leaves
        there; without such a layer to the middle of the canvas. Returns its id, or None if it was refused.
        """
        if at is None and connect_from is None and len(self.selection) == 1:
            (connect_from,) = self.selection
        return self._apply_layers(
            lambda: layer_edits.add(self._here, self.analysis, self._piece(layer), at, connect_from, self.centre())
        )

    def insert_layer(self, layer: str | Piece, at: Position, into: Connection) -> str | None:
        """Insert a layer into a connection and select it; return its id, or None if it was refused."""
        return self._apply_layers(lambda: layer_edits.insert(self._here, self.analysis, self._piece(layer), at, into))

    def add_at_port(self, layer: str | Piece, at: Position, port: Port, *, is_input: bool) -> str | None:
        """Add a layer connected to an open port and select it; return its id, or None if it was refused."""
        return self._apply_layers(
            lambda: layer_edits.add_at_port(self._here, self._piece(layer), at, port, is_input=is_input)
        )

    def group(self) -> str | None:
        """Put the selected layers, frames and comments into a new block and select it; return its id, or None if it
        was refused. Layers that cannot be inside a block stay outside, with a message."""
        fixed = blocks.fixed_layers(self.network, self.selection)
        ids = self.selection - set(fixed) or self.selection
        block = self._apply_layers(lambda: layer_edits.group(self._here, ids, self.selected_marks))
        if block is not None and fixed:
            names = ", ".join(layer.name for layer in fixed.values())
            text = tr("The other layers are one block now. Inputs and ports stay outside: {names}.", names=names)
            self.refused.emit(text)
        return block

    def ungroup(self) -> None:
        """Replace the selected blocks by their contents, and select these."""
        self._apply_layers(lambda: layer_edits.ungroup(self._here, self.selection))

    def delete_selection(self, *, heal: bool = True) -> None:
        """Remove the selected layers, connections, frames and comments.

        With `heal`, what fed a layer then feeds what it fed, where that is clear. The layers in a frame stay.
        """
        if self._selection != Selection():
            self._apply_layers(lambda: layer_edits.delete(self._here, self._selection, heal=heal))

    # Clipboard

    def copy(self) -> None:
        """Put the selected layers, frames and comments on the clipboard."""
        if self.selection or self.selected_marks:
            clipboard.put(*layer_edits.part(self._here, self._selection))

    def cut(self) -> None:
        """Put the selection on the clipboard and remove it."""
        self.copy()
        self.delete_selection(heal=False)

    def paste(self, at: Position | None = None) -> None:
        """Add the contents of the clipboard, beside the originals or with its top left corner at a place."""
        self._apply_layers(lambda: layer_edits.paste(tr("Paste"), self._here, *clipboard.take(), at))

    def duplicate(self) -> None:
        """Add copies of the selected layers, frames and comments beside them."""
        if self.selection or self.selected_marks:
            part = layer_edits.part(self._here, self._selection)
            self._apply_layers(lambda: layer_edits.paste(tr("Duplicate"), self._here, *part, None))
