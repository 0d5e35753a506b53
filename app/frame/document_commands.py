"""The commands of the File menu: they ask about unsaved work, open, save, and report errors."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from netwright.app import messages
from netwright.app.documents import uncollected
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.core.errors import UserError
from netwright.engine.core.folders import state_folder
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.core.process import start_detached_module
from netwright.engine.network.arrangement import placed
from netwright.engine.project.import_kinds import KINDS
from netwright.engine.project.project import Project

WINDOW = "netwright.app.main"
IMPORTED = " ".join(f"*{suffix}" for kind in KINDS for suffix in kind.suffixes)


def project_filter() -> str:
    """Return the filter of file dialogs for projects."""
    return tr("Netwright projects (*{suffix})", suffix=SUFFIX)


def import_filter() -> str:
    """Return the filter of file dialogs for everything that can be imported."""
    return tr("Networks of other programs ({patterns})", patterns=IMPORTED)


class DocumentCommands(QObject):
    """Opens and saves the document of one window."""

    opened = Signal()
    """Another project is open."""
    data_chosen = Signal(object)
    """The path of a file that is no project."""
    import_chosen = Signal(object)
    """The path of a file that another program wrote, with a network."""
    file_chosen = Signal(object)
    """The path of a file of which nobody said what it is."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell.dialog_parent)
        self._shell = shell

    def open_path(self, path: Path) -> bool:
        """Open a project without asking about unsaved work, or report why it cannot be opened; the open one is then
        untouched. Return whether it is open."""
        try:
            with uncollected():
                document = self._shell.documents.open(path)
                self._show(document.project)
        except UserError as error:
            self._shell.show_error(tr("The project cannot be opened"), str(error))
            return False
        for notice in document.notices:
            self._shell.hint(notice)
        return True

    def open_window(self) -> None:
        """Open another window for another project, a program of its own that outlives this one."""
        try:
            log = state_folder() / "window.log"
            log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            start_detached_module(log, WINDOW, "--start-page")
        except (OSError, RuntimeError) as error:
            self._shell.show_error(tr("No window can be opened"), str(error))

    def open_asking(self, path: Path) -> bool:
        """Open a project after asking about unsaved work. Return whether it is open."""
        return self.may_leave() and self.open_path(path)

    def open_copy(self, path: Path, origin: Path) -> bool:
        """Open a copy of a project after asking about unsaved work, see `Documents.open_copy`. Return whether it is
        open."""
        if not self.may_leave():
            return False
        try:
            document = self._shell.documents.open_copy(path, origin)
        except UserError as error:
            self._shell.show_error(tr("The project cannot be opened"), str(error))
            return False
        self._show(document.project)
        return True

    def open_project_of(self, identity: str, path: str) -> bool:
        """Open the file of the project that a run belongs to, after asking about unsaved work: that at its path, else a
        recent project with its identity, since the run may be older than the first Save. Where there is none, the open
        project stays. Return false where the user cancels, or the file cannot be opened."""
        documents = self._shell.documents
        file = documents.find(identity, Path(path) if path else None)
        return file is None or file == documents.path or self.open_asking(file)

    def _show(self, project: Project) -> None:
        self._shell.editor.open(replace(project, layout=placed(project.network, project.layout)))
        self.opened.emit()

    def recover(self) -> bool:
        """Restore the unsaved work of a window that crashed. Return whether there was any."""
        recovered = self._shell.documents.recover()
        if recovered is None:
            return False
        project, title = recovered
        self._show(project)
        self._shell.editor.stack.resetClean()
        self._shell.documents.autosave()  # its file is gone: a crash in the next seconds would lose it
        self._shell.hint(tr("Unsaved work on {title} was recovered.", title=title))
        return True

    def reopen(self) -> bool:
        """Open the last project, if the user has chosen that for the start. Return whether it is open."""
        last = self._shell.documents.last() if self._shell.documents.reopens else None
        return last is not None and self.open_path(last)

    def new(self) -> None:
        """Open an empty project."""
        if self.may_leave():
            self._shell.documents.new()
            self._show(Project())

    def open(self) -> None:
        """Ask for a project, and open it after asking about unsaved work. A network of another program is imported,
        any other file taken for data."""
        start = str(self._shell.documents.folder)
        both = tr("Projects and networks ({patterns})", patterns=f"*{SUFFIX} {IMPORTED}")
        networks, data = import_filter(), tr("Data of any kind (*)")
        filters = ";;".join((both, project_filter(), networks, data))
        title = tr("Open a project, a network or data")
        name, pattern = QFileDialog.getOpenFileName(self._shell.dialog_parent, title, start, filters)
        if not name:
            return
        path = Path(name)
        if path.suffix == SUFFIX:
            self.open_asking(path)
        elif pattern == networks:
            self.import_chosen.emit(path)
        elif pattern == data:
            self.data_chosen.emit(path)
        else:
            self.file_chosen.emit(path)

    def save(self) -> bool:
        """Save, asking for a file if there is none. Return whether it was saved."""
        path = self._shell.documents.path
        return self.save_as() if path is None else self._save(path)

    def save_as(self) -> bool:
        """Save under another name. Return whether it was saved."""
        documents = self._shell.documents
        start = documents.path or documents.folder / f"{documents.title}{SUFFIX}"
        name, _ = QFileDialog.getSaveFileName(
            self._shell.dialog_parent, tr("Save the project"), str(start), project_filter()
        )
        return self._save(Path(name)) if name else False

    def _save(self, path: Path) -> bool:
        shell, documents = self._shell, self._shell.documents
        if path == documents.path and documents.is_changed_elsewhere:
            title = tr("{file} was changed by another program.", file=path.name)
            text = tr("Saving overwrites its changes. To keep both, cancel and use Save as.")
            if not messages.ask(shell.dialog_parent, title, text, tr("Replace it")):
                return False
        try:
            saved = documents.save(path)
        except UserError as error:
            shell.show_error(tr("The project cannot be saved"), str(error))
            return False
        if saved != shell.editor.project:
            shell.editor.apply(tr("Save elsewhere"), saved)
        shell.editor.mark_saved()
        shell.hint(tr("Saved {file}.", file=path.name))
        return True

    def may_leave(self) -> bool:
        """Ask what to do with unsaved work: save it, discard it, or cancel. Return whether the document may go."""
        if not self._shell.editor.is_modified:
            return True
        answer = messages.ask_to_save(self._shell.dialog_parent, self._shell.documents.title)
        return self.save() if answer == "save" else answer == "discard"
