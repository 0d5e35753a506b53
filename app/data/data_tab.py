"""The Data tab: the source of the data, its splits, and a preview."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.data.data_checks import DataChecks
from netwright.app.data.data_guesser import DataGuesser
from netwright.app.data.dataset_tracker import CANCELLED, DatasetTracker, progress_text
from netwright.app.data.first_samples import FirstSamples
from netwright.app.data.message_page import FetchPage, MessagePage
from netwright.app.data.preview_panel import Preview, changes_of
from netwright.app.processes import OnError, OnResult
from netwright.app.shell import Shell
from netwright.app.temporary_folder import temporary_folder
from netwright.app.widgets import Divider, Notice, SidePanel
from netwright.designer import theme
from netwright.designer.forms.form import Form
from netwright.engine.project.check_augmentation import augmentation_problems
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.sources.source_catalog import SOURCES
from netwright.engine.project.sweeps import varied_paths
from netwright.engine.project.user_code import is_data_untrusted

PREVIEW_SAMPLES = 40
SIDE_WIDTH = 364
CANCEL, AGAIN, TRUST = "Cancel", "Try again", "Trust the code…"


class DataTab(QWidget):
    """Edits the section `data` of the project, and shows what the engine reads there."""

    network_made = Signal()
    """A network for the data was made, as the last step."""
    trust_wanted = Signal()
    """The user wants to let the code run that gives the data."""
    augmentation_wanted = Signal()
    """The user asks for the options of augmentation."""
    sweep_requested = Signal(str)
    """The path of an option that is to vary in an experiment, or that varies and whose values are to be seen."""
    sweep_ended = Signal(str)

    def __init__(self, shell: Shell, dataset: DatasetTracker, guesser: DataGuesser) -> None:
        super().__init__()
        editor = shell.editor
        self._editor, self._documents, self._server, self._dataset = editor, shell.documents, shell.server, dataset
        self._guesser = guesser
        self._shown: tuple[DataOptions, str] | None = None
        self._epoch = 0
        """The epoch whose augmentation is shown; 0 for the samples as they are."""
        self._changes = changes_of(editor.project)
        self._looked: object = None
        """The last request for samples that replace those shown."""
        self._request_id: int | None = None
        """The request for samples that is not answered yet."""
        self._folder = temporary_folder(self, "preview")
        self.form = Form(editor.project.data)
        self.form.changed.connect(self._on_edited)
        self.form.sweep_requested.connect(lambda name: self.sweep_requested.emit(f"data.{name}"))
        self.form.sweep_ended.connect(lambda name: self.sweep_ended.emit(f"data.{name}"))
        self.checks = DataChecks(shell.server, shell.documents, self)
        self.checks.fix_wanted.connect(self._on_fix)
        self.preview = Preview(self.checks)
        self.preview.files.excluded.connect(self._on_excluded)
        self.empty = self._make_empty()
        self.message_page = MessagePage(CANCEL)
        self.message, self.way_out = self.message_page.message, self.message_page.way_out
        self.way_out.clicked.connect(self._take_way_out)
        self.fetch_page = FetchPage()
        self.fetch_page.fetch_wanted.connect(self._dataset.fetch)
        self.first = FirstSamples(shell.server, shell.documents, self._folder)
        self.first.changed.connect(self._show_first)
        self.first.cancelled.connect(self._take_way_out)
        self.pages = QStackedWidget()
        for page in (self.empty, self.message_page, self.fetch_page, self.first, self.preview):
            self.pages.addWidget(page)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._make_side())
        row.addWidget(Divider())
        right = QVBoxLayout()
        right.setSpacing(0)
        self.notice = Notice()
        self._above = QWidget()
        margins = QVBoxLayout(self._above)
        margins.setContentsMargins(16, 16, 16, 0)  # those of the cards below
        margins.addWidget(self.notice)
        right.addWidget(self._above)
        right.addWidget(self.pages, 1)
        row.addLayout(right, 1)
        editor.project_changed.connect(self._on_project_changed)
        dataset.changed.connect(self._on_info)
        dataset.progressed.connect(self._on_progress)
        guesser.changed.connect(self._show_notice)
        editor.analysis_changed.connect(self._show_notice)
        self._show_notice()
        self._on_info(dataset.info)
        self._show_sweeps()

    def _make_side(self) -> QWidget:
        content = QWidget()
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
        other = QPushButton("Choose other data…")
        other.setMenu(QMenu(other))
        self._fill_menu(other.menu())
        self.other = other
        buttons = QHBoxLayout()
        buttons.addWidget(other)
        buttons.addWidget(self.again)
        buttons.addStretch(1)
        column.addLayout(buttons)
        return SidePanel(content, SIDE_WIDTH)

    def _make_empty(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.addStretch(1)
        title = QLabel("Choose the data the network learns from")
        theme.mark(title, "role", "title")
        column.addWidget(title, 0, Qt.AlignmentFlag.AlignHCenter)
        hint = QLabel("Drop a file or a folder anywhere in the window, or choose one: Netwright finds out what it is.")
        hint.setWordWrap(True)
        hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.mark(hint, "role", "muted")
        column.addWidget(hint)
        row = QHBoxLayout()
        row.addStretch(1)
        for text, is_folder in (("Choose a file…", False), ("Choose a folder…", True)):
            button = QPushButton(text)
            button.clicked.connect(lambda _=False, is_folder=is_folder: self._choose(is_folder=is_folder))
            row.addWidget(button)
        for source in SOURCES.values():
            if source.takes == "nothing":
                button = QPushButton(source.label)
                button.clicked.connect(lambda _=False, key=source.key: self._use(source=key))
                row.addWidget(button)
        row.addStretch(1)
        row.setSpacing(8)
        column.addSpacing(16)
        column.addLayout(row)
        label = QLabel(f"Supported: {', '.join(s.noun for s in SOURCES.values() if s.takes != 'nothing')}.")
        label.setWordWrap(True)
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.mark(label, "role", "help")
        column.addSpacing(16)
        column.addWidget(label)
        column.addStretch(2)
        return page

    # ---- choosing ----

    def _choose(self, *, is_folder: bool) -> None:
        start = str(self._documents.folder)
        if is_folder:
            name = QFileDialog.getExistingDirectory(self, "Choose the folder of the data", start)
        else:
            kinds = (source.pattern for source in SOURCES.values() if source.takes in ("file", "both"))
            patterns = ";;".join(["All files (*)", *kinds])
            name, _ = QFileDialog.getOpenFileName(self, "Choose the data", start, patterns)
        if name:
            self._guesser.use(Path(name))

    def _fill_menu(self, menu: QMenu) -> None:
        """Add the ways to choose data to a menu."""
        menu.addAction("File…", lambda: self._choose(is_folder=False))
        menu.addAction("Folder…", lambda: self._choose(is_folder=True))
        for source in SOURCES.values():
            if source.takes == "nothing":
                menu.addAction(source.label, lambda key=source.key: self._use(source=key))

    def _use(self, **values: object) -> None:
        project = self._editor.project
        self._editor.apply("Choose data", replace(project, data=project.data.replace(**values)))

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
        if self._is_waiting:
            self._say(f"Reading the data: {text}", way_out=CANCEL)

    def _take_way_out(self) -> None:
        if self.way_out.text() == TRUST:
            self.trust_wanted.emit()
        elif self.way_out.text() == AGAIN:
            self._read_again()
        elif self._request_id is not None:
            self._server.cancel(self._request_id)
            self._request_id = None
            self._say("Looking at the samples was cancelled.", way_out=AGAIN)
        else:
            self._dataset.cancel()

    def shutdown(self) -> None:
        """End the checks."""
        self.first.stop()
        self.preview.files.shutdown()
        self.checks.cancel()

    # ---- showing ----

    @property
    def _is_waiting(self) -> bool:
        """Whether a message or the first samples are shown until the data is read."""
        return self.pages.currentWidget() in (self.message_page, self.first) and self.way_out.text() == CANCEL

    def _show_first(self) -> None:
        """Show the first samples instead of the message, while that is waited for."""
        if self._is_waiting:
            self._say(self.message.text(), way_out=CANCEL)

    def _show_notice(self) -> None:
        """Show the guessed source of the data, while the project has it, and offer a network where there is none."""
        texts: list[str] = []
        links: dict[str, Callable[[], None]] = {}
        starter = self._editor.check_result.starter
        if starter is not None:
            links[starter.label] = self._make_network
        current = self._guesser.brought
        if current is not None and current.data == self._editor.project.data:
            texts.append(current.text)
            links |= {**self._guesser.links(), "Another kind…": self._choose_kind}
        if starter is not None:
            texts.append("The project has no network yet.")
        self._above.setVisible(bool(texts))
        self.notice.say(" ".join(texts), links)

    def _make_network(self) -> None:
        starter = self._editor.check_result.starter
        if starter is not None and self._editor.edit(starter.label, starter.edit):
            self.network_made.emit()

    def _choose_kind(self) -> None:
        link = self.notice.links["Another kind…"]
        self._guesser.kinds_menu(link).popup(link.mapToGlobal(link.rect().bottomLeft()))

    def _read_again(self) -> None:
        self._shown = None
        self.preview.files.shutdown()
        self.checks.forget()
        self.first.start(self._editor.project.data, str(self._documents.base))
        self._say("Reading the data…", way_out=CANCEL)
        self._dataset.refresh(again=True)

    def _show_sweeps(self) -> None:
        """Mark the options that vary in the experiment."""
        varied = varied_paths(self._editor.project)
        self.form.show_sweeps({path.removeprefix("data.") for path in varied if path.startswith("data.")})

    def _on_project_changed(self, _project: object = None) -> None:
        self._show_sweeps()
        if self._editor.project.data != self.form.record:
            self.form.set_record(self._editor.project.data)
            self._show_notice()
        changes, self._changes = self._changes, changes_of(self._editor.project)
        if self._shown is None or self._editor.project.data != self._shown[0]:
            self._on_info(self._dataset.info)
        elif changes != self._changes and self._dataset.info is not None:
            self._look_again(self._epoch)

    def _on_info(self, info: DatasetInfo | None) -> None:
        options, base = self._editor.project.data, str(self._documents.base)
        if self._shown != (options, base):
            self._drop_request()
            self.form.set_resolved({})
        self.again.setVisible(options.source != "none")
        self.other.setVisible(options.source != "none")
        self.note.setText("" if options.source == "none" else f"{DataOptions.source.notes[options.source]}.")
        problems = options.problems()
        if options.source == "none":
            self._shown = None
            self.first.stop()
            self.pages.setCurrentWidget(self.empty)
        elif problems:
            self._shown = None
            self._say("\n".join(p.message[:1].upper() + p.message[1:] for p in problems), is_error=True)
        elif self._dataset.is_current and self._dataset.hosts:
            self._shown = None
            self.first.stop()
            self.fetch_page.show_hosts(self._dataset.hosts)
            self.pages.setCurrentWidget(self.fetch_page)
        elif self._dataset.is_current and self._dataset.error:
            self._shown = None
            way_out = TRUST if is_data_untrusted(options) else AGAIN
            self._say(self._dataset.error, is_error=self._dataset.error != CANCELLED, way_out=way_out)
        elif info is None or not self._dataset.is_current:
            self._shown = None
            self.first.start(options, base)
            self._say("Reading the data…", way_out=CANCEL)
        elif self._shown != (options, base):
            self._shown = (options, base)
            self._say("Looking at samples…", way_out=CANCEL)
            self._ask(options, base, info)

    def _say(self, text: str, *, is_error: bool = False, way_out: str = "") -> None:
        """Show a message instead of the preview, with a link below it."""
        self.message_page.say(text, is_error=is_error, way_out=way_out)
        if way_out != CANCEL:
            self.first.stop()
        elif self.first.has_samples:
            self.first.say(text)
        self.pages.setCurrentWidget(self.first if self.first.has_samples else self.message_page)

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
        self.first.stop()
        has_files = options.source_type is not None and options.source_type.has_image_files
        self.preview.show_answer(answer, info, has_files=has_files)
        columns = answer.get("columns") or ()
        self.form.offer_columns([str(column["name"]) for column in columns])
        self.form.set_resolved({"response": _response_of(columns)})
        self.pages.setCurrentWidget(self.preview)
        self.checks.show_data(options, base, info)
        if has_files:
            self.preview.files.show_data(options, base, self._documents.hosts)
        else:
            self.preview.files.shutdown()
        if self.preview.bar is not None:
            self.preview.bar.epoch_chosen.connect(self._look_again)
            self.preview.bar.options_wanted.connect(self.augmentation_wanted)
            self._look_again(self._epoch)

    def _drop_request(self) -> None:
        """Cancel the request for samples; a running one goes on, since the next one can use the data that it reads."""
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
            if self._is_waiting:
                self._say(f"Looking at samples: {progress_text(progress)}", way_out=CANCEL)

        project, base = self._editor.project, str(self._documents.base)
        request = {"data": project.data.write(), "base": base, "folder": folder, "count": PREVIEW_SAMPLES}
        request |= {"training": project.training.write(), "hosts": self._documents.hosts, **more}
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
        view = self._looked = (self._shown, epoch, self._changes)

        def show(answer: dict[str, Any]) -> None:
            if self._looked == view and self._shown is not None:
                self.preview.show_samples(answer)

        def fail(message: str) -> None:
            if self._looked == view and self.preview.bar is not None:
                self._epoch = 0
                self.preview.bar.show_state(options, message, 0)

        self._request({"epoch": epoch} if epoch else {}, show, fail)


def _response_of(columns: Sequence[Mapping[str, Any]]) -> str:
    """Return the names of the columns that are predicted, and whether it is the last one."""
    names = [str(column["name"]) for column in columns if column["role"] == "response"]
    is_last = bool(columns) and names == [str(columns[-1]["name"])]
    return f"{names[0]} (last column)" if is_last else ", ".join(names)
