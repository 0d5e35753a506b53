"""The log of a run in the Train tab: its messages, and the output of its processes."""

import re
import time
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontDatabase, QHideEvent, QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QTabWidget, QWidget

from netwright.designer.markup import visible
from netwright.engine.core.files import open_file
from netwright.engine.runs.events import (
    Checkpointed,
    Ended,
    Event,
    Failed,
    Message,
    Refused,
    Requested,
    Resumed,
    SampleSkipped,
    Started,
    StateChanged,
)
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.requests import request_text

MOST_LINES = 5000
FIRST_BYTES = 2**17
"""The part of a long engine log that is shown at first: its end."""
READ_BYTES = 2**16
FOLLOW_MS = 500
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


def line_of(event: Event) -> str:
    """Return the text of an event, in one line or a few; empty for events that only draw."""
    match event:
        case Started():
            return f"Training on {event.hardware}: {event.parameters:,} parameters, {event.iterations:,} iterations"
        case StateChanged():
            return f"Run {event.state}" + (f": {event.reason}" if event.reason else "")
        case Message():
            return f"{event.severity.capitalize()}: {event.text}"
        case SampleSkipped():
            return f"Skipped, because it cannot be read: {event.sample}: {event.reason}"
        case Requested():
            return f"Requested: {request_text(event).replace('_', ' ')}, at iteration {event.iteration:,}"
        case Refused():
            return f"Refused: {event.what.replace('_', ' ')}, at iteration {event.iteration:,}: {event.reason}"
        case Checkpointed():
            return f"Checkpoint after iteration {event.iteration:,}, in {event.seconds:.2f} s"
        case Resumed():
            return f"Resumed after iteration {event.iteration:,}: {event.explanation}"
        case Failed():
            return f"Failed: {event.cause}" + (f"\n{event.detail}" if event.detail else "")
        case Ended():
            text = f"Run {event.state}: {event.reason}"
            return f"{text}\n{event.result.get('held_back_by', '')}".rstrip()
    return ""


class LogPanel(QTabWidget):
    """Messages with their times, and the end of `engine.log`, which is followed while it is visible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.messages, self.printed = _lines("No messages yet."), _lines("No output of the engine yet.")
        self.messages.setAccessibleName("Messages of the run")
        self.printed.setAccessibleName("Output of the engine")
        self.addTab(self.messages, "Messages")
        self.addTab(self.printed, "Engine log")
        self.setTabToolTip(1, "Output of the run's processes: engine.log in its folder")
        self._log: Path | None = None
        self._at = 0
        self._timer = QTimer(self, interval=FOLLOW_MS)
        self._timer.timeout.connect(self.read_on)

    def show_run(self, folder: RunFolder | None) -> None:
        """Show another run, or none."""
        self.messages.clear()
        self.printed.clear()
        self._log, self._at = (None if folder is None else folder.log), 0
        if self.isVisible():
            self.read_on()

    def take(self, event: Event) -> None:
        """Add one event of the run."""
        if line := line_of(event):
            moment = time.strftime("%H:%M:%S", time.localtime(event.time)) if event.time else ""
            self.messages.appendPlainText(visible(f"{moment}  {line}".strip()))

    def read_on(self) -> None:
        """Show the output since the last read. A log that cannot be read counts as empty."""
        if self._log is None:
            return
        try:
            size = self._log.stat().st_size
            if size < self._at:  # another file of this name
                self.printed.clear()
                self._at = 0
            begin = self._at or max(0, size - FIRST_BYTES)
            with open_file(self._log) as file:
                file.seek(begin)
                output = file.read(READ_BYTES if self._at else FIRST_BYTES)
        except OSError:
            return
        end = output.rfind(b"\n") + 1  # half a line waits for its end
        if begin and not self._at:
            output, begin, end = output[output.find(b"\n") + 1 : end], begin, end
        else:
            output = output[:end]
        if end:
            self._at = begin + end
            self.printed.appendPlainText(visible(_CONTROL.sub("", output.decode(errors="replace").rstrip("\n"))))

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the log while it is visible."""
        super().showEvent(event)
        self.read_on()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop following the log."""
        self._timer.stop()
        super().hideEvent(event)


def _lines(empty: str) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setReadOnly(True)
    field.setMaximumBlockCount(MOST_LINES)
    field.setPlaceholderText(empty)
    field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    return field
