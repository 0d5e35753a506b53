"""Choosing the part of a run that plots show: by a drag, by the wheel, and all of it again."""

from typing import Protocol

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from app.plots.drawing import Across
from app.plots.scales import Frame
from designer import theme

LEAST_PIXELS = 4.0
PER_NOTCH = 1.25
SHIFT_PER_NOTCH = 0.1


class Pictured(Protocol):
    """What is drawn, as far as the part of it that is in view goes."""

    across: Across

    @property
    def last_step(self) -> float:
        """Where it ends."""


class Zooming:
    """Of one plot. Each change is made to what the plots have in common, and returned as true."""

    def __init__(self, drawing: Pictured) -> None:
        self._drawing = drawing
        self._from: float | None = None
        self._to = 0.0
        self._is_moving = False

    @property
    def is_busy(self) -> bool:
        """Whether something is dragged."""
        return self._from is not None

    def press(self, frame: Frame | None, x: float, *, is_moving: bool) -> None:
        """A drag begins at a pixel: it chooses a part, or moves the part in view."""
        if frame is not None:
            self._from = self._to = _within(frame, x)
            self._is_moving = is_moving

    def move(self, frame: Frame | None, x: float) -> bool:
        """The pointer is at a pixel."""
        if self._from is None or frame is None:
            return False
        self._to = _within(frame, x)
        if not self._is_moving:
            return False
        moved = self._step(frame, self._from) - self._step(frame, self._to)
        self._from = self._to
        return self._slide(moved)

    def release(self, frame: Frame | None) -> bool:
        """The drag ends."""
        begin, self._from = self._from, None
        if begin is None or frame is None or self._is_moving or abs(begin - self._to) < LEAST_PIXELS:
            return False
        low, high = sorted((begin, self._to))
        return self._look_at(self._step(frame, low), self._step(frame, high))

    def cancel(self) -> None:
        """The drag is given up."""
        self._from = None

    def turn(self, frame: Frame | None, x: float, notches: float) -> bool:
        """Look closer, so many notches of the wheel, at what is under the pixel; further away for fewer than none."""
        if frame is None or not notches:
            return False
        x, share = _within(frame, x), PER_NOTCH**-notches
        left, right = (x + (edge - x) * share for edge in (frame.rect.left(), frame.rect.right()))
        return self._look_at(self._step(frame, left), self._step(frame, right))

    def shift(self, frame: Frame | None, notches: float) -> bool:
        """Move the part in view, forward for positive numbers."""
        low, high = self._drawing.across.view(self._drawing.last_step)
        return frame is not None and self._slide((high - low) * SHIFT_PER_NOTCH * notches)

    def show_all(self) -> bool:
        """The whole run."""
        was, self._drawing.across.part = self._drawing.across.part, None
        return was is not None

    def paint(self, painter: QPainter, frame: Frame) -> None:
        """The part that is being chosen."""
        if self._from is None or self._is_moving or abs(self._to - self._from) < LEAST_PIXELS:
            return
        left, right = sorted((self._from, self._to))
        accent = theme.current().accent
        veil = QColor(accent)
        veil.setAlpha(36)
        painter.fillRect(QRectF(left, frame.rect.top(), right - left, frame.rect.height()), veil)
        painter.setPen(QPen(accent, 0))
        for x in (round(left), round(right)):
            painter.drawLine(QPointF(x, frame.rect.top()), QPointF(x, frame.rect.bottom()))

    def _step(self, frame: Frame, x: float) -> float:
        across = self._drawing.across
        return across.timeline.step_at(frame.place_at(x), across.along)

    def _slide(self, steps: float) -> bool:
        across = self._drawing.across
        if across.part is None:
            return False
        low, high = across.part
        return self._look_at(low + steps, high + steps)

    def _look_at(self, low: float, high: float) -> bool:
        across = self._drawing.across
        was = across.part
        across.look_at(low, high, self._drawing.last_step)
        return across.part != was


def _within(frame: Frame, x: float) -> float:
    return min(max(x, frame.rect.left()), frame.rect.right())
