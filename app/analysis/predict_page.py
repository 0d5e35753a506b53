"""The page of predictions: draw, type, paste or drop samples, and see the answers of the network."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from netwright.app.analysis.prediction_inputs import (
    FileInput,
    SampleInput,
    dropped,
    hint_for,
    input_for,
    takes_pictures,
)
from netwright.app.analysis.prediction_options import PredictionOptions
from netwright.app.analysis.prediction_panel import AnswersPanel, card_with_head
from netwright.app.analysis.write_panel import WritePanel, below_each_other
from netwright.app.answer_device import answer_device
from netwright.app.processes import OnResult
from netwright.app.runs.segments import RunPage
from netwright.app.shell import Shell
from netwright.app.temporary_folder import temporary_folder
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import message_sentences, message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.analysis.operations.predict import OPERATION, PredictRequest
from netwright.engine.analysis.operations.trained_network import PREDICTOR, PredictorRequest
from netwright.engine.core.errors import UserError
from netwright.engine.project.preparation import Preparation

LIVE_MS = 20
"""Time without a change after which what is drawn or typed is predicted, in milliseconds."""
ONNX = ".onnx"
NO_NETWORK = noop("Choose a run that has ended, or an ONNX file: what the network says to your samples is shown here.")
LOADING = noop("Loading the network…")
PREDICTING = noop("Predicting…")
FIRST = noop("Draw, type, paste or drop a sample: what the network says to it is shown here.")
FILES_FIRST = noop("Choose, paste or drop files: what the network says to them is shown here.")
SAMPLE_WIDTH, ROW_WIDTH, NAME_WIDTH = 380, 480, 360


class PredictPage(RunPage):
    """Asks the engine, which keeps the network loaded. What is drawn or typed is asked again as it changes, one request
    at a time, always with the newest state; files are asked once, with progress, and can be cancelled."""

    title = noop("Predict")
    needs_run = False

    def __init__(self, shell: Shell, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shell = shell
        self.network: Path | None = None
        """The ONNX file that is used instead of the run."""
        self.record: Preparation | None = None
        self.sample: SampleInput | None = None
        self.latency_ms = 0.0
        """Time from the last change to its answer on the screen."""
        self._pending: int | None = None
        self._is_live = self._is_changed = self._is_stale = False
        self._changed_at = 0.0
        self._batch = 0
        self._folder = Path(temporary_folder(self, "predict"))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(LIVE_MS)
        self._timer.timeout.connect(self._ask_live)
        self.options = PredictionOptions(self)
        self.options.changed.connect(lambda: self._on_changed() if self.record is not None else None)
        self.options.network_changed.connect(self.reload)
        self.state = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.name = ElidedLabel()
        self.onnx_button, self.run_button = QPushButton(tr("ONNX file…")), QPushButton(tr("Use the run"))
        self.cancel_button = QPushButton(tr("Cancel"))
        self.pages, self.message = QStackedWidget(), QLabel(translation(NO_NETWORK))
        self.panel, self.writing, self.assumed = AnswersPanel(shell), WritePanel(shell), QLabel()
        self._sample_column = QVBoxLayout()
        self._lay_out()
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        paste.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        paste.activated.connect(self.paste)

    # ---- layout ----

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        bar = QHBoxLayout()
        bar.setSpacing(8)
        self.onnx_button.setToolTip(tr("Predict with an ONNX file, of Netwright or from elsewhere"))
        self.onnx_button.clicked.connect(self._choose_network)
        self.run_button.clicked.connect(lambda: self.use_network(None))
        self.cancel_button.clicked.connect(self._on_cancel)
        theme.mark(self.state, "role", "muted")
        self.name.setMaximumWidth(NAME_WIDTH)
        for widget in (self.name, self.onnx_button, self.run_button, self.options, self.cancel_button):
            bar.addWidget(widget)
        bar.addSpacing(8)
        bar.addWidget(self.state, 1)
        column.addLayout(bar)
        column.addWidget(self.pages, 1)
        theme.mark(self.message, "role", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.pages.addWidget(self.message)
        work = QWidget()
        row = QHBoxLayout(work)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._sample_card())
        row.addLayout(below_each_other(self.writing, self.panel), 1)
        self.pages.addWidget(work)
        for button in (self.run_button, self.cancel_button, self.name):
            button.hide()

    def _sample_card(self) -> QWidget:
        self._sample_frame, column = card_with_head(tr("Sample"))
        self._sample_column.setSpacing(12)
        self.assumed.setWordWrap(True)
        theme.mark(self.assumed, "role", "warning")
        column.addWidget(self.assumed)
        column.addLayout(self._sample_column, 1)
        return self._sample_frame

    # ---- the network ----

    def set_run(self, run: Path | None) -> None:
        """Take the run that is chosen."""
        super().set_run(run)
        self.onnx_button.setVisible(self.model is None)
        if self.network is None:
            self.reload()

    def use_network(self, path: Path | None) -> None:
        """Use an ONNX file, or with None the run that is chosen."""
        self.network = path
        self.name.setText(path.name if path else "", note=str(path or ""))
        self.name.setVisible(path is not None)
        self.run_button.setVisible(path is not None and self.run is not None)
        self.reload()

    def _choose_network(self) -> None:
        base = str(self.shell.documents.base)
        if name := QFileDialog.getOpenFileName(self, tr("Predict with an ONNX file"), base, tr("ONNX (*.onnx)"))[0]:
            self.use_network(Path(name))

    def reload(self) -> None:
        """Load the network, now or when the page is seen; the answers of another one are removed."""
        self._cancel()
        self.record, self._is_changed = None, False
        self.writing.stop()
        self.options.show_kind(is_onnx=bool(self.network or self.model), is_foreign=False)
        self._is_stale = True
        if self.isVisible():
            self._load()

    def _load(self) -> None:
        path, self._is_stale = self.network or self.run, False
        if path is None:
            self._say(translation(NO_NETWORK))
            return
        self._say(translation(LOADING))
        request = PredictorRequest(path=path, **self.options.network_values())
        self._send(lambda: self.shell.server.ask(PREDICTOR, request, self._on_loaded, self._on_refused))

    def _on_loaded(self, result: Mapping[str, Any]) -> None:
        self._pending = None
        try:
            self.record = Preparation.read(result["preparation"], str(self.network or self.run))
        except UserError as error:
            self._say(message_text(error), refused=True)
            return
        assumed = message_sentences(result.get("assumed", ()))
        self.options.show_kind(is_onnx=bool(self.network or self.model), is_foreign=bool(assumed))
        self.assumed.setText(tr("Assumed, since the file does not say: {assumed}", assumed=assumed) if assumed else "")
        self.assumed.setVisible(bool(assumed))
        self._show_inputs(self.record)
        self.writing.show_network(self.network or self.run, self.record, self.options.network_values())
        self.panel.show_hint(translation(FIRST if self.sample is not None else FILES_FIRST))
        self.pages.setCurrentIndex(1)
        self._on_changed()

    def _show_inputs(self, record: Preparation) -> None:
        """Make the ways to give a sample that suit the network."""
        while (item := self._sample_column.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        self.sample = input_for(record)
        is_wide = self.sample is not None and not takes_pictures(record)
        self._sample_frame.setFixedWidth(ROW_WIDTH if is_wide else SAMPLE_WIDTH)
        if self.sample is not None:
            self.sample.changed.connect(self._on_changed)
            stretch = 0 if takes_pictures(record) else 1
            middle = Qt.AlignmentFlag.AlignHCenter if takes_pictures(record) else Qt.AlignmentFlag(0)
            self._sample_column.addWidget(self.sample, stretch, middle)
        has_files = takes_pictures(record) or any(entry.reads in ("image", "sound") for entry in record.inputs)
        files = FileInput(hint_for(record), self._ask_for_files, self.paste, takes_folders=has_files)
        files.files_chosen.connect(self.predict_files)
        self._sample_column.addWidget(files)
        if self.sample is None or takes_pictures(record):
            self._sample_column.addStretch(1)

    def _on_refused(self, reason: str) -> None:
        self._pending = None
        self._say(reason, refused=True)

    def _say(self, text: str, *, refused: bool = False) -> None:
        theme.mark(self.message, "role", "error" if refused else "muted")
        self.message.setText(text)
        self.state.setText("")
        self.pages.setCurrentIndex(0)

    # ---- asking ----

    def _send(self, send: Callable[[], int]) -> None:
        """Send a request, which is the one under way."""
        self._pending = 0  # a stand-in for the engine may answer before its id is known
        id = send()
        if self._pending is not None:
            self._pending = id

    def _predict(self, sample: Mapping[str, Any], folder: Path, on_result: OnResult, **more: Any) -> None:
        """Request the answers for `files`, or for `samples` that were typed."""
        network = self.network or self.run
        assert network is not None
        values = {"folder": folder, "files": (), **self.options.values(), **sample}
        request = self.panel.request = PredictRequest(model=network, device=answer_device(network), **values)
        self._send(lambda: self.shell.server.ask(OPERATION, request, on_result, self._on_failed, **more))

    def _on_changed(self) -> None:
        """Something was drawn or typed."""
        self._changed_at = time.perf_counter()
        self._is_changed = True
        if self._pending is None and not self._timer.isActive():
            self._timer.start()

    def _ask_live(self) -> None:
        """Request the answer for the present drawing or text."""
        if self._pending is not None or self.sample is None or not self._is_changed:
            return
        self._is_changed = False
        folder = self._folder / "live"
        sample = self.sample.sample(folder)
        if sample is None:
            self.panel.show_hint(translation(FIRST))
            return
        asked_at = self._changed_at
        self._is_live = True

        def on_result(result: dict[str, Any]) -> None:
            self._on_answered(result)
            self.latency_ms = 1000 * (time.perf_counter() - asked_at)
            self.state.setText(tr("Answered in {time:.0f} ms", time=self.latency_ms))

        self._predict(sample, folder, on_result)

    def predict_files(self, files: Sequence[str]) -> None:
        """Predict files and folders."""
        if self.record is None:
            return
        self._cancel()
        self._is_changed = self._is_live = False
        shutil.rmtree(self._folder / f"files-{self._batch}", ignore_errors=True)
        self._batch += 1
        folder = self._folder / f"files-{self._batch}"
        self.cancel_button.show()
        self.panel.show_hint(translation(PREDICTING))
        self._predict({"files": tuple(map(Path, files))}, folder, self._on_answered, on_progress=self._on_progress)

    def _on_progress(self, progress: Mapping[str, Any]) -> None:
        self.state.setText(f"{progress['done']:,} {translation(progress['unit'])}…")

    def _on_failed(self, reason: str) -> None:
        self._end()
        self.panel.show_hint(reason, refused=True)

    def _on_answered(self, result: Mapping[str, Any]) -> None:
        self._end()
        self.panel.show_answers(result, is_live=self._is_live)
        if self._is_changed:
            self._timer.start()

    def _end(self) -> None:
        self._pending = None
        self.cancel_button.hide()
        self.state.setText("")

    def _on_cancel(self) -> None:
        self._cancel()
        self.panel.show_hint(tr("Cancelled."))

    def _cancel(self) -> None:
        if self._pending is not None:
            self.shell.server.cancel(self._pending)
        self._end()

    # ---- files, drops and the clipboard ----

    def _ask_for_files(self, is_folder: bool) -> list[str]:
        base = str(self.shell.documents.base)
        if is_folder:
            folder = QFileDialog.getExistingDirectory(self, tr("Predict the files of a folder"), base)
            return [folder] if folder else []
        return QFileDialog.getOpenFileNames(self, tr("Predict files"), base)[0]

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files."""
        if dropped(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Predict files; an ONNX file is a network."""
        if files := dropped(event.mimeData()):
            event.acceptProposedAction()
            QTimer.singleShot(0, self, lambda: self.take(files))  # the program they come from must not wait

    def take(self, files: Sequence[str]) -> None:
        """Predict files, or use the network of an ONNX file."""
        if self.model is None and len(files) == 1 and Path(files[0]).suffix.lower() == ONNX:
            self.use_network(Path(files[0]))
        else:
            self.predict_files(files)

    def paste(self) -> None:
        """Predict the picture, the files or the table on the clipboard."""
        data = QGuiApplication.clipboard().mimeData()
        if self.record is None:
            return
        if files := dropped(data):
            self.take(files)
        elif data.hasImage() and takes_pictures(self.record):
            file = self._folder / "pasted.png"
            QGuiApplication.clipboard().image().save(str(file))
            self.predict_files([str(file)])
        elif data.hasText() and data.text().strip() and not takes_pictures(self.record):
            has_columns = any(entry.columns for entry in self.record.inputs)
            file = self._folder / ("pasted.csv" if has_columns else "pasted.txt")
            file.write_text(data.text(), encoding="utf-8", errors="replace")
            self.predict_files([str(file)])
        else:
            hint = hint_for(self.record)
            self.panel.show_hint(tr("There is nothing on the clipboard that the network takes. {hint}", hint=hint))

    # ---- life ----

    def showEvent(self, event: QShowEvent) -> None:
        """Load the network if that is still to be done."""
        super().showEvent(event)
        if self._is_stale:
            self._load()
        elif self._is_changed:
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Ask nothing while nobody looks."""
        super().hideEvent(event)
        self._timer.stop()

    def shutdown(self) -> None:
        """Cancel the request, and remove the files."""
        self._timer.stop()
        self._cancel()
        self.writing.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)
