"""Samples of the beginning of the data, shown while all of it is read."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from netwright.app.data.lanes import lanes_of
from netwright.app.data.option_words import column_name
from netwright.app.data.preview_panel import make_card
from netwright.app.data.preview_tiles import samples_of
from netwright.app.data.sample_tables import make_table
from netwright.app.documents import Documents
from netwright.app.processes import EngineServer
from netwright.app.widgets import Notice
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr
from netwright.engine.operations.data_requests import FIRST_SAMPLES, FirstSamplesRequest
from netwright.engine.project.data import DataOptions

DELAY_MS = 300
"""Data that is read within this time is not looked at twice."""
COUNT = 24

Question = tuple[DataOptions, str]


class FirstSamples(QWidget):
    """Asks the engine for samples of the beginning of data, and shows them below a line with what is read meanwhile."""

    changed = Signal()
    """There are samples to show."""
    cancelled = Signal()
    """The user no longer wants the data to be read."""

    def __init__(self, server: EngineServer, documents: Documents, folder: str, parent: QWidget | None = None) -> None:
        """Have pictures written to folders inside `folder`."""
        super().__init__(parent)
        self._server, self._documents, self._folder = server, documents, folder
        self._question: Question | None = None
        self._request: int | None = None
        self._text = self._refusal = ""
        self._rooms: list[str] = []
        """Folders of pictures that the engine was asked to write."""
        self.has_samples = False
        """Whether samples of the data that is read now are shown."""
        self._delay = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._delay.timeout.connect(self._ask)
        self.notice = Notice()
        theme.mark(self.notice, "flush", True)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        above = QVBoxLayout()
        above.setContentsMargins(24, 0, 24, 0)
        above.addWidget(self.notice)
        column.addLayout(above)
        column.addWidget(self._area, 1)

    def start(self, options: DataOptions, base: str, refusal: str = "") -> None:
        """Show samples of this data as soon as there are some, unless `stop` is called before. Asks once per data.
        `refusal` says why the data cannot be read: its rows are shown then, also those of a short file."""
        if (self._question, self._refusal) != ((options, base), refusal):
            self.stop()
            self._question, self._refusal = (options, base), refusal
            self._delay.start()

    def stop(self) -> None:
        """The data is known as a whole, or no longer wanted."""
        self._delay.stop()
        if self._request is not None:
            self._server.cancel(self._request)  # it may still write: its folder goes with the next answer
        self._question, self._request, self.has_samples, self._refusal = None, None, False, ""

    def say(self, text: str) -> None:
        """Say how far the data is read."""
        if not self.notice.links:
            self.notice.say(self._text, {tr("Cancel"): self.cancelled.emit})
        self.notice.label.setText(f"{self._text} {text}")

    def _ask(self) -> None:
        assert self._question is not None
        options, base = self._question
        folder = tempfile.mkdtemp(dir=self._folder)
        self._rooms.append(folder)
        request = FirstSamplesRequest(
            data=options.write(), base=Path(base), folder=Path(folder), count=COUNT, is_refused=bool(self._refusal)
        )

        def show(answer: dict[str, Any]) -> None:
            self._request = None
            if answer:
                self._show(answer)
            self._leave_rooms()

        def fail(_message: str) -> None:  # reading all of the data says what is wrong
            self._request = None
            self._leave_rooms()

        self._request = self._server.ask(FIRST_SAMPLES, request, show, fail, hosts=self._documents.hosts)

    def _leave_rooms(self) -> None:
        while self._rooms:
            shutil.rmtree(self._rooms.pop(), ignore_errors=True)

    def _show(self, answer: dict[str, Any]) -> None:
        self._text = tr("Samples from {part}.", part=message_text(answer["text"]))
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(24, 12, 24, 16)
        column.setSpacing(12)
        if (tiles := samples_of(answer)) is not None:
            column.addWidget(make_card(tr("Samples"), tiles, above=lanes_of(answer, answer["channels"])))
        if answer["rows"]:
            heads = list(map(column_name, answer["columns"]))
            column.addWidget(make_card(tr("First rows"), make_table(heads, answer["rows"])))
        column.addStretch(1)
        self._area.setWidget(content)
        self.has_samples = True
        if self._refusal:
            self.notice.say(self._refusal, {})
        self.changed.emit()
