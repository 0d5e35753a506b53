"""Follows one run by its folder: reads new events on a timer, passes them on, and notices its end.

The run does not know that it is watched. A run that another window or a terminal has started is followed the same way.
"""

import contextlib
import math
import time
from collections import deque
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.errors import UserError
from netwright.engine.project.training import COMPLETED
from netwright.engine.runs.checkpoint_files import has_checkpoint
from netwright.engine.runs.events import ENDS, Ended, Event, Failed
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.log_lines import event_in

POLL_MS, LOOK_MS = 100, 500
BUDGET_S = 0.008
"""Half of a frame: the other half is for painting what came."""
CATCHING_UP_S = 0.04
"""The budget where more than `MANY` lines wait, as when a long run is opened: the time then goes to reading, and not to
painting what is painted again at once."""
MANY = 100
GO_ON_MS = 4
"""Leaves a turn of the event loop to painting."""
SILENCE_S = 1.0
"""Interval between looks whether the run's coordinator responds."""
LOST = noop("The processes of this run ended without a result, as after a crash or a power cut.")
GOES_ON, GOES_NOT_ON = (
    noop("Resume continues from the last checkpoint."),
    noop("It had saved no checkpoint to go on from."),
)
SENTENCES = {
    "finished": noop("Training finished"),
    "stopped": noop("Stopped"),
    "failed": noop("Failed"),
    "lost": noop("Lost"),
}
"""The last states of a run, for the status line."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended: its last state, the reason, and whether it has saved anything that it can go on from."""

    state: str
    reason: str
    has_checkpoint: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether all that was planned is done, and there is nothing else to say."""
        return self.state == "finished" and self.reason.endswith(COMPLETED)

    def sentence(self) -> str:
        """Return the outcome as a sentence for the status line."""
        text = SENTENCES.get(self.state, self.state)
        if self.reason.lower().startswith(text.lower()):
            return message_text(f"{self.reason[:1].upper()}{self.reason[1:]}.")
        words = translation(text)
        return tr("{state}: {reason}", state=words, reason=message_text(self.reason)) if self.reason else f"{words}."


class RunFollower(QObject):
    """Emits `received` with each event, in order, `caught_up` once those were read that were there from the beginning,
    and `ended` once with the `Outcome`. `silence_changed` tells why the run's coordinator does not respond; empty once
    it responds again."""

    received = Signal(object)
    caught_up = Signal()
    ended = Signal(object)
    silence_changed = Signal(str)

    def __init__(self, folder: RunFolder, parent: QObject | None = None, *, poll_ms: int = POLL_MS) -> None:
        super().__init__(parent)
        self.folder = folder
        self.outcome: Outcome | None = None
        self.silence = ""
        self.is_catching_up = True
        self._looked = -math.inf
        self._is_closed = False
        self._reader = EventReader(folder, limit_bytes=2**17)
        self._unsaid: deque[bytes] = deque()
        self._cause = ""
        self._ended: Ended | None = None
        self._timer = QTimer(self, interval=poll_ms)
        self._timer.timeout.connect(self.poll)
        self._go_on = QTimer(self, singleShot=True, interval=GO_ON_MS)
        self._go_on.timeout.connect(self.poll)

    def start(self) -> None:
        """Read the existing events, and follow the run."""
        self._timer.start()
        QTimer.singleShot(0, self, self.poll)

    def close(self) -> None:
        """Stop following; the run goes on. Nothing is emitted any more, not even events that were already read."""
        self._is_closed = True
        self._timer.stop()
        self._go_on.stop()

    def poll(self) -> None:
        """Pass on new events for half a frame, longer where many wait; the rest after other events of the window."""
        if self.outcome is not None or self._is_closed:
            return
        try:
            state = self.folder.state()  # asked first: what is read after an end is all there is
        except UserError as error:
            self._end("lost", str(error))
            return
        began = time.monotonic()
        if state not in ENDS and began - self._looked >= SILENCE_S:
            self._look_for_silence()
            self._looked = began
        while self._unsaid or self._read():
            if (event := event_in(self._unsaid.popleft())) is not None:
                self._tell(event)
            budget_s = CATCHING_UP_S if len(self._unsaid) > MANY else BUDGET_S
            if time.monotonic() - began > budget_s:
                self._go_on.start()
                return
        if self.is_catching_up:
            self.is_catching_up = False
            self.caught_up.emit()
        if state in ENDS:
            if self._ended is not None:
                self._end(self._ended.state, self._ended.reason or self._cause)
            else:
                self._end(state, "" if state == "lost" else self._cause)

    def _look_for_silence(self) -> None:
        reason = ""
        with contextlib.suppress(UserError):  # the next poll says so
            reason = self.folder.why_silent()
        if reason != self.silence:
            self.silence = reason
            self.silence_changed.emit(reason)

    def _read(self) -> bool:
        self._unsaid.extend(self._reader.lines())
        return bool(self._unsaid)

    def _tell(self, event: Event) -> None:
        self.received.emit(event)
        if isinstance(event, Failed):
            self._cause = event.cause
        # One that was resumed goes on behind its end.
        self._ended = event if isinstance(event, Ended) else None

    def _end(self, state: str, reason: str) -> None:
        self.close()
        self.outcome = _outcome(self.folder, state, reason)
        self.ended.emit(self.outcome)


class UnseenRuns(QObject):
    """Looks after runs that are under way while another one is shown. `ended` tells one that has ended, with its
    `Outcome`."""

    ended = Signal(object, object)

    def __init__(self, parent: QObject | None = None, *, look_ms: int = LOOK_MS) -> None:
        super().__init__(parent)
        self.folders: list[RunFolder] = []
        """The runs, the latest last."""
        self._timer = QTimer(self, interval=look_ms)
        self._timer.timeout.connect(self.look)

    def add(self, folder: RunFolder) -> None:
        """Look after a run."""
        if folder not in self.folders:
            self.folders.append(folder)
        self._timer.start()

    def remove(self, folder: RunFolder) -> None:
        """Leave a run to somebody else."""
        if folder in self.folders:
            self.folders.remove(folder)

    def look(self) -> None:
        """Tell which runs have ended."""
        for folder in list(self.folders):
            try:
                outcome = recorded_outcome(folder)
            except UserError as error:
                outcome = Outcome("lost", str(error), has_checkpoint=False)
            if outcome is not None:
                self.remove(folder)
                self.ended.emit(folder, outcome)
        if not self.folders:
            self._timer.stop()

    def close(self) -> None:
        """Look no more; the runs go on."""
        self._timer.stop()


def recorded_outcome(folder: RunFolder) -> Outcome | None:
    """Return how a run has ended by `run.json` and `result.json`, without its events; None while it is alive. Raises
    `UserError` if `run.json` is damaged."""
    state = folder.state()
    if state not in ENDS:
        return None
    try:
        reason = (folder.read_result() or {}).get("reason") if state != "lost" else ""
    except UserError as error:
        reason = str(error)
    return _outcome(folder, state, reason if isinstance(reason, str) else "")


def _outcome(folder: RunFolder, state: str, reason: str) -> Outcome:
    """Return how a run has ended; a lost one tells no reason itself."""
    can_go_on = has_checkpoint(folder)
    if state == "lost" and not reason:
        reason = " ".join(map(translation, (LOST, GOES_ON if can_go_on else GOES_NOT_ON)))
    return Outcome(state, reason, can_go_on)
