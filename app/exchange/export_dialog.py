"""Export the network as ONNX, as one PyTorch file or as a PyTorch program, as the command of a terminal does.
The dialog says what the file takes, and offers code that runs it."""

import contextlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QTimer, QUrl, Signal, SignalInstance
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from netwright.app import messages
from netwright.app.dialog import Dialog
from netwright.app.exchange.export_parts import (
    ContentArea,
    ReportTable,
    ScriptsRow,
    agreement,
    choice_row,
    input_lines,
    listed,
    measured_on,
    option_texts,
    options_form,
    project_copy,
    proposed_file,
    question_of_replacing,
    section_label,
    text_label,
)
from netwright.app.exchange.export_weights import WeightsChoice
from netwright.app.messages import breakable
from netwright.app.processes import EngineServer
from netwright.app.shell import Shell, select_layer
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import refuse_destination
from netwright.engine.exchange.operations.export import OPERATION, ExportRequest
from netwright.engine.project import user_code
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.file import load
from netwright.engine.project.input_format import input_formats
from netwright.engine.project.preparing import preparation_of
from netwright.engine.project.project import Project
from netwright.engine.runs.events import Best, Checkpointed
from netwright.engine.runs.folder import RunFolder, frozen_code
from netwright.engine.user_code.expression import companion

FORMATS = (
    ("onnx", ".onnx", "ONNX", noop("For ONNX Runtime and other runtimes; compared with torch before it is written")),
    ("pytorch", ".py", "PyTorch", noop("One readable file that runs without Netwright, and its weights beside it")),
    ("pt2", ".pt2", "torch.export", noop("A program (.pt2) with its weights, any batch size; loaded and compared")),
)
COMPARED_WITH = {"onnx": "ONNX Runtime", "pt2": noop("The program, loaded in another process,")}

TITLE_BAR = 40
"""Height that is left for the title bar, in pixels: what the desktop adds is known only after a while."""


class ShownRun(Protocol):
    """The run that is shown; the signals tell that another one is shown, how it is, and its events."""

    run_shown: SignalInstance
    state_changed: SignalInstance
    received: SignalInstance

    @property
    def run_folder(self) -> RunFolder | None:
        """The run, if any."""


class ExportDialog(Dialog):
    """Chooses format, weights and file, runs the export, and reports what the file takes and how close it is.

    `info` describes the data of `project`.
    """

    layer_chosen = Signal(str)
    """The path of a layer that was clicked in the table of differences."""
    server: EngineServer
    """Exports; set before the dialog is shown."""

    def __init__(
        self,
        project: Project,
        base: Path,
        run: Path | None,
        target: Path,
        parent: QWidget | None = None,
        *,
        info: DatasetInfo | None = None,
    ) -> None:
        super().__init__(parent)
        self._project, self._base, self._info = project, base, info
        self._request: int | None = None
        self.hosts: Mapping[str, int] = {}
        """Hosts that the data of the project may be fetched from."""
        self._training: ShownRun | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._browsed = self._code = ""
        self._fitted = 0
        """Height that the dialog took by itself."""
        self.setWindowTitle(tr("Export network"))
        self.setMinimumWidth(660)
        self.area = ContentArea()
        column = self.area.column
        column.addWidget(section_label(tr("FORMAT")))
        self.formats = QButtonGroup(self)
        for index, (_, _, label, help_text) in enumerate(FORMATS):
            column.addLayout(choice_row(self.formats, index, label, translation(help_text))[0])
        self.scripts = ScriptsRow()
        self.scripts.follow(format="onnx")
        column.addWidget(self.scripts)
        self.options = options_form(self)
        self.options.changed.connect(self._follow_content)
        self.options.folding_changed.connect(self._follow_content)
        column.addWidget(self.options)
        column.addWidget(section_label(tr("WEIGHTS")))
        self.weights = WeightsChoice(RunFolder(run) if run is not None else None)
        column.addWidget(self.weights)
        column.addWidget(section_label(tr("FILE")))
        column.addLayout(self._file_row(target))
        column.addWidget(section_label(tr("INPUT")))
        self.takes = text_label(tr("Input of the network"))
        theme.mark(self.takes, "role", "help")
        column.addWidget(self.takes)
        self._add_result(column)
        column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 16)
        outer.setSpacing(12)
        outer.addWidget(self.area, 1)
        outer.addLayout(self._buttons())
        self.formats.idClicked.connect(self._follow_format)
        self.weights.changed.connect(self._show_inputs)
        self.formats.button(0).setChecked(True)
        self._show_inputs()

    def _add_result(self, column: QVBoxLayout) -> None:
        """Add what shows that the export is at work, and what has come of it."""
        self.busy = QProgressBar()
        self.busy.setRange(0, 0)
        self.busy.hide()
        column.addWidget(self.busy)
        self.outcome = text_label(tr("Result"))
        column.addWidget(self.outcome)
        self.report = ReportTable(self)
        self.report.layer_chosen.connect(self.layer_chosen)
        column.addWidget(self.report)

    def follow(self, training: ShownRun) -> None:
        """Offer the weights of the run that is shown, also when it saves some or another begins behind the dialog."""
        self._training = training
        for signal in (training.run_shown, training.state_changed):
            signal.connect(self._follow_run)
        training.received.connect(self._follow_event)

    def _follow_run(self) -> None:
        if self._training is not None:
            self.weights.show_run(self._training.run_folder)

    def _follow_event(self, event: object) -> None:
        if isinstance(event, Best | Checkpointed):
            self._follow_run()

    def _file_row(self, target: Path) -> QHBoxLayout:
        row = QHBoxLayout()
        self.file = QLineEdit(str(target))
        self.file.setAccessibleName(tr("File to write"))
        browse = QPushButton(tr("Browse…"))
        browse.clicked.connect(self._browse)
        row.addWidget(self.file, 1)
        row.addWidget(browse)
        return row

    def _exported(self) -> Project:
        """Return the project of the run, or the one on the canvas. Raises `UserError`."""
        run = self.weights.run
        return self._project if run is None else load(run.project).project

    def _show_inputs(self) -> None:
        """Say what the inputs take, as far as it is known before the export."""
        if self._request is not None:  # its answer says so
            return
        try:
            project = self._exported()
        except UserError:
            self._write(self.takes, tr("Not known: the project of the run cannot be read."))
            return
        info = self._info if project.data == self._project.data else None
        record = preparation_of(project.network, project.data, info)
        formats = input_formats(record.for_onnx(()))
        lines = [line for entry in formats for line in input_lines(entry.write())]
        self._write(self.takes, "\n".join(lines) or tr("The network has no input layer."))
        self.scripts.follow(takes_tokens=any(entry.content == "indices" for entry in record.inputs))

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(20, 0, 20, 0)
        self.copy_button = QPushButton(tr("Copy code that runs it"))
        self.copy_button.setToolTip(tr("A Python program that loads the file, feeds it a sample and prints the result"))
        self.copy_button.clicked.connect(self._copy_code)
        self.folder_button = QPushButton(tr("Open folder"))
        self.folder_button.clicked.connect(self._open_folder)
        for button in (self.copy_button, self.folder_button):
            button.hide()
            row.addWidget(button)
        row.addStretch(1)
        self.close_button = QPushButton(tr("Cancel"))
        self.close_button.clicked.connect(self.reject)
        self.export_button = QPushButton(tr("Export"))
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
        self.scripts.follow(format=FORMATS[index][0])
        self.options.setVisible(FORMATS[index][0] == "onnx")
        self._follow_content()

    def _browse(self) -> None:
        _, suffix, label, _ = FORMATS[self.formats.checkedId()]
        name, _ = QFileDialog.getSaveFileName(self, tr("Export to"), self.file.text(), f"{label} (*{suffix})")
        if name:
            self._browsed = name  # that dialog has asked whether to replace it
            self.file.setText(name)

    def start(self) -> None:
        """Run the export; the window stays usable, and Cancel ends it."""
        target = self.file.text().strip()
        if not target or self.weights.group.checkedId() < 0:
            self._say(tr("Choose the weights to write.") if target else tr("Choose the file to write."), "error")
            return
        target = str(Path(target).expanduser())
        if not self.options.is_valid:
            self._say(self.options.reason, "error")
            return
        try:
            refuse_destination(Path(target))
            source = self._source()
        except UserError as error:
            self._say(message_text(error), "error")
            return
        force = self._ask_to_replace(Path(target))
        if force is None:
            self._remove_copy()
            self._say(tr("No file was written."), "help")
            return
        format = FORMATS[self.formats.checkedId()][0]
        asked = ExportRequest(
            source=source.absolute(),
            format=format,
            output=Path(target).absolute(),
            weights=self.weights.kept,
            with_training=self.scripts.has_training,
            with_generation=self.scripts.has_generation,
            base=self._base.absolute() if self._copy is not None else None,
            force=force,
            onnx=option_texts(self.options) if format == "onnx" else {},
        )
        self.report.clear_report()
        self._say(tr("Exporting… the first time takes a few seconds."), "help")
        for button in (self.copy_button, self.folder_button):
            button.hide()
        self.busy.show()
        self.export_button.setEnabled(False)
        self._request = self.server.ask(OPERATION, asked, self._on_finished, self._on_failed, hosts=self.hosts)

    def _ask_to_replace(self, target: Path) -> bool | None:
        """Ask about the files that the export would replace, and return whether there are some beside the target; None
        if they are to stay."""
        beside = self._files_beside(target)
        files = [target] if target.is_file() and str(target) != self._browsed else []
        if not files and not beside:
            return False
        if not messages.ask(self, *question_of_replacing([*files, *beside]), tr("Replace")):
            return None
        return bool(beside)

    def _files_beside(self, target: Path) -> list[Path]:
        """Return the files beside the target that the export would replace: those of its scripts, and of a PyTorch file
        its weights, and code of the project that differs."""
        files = self.scripts.files(target)
        if FORMATS[self.formats.checkedId()][0] != "pytorch":
            return [path for path in files if path.is_file()]
        run = self.weights.run
        files += [target.with_suffix(".safetensors")] if run is not None else []
        with contextlib.suppress(UserError, OSError):  # the export says so
            copies = frozen_code(run) if run is not None else {}
            for file in user_code.code_files(self._exported().network):
                copy, own = target.with_name(f"{companion(file)}.py"), copies.get(file, self._base / file)
                if copy.is_file() and copy.read_bytes() != own.read_bytes():
                    files.append(copy)
        return [path for path in files if path.is_file()]

    def _source(self) -> Path:
        if self.weights.run is not None:
            return self.weights.run.path
        self._copy = tempfile.TemporaryDirectory(prefix="netwright-")
        return project_copy(self._project, self._base, Path(self._copy.name))

    def _on_finished(self, answer: dict[str, Any]) -> None:
        lines = [tr("Wrote {path}.", path=answer["path"])]
        if answer["largest_difference"] is not None:
            lines.append(agreement(answer, translation(COMPARED_WITH[answer["format"]])))
        if answer["measured"]:
            self.report.show_measured(answer["measured"])
            lines.append(measured_on(answer["measured"]))
        elif answer["layers"]:
            self.report.show_layers(answer["layers"])
        takes = [line for entry in answer["inputs"] for line in input_lines(entry)]
        if answer["classes"]:
            takes.append(tr("Classes, in order: {names}.", names=listed(answer["classes"])))
        self._write(self.takes, "\n".join(takes))
        self._code, self._written = answer["code"], Path(answer["path"])
        self.copy_button.setText(tr("Copy code that runs it"))
        self.copy_button.show()
        self.folder_button.show()
        self._end("\n".join([*lines, *map(message_text, answer["notes"])]), "good")
        self.close_button.setText(tr("Close"))

    def _copy_code(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
        self.copy_button.setText(tr("Code copied"))

    def _open_folder(self) -> None:
        folder = self._written.resolve().parent
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._say(tr("No program was found that shows {folder}.", folder=folder), "error")

    def _on_failed(self, message: str) -> None:
        layers = self.server.error.get("data", {}).get("layers")
        if layers:
            self.report.show_layers(layers)
        self._end(message, "error")

    def _end(self, text: str, role: str) -> None:
        self.busy.hide()
        self.export_button.setEnabled(True)
        self._request = None
        self._remove_copy()
        self._say(text, role)
        QTimer.singleShot(0, self, self._scroll_to_outcome)  # once all has its size

    def _scroll_to_outcome(self) -> None:
        for widget in (self.report, self.outcome):
            self.area.ensureWidgetVisible(widget)

    def _say(self, text: str, role: str) -> None:
        theme.mark(self.outcome, "role", role)
        self._write(self.outcome, text)

    def _write(self, label: QLabel, text: str) -> None:
        """Set the text of a label, and let the dialog grow by it: Qt does so for no text that wraps."""
        label.setText(breakable(text))
        label.ensurePolished()  # until then Qt guesses whether it is rich text
        label.setMinimumHeight(max(0, label.heightForWidth(label.width())))
        self._fit_height()

    def _fit_height(self, *, shrinks: bool = False) -> None:
        """Let the dialog grow to what it shows, up to the screen and within it; with `shrinks` also shrink, unless the
        user made it larger."""
        if (layout := self.layout()) is None:
            return
        layout.activate()
        self.area.updateGeometry()
        room = self.screen().availableGeometry()
        border = max(TITLE_BAR, self.frameGeometry().height() - self.height())
        preferred = layout.totalSizeHint().height()
        height = min(preferred, room.height() - border)
        if height > self.height() or (shrinks and self.height() <= self._fitted):
            self.resize(self.width(), height)
            self._fitted = self.height()
        below = self.frameGeometry().bottom() - room.bottom()
        if self.isVisible() and below > 0:
            self.move(self.x(), max(room.top(), self.y() - below))

    def _follow_content(self) -> None:
        """Fit the height to the options that are shown."""
        self._fit_height(shrinks=True)

    def done(self, result: int) -> None:
        """Cancel an export that is under way, and delete the copy of the project."""
        if self._request is not None:
            self.server.cancel(self._request)
            self._request = None
        self._remove_copy()
        super().done(result)

    def _remove_copy(self) -> None:
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None


def export_network(shell: Shell, training: ShownRun, info: DatasetInfo | None) -> None:
    """Ask for the format and the file, export, and report how it went. The run is the one that `training` shows, also
    when it ends or another begins behind the dialog; `info` describes the data of the open project."""
    documents, run = shell.documents, training.run_folder
    target = proposed_file(documents.folder, Path(documents.title).stem)
    path = run.path if run is not None else None
    dialog = ExportDialog(shell.editor.project, documents.base, path, target, shell.dialog_parent, info=info)
    dialog.server, dialog.hosts = shell.server, documents.hosts
    dialog.layer_chosen.connect(lambda path: select_layer(shell, path))
    dialog.follow(training)
    dialog.exec()
    dialog.deleteLater()
