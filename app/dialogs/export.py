"""Export the network as ONNX, compared with ONNX Runtime, or as one PyTorch file, with the command that a terminal
runs."""

import os
import tempfile
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import messages
from app.messages import breakable
from app.processes import EngineCommand
from app.shell import Shell
from designer import theme
from engine.core.errors import UserError
from engine.project.file import SUFFIX, save
from engine.project.project import Project
from engine.runs.folder import RunFolder

FORMATS = (
    ("onnx", ".onnx", "ONNX", "Input normalisation and softmax inside, any batch size; compared with ONNX Runtime"),
    ("pytorch", ".py", "PyTorch", "One readable file that runs without Netwright, and its weights beside it"),
)


class ExportDialog(QDialog):
    """Chooses format, source and file, runs the export, and reports how close the result is."""

    def __init__(
        self, project: Project, base: Path, run: Path | None, target: Path, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._project, self._base, self._run = project, base, run
        self._command: EngineCommand | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self.setWindowTitle("Export network")
        self.setMinimumWidth(560)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        column.addWidget(_section("FORMAT"))
        self.formats = QButtonGroup(self)
        for index, (_, _, label, help_text) in enumerate(FORMATS):
            column.addLayout(self._choice(self.formats, index, label, help_text))
        column.addWidget(_section("WEIGHTS"))
        self.sources = QButtonGroup(self)
        trained = f"As trained in {breakable(run.name)}" if run else "There is no finished run in the Train tab"
        column.addLayout(self._choice(self.sources, 0, "Trained", trained, enabled=run is not None))
        column.addLayout(self._choice(self.sources, 1, "Fresh", "The network on the canvas with initial weights"))
        column.addWidget(_section("FILE"))
        row = QHBoxLayout()
        self.file = QLineEdit(str(target))
        self.file.setAccessibleName("File to write")
        browse = QPushButton("Browse…")
        browse.clicked.connect(self._browse)
        row.addWidget(self.file, 1)
        row.addWidget(browse)
        column.addLayout(row)
        self.busy = QProgressBar()
        self.busy.setRange(0, 0)
        self.busy.hide()
        self.outcome = QLabel()
        self.outcome.setWordWrap(True)
        self.outcome.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self.busy)
        column.addWidget(self.outcome)
        column.addStretch(1)
        column.addLayout(self._buttons())
        self.formats.idClicked.connect(self._follow_format)
        self.formats.button(0).setChecked(True)
        self.sources.button(0 if run else 1).setChecked(True)

    def _choice(
        self, group: QButtonGroup, index: int, label: str, help_text: str, *, enabled: bool = True
    ) -> QHBoxLayout:
        row = QHBoxLayout()
        button = QRadioButton(label)
        button.setMinimumWidth(96)
        button.setEnabled(enabled)
        help_label = QLabel(help_text)
        help_label.setWordWrap(True)
        theme.mark(help_label, "role", "help")
        group.addButton(button, index)
        row.addWidget(button)
        row.addWidget(help_label, 1)
        return row

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        self.close_button = QPushButton("Cancel")
        self.close_button.clicked.connect(self.reject)
        self.export_button = QPushButton("Export")
        self.export_button.setDefault(True)
        theme.mark(self.export_button, "primary", True)
        self.export_button.clicked.connect(self.start)
        row.addWidget(self.close_button)
        row.addWidget(self.export_button)
        return row

    def _follow_format(self, index: int) -> None:
        path = Path(self.file.text())
        if path.suffix in ("", *(suffix for _, suffix, _, _ in FORMATS)):
            self.file.setText(str(path.with_suffix(FORMATS[index][1])))

    def _browse(self) -> None:
        _, suffix, label, _ = FORMATS[self.formats.checkedId()]
        name, _ = QFileDialog.getSaveFileName(self, "Export to", self.file.text(), f"{label} (*{suffix})")
        if name:
            self.file.setText(name)

    def start(self) -> None:
        """Run the export; the window stays usable, and Cancel ends it."""
        target = self.file.text().strip()
        if not target:
            self._say("Choose the file to write.", "error")
            return
        try:
            source = self._source()
        except UserError as error:
            self._say(str(error), "error")
            return
        format = FORMATS[self.formats.checkedId()][0]
        arguments = ["export", str(source), "--format", format, "-o", target, "--json", *self._force(Path(target))]
        if self._copy is not None:
            arguments += ["--base", str(self._base)]
        self._say("Exporting… the first time takes a few seconds.", "help")
        self.busy.show()
        self.export_button.setEnabled(False)
        self._command = EngineCommand(arguments, self)
        self._command.finished.connect(self._on_finished)
        self._command.failed.connect(self._on_failed)

    def _force(self, target: Path) -> list[str]:
        """Ask about the file of weights beside a PyTorch file, which no dialog has asked about."""
        weights = target.with_suffix(".safetensors")
        if FORMATS[self.formats.checkedId()][0] != "pytorch" or not weights.exists():
            return []
        text = f"The export writes the weights into {weights.name}, which exists."
        return ["--force"] if messages.ask(self, f"Replace {weights.name}?", text, "Replace") else []

    def _source(self) -> Path:
        if self.sources.checkedId() == 0 and self._run is not None:
            return self._run
        # The project as it is on the canvas, saved or not: beside the original, so that relative data is found.
        data = self._project.data
        if data.path:
            data = data.replace(path=str((self._base / data.path).resolve()))
        self._copy = tempfile.TemporaryDirectory(prefix="netwright-")
        path = Path(self._copy.name) / f"project{SUFFIX}"
        save(self._project.with_section("data", data), path)
        return path

    def _on_finished(self, answer: dict[str, Any]) -> None:
        lines = [f"Wrote {answer['path']}."]
        if answer["largest_difference"] is not None:
            lines.append(
                f"ONNX Runtime agrees: largest difference {answer['largest_difference']:.2g} "
                f"over {answer['samples']:,} {answer['samples_kind']} samples."
            )
        self._end("\n".join([*lines, *answer["notes"]]), "good")
        self.close_button.setText("Close")

    def _on_failed(self, message: str) -> None:
        self._end(message, "error")

    def _end(self, text: str, role: str) -> None:
        self.busy.hide()
        self.export_button.setEnabled(True)
        self._command = None
        self._remove_copy()
        self._say(text, role)

    def _say(self, text: str, role: str) -> None:
        theme.mark(self.outcome, "role", role)
        self.outcome.setText(text)
        self.outcome.ensurePolished()  # until then Qt guesses whether it is rich text
        self.outcome.setMinimumHeight(max(0, self.outcome.heightForWidth(self.outcome.width())))
        layout = self.layout()
        if layout is not None:  # the dialog grows by what is new: Qt does so for no text that wraps
            layout.activate()
            self.resize(self.width(), max(self.height(), layout.totalSizeHint().height()))

    def done(self, result: int) -> None:
        """Cancel an export that is under way, and delete the copy of the project."""
        if self._command is not None:
            self._command.cancel()
            self._command = None
        self._remove_copy()
        super().done(result)

    def _remove_copy(self) -> None:
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None


def _section(text: str) -> QLabel:
    label = QLabel(text)
    theme.mark(label, "role", "section")
    return label


def export_network(shell: Shell, run: RunFolder | None) -> None:
    """Ask for the format and the file, export, and report how it went. `run` is the one that is shown."""
    documents = shell.documents
    trained = run.path if run is not None and run.kept() is not None else None
    stem, folder = Path(documents.title).stem, documents.folder
    if not os.access(folder, os.W_OK):
        folder = Path.home()
    target = folder / f"{stem}.onnx"
    dialog = ExportDialog(shell.editor.project, documents.base, trained, target, shell.dialog_parent)
    dialog.exec()
    dialog.deleteLater()
