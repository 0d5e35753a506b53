"""Export of a model that is no run: ask for the file, write it, and say how close it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog

from netwright.app.dialogs.wait_dialog import WaitDialog
from netwright.app.exchange.export_dialog import COMPARED_WITH, FORMATS
from netwright.app.exchange.export_parts import agreement
from netwright.app.shell import Shell
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr, translation
from netwright.engine.exchange.operations.export import OPERATION, ExportRequest


class ModelExport(WaitDialog):
    """Shows that a model is exported."""

    def __init__(self, shell: Shell, request: ExportRequest) -> None:
        doing = tr("Exporting… the first time takes a few seconds.")
        failure = tr("The model cannot be exported")
        super().__init__(shell, OPERATION, request, title=tr("Export network"), doing=doing, failure=failure)

    def finish(self, answer: Mapping[str, Any]) -> None:
        lines = [tr("Wrote {path}.", path=answer["path"])]
        if answer["largest_difference"] is not None:
            lines.append(agreement(answer, translation(COMPARED_WITH[answer["format"]])))
        self._shell.hint(" ".join([*lines, *map(message_text, answer["notes"])]))


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
