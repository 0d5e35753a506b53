"""The timeline of a run: where its steps are in epochs and in time, and the requests at them."""

import math
from bisect import bisect_left, bisect_right
from typing import Literal

import numpy as np

from netwright.app.plots.points import MOST_POINTS, Growing
from netwright.app.plots.series import Floats
from netwright.app.plots.words import done_in_words
from netwright.designer.engine_messages import message_text
from netwright.designer.language import tr
from netwright.engine.runs.events import Checkpointed, Event, Progress, Requested, Resumed, Started

Along = Literal["iterations", "epochs", "time"]
LONGEST = 48
MOST_TICKS = 4096
"""Of more checkpoints, every second one of the older half has no mark."""


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
                    self._limit()
            case Resumed():
                keep = max(1, int(np.searchsorted(self._steps.view(), event.iteration, side="right")))
                self._steps.truncate(keep)
                self._elapsed.truncate(keep)

    def _limit(self) -> None:
        """Of very many reports every second one of the older half goes."""
        count = len(self._steps)
        if count > MOST_POINTS:
            keep = np.concatenate([np.arange(0, count // 2, 2), np.arange(count // 2, count)])
            self._steps, self._elapsed = (Growing(*row.view()[keep]) for row in (self._steps, self._elapsed))

    def places(self, steps: Floats, along: Along) -> Floats:
        """Where steps are in iterations, epochs, or seconds of training."""
        if along == "time":
            report_steps, elapsed = self._steps.view(), self._elapsed.view()
            beyond = np.maximum(steps - report_steps[-1], 0) * (elapsed[-1] / max(report_steps[-1], 1.0))
            return np.asarray(np.interp(steps, report_steps, elapsed) + beyond, np.float64)
        return steps / max(1, self.steps_per_epoch) if along == "epochs" else steps

    def place(self, step: float, along: Along) -> float:
        """Where one step is."""
        return float(self.places(np.array([step], np.float64), along)[0])

    def step_at(self, place: float, along: Along) -> float:
        """The step at a place."""
        if along == "time":
            report_steps, elapsed = self._steps.view(), self._elapsed.view()
            seconds_per_step = elapsed[-1] / max(report_steps[-1], 1.0)
            beyond = max(0.0, place - float(elapsed[-1])) / seconds_per_step if seconds_per_step > 0 else 0.0
            return float(np.interp(place, elapsed, report_steps)) + float(beyond)
        return place * max(1, self.steps_per_epoch) if along == "epochs" else place


def words_of(event: Event) -> str:
    """The words of a mark: empty for events that leave none."""
    match event:
        case Requested():
            return done_in_words(event)
        case Resumed():
            words = tr("resumed: {reason}", reason=message_text(event.reason)) if event.reason else tr("resumed")
            return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
        case Checkpointed():
            return tr("checkpoint")
    return ""


class EventTicks:
    """Told by the events of a run, one for all of its plots."""

    def __init__(self) -> None:
        self._lines: list[tuple[float, str]] = []
        self._ticks: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._lines) + len(self._ticks)

    def take(self, event: Event) -> None:
        """Learn from one event. Where a run went on, what came after that is forgotten."""
        if isinstance(event, Resumed):
            for marks in (self._lines, self._ticks):
                del marks[_from(marks, event.iteration, is_behind=True) :]
        words = words_of(event)
        if words and isinstance(event, Checkpointed):
            self._ticks.append((event.iteration, words))
            if len(self._ticks) > MOST_TICKS:
                del self._ticks[1 : MOST_TICKS // 2 : 2]
        elif words and isinstance(event, (Requested, Resumed)):
            self._lines.append((event.iteration, words))

    def requests(self, low: float, high: float) -> Floats:
        """Steps at which something was asked for, or a run went on."""
        return np.array([step for step, _ in _cut(self._lines, low, high)], np.float64)

    def checkpoints(self, low: float, high: float) -> Floats:
        """Steps at which checkpoints were made."""
        return np.array([step for step, _ in _cut(self._ticks, low, high)], np.float64)

    def between(self, low: float, high: float) -> list[tuple[float, str]]:
        """Step and words of all marks between two steps."""
        pairs = (mark for marks in (self._lines, self._ticks) for mark in _cut(marks, low, high))
        return sorted(pairs, key=lambda mark: mark[0])


def _cut(marks: list[tuple[float, str]], low: float, high: float) -> list[tuple[float, str]]:
    return marks[_from(marks, low) : _from(marks, high, is_behind=True)]


def _from(marks: list[tuple[float, str]], step: float, *, is_behind: bool = False) -> int:
    find = bisect_right if is_behind else bisect_left
    return find(marks, step, key=lambda mark: mark[0])
