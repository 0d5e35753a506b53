"""The curves of several runs at once, read from their event logs a little at a time, and followed while runs go on."""

import contextlib
import time
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from netwright.app.plots.points import Points
from netwright.app.plots.series import Floats, Series
from netwright.app.plots.timeline import Along, Timeline
from netwright.engine.runs import events
from netwright.engine.runs.events import Event
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader
from netwright.engine.runs.thinning import extreme_points

BUDGET_S = 0.012
READ_BYTES = 2**16
FOLLOW_MS = 1000


class Curve:
    """One quantity of a run: its training values, and those of the validation split."""

    def __init__(self) -> None:
        self.training = Series()
        self.validation = Points()

    @property
    def last_step(self) -> float:
        """The newest step."""
        return max(self.training.last_step, self.validation.last_step)

    def append_thinned(self, points: events.ThinnedPoints, name: str) -> None:
        """Takes old points of a long run."""
        if points.split == "training":
            self.training.append_thinned(points, name)
        elif extremes := extreme_points(points, name):
            self.validation.append(*zip(*extremes, strict=True))

    def go_back(self, step: int) -> None:
        """Points after a step are superseded: the run goes on from there."""
        self.training.truncate(self.training.index(step + 1))
        self.validation.truncate(step)


class Trace:
    """The curves of one run by the names of their quantities, and where its steps are in epochs and in time."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.curves: dict[str, Curve] = {}
        self._timeline = Timeline()
        self._reader = EventReader(folder, limit_bytes=READ_BYTES)

    def read(self) -> bool:
        """Read on. Says whether anything came."""
        batch = self._reader.read()
        for event in batch:
            self._take(event)
        return bool(batch)

    def _take(self, event: Event) -> None:
        self._timeline.take(event)
        match event:
            case events.Points(split="training" | "validation"):
                with contextlib.suppress(TypeError, ValueError, OverflowError):  # a damaged line
                    self._add(event)
            case events.ThinnedPoints(split="training" | "validation"):
                for name in event.curves:
                    self.curves.setdefault(name, Curve()).append_thinned(event, name)
            case events.Resumed():
                for curve in self.curves.values():
                    curve.go_back(event.iteration)

    def _add(self, points: events.Points) -> None:
        for name, numbers in points.values.items():
            curve, values = self.curves.setdefault(name, Curve()), [float(value) for value in numbers]
            if points.split == "training":
                curve.training.append(values, points.first_step, points.steps_apart)
            else:
                steps = [points.first_step + number * points.steps_apart for number in range(len(values))]
                curve.validation.append(steps, values)

    def places(self, steps: Floats, along: Along) -> Floats:
        """Where steps are in iterations, epochs, or seconds of training."""
        return self._timeline.places(steps, along)

    def step_at(self, place: float, along: Along) -> float:
        """The step at a place."""
        return self._timeline.step_at(place, along)


class Traces(QObject):
    """Reads the logs of some runs; `changed` tells that there is more to draw."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None, *, follow_ms: int = FOLLOW_MS) -> None:
        super().__init__(parent)
        self.traces: list[Trace] = []
        self.is_read = False
        """Whether every log has been read to its end."""
        self._follow_ms = follow_ms
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._read)

    def show_runs(self, folders: Sequence[RunFolder]) -> None:
        """Read the logs of these, in place of others."""
        self.traces = [Trace(folder) for folder in folders]
        self.is_read = False
        self.resume()

    def resume(self) -> None:
        """Read on."""
        self._timer.start(0)

    def rest(self) -> None:
        """Nobody looks."""
        self._timer.stop()

    def names(self) -> list[str]:
        """The quantities that any of the runs has, the loss last."""
        quantities = dict.fromkeys(name for trace in self.traces for name in trace.curves)
        return sorted(quantities, key=lambda name: name == "loss")

    def _read(self) -> None:
        """Read for at most some milliseconds: the window has its turns between."""
        deadline = time.monotonic() + BUDGET_S
        came = is_late = False
        for trace in self.traces:
            while trace.read():
                came = True
                is_late = time.monotonic() > deadline
                if is_late:
                    break
            if is_late:
                break
        if not is_late:
            self._timer.start(self._follow_ms)
        if came or (not is_late and not self.is_read):
            self.is_read = self.is_read or not is_late
            self.changed.emit()
