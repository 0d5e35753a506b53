"""The commands that import files of other programs: they ask where to, open the project and show the report."""

import json
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from netwright.app.documents import Documents
from netwright.app.frame.document_commands import DocumentCommands, import_filter
from netwright.app.shell import Shell, open_dialog
from netwright.designer.language import tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import read_object, write_atomically
from netwright.engine.core.folders import state_folder
from netwright.engine.project.import_kinds import KINDS

REPORT_LIMIT_BYTES = 2**24


def import_filters() -> list[str]:
    """Return the filters of file dialogs: for everything that can be imported, then kind by kind."""
    each = [f"{translation(kind.label)} ({' '.join(f'*{suffix}' for suffix in kind.suffixes)})" for kind in KINDS]
    return [import_filter(), *(each if len(each) > 1 else [])]


class ImportCommands(QObject):
    """Imports networks in one window, and keeps the report of each for later."""

    transfer_requested = Signal()
    """The user wants to adapt the imported network to other data."""
    report_changed = Signal()
    """Whether there is a report of the open project may have changed."""

    def __init__(self, shell: Shell, files: DocumentCommands) -> None:
        super().__init__(shell.dialog_parent)
        self._shell, self._files = shell, files
        self.has_report = False
        shell.documents.changed.connect(self._look_for_report)

    def choose(self) -> None:
        """Ask for a file, and import it."""
        start, filters = str(self._shell.documents.folder), ";;".join(import_filters())
        name, _ = QFileDialog.getOpenFileName(self._shell.dialog_parent, tr("Import a network"), start, filters)
        if name:
            self.start(Path(name))

    def start(self, source: Path) -> bool:
        """Import a file after asking about unsaved work, open the project, and show the report. Return whether it is
        open."""
        shell = self._shell
        if not self._files.may_leave():
            return False
        if not source.is_file():
            shell.show_error(tr("The file cannot be imported"), tr("There is no file {file}.", file=source))
            return False
        report = open_dialog("import_network", shell, source)
        if report is None or not self._files.open_path(Path(report["project"])):
            return False
        self._shell.show_tab("design")
        self._keep(report)
        self.show_report()
        return True

    def _keep(self, report: dict[str, Any]) -> None:
        """Write the report where the window finds it again. A failure is ignored: it is on screen."""
        path = _report_path(self._shell.documents)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, json.dumps(report).encode(), mode=0o600)
        except OSError:
            return
        self._look_for_report()

    def _look_for_report(self) -> None:
        self.has_report = _report_path(self._shell.documents).is_file()
        self.report_changed.emit()

    def show_report(self) -> None:
        """Show the report of the import that made the open project."""
        shell = self._shell
        try:
            report = read_object(_report_path(shell.documents), REPORT_LIMIT_BYTES)
        except (OSError, UserError):
            report = None
        if not report:
            shell.hint(tr("This project was not imported here: there is no report."))
            return
        if open_dialog("import_report", shell, report):
            self.transfer_requested.emit()


def _report_path(documents: Documents) -> Path:
    """Return where the report on the open project is kept: by its identity, which survives moving and renaming."""
    return state_folder() / "imports" / f"{documents.identity or 'none'}.json"
