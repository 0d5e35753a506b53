"""Tracks the dataset of the open project: asks the engine about it when the choice of data changes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from netwright.app.documents import Documents
from netwright.app.processes import EngineServer
from netwright.designer.editor import Editor
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import HOST_NOT_ALLOWED
from netwright.engine.core.text import format_bytes, format_percent
from netwright.engine.operations.data_requests import FACTS, FactsRequest
from netwright.engine.project.data import DataOptions
from netwright.engine.project.data_hosts import granted, merged, missing_hosts
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.user_code import trust

DELAY_MS = 200
CANCELLED = noop("Reading the data was cancelled.")
NO_HOSTS: Mapping[str, int] = {}


UNITS = (
    noop("rows"),
    noop("samples"),
    noop("texts"),
    noop("files"),
    noop("steps"),
    noop("operators"),
    noop("measurements"),
)
"""Units of the engine's reports of progress, beside bytes."""


def progress_text(progress: Mapping[str, Any]) -> str:
    """Return the progress of a request in words: `45 % (1,234 of 2,700 rows)`."""
    done, total, unit = int(progress["done"]), int(progress["total"]), str(progress["unit"])
    amount, whole = (format_bytes(n) if unit == "bytes" else f"{n:,}" for n in (done, total))
    end = "" if unit == "bytes" else f" {translation(unit)}"
    if not total:
        return f"{amount}{end}"
    share = format_percent(min(1.0, done / total))
    return tr("{share} ({count} of {total})", share=share, count=amount, total=f"{whole}{end}")


class DatasetTracker(QObject):
    """Gives the editor the `DatasetInfo` of the dataset, or the reason why it cannot be read."""

    changed = Signal(object)
    """The new `DatasetInfo`, or None."""
    failed = Signal(str)
    """What is wrong with the data."""
    progressed = Signal(str)
    """How far the engine has read, in words."""

    def __init__(self, editor: Editor, documents: Documents, server: EngineServer) -> None:
        super().__init__(editor)
        self._editor = editor
        self._documents = documents
        self._server = server
        self._last_question: tuple[DataOptions, str] | None = None
        self._answered: tuple[DataOptions, str] | None = None
        self._is_started = False
        self._request: int | None = None
        self.info: DatasetInfo | None = None
        self.error = ""
        self.hosts: dict[str, int] = {}
        """The hosts that the data is at and that the user has not allowed, with the number of files."""
        self._delay = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._delay.timeout.connect(self.refresh)
        editor.project_changed.connect(self._on_project_changed)

    def start(self) -> None:
        """Ask the engine from now on: not before the window is up, because that starts a process. Data that was refused
        is asked about again whenever the window becomes active: the files may be there now."""
        self._is_started = True
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            # A method and no lambda, so that Qt disconnects it with the window.
            app.applicationStateChanged.connect(self._on_state_changed)
        self.refresh()

    def _on_state_changed(self, state: Qt.ApplicationState) -> None:
        if self.error not in ("", CANCELLED) and state == Qt.ApplicationState.ApplicationActive:
            self.refresh(again=True)

    @property
    def is_current(self) -> bool:
        """Whether `info`, `error` and `hosts` are about the current choice of data."""
        return self._answered is not None and self._answered == self._question()

    def _on_project_changed(self, _project: object = None) -> None:
        if self._is_started and (self._last_question is None or self._question() != self._last_question):
            self._delay.start()

    def _question(self) -> tuple[DataOptions, str]:
        return self._editor.project.data, str(self._documents.base)

    def refresh(self, *, again: bool = False) -> None:
        """Ask the engine about the current choice of data; with `again` even if it was asked before."""
        if not self._is_started:
            return  # the question needs imports that the first paint of the window must not wait for
        question = self._question()
        if question == self._last_question and not again:
            if self.is_current:
                self._editor.set_dataset_info(self.info, self.error)  # a project that was just opened has none yet
            return
        self._cancel_for(question)
        self._last_question = question
        options, base = question
        if options.source == "none" or options.problems():
            self._take(question, None, "")
            return
        if hosts := missing_hosts(options, merged(granted(), self._documents.hosts)):
            self._take(question, None, "", hosts)
            return
        self._request = self._server.ask(
            FACTS,
            FactsRequest(data=options.write(), base=Path(base)),
            lambda result: self._answer(question, DatasetInfo.read(result), ""),
            lambda message: self._refuse(question, message),
            on_progress=lambda progress: self.progressed.emit(progress_text(progress)),
            hosts=self._documents.hosts,
        )

    def _cancel_for(self, question: tuple[DataOptions, str]) -> None:
        """Cancel the request about an older choice. One that reads the same samples goes on: the next one uses them."""
        if self._request is not None and self._last_question is not None:
            options, base = self._last_question
            is_same = (options.reading, base) == (question[0].reading, question[1])
            self._server.cancel(self._request, only_waiting=is_same)
        self._request = None

    def cancel(self) -> None:
        """Stop reading; the data stays unknown until `refresh` is called with `again`."""
        if self._request is not None and self._last_question is not None:
            self._server.cancel(self._request)
            self._answer(self._last_question, None, CANCELLED)

    def fetch(self) -> None:
        """Allow the data to be fetched, from now on, and read it."""
        self._documents.allow_hosts(self.hosts)
        self.refresh(again=True)

    def _refuse(self, question: tuple[DataOptions, str], message: str) -> None:
        error = self._server.error
        if error.get("code") == HOST_NOT_ALLOWED and question == self._last_question:
            self._request = None
            self._take(question, None, "", error["data"]["hosts"])
        else:
            self._answer(question, None, message.replace(trust.WAY_OUT, tr("Read the code first.")))

    def _answer(self, question: tuple[DataOptions, str], info: DatasetInfo | None, error: str) -> None:
        if question == self._last_question:  # else the choice has changed since, and another answer is on its way
            self._request = None
            self._take(question, info, error)

    def _take(
        self,
        question: tuple[DataOptions, str],
        info: DatasetInfo | None,
        error: str,
        hosts: Mapping[str, int] = NO_HOSTS,
    ) -> None:
        self._answered = question
        self.info, self.error, self.hosts = info, error, dict(hosts)
        self._editor.set_dataset_info(info, error)
        self.changed.emit(info)
        if error:
            self.failed.emit(error)
