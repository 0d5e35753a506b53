"""The log of a run: its messages, and the output of its processes."""

import re
import time
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontDatabase, QHideEvent, QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QTabWidget, QWidget

from netwright.designer.engine_messages import message_text
from netwright.designer.language import named, noop, tr, translation
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

STATES = (
    *(noop("starting"), noop("running"), noop("stopping"), noop("paused")),
    *(noop("finished"), noop("stopped"), noop("failed"), noop("lost")),
)
"""The states of a run among other words; `translation` shows them."""
SEVERITIES = {"note": noop("Note"), "warning": noop("Warning")}
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
            return tr(
                "Training on {hardware}: {parameters:,} parameters, {iterations:,} iterations",
                hardware=event.hardware,
                parameters=event.parameters,
                iterations=event.iterations,
            )
        case StateChanged():
            return _run_line(event)
        case Message():
            return named(translation(SEVERITIES[event.severity]), message_text(event.text))
        case SampleSkipped():
            return tr(
                "Skipped, because it cannot be read: {sample}: {reason}",
                sample=event.sample,
                reason=message_text(event.reason),
            )
        case Requested():
            request = request_text(event).replace("_", " ")
            return tr("Requested: {request}, at iteration {iteration:,}", request=request, iteration=event.iteration)
        case Refused():
            return tr(
                "Refused: {request}, at iteration {iteration:,}: {reason}",
                request=event.what.replace("_", " "),
                iteration=event.iteration,
                reason=message_text(event.reason),
            )
        case Checkpointed():
            return tr(
                "Checkpoint after iteration {iteration:,}, in {seconds:.2f} s",
                iteration=event.iteration,
                seconds=event.seconds,
            )
        case Resumed():
            return tr(
                "Resumed after iteration {iteration:,}: {explanation}",
                iteration=event.iteration,
                explanation=message_text(event.explanation),
            )
        case Failed():
            return tr("Failed: {cause}", cause=message_text(event.cause)) + (
                f"\n{event.detail}" if event.detail else ""
            )
        case Ended():
            return f"{_run_line(event)}\n{event.result.get('held_back_by', '')}".rstrip()
    return ""


def _run_line(event: StateChanged | Ended) -> str:
    """Return the state that a run has come to, with the reason."""
    state = translation(event.state)
    if event.reason or isinstance(event, Ended):
        return tr("Run {state}: {reason}", state=state, reason=message_text(event.reason))
    return tr("Run {state}", state=state)


class LogPanel(QTabWidget):
    """Messages with their times, and the end of `engine.log`, which is followed while it is visible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.messages, self.printed = _lines(tr("No messages yet.")), _lines(tr("No output of the engine yet."))
        self.messages.setAccessibleName(tr("Messages of the run"))
        self.printed.setAccessibleName(tr("Output of the engine"))
        self.addTab(self.messages, tr("Messages"))
        self.addTab(self.printed, tr("Engine log"))
        self.setTabToolTip(1, tr("Output of the run's processes: engine.log in its folder"))
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
