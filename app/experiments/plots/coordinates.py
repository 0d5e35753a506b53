"""Parallel coordinates: an axis per value and objective, a line per trial, and brushes that filter.

Inselberg: The plane with parallel coordinates. The Visual Computer 1, 1985.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QPushButton, QWidget

from netwright.app.experiments.plots.chart import LEVELS, TrialChart, level_colour
from netwright.app.experiments.plots.frame import ticks_of
from netwright.app.plots.drawn import NEAR_PIXELS
from netwright.designer import markup, theme
from netwright.engine.core.errors import plural
from netwright.engine.runs.trial_axes import TrialAxis

TOP, BOTTOM, SIDE = 34.0, 14.0, 64.0
BRUSH = 14.0
"""Width of a brush, in pixels."""
LEAST_BRUSH = 4.0
CLEAR, LEAST_ALPHA = 100, 48
"""Lines up to this number are opaque; more of them let each other be seen."""
FADED = 36
MOST_LINES = 1000
"""Trials that are drawn, the best first: more lines cannot be told apart, and hold the window."""
"""Opacity of lines that a brush leaves out, of 255."""


class ParallelCoordinates(TrialChart):
    """A line per trial over one axis per value and objective; the better, the stronger. A drag along an axis keeps the
    trials that pass there, a click on the brush takes it away."""

    key, name, title = "coordinates", "Parallel", "Parallel coordinates"
    help = "Drag along an axis to keep the trials that pass there. Click a line to select its trial."
    filtered = Signal(object)
    """The numbers of the trials that all brushes keep; None without a brush."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._brushes: dict[str, tuple[float, float]] = {}
        self._drag: tuple[str, float] | None = None
        self._lines: dict[int, list[QPointF]] = {}
        self._clear = QPushButton("Clear brushes")
        theme.mark(self._clear, "role", "link")
        super().__init__(parent)
        self._clear.clicked.connect(self.clear)
        self._clear.hide()

    def controls(self) -> Sequence[QWidget]:
        """Return the button that takes all brushes away."""
        return (self._clear,)

    def why_empty(self) -> str:
        """It needs a value that differs."""
        if super().why_empty():
            return super().why_empty()
        return "" if self.findings.values else "No value differs between these trials."

    def prepare(self) -> None:
        """Forget brushes of axes that are gone."""
        known = {axis.name for axis in self.findings.axes}
        self._brushes = {name: brush for name, brush in self._brushes.items() if name in known}
        self._clear.setVisible(bool(self._brushes))

    @property
    def note(self) -> str:
        """How many trials the brushes keep."""
        count = len(self.findings.levels)
        drawn = f"the best {MOST_LINES:,} are drawn" if count > MOST_LINES else ""
        kept = f"{len(self.kept):,} of {plural(count, 'trial')}" if self._brushes else ""
        return "; ".join(filter(None, (kept, drawn)))

    @property
    def kept(self) -> set[int]:
        """The trials that pass through all brushes."""
        axes = {axis.name: axis for axis in self.findings.axes}

        def passes(number: int) -> bool:
            for name, (low, high) in self._brushes.items():
                axis = axes[name]
                if number not in axis.places or not low <= axis.share(axis.places[number]) <= high:
                    return False
            return True

        return {number for number in self.findings.levels if passes(number)}

    def brush(self, name: str, low: float, high: float) -> None:
        """Keep the trials that pass an axis between two shares of its length."""
        self._brushes[name] = (min(low, high), max(low, high))
        self._tell()

    def clear(self) -> None:
        """Take all brushes away."""
        self._brushes.clear()
        self._tell()

    def _tell(self) -> None:
        self._clear.setVisible(bool(self._brushes))
        self.refresh()
        self.changed.emit()
        self.filtered.emit(self.kept if self._brushes else None)

    # ---- layout ----

    @property
    def _rect(self) -> QRectF:
        return QRectF(SIDE, TOP, max(1.0, self.width() - 2 * SIDE), max(1.0, self.height() - TOP - BOTTOM))

    def across(self, axis: TrialAxis) -> float:
        """Return the pixel of an axis from the left."""
        axes = self.findings.axes
        return self._rect.left() + axes.index(axis) * self._rect.width() / max(1, len(axes) - 1)

    def _down(self, share: float) -> float:
        return self._rect.bottom() - share * self._rect.height()

    def lay(self) -> None:
        """A line through the places of each trial."""
        axes = [(axis, self.across(axis)) for axis in self.findings.axes]
        self._lines = {
            number: [
                QPointF(x, self._down(axis.share(axis.places[number]))) for axis, x in axes if number in axis.places
            ]
            for number in self._drawn()
        }

    def _drawn(self) -> Sequence[int]:
        """Return the trials that are drawn: of very many, those that the brushes keep, and of these the best."""
        levels = self.findings.levels
        if len(levels) <= MOST_LINES:
            return list(levels)
        kept, own = self.kept, {self.number} | self.findings.marked
        order = sorted(levels, key=lambda number: (number in own, number in kept, levels[number]), reverse=True)
        return order[:MOST_LINES]

    def paint(self, painter: QPainter) -> None:
        """Lines that are left out first, then the weak and the strong ones, then the axes."""
        kept = self.kept
        groups: list[list[int]] = [[] for _ in range(LEVELS)]
        left_out = QColor(theme.current().muted)
        left_out.setAlpha(FADED)
        painter.setPen(QPen(left_out, 1))
        for number in self._lines:
            if number in kept:
                groups[self.findings.levels[number]].append(number)
        others = self._lines.keys() - kept
        painter.drawLines([line for number in others for line in _pieces(self._lines[number])])
        for level, numbers in enumerate(groups):
            colour = level_colour(level)
            colour.setAlpha(min(255, max(LEAST_ALPHA, 255 * CLEAR // max(1, len(kept)))))
            painter.setPen(QPen(colour, 1))  # wider ones take ten times as long
            painter.drawLines([line for number in numbers for line in _pieces(self._lines[number])])
        painter.setPen(QPen(theme.current().good, 2))
        for number in self.findings.marked & kept & self._lines.keys():
            painter.drawPolyline(QPolygonF(self._lines[number]))
        self._paint_axes(painter)

    def _paint_axes(self, painter: QPainter) -> None:
        palette, rect = theme.current(), self._rect
        axes = self.findings.axes
        room = rect.width() / max(1, len(axes) - 1)
        for axis in axes:
            x = self.across(axis)
            painter.setPen(QPen(palette.muted, 1))
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
            painter.setPen(palette.text)
            box = QRectF(x - min(room, 2 * SIDE) / 2 + 2, 0, min(room, 2 * SIDE) - 4, TOP - 10)
            name = markup.elided(painter.fontMetrics(), axis.label, Qt.TextElideMode.ElideMiddle, int(box.width()))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
            for place, text in ticks_of(axis, max(2, int(rect.height() / 48))):
                self._paint_tick(painter, QPointF(x, self._down(axis.share(place))), text, min(room, SIDE + 40) - 14)
            if axis.name in self._brushes:
                self._paint_brush(painter, x, *self._brushes[axis.name])

    def _paint_tick(self, painter: QPainter, at: QPointF, text: str, room: float) -> None:
        palette, metrics = theme.current(), painter.fontMetrics()
        shown = markup.elided(metrics, text, Qt.TextElideMode.ElideMiddle, max(24, int(room)))
        box = QRectF(at.x() + 5, at.y() - 8, metrics.horizontalAdvance(shown) + 4, 16)
        ground = QColor(palette.panel)
        ground.setAlpha(205)
        painter.fillRect(box, ground)
        painter.setPen(QPen(palette.muted, 1))
        painter.drawLine(at, QPointF(at.x() + 4, at.y()))
        painter.drawText(box.translated(2, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_brush(self, painter: QPainter, x: float, low: float, high: float) -> None:
        accent = QColor(theme.current().accent)
        painter.setPen(QPen(accent, 1))
        accent.setAlpha(70)
        painter.setBrush(accent)
        painter.drawRect(QRectF(x - BRUSH / 2, self._down(high), BRUSH, self._down(low) - self._down(high)))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    # ---- pointer ----

    def highlight(self, painter: QPainter) -> None:
        """The picked line and the one under the pointer, on top of the others."""
        palette = theme.current()
        for number, colour in ((self.number, palette.text), (self.hovered, palette.accent)):
            if number in self._lines:
                painter.setPen(QPen(colour, 2.4))
                painter.drawPolyline(QPolygonF(self._lines[number]))

    def mark_at(self, at: QPointF) -> int | None:
        """Return the trial whose line is nearest to the pointer."""
        if self._drag is not None:
            return None
        best, found = NEAR_PIXELS / 2, None
        for number in self.kept & self._lines.keys():
            line = self._lines.get(number, [])
            x, y = [point.x() for point in line], [point.y() for point in line]
            if len(line) > 1 and x[0] <= at.x() <= x[-1]:
                apart = abs(float(np.interp(at.x(), x, y)) - at.y())
                if apart < best:
                    best, found = apart, number
        return found

    def _axis_at(self, at: QPointF) -> TrialAxis | None:
        near = [axis for axis in self.findings.axes if abs(self.across(axis) - at.x()) <= BRUSH]
        return near[0] if near and not self.empty else None

    def _share_at(self, at: QPointF) -> float:
        return min(max((self._rect.bottom() - at.y()) / self._rect.height(), 0.0), 1.0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a brush on an axis."""
        axis = self._axis_at(event.position())
        if axis is not None and event.button() == Qt.MouseButton.LeftButton:
            self._drag = axis.name, self._share_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Draw the brush out."""
        if self._drag is not None:
            name, began = self._drag
            now = self._share_at(event.position())
            if abs(now - began) * self._rect.height() >= LEAST_BRUSH:
                self.brush(name, began, now)
        self.setCursor(Qt.CursorShape.SplitVCursor if self._axis_at(event.position()) else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a brush; a click on an axis takes its brush away."""
        if self._drag is None:
            super().mouseReleaseEvent(event)
            return
        name, began = self._drag
        self._drag = None
        if abs(self._share_at(event.position()) - began) * self._rect.height() < LEAST_BRUSH:
            if self._brushes.pop(name, None) is not None:
                self._tell()
            else:
                super().mouseReleaseEvent(event)


def _pieces(points: Sequence[QPointF]) -> list[QLineF]:
    return [QLineF(before, after) for before, after in pairwise(points)]
