"""What the File menu does with the document: it asks about unsaved work, opens, saves, and says what went wrong."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from app import messages
from engine.core.errors import UserError
from engine.network.arrangement import placed
from engine.project.file import SUFFIX
from engine.project.project import Project

if TYPE_CHECKING:
    from app.window import MainWindow

FILTER = f"Netwright projects (*{SUFFIX})"


class DocumentActions:
    """The questions around the open document of one window."""

    def __init__(self, window: "MainWindow") -> None:
        self._window = window

    def open_path(self, path: Path) -> bool:
        """Open a project, or say why not; the open one is then untouched. Nothing is asked about unsaved work."""
        window = self._window
        try:
            opened = window.documents.open(path)
        except UserError as error:
            window.show_error("The project cannot be opened", str(error))
            return False
        self._show(opened.project)
        for notice in opened.notices:
            window.hint(notice)
        return True

    def open_asking(self, path: Path) -> bool:
        """Open a project after asking about unsaved work. Says whether it is open."""
        return self.may_leave() and self.open_path(path)

    def open_copy(self, path: Path, origin: Path) -> bool:
        """Open a copy of a project after asking about unsaved work, see `Documents.open_copy`. Says whether it is."""
        if not self.may_leave():
            return False
        try:
            opened = self._window.documents.open_copy(path, origin)
        except UserError as error:
            self._window.show_error("The project cannot be opened", str(error))
            return False
        self._show(opened.project)
        return True

    def _show(self, project: Project) -> None:
        window = self._window
        window.editor.open(replace(project, layout=placed(project.network, project.layout)))
        window.facts.refresh()
        window.show_document()
        window.training.show_project()

    def recover(self) -> bool:
        """Bring back unsaved work of a window that crashed. Says whether there was any."""
        found = self._window.documents.recover()
        if found is None:
            return False
        self._show(found[0])
        self._window.editor.stack.resetClean()
        self._window.documents.autosave()  # its file is gone: a crash in the next seconds would lose it
        self._window.hint(f"Unsaved work on {found[1]} was recovered.")
        return True

    def new(self) -> None:
        """An empty project."""
        if self.may_leave():
            self._window.documents.new()
            self._show(Project())

    def open(self) -> None:
        """Ask which project to open."""
        if self.may_leave():
            start = str(self._window.documents.folder)
            name, _ = QFileDialog.getOpenFileName(self._window, "Open a project", start, FILTER)
            if name:
                self.open_path(Path(name))

    def save(self) -> bool:
        """Save, asking for a file if there is none. Says whether it was saved."""
        path = self._window.documents.path
        return self.save_as() if path is None else self._save(path)

    def save_as(self) -> bool:
        """Save under another name."""
        documents = self._window.documents
        start = documents.path or documents.folder / f"{documents.title}{SUFFIX}"
        name, _ = QFileDialog.getSaveFileName(self._window, "Save the project", str(start), FILTER)
        return self._save(Path(name)) if name else False

    def _save(self, path: Path) -> bool:
        window = self._window
        if path == window.documents.path and window.documents.is_changed_elsewhere:
            title = f"{path.name} was changed by another program."
            text = "Saving replaces what it wrote there. To keep both, cancel and use Save as."
            if not messages.ask(window, title, text, "Replace it"):
                return False
        try:
            saved = window.documents.save(path)
        except UserError as error:
            window.show_error("The project cannot be saved", str(error))
            return False
        if saved != window.editor.project:
            window.editor.apply("Save elsewhere", saved)
        window.editor.mark_saved()
        window.update_title()
        window.hint(f"Saved {path.name}.")
        return True

    def may_leave(self) -> bool:
        """Whether unsaved work may go: it is saved first, given up, or the whole thing is cancelled."""
        if not self._window.editor.is_modified:
            return True
        answer = messages.ask_to_save(self._window, self._window.documents.title)
        return self.save() if answer == "save" else answer == "discard"
