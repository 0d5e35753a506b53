"""Where the steps of a run are: in iterations, in epochs, and in seconds of training."""

import math
from typing import Literal

import numpy as np

from app.plots.series import Floats
from app.plots.track import Growing
from engine.runs.events import Event, Progress, Resumed, Started

Along = Literal["iterations", "epochs", "time"]


class Timeline:
    """Told by the events of a run. Between two reports, and beyond the newest one, steps take equal times."""

    def __init__(self) -> None:
        self.steps_per_epoch = 0
        self._steps, self._elapsed = Growing(0.0), Growing(0.0)

    def take(self, event: Event) -> None:
        """Learn from one event; others than these say nothing of time."""
        match event:
            case Started():
                self.steps_per_epoch = max(0, event.steps_per_epoch)
            case Progress():
                if event.iteration > self._steps.last and math.isfinite(event.elapsed_s):
                    self._steps.append(event.iteration)
                    self._elapsed.append(max(self._elapsed.last, event.elapsed_s))
            case Resumed():
                keep = max(1, int(np.searchsorted(self._steps.view(), event.iteration, side="right")))
                self._steps.truncate(keep)
                self._elapsed.truncate(keep)

    def places(self, steps: Floats, along: Along) -> Floats:
        """Where steps are in iterations, epochs, or seconds of training."""
        if along == "time":
            known, elapsed = self._steps.view(), self._elapsed.view()
            beyond = np.maximum(steps - known[-1], 0) * (elapsed[-1] / max(known[-1], 1.0))
            return np.asarray(np.interp(steps, known, elapsed) + beyond, np.float64)
        return steps / max(1, self.steps_per_epoch) if along == "epochs" else steps

    def place(self, step: float, along: Along) -> float:
        """Where one step is."""
        return float(self.places(np.array([step], np.float64), along)[0])

    def step_at(self, place: float, along: Along) -> float:
        """The step at a place."""
        if along == "time":
            known, elapsed = self._steps.view(), self._elapsed.view()
            pace = elapsed[-1] / max(known[-1], 1.0)
            beyond = max(0.0, place - float(elapsed[-1])) / pace if pace > 0 else 0.0
            return float(np.interp(place, elapsed, known)) + float(beyond)
        return place * max(1, self.steps_per_epoch) if along == "epochs" else place
