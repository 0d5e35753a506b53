"""The log of a run in the Train tab: what it said to people, and what its processes printed."""

import re
import time
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontDatabase, QHideEvent, QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QTabWidget, QWidget

from engine.core.files import open_file
from engine.runs.events import (
    Checkpointed,
    Ended,
    Event,
    Failed,
    Message,
    Refused,
    Requested,
    Resumed,
    Started,
    StateChanged,
)
from engine.runs.folder import RunFolder
from engine.runs.requests import request_text

MOST_LINES = 5000
FIRST_BYTES = 2**17
"""Of a long log of processes only its end is shown."""
READ_BYTES = 2**16
FOLLOW_MS = 500
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


def line_of(event: Event) -> str:
    """What an event says to a person, in one line or a few; nothing, if it only draws."""
    match event:
        case Started():
            return f"Training on {event.hardware}: {event.parameters:,} parameters, {event.iterations:,} iterations"
        case StateChanged():
            return f"The run is {event.state}" + (f": {event.reason}" if event.reason else "")
        case Message():
            return f"{event.severity.capitalize()}: {event.text}"
        case Requested():
            return f"Requested: {request_text(event).replace('_', ' ')}, at iteration {event.iteration:,}"
        case Refused():
            return f"Refused: {event.what.replace('_', ' ')}, at iteration {event.iteration:,}: {event.reason}"
        case Checkpointed():
            return f"Checkpoint after iteration {event.iteration:,}, in {event.seconds:.2f} s"
        case Resumed():
            return f"Goes on after iteration {event.iteration:,}: {event.reason}"
        case Failed():
            return f"Failed: {event.cause}" + (f"\n{event.detail}" if event.detail else "")
        case Ended():
            said = f"The run has {'ended: ' if event.state == 'failed' else ''}{event.state}: {event.reason}"
            return f"{said}\n{event.result.get('held_back_by', '')}".rstrip()
    return ""


class LogPanel(QTabWidget):
    """Messages with their times, and the end of `engine.log`, which is followed while it is seen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.messages, self.printed = _lines("Nothing was said yet."), _lines("The engine has printed nothing.")
        self.messages.setAccessibleName("Messages of the run")
        self.printed.setAccessibleName("What the engine printed")
        self.addTab(self.messages, "Messages")
        self.addTab(self.printed, "Engine log")
        self.setTabToolTip(1, "What the processes of the run printed: engine.log in its folder")
        self._log: Path | None = None
        self._at = 0
        self._timer = QTimer(self, interval=FOLLOW_MS)
        self._timer.timeout.connect(self.read_on)

    def show_run(self, folder: RunFolder | None) -> None:
        """Another run, or none."""
        self.messages.clear()
        self.printed.clear()
        self._log, self._at = (None if folder is None else folder.log), 0
        if self.isVisible():
            self.read_on()

    def take(self, event: Event) -> None:
        """One event of the run."""
        if line := line_of(event):
            moment = time.strftime("%H:%M:%S", time.localtime(event.time)) if event.time else ""
            self.messages.appendPlainText(f"{moment}  {line}".strip())

    def read_on(self) -> None:
        """Show what was printed since. A log that cannot be read is empty."""
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
                found = file.read(READ_BYTES if self._at else FIRST_BYTES)
        except OSError:
            return
        end = found.rfind(b"\n") + 1  # half a line waits for its end
        if begin and not self._at:
            found, begin, end = found[found.find(b"\n") + 1 : end], begin, end
        else:
            found = found[:end]
        if end:
            self._at = begin + end
            self.printed.appendPlainText(_CONTROL.sub("", found.decode(errors="replace").rstrip("\n")))

    def showEvent(self, event: QShowEvent) -> None:
        """It is read while it is seen."""
        super().showEvent(event)
        self.read_on()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """And not otherwise."""
        self._timer.stop()
        super().hideEvent(event)


def _lines(empty: str) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setReadOnly(True)
    field.setMaximumBlockCount(MOST_LINES)
    field.setPlaceholderText(empty)
    field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    return field
