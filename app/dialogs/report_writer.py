"""Write a report: ask for the file, write it in a process of its own, and show it in the browser."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QProgressDialog

from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.operations.operation import Operation, Request

PAGES = (".html", ".htm")


class ReportWriter(QProgressDialog):
    """Shows that a report is written by an operation of the engine; cancelling ends it, and no file is left. `lacks`
    names what it may be without, such as `an evaluation`."""

    def __init__(
        self, shell: Shell, operation: Operation[Any, Any], request: Request, to: Path, doing: str, lacks: str
    ) -> None:
        super().__init__(doing, tr("Cancel"), 0, 0, shell.dialog_parent)
        self.setWindowTitle(tr("Export report"))
        self.setMinimumDuration(0)
        self.setMinimumWidth(420)
        self.setAutoClose(False)
        self._shell, self._to, self._lacks = shell, to, lacks
        self._request = shell.server.ask(operation, request, self._on_finished, self._on_failed)
        self.canceled.connect(self._on_canceled)
        self.show()

    def _on_finished(self, written: Mapping[str, Any]) -> None:
        self._close()
        if reason := written.get("missing"):
            text = tr("Wrote {file}, without {part}: {reason}", file=self._to.name, part=self._lacks, reason=reason)
        else:
            text = tr("Wrote {file}", file=self._to.name)
        self._shell.hint(text)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._to)))

    def _on_failed(self, reason: str) -> None:
        self._close()
        self._shell.show_error(tr("The report cannot be written"), reason)

    def _on_canceled(self) -> None:
        self._shell.server.cancel(self._request)
        self._close()

    def _close(self) -> None:
        self.canceled.disconnect(self._on_canceled)  # closing counts as cancelling
        self.close()
        self.deleteLater()


def ask_for_page(shell: Shell, title: str) -> Path | None:
    """Ask for the HTML file of a report; None where none was named."""
    start = str(shell.documents.folder / f"{title}{PAGES[0]}")
    name, _ = QFileDialog.getSaveFileName(
        shell.dialog_parent, tr("Export report"), start, tr("HTML (*{suffix})", suffix=PAGES[0])
    )
    if not name:
        return None
    to = Path(name).absolute()
    return to if to.suffix.lower() in PAGES else to.with_name(to.name + PAGES[0])
