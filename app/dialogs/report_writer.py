"""Write a report: ask for the file, write it in a process of its own, and show it in the browser."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from netwright.app.dialogs.wait_dialog import WaitDialog
from netwright.app.shell import Shell
from netwright.designer.language import tr
from netwright.engine.operations.operation import Operation, Request

PAGES = (".html", ".htm")


class ReportWriter(WaitDialog):
    """Shows that a report is written. `lacks` names what it may be without, such as `an evaluation`."""

    def __init__(
        self, shell: Shell, operation: Operation[Any, Any], request: Request, to: Path, doing: str, lacks: str
    ) -> None:
        self._to, self._lacks = to, lacks
        failure = tr("The report cannot be written")
        super().__init__(shell, operation, request, title=tr("Export report"), doing=doing, failure=failure)

    def finish(self, answer: Mapping[str, Any]) -> None:
        if reason := answer.get("missing"):
            text = tr("Wrote {file}, without {part}: {reason}", file=self._to.name, part=self._lacks, reason=reason)
        else:
            text = tr("Wrote {file}", file=self._to.name)
        self._shell.hint(text)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._to)))


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
