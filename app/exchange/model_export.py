"""Export of a model that is no run: ask for the file, write it, and say how close it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog, QProgressDialog

from netwright.app.exchange.export_dialog import COMPARED_WITH, FORMATS
from netwright.app.exchange.export_parts import agreement
from netwright.app.shell import Shell
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr, translation
from netwright.engine.exchange.operations.export import OPERATION, ExportRequest


class ModelExport(QProgressDialog):
    """Shows that a model is exported; cancelling ends it."""

    def __init__(self, shell: Shell, request: ExportRequest) -> None:
        super().__init__(tr("Exporting… the first time takes a few seconds."), tr("Cancel"), 0, 0, shell.dialog_parent)
        self.setWindowTitle(tr("Export network"))
        self.setMinimumDuration(0)
        self.setAutoClose(False)
        self._shell = shell
        self._request = shell.server.ask(OPERATION, request, self._on_finished, self._on_failed)
        self.canceled.connect(self._on_canceled)
        self.show()

    def _on_finished(self, answer: Mapping[str, Any]) -> None:
        self._close()
        lines = [tr("Wrote {path}.", path=answer["path"])]
        if answer["largest_difference"] is not None:
            lines.append(agreement(answer, translation(COMPARED_WITH[answer["format"]])))
        self._shell.hint(" ".join([*lines, *map(message_text, answer["notes"])]))

    def _on_failed(self, reason: str) -> None:
        self._close()
        self._shell.show_error(tr("The model cannot be exported"), reason)

    def _on_canceled(self) -> None:
        self._shell.server.cancel(self._request)
        self._close()

    def _close(self) -> None:
        self.canceled.disconnect(self._on_canceled)  # closing counts as cancelling
        self.close()
        self.deleteLater()


def export_model(shell: Shell, model: Path, title: str) -> ModelExport | None:
    """Ask for a file, whose suffix is the format, and export a model; None where none was named."""
    kinds = ";;".join(f"{label} (*{suffix})" for _, suffix, label, _ in FORMATS)
    start = str(shell.documents.folder / f"{title}{FORMATS[0][1]}")
    name, kind = QFileDialog.getSaveFileName(shell.dialog_parent, tr("Export to"), start, kinds)
    if not name:
        return None
    to = Path(name).absolute()
    if to.suffix not in (suffix for _, suffix, _, _ in FORMATS):
        to = to.with_name(to.name + next((s for _, s, _, _ in FORMATS if f"*{s})" in kind), FORMATS[0][1]))
    return ModelExport(shell, ExportRequest(source=model, output=to))
