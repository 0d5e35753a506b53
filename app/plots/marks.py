"""Marks on the curves: where somebody asked for something, where a run went on, where checkpoints were made."""

from bisect import bisect_left, bisect_right

import numpy as np

from app.plots.series import Floats
from engine.runs.events import Checkpointed, Event, Requested, Resumed
from engine.runs.requests import done_text

LONGEST = 48


def words_of(event: Event) -> str:
    """What a mark says: nothing for events that leave none."""
    match event:
        case Requested():
            return done_text(event)
        case Resumed():
            words = f"goes on: {event.reason}" if event.reason else "goes on"
            return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
        case Checkpointed():
            return "checkpoint"
    return ""


class Marks:
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
        found = (mark for marks in (self._lines, self._ticks) for mark in _cut(marks, low, high))
        return sorted(found, key=lambda mark: mark[0])


def _cut(marks: list[tuple[float, str]], low: float, high: float) -> list[tuple[float, str]]:
    return marks[_from(marks, low) : _from(marks, high, is_behind=True)]


def _from(marks: list[tuple[float, str]], step: float, *, is_behind: bool = False) -> int:
    find = bisect_right if is_behind else bisect_left
    return find(marks, step, key=lambda mark: mark[0])
