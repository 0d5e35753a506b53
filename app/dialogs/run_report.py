"""Write the report of a run: ask for the file, write it in a process of its own, and show it in the browser."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QProgressDialog

from app.processes import EngineCommand
from app.shell import Shell
from engine.runs.folder import RunFolder
from engine.runs.summary import title_of

SUFFIX = ".html"


class ReportWriter(QProgressDialog):
    """Shows that a report is written; cancelling ends the process, and no file is left."""

    def __init__(self, shell: Shell, run: RunFolder, to: Path) -> None:
        super().__init__("Evaluating the network and writing the report…", "Cancel", 0, 0, shell.dialog_parent)
        self.setWindowTitle("Export report")
        self.setMinimumDuration(0)
        self.setMinimumWidth(420)
        self.setAutoClose(False)
        self._shell, self._to = shell, to
        self._command = EngineCommand(["report", str(run.path), "-o", str(to), "--json"], self)
        self._command.finished.connect(self._on_finished)
        self._command.failed.connect(self._on_failed)
        self.canceled.connect(self._on_canceled)
        self.show()

    def _on_finished(self, written: Mapping[str, Any]) -> None:
        self._close()
        missing = f", without an evaluation: {written['missing']}" if written["missing"] else ""
        self._shell.hint(f"Wrote {self._to.name}{missing}")
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._to)))

    def _on_failed(self, reason: str) -> None:
        self._close()
        self._shell.show_error("The report cannot be written", reason)

    def _on_canceled(self) -> None:
        self._command.cancel()
        self._close()

    def _close(self) -> None:
        self.canceled.disconnect(self._on_canceled)  # closing counts as cancelling
        self.close()
        self.deleteLater()


def save_report(shell: Shell, run: RunFolder) -> ReportWriter | None:
    """Ask for a file, and start writing the report of a run; None where none was named."""
    folder = shell.documents.folder
    title = title_of(run).replace("/", "-")
    start = str(folder / f"{title}{SUFFIX}")
    name, _ = QFileDialog.getSaveFileName(shell.dialog_parent, "Export report", start, f"HTML (*{SUFFIX})")
    if not name:
        return None
    to = Path(name)
    to = to if to.suffix.lower() in (SUFFIX, ".htm") else to.with_name(to.name + SUFFIX)
    try:
        return ReportWriter(shell, run, to)
    except OSError as error:
        shell.show_error("The report cannot be written", f"The engine cannot be started: {error.strerror}.")
        return None
