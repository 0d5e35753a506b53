"""Marks on the curves: where somebody asked for something, where a run went on, where checkpoints were made."""

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from app.plots.scales import Frame
from app.plots.series import Floats
from designer import theme
from engine.runs.events import Checkpointed, Event, Requested, Resumed

if TYPE_CHECKING:
    from app.plots.drawing import Drawing

NEAR_PIXELS = 5.0
TICK_PIXELS = 5.0
FLAG_PIXELS = 4.0
MOST_NAMED = 4
MOST_BROKEN = 60
LONGEST = 48
DONE = {
    "pause": "paused",
    "release": "memory given back",
    "resume": "goes on",
    "stop": "stop asked for",
    "stop_after_epoch": "stop after the epoch asked for",
    "checkpoint": "checkpoint asked for",
    "validate": "validated on request",
}


def watched(event: Requested) -> str:
    """What is watched from there on, or no more."""
    what = event.what.removeprefix("watch_").replace("_", " ")
    return f"{what} watched" + ("" if event.value else " no more")


def words_of(event: Event) -> str:
    """What a mark says: nothing for events that leave none."""
    match event:
        case Requested(what="rate"):
            return f"learn rate {event.value:.4g}"
        case Requested(what="epochs"):
            return f"{event.value:,.0f} epochs"
        case Requested(what="watch_gradient_norm" | "watch_layers"):
            return watched(event)
        case Requested():
            return DONE.get(event.what, "")
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

    def between(self, low: float, high: float) -> list[tuple[float, str]]:
        """Step and words of all marks between two steps."""
        found = (mark for marks in (self._lines, self._ticks) for mark in _cut(marks, low, high))
        return sorted(found, key=lambda mark: mark[0])


def paint(marks: Marks, painter: QPainter, frame: Frame, drawing: "Drawing") -> None:
    """A thin broken line with a flag for what was asked for, a tick below for a checkpoint; one a pixel at most."""
    low, high = drawing.across.view(drawing.last_step)
    palette, rect = theme.current(), frame.rect
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(palette.muted, 0))
    ticks = _columns(_cut(marks._ticks, low, high), frame, drawing)
    painter.drawLines([QLineF(x, rect.bottom() - TICK_PIXELS, x, rect.bottom()) for x in ticks])
    lines = _columns(_cut(marks._lines, low, high), frame, drawing)
    pen = QPen(palette.mixed(palette.muted, palette.panel, 0.7), 0)
    if len(lines) <= MOST_BROKEN:  # which take long to draw
        pen.setDashPattern([2, 3])
    painter.setPen(pen)
    painter.drawLines([QLineF(x, rect.top(), x, rect.bottom()) for x in lines])
    _paint_flags(painter, lines[:MOST_BROKEN], rect.top())


def _paint_flags(painter: QPainter, places: list[float], top: float) -> None:
    wide = FLAG_PIXELS
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.current().muted)
    for x in places:
        painter.drawPolygon(QPolygonF([QPointF(x - wide, top), QPointF(x + wide, top), QPointF(x, top + 1.5 * wide)]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def readings(marks: Marks, frame: Frame, drawing: "Drawing", x: float) -> list[tuple[str, str]]:
    """What the marks under the pointer say, as pairs of place and words; of many the first few."""
    across = drawing.across
    ends = [across.timeline.step_at(frame.place_at(x + side), across.along) for side in (-NEAR_PIXELS, NEAR_PIXELS)]
    found = marks.between(*ends)
    rows = [(f"at {step:,.0f}", words) for step, words in found[:MOST_NAMED]]
    return rows + ([("", f"and {len(found) - MOST_NAMED:,} more")] if len(found) > MOST_NAMED else [])


def _columns(marks: list[tuple[float, str]], frame: Frame, drawing: "Drawing") -> list[float]:
    """The pixels of marks, each once."""
    if not marks:
        return []
    steps: Floats = np.array([step for step, _ in marks], np.float64)
    places = drawing.across.timeline.places(steps, drawing.across.along)
    return [float(x) for x in np.unique(frame.across(places).round())]


def _cut(marks: list[tuple[float, str]], low: float, high: float) -> list[tuple[float, str]]:
    return marks[_from(marks, low) : _from(marks, high, is_behind=True)]


def _from(marks: list[tuple[float, str]], step: float, *, is_behind: bool = False) -> int:
    find = bisect_right if is_behind else bisect_left
    return find(marks, step, key=lambda mark: mark[0])
