"""One project on screen: the value that is shown, what is wrong with it, the undo history and the selection.

A project is never changed in place. An edit hands a new one to `apply`, which is the one way in; undo keeps the old
ones. So there is one undo command, and every view draws the value it is told about.

A block can be open. `project` is always all of it; `network`, `layout`, `analysis` and the selection are those inside
the open block, so that whatever draws or edits a network needs to know nothing of blocks.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from engine.core.errors import UserError
from engine.network import annotations, blocks
from engine.network.analysis import Analysis
from engine.network.annotations import Mark
from engine.network.layout import Layout, difference
from engine.network.network import Connection, Network
from engine.network.problems import Problem
from engine.project.check import Report, check, report_in
from engine.project.dataset_info import DataFacts
from engine.project.project import Project
from engine.project.stage_edits import with_stages_kept

# Old values share what did not change, but each keeps its own table of layers: a bound for large networks.
UNDO_LIMIT = 200


class Replace(QUndoCommand):
    """One value of the project took the place of another: the only undo command there is."""

    def __init__(self, document: "Document", text: str, before: Project, after: Project, merge: str) -> None:
        super().__init__(text)
        self._document = document
        self._before = before
        self._after = after
        self._scope = document.scope
        self._merge = merge
        self._is_back = False

    def redo(self) -> None:
        self._document._show(self._after, self._scope, select_new=self._is_back)

    def undo(self) -> None:
        self._is_back = True
        self._document._show(self._before, self._scope, select_new=True)

    def id(self) -> int:
        return hash(self._merge) & 0x7FFFFFFF if self._merge else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, Replace) or (other._merge, other._scope) != (self._merge, self._scope):
            return False
        self._after = other._after
        return True


class Document(QObject):
    """Holds the project, with one way in: `apply`."""

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
        self._refusal = ""
        self._scope: tuple[str, ...] = ()
        self._here = self._project
        self._report = self._report_here = check(self._project)
        self._selection: frozenset[str] = frozenset()
        self._selected_connections: frozenset[Connection] = frozenset()
        self._selected_marks: frozenset[Mark] = frozenset()
        self.stack = QUndoStack(self)
        self.stack.setUndoLimit(UNDO_LIMIT)
        self.stack.cleanChanged.connect(self._tell_modified)

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
        self._facts, self._refusal = None, ""
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

    def set_facts(self, facts: DataFacts | None, refusal: str = "") -> None:
        """Tell what is known about the data now, or why nothing is; the problems follow."""
        if (facts, refusal) != (self._facts, self._refusal):
            self._facts, self._refusal = facts, refusal
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
        """Make this the project, as one undo step named `text`. Steps in a row with the same `merge` become one.

        Layers stay in the stages of a pipeline into which they were put by hand."""
        project = with_stages_kept(self._project, project)
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
        self._report = check(self._project, self._facts, self._refusal)
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
