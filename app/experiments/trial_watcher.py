"""Follows the trials of an experiment: their log, and through a process of its own their curves and progress."""

import contextlib
import gc
import time
from collections.abc import Iterable, Mapping
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.history import curve_reader
from netwright.app.processes import ENDING_S, ChildProcess
from netwright.designer.language import tr
from netwright.engine.core.files import number_in
from netwright.engine.core.process import module_command
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_log import Trial
from netwright.engine.runs.trial_reader import Live, TrialsReader

LOOK_MS = 400
REST = 10
"""The pause after changes were shown, as a multiple of the time that took: the window has its turns."""


class TrialWatcher(QObject):
    """Reads the trials of one experiment. `changed` is emitted when trials have changed, or its runner has
    begun or ended, `seen` when there are curves or progress to show."""

    changed = Signal()
    seen = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, *, look_ms: int = LOOK_MS) -> None:
        super().__init__(parent)
        self.folder: ExperimentFolder | None = None
        self.is_alive = False
        self.curves: dict[str, list[float]] = {}
        self.live: dict[str, Live] = {}
        self._reader: TrialsReader | None = None
        self._is_told = self._is_begun = False
        """Whether what was read is told, and whether anything was: the rest of a long log is told at its end."""
        self._not_before = 0.0
        self._child: ChildProcess | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.look)
        self._look_ms = look_ms

    @property
    def trials(self) -> list[Trial]:
        """The trials in the order of their numbers, as far as they are read."""
        return list(self._reader.trials.values()) if self._reader is not None else []

    @property
    def is_behind(self) -> bool:
        """Whether trials are still to be read."""
        return self._reader is not None and self._reader.is_behind

    @property
    def damage(self) -> str:
        """That lines of the log of trials are damaged; empty where none is."""
        return self._reader.damage if self._reader is not None else ""

    def follow(self, folder: ExperimentFolder | None) -> None:
        """Read another experiment, from its beginning; None for none."""
        self._end_child()
        self.folder, self.curves, self.live = folder, {}, {}
        self._reader = TrialsReader(folder) if folder is not None else None
        self.is_alive = self._is_begun = False
        self._is_told, self._not_before = True, 0.0

    def resume(self) -> None:
        """Somebody looks again."""
        self._timer.start(0 if self.is_behind else self._look_ms)

    def rest(self) -> None:
        """Nobody looks."""
        self._timer.stop()
        self._end_child()

    def look(self) -> None:
        """Read on: a part of the log, so that the window has its turns between."""
        reader, folder = self._reader, self.folder
        if reader is None or folder is None:
            return
        try:
            has_changed = reader.read()
        except OSError as error:
            self.failed.emit(tr("{path} cannot be read: {reason}.", path=folder.trials, reason=error.strerror))
            return
        is_behind, is_alive = reader.is_behind, folder.is_alive()
        if is_behind or not self._is_begun:
            gc.freeze()  # trials stay: to look for garbage among 10,000 of them takes longer than a turn may
        if self._timer.isActive():
            self._timer.start(0 if is_behind else self._look_ms)
        self._is_told = self._is_told and not has_changed and is_alive == self.is_alive
        self.is_alive = is_alive
        if not self._is_told and not (is_behind and self._is_begun) and time.monotonic() >= self._not_before:
            self._is_told = self._is_begun = True
            began = time.monotonic()
            self.changed.emit()
            ended = time.monotonic()
            self._not_before = ended + REST * (ended - began)

    # ---- curves and progress ----

    def want(self, score: str, curves: Iterable[str], live: Iterable[str]) -> None:
        """Ask for the curves of runs that are not known yet, and for the progress and the curves of those under way."""
        running = list(live)
        unknown = [name for name in curves if name not in self.curves]
        self.live = {name: progress for name, progress in self.live.items() if name in running}
        if not (unknown or running) or self.folder is None:
            return
        if self._child is None:
            self._start(self.folder)
        if self._child is not None and not self._child.is_behind:
            request = {"score": score, "curves": [*unknown, *running], "live": running}
            self._child.say(request)

    def _start(self, folder: ExperimentFolder) -> None:
        try:
            self._child = ChildProcess(module_command(curve_reader.MODULE, str(folder.path)), self, hears=True)
        except OSError:  # the table goes without curves
            return
        self._child.received.connect(self.take)
        self._child.closed.connect(self._end_child)

    def take(self, report: Mapping[str, Any]) -> None:
        """Take a message of the process."""
        with contextlib.suppress(ValueError, AttributeError, TypeError):
            for name, values in report.get("curves", {}).items():
                self.curves[name] = [number if (number := number_in(v)) is not None else float("nan") for v in values]
            for name, values in report.get("live", {}).items():
                self.live[name] = Live(*map(float, values))
            self.seen.emit()

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end(ENDING_S)
