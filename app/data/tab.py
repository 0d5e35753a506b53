"""The Data tab: the source of the data, its splits, and a preview."""

import shutil
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.data.data_checks import DataChecks
from app.data.dataset_tracker import CANCELLED, DatasetTracker, progress_text
from app.data.preview import Preview, changes_of
from app.documents import Documents
from app.processes import EngineServer, OnError, OnResult
from app.widgets import Divider
from designer import theme
from designer.editor import Editor
from designer.forms.form import Form
from engine.project.check_augmentation import augmentation_problems
from engine.project.data import DataOptions
from engine.project.dataset_info import DatasetInfo
from engine.project.sources.base import SourceType
from engine.project.sources.catalog import SOURCES

PREVIEW_SAMPLES = 40
SIDE_WIDTH = 340
MESSAGE_WIDTH = 480
CANCEL, AGAIN = "Cancel", "Try again"


class DataTab(QWidget):
    """Edits the section `data` of the project, and shows what the engine reads there."""

    augmentation_wanted = Signal()
    """The user asks for the options of augmentation."""

    def __init__(self, editor: Editor, documents: Documents, server: EngineServer, dataset: DatasetTracker) -> None:
        super().__init__()
        self._editor, self._documents, self._server, self._dataset = editor, documents, server, dataset
        self._shown: tuple[DataOptions, str] | None = None
        self._epoch = 0
        """The epoch whose augmentation is shown; 0 for the samples as they are."""
        self._changes = changes_of(editor.project)
        self._looked: object = None
        """The last request for samples that replace those shown."""
        self._request_id: int | None = None
        """The request for samples that is not answered yet."""
        self._folder = tempfile.mkdtemp(prefix="netwright-preview-")
        self.destroyed.connect(lambda _=None, folder=self._folder: shutil.rmtree(folder, ignore_errors=True))
        self.setAcceptDrops(True)
        self.form = Form(editor.project.data)
        self.form.changed.connect(self._on_edited)
        self.checks = DataChecks(server)
        self.checks.fix_wanted.connect(self._on_fix)
        self.preview = Preview(self.checks)
        self.preview.files.excluded.connect(self._on_excluded)
        self.empty = self._make_empty()
        self.message = QLabel()
        self.way_out = QPushButton(CANCEL)
        self.message_page = self._make_message()
        self.pages = QStackedWidget()
        for page in (self.empty, self.message_page, self.preview):
            self.pages.addWidget(page)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._make_side())
        row.addWidget(Divider())
        row.addWidget(self.pages, 1)
        editor.project_changed.connect(self._on_project_changed)
        dataset.changed.connect(self._on_info)
        dataset.progressed.connect(self._on_progress)
        self._on_info(dataset.info)

    def _make_side(self) -> QWidget:
        content = QWidget()
        theme.mark(content, "role", "panel")
        content.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        self.note = QLabel()
        self.note.setWordWrap(True)
        theme.mark(self.note, "role", "help")
        column.addWidget(self.form)
        column.addWidget(self.note)
        column.addStretch(1)
        self.again = QPushButton("Reload")
        self.again.setToolTip("Look at the files anew")
        self.again.clicked.connect(self._read_again)
        column.addWidget(self.again, 0, Qt.AlignmentFlag.AlignLeft)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFixedWidth(SIDE_WIDTH)
        area.setWidget(content)
        return area

    def _make_empty(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.addStretch(1)
        title = QLabel("Choose the data the network learns from")
        theme.mark(title, "role", "title")
        column.addWidget(title, 0, Qt.AlignmentFlag.AlignHCenter)
        hint = QLabel("Or drop a folder of images, a CSV file or a file of arrays here.")
        theme.mark(hint, "role", "muted")
        column.addWidget(hint, 0, Qt.AlignmentFlag.AlignHCenter)
        row = QHBoxLayout()
        row.addStretch(1)
        for source in SOURCES.values():
            button = QPushButton(source.label if source.takes == "nothing" else f"{source.label}…")
            button.clicked.connect(partial(self._choose, source))
            row.addWidget(button)
        row.addStretch(1)
        row.setSpacing(8)
        column.addSpacing(16)
        column.addLayout(row)
        column.addStretch(2)
        return page

    def _make_message(self) -> QWidget:
        """Make the page for messages: a card, because the colours of text are made for its background."""
        page = QWidget()
        card = QFrame()
        theme.mark(card, "role", "card")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(24, 20, 24, 20)
        self.message.setWordWrap(True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        inside.addWidget(self.message)
        theme.mark(self.way_out, "role", "link")
        self.way_out.clicked.connect(self._take_way_out)
        inside.addWidget(self.way_out, 0, Qt.AlignmentFlag.AlignHCenter)
        outer = QVBoxLayout(page)
        outer.setContentsMargins(24, 24, 24, 24)
        outer.addStretch(2)
        outer.addWidget(card, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(3)
        return page

    # ---- choosing ----

    def _choose(self, source: SourceType) -> None:
        start = str(self._documents.folder)
        if source.takes == "nothing":
            self._use(source=source.key)
            return
        if source.takes == "folder":
            name = QFileDialog.getExistingDirectory(self, f"Choose {source.wanted}", start)
        else:
            name, _ = QFileDialog.getOpenFileName(self, f"Choose {source.wanted}", start, source.pattern)
        if name:
            self._use(source=source.key, path=self._short(Path(name)))

    def _short(self, path: Path) -> str:
        """Return a path relative to the project's folder if it lies inside, so that both can be moved together."""
        if self._documents.path is not None and path.is_relative_to(self._documents.base):
            return path.relative_to(self._documents.base).as_posix()
        return str(path)

    def _use(self, **values: object) -> None:
        project = self._editor.project
        self._editor.apply("Choose data", replace(project, data=project.data.replace(**values)))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept one folder or file that can be data."""
        if self._droppable(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Use the folder or file that was dropped."""
        dropped = self._droppable(event)
        if dropped is not None:
            source, path = dropped
            self._use(source=source, path=self._short(path))
            event.acceptProposedAction()

    @staticmethod
    def _droppable(event: QDropEvent) -> tuple[str, Path] | None:
        urls = event.mimeData().urls()
        if len(urls) != 1 or not urls[0].isLocalFile():
            return None
        path = Path(urls[0].toLocalFile())
        if path.is_dir():
            return ("arrays" if any(path.glob("*.npy")) else "images"), path
        suffix = path.suffix.lower()
        reads = (key for key, source in SOURCES.items() if suffix in source.suffixes and source.takes != "folder")
        source = next(reads, None)
        return (source, path) if source else None

    def _on_edited(self, field: str) -> None:
        project, record = self._editor.project, self.form.record
        assert isinstance(record, DataOptions)
        label = DataOptions.fields[field].label.lower()
        self._editor.apply(f"Change {label}", replace(project, data=record), merge=f"data.{field}")

    def _on_excluded(self, names: tuple[str, ...]) -> None:
        project = self._editor.project
        text = "Leave out files" if names else "Include files again"
        self._editor.apply(text, replace(project, data=project.data.replace(excluded_files=names)))

    def _on_fix(self, label: str, values: dict[str, Any]) -> None:
        project = self._editor.project
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        self._editor.apply(label, replace(project, data=project.data.replace(**values)))

    def _on_progress(self, text: str) -> None:
        """Show how far the data is read, while that is waited for."""
        if self.pages.currentWidget() is self.message_page and self.way_out.text() == CANCEL:
            self._say(f"Reading the data: {text}", way_out=CANCEL)

    def _take_way_out(self) -> None:
        if self.way_out.text() == AGAIN:
            self._read_again()
        elif self._request_id is not None:
            self._server.cancel(self._request_id)
            self._request_id = None
            self._say("Looking at the samples was cancelled.", way_out=AGAIN)
        else:
            self._dataset.cancel()

    def shutdown(self) -> None:
        """End the checks."""
        self.preview.files.shutdown()
        self.checks.cancel()

    # ---- showing ----

    def _read_again(self) -> None:
        self._shown = None
        self.preview.files.shutdown()
        self.checks.forget()
        self._say("Reading the data…", way_out=CANCEL)
        self._dataset.refresh(again=True)

    def _on_project_changed(self, _project: object = None) -> None:
        if self._editor.project.data != self.form.record:
            self.form.set_record(self._editor.project.data)
        changes, self._changes = self._changes, changes_of(self._editor.project)
        if self._shown is None or self._editor.project.data != self._shown[0]:
            self._on_info(self._dataset.info)
        elif changes != self._changes and self._dataset.info is not None:
            self._look_again(self._epoch)

    def _on_info(self, info: DatasetInfo | None) -> None:
        options, base = self._editor.project.data, str(self._documents.base)
        if self._shown != (options, base):
            self._drop_request()
        self.again.setVisible(options.source != "none")
        self.note.setText("" if options.source == "none" else f"{DataOptions.source.notes[options.source]}.")
        problems = options.problems()
        if options.source == "none":
            self._shown = None
            self.pages.setCurrentWidget(self.empty)
        elif problems:
            self._shown = None
            self._say("\n".join(p.message[:1].upper() + p.message[1:] for p in problems), is_error=True)
        elif self._dataset.is_current and self._dataset.error:
            self._shown = None
            self._say(self._dataset.error, is_error=self._dataset.error != CANCELLED, way_out=AGAIN)
        elif info is None or not self._dataset.is_current:
            self._shown = None
            self._say("Reading the data…", way_out=CANCEL)
        elif self._shown != (options, base):
            self._shown = (options, base)
            self._say("Looking at samples…", way_out=CANCEL)
            self._ask(options, base, info)

    def _say(self, text: str, *, is_error: bool = False, way_out: str = "") -> None:
        """Show a message instead of the preview, with a link below it."""
        self.way_out.setText(way_out)
        self.way_out.setVisible(bool(way_out))
        theme.mark(self.message, "role", "error" if is_error else "muted")
        self.message.setText(text)
        self.message.ensurePolished()
        width = min(MESSAGE_WIDTH, self.message.fontMetrics().horizontalAdvance(text) + 8)
        self.message.setFixedSize(width, self.message.heightForWidth(width))
        self.pages.setCurrentWidget(self.message_page)

    def _ask(self, options: DataOptions, base: str, info: DatasetInfo) -> None:
        def show(answer: dict[str, Any]) -> None:
            if self._shown == (options, base):
                self._show_answer(answer, info)

        def fail(message: str) -> None:
            if self._shown == (options, base):
                self._shown = None
                self._say(message, is_error=True, way_out=AGAIN)

        self._request({}, show, fail)

    def _show_answer(self, answer: dict[str, Any], info: DatasetInfo) -> None:
        options, base = self._editor.project.data, self._documents.base
        has_files = options.source_type is not None and options.source_type.has_image_files
        self.preview.show_answer(answer, info, has_files=has_files)
        self.pages.setCurrentWidget(self.preview)
        self.checks.show_data(options, base, info)
        if has_files:
            self.preview.files.show_data(options, base)
        else:
            self.preview.files.shutdown()
        if self.preview.bar is not None:
            self.preview.bar.epoch_chosen.connect(self._look_again)
            self.preview.bar.options_wanted.connect(self.augmentation_wanted)
            self._look_again(self._epoch)

    def _drop_request(self) -> None:
        """Cancel the request for samples; one that is at work goes on, since what it reads is of use to the next."""
        if self._request_id is not None:
            self._server.cancel(self._request_id, only_waiting=True)
            self._request_id = None

    def _request(self, more: dict[str, Any], show: OnResult, fail: OnError) -> None:
        """Ask for samples, which lie in a folder until they are shown."""
        folder = tempfile.mkdtemp(dir=self._folder)
        self._drop_request()

        def done(answer: dict[str, Any]) -> None:
            self._request_id = None
            show(answer)
            QTimer.singleShot(0, self, lambda: shutil.rmtree(folder, ignore_errors=True))

        def failed(message: str) -> None:
            self._request_id = None
            fail(message)

        def progressed(progress: dict[str, Any]) -> None:
            if self.pages.currentWidget() is self.message_page and self.way_out.text() == CANCEL:
                self._say(f"Looking at samples: {progress_text(progress)}", way_out=CANCEL)

        project, base = self._editor.project, str(self._documents.base)
        request = {"data": project.data.write(), "base": base, "folder": folder, "count": PREVIEW_SAMPLES}
        request = {**request, "training": project.training.write(), **more}
        self._request_id = self._server.request("preview", request, done, failed, progressed)

    # ---- samples as training changes them ----

    def show_augmented(self) -> None:
        """Show the samples as augmented from now on, if the options change them at all."""
        self._look_again(self._epoch or 1)

    def _look_again(self, epoch: int) -> None:
        """Show the samples as augmented in this epoch, or as they are, if the options allow it."""
        info, bar = self._dataset.info, self.preview.bar
        if info is None or bar is None:
            return
        project = self._editor.project
        problem = next((problem.message for problem in augmentation_problems(project, info)), "")
        was, self._epoch = self._epoch, epoch if project.training.augments and not problem else 0
        bar.show_state(project.training, problem, self._epoch)
        if was or self._epoch:
            self._ask_for_epoch()

    def _ask_for_epoch(self) -> None:
        options, epoch = self._editor.project.training, self._epoch
        looked = self._looked = (self._shown, epoch, self._changes)

        def show(answer: dict[str, Any]) -> None:
            if self._looked == looked and self._shown is not None:
                self.preview.show_pictures(answer.get("pictures") or [])

        def fail(message: str) -> None:
            if self._looked == looked and self.preview.bar is not None:
                self._epoch = 0
                self.preview.bar.show_state(options, message, 0)

        self._request({"epoch": epoch} if epoch else {}, show, fail)
