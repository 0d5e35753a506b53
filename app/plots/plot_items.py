"""Parts of plots: the view that a drag zooms, lines, markers, and the rich text beside the cross-hair."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from netwright.designer import markup, theme
from netwright.designer.markup import Markup

LEAST_PIXELS = 4.0
"""A shorter drag chooses nothing."""


class ZoomBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph ships no types
    """A view that is not moved by the mouse itself: it tells in its own coordinates what a drag asks for."""

    chosen = Signal(QRectF)
    """The part that was chosen by a drag: as high as the view, unless it has parts of both axes."""
    moved = Signal(QPointF, QPointF)
    """From where to where the view was dragged, with Shift or the middle button."""

    def __init__(self, *, has_y_parts: bool = False) -> None:
        super().__init__(enableMenu=False)
        self._has_y_parts = has_y_parts
        self.disableAutoRange()
        self._is_moving = self._is_cancelled = False

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Chooses a part, or moves it."""
        button = event.button()
        if button not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            event.ignore()
            return
        event.accept()
        if event.isStart():
            is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._is_moving, self._is_cancelled = is_shifted or button == Qt.MouseButton.MiddleButton, False
        begin, before, now = (self._inside(p) for p in (event.buttonDownPos(), event.lastPos(), event.pos()))
        if self._is_cancelled:
            return
        if self._is_moving:
            self.moved.emit(self.mapToView(before), self.mapToView(now))
            return
        is_wide, is_high = abs(now.x() - begin.x()) >= LEAST_PIXELS, abs(now.y() - begin.y()) >= LEAST_PIXELS
        band = QRectF(begin, now).normalized()
        if not (is_high and self._has_y_parts):  # the whole height
            band.setTop(0)
            band.setBottom(self.height())
        if not is_wide and self._has_y_parts:
            band.setLeft(0)
            band.setRight(self.width())
        if not event.isFinish():
            self.updateScaleBox(band.topLeft(), band.bottomRight())
            return
        self.cancel()
        if is_wide or (is_high and self._has_y_parts):
            self.chosen.emit(QRectF(self.mapToView(band.topLeft()), self.mapToView(band.bottomRight())).normalized())

    def cancel(self) -> None:
        """Give up the drag."""
        self._is_cancelled = True
        self.rbScaleBox.hide()

    @property
    def is_dragged(self) -> bool:
        """Whether a part is being chosen."""
        return bool(self.rbScaleBox.isVisible())

    def _inside(self, point: QPointF) -> QPointF:
        return QPointF(min(max(point.x(), 0.0), self.width()), min(max(point.y(), 0.0), self.height()))


class _FillsView:
    """An item as large as the view: to look for the bounds of each takes as long as to draw it."""

    def boundingRect(self) -> QRectF:
        """The view, and a little more for markers at its ends."""
        box = self.getViewBox()  # type: ignore[attr-defined]
        if box is None:
            return QRectF()
        (left, right), (low, high) = box.state["viewRange"]
        rect = QRectF(left, low, right - left, high - low)
        wide, high = rect.width() / 20, rect.height() / 20
        return rect.adjusted(-wide, -high, wide, high)


class Line(_FillsView, pg.PlotCurveItem):  # type: ignore[misc]
    """A line."""


class Points(QGraphicsItem):
    """Dots, rings and stars in pixels of the scene, as fast as Qt draws them: ten thousand take a few milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self._area, self._is_smooth, self._star = QRectF(), True, QPen()
        self._dots: list[tuple[QPen, QPolygonF]] = []
        self._rings: list[tuple[QPen, QPointF, float]] = []
        self._stars: list[QPolygonF] = []
        self._brush = QColor()
        self.setCacheMode(self.CacheMode.DeviceCoordinateCache)

    def clear(self, area: QRectF, *, is_smooth: bool = True) -> None:
        """Remove all, and take another area. Smooth edges take most of the time."""
        self.prepareGeometryChange()
        self._area, self._is_smooth = area, is_smooth
        self._dots, self._rings, self._stars = [], [], []
        self.update()

    def add_dots(self, places: QPolygonF, colour: QColor, size: float) -> None:
        """Add dots of a colour, `size` pixels wide."""
        cap = Qt.PenCapStyle.RoundCap if self._is_smooth else Qt.PenCapStyle.SquareCap
        self._dots.append((QPen(colour, size, Qt.PenStyle.SolidLine, cap), places))

    def add_ring(self, place: QPointF, colour: QColor, radius: float) -> None:
        """Add a ring."""
        self._rings.append((QPen(colour, 1.6), place, radius))

    def add_stars(self, places: Iterable[QPointF], colour: QColor, edge: QColor, radius: float) -> None:
        """Add stars, which stand above dots."""
        self._stars += [_star(place, radius) for place in places]
        self._brush, self._star = colour, QPen(edge, 1)

    def boundingRect(self) -> QRectF:
        """The area of the chart."""
        return self._area

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Paint dots, then stars, then rings."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, self._is_smooth)
        for pen, places in self._dots:
            painter.setPen(pen)
            painter.drawPoints(places)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._star)
        painter.setBrush(self._brush)
        for star in self._stars:
            painter.drawPolygon(star)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for pen, place, radius in self._rings:
            painter.setPen(pen)
            painter.drawEllipse(place, radius, radius)


def _star(at: QPointF, radius: float) -> QPolygonF:
    corners = []
    for corner in range(10):
        angle, length = math.pi * (corner / 5 - 0.5), radius * (1.0 if corner % 2 == 0 else 0.45)
        corners.append(QPointF(at.x() + length * math.cos(angle), at.y() + length * math.sin(angle)))
    return QPolygonF(corners)


class Markers(_FillsView, pg.ScatterPlotItem):  # type: ignore[misc]
    """Markers of one shape."""


def icon_markup(name: str, token: str) -> Markup:
    """An icon of ours inside rich text, in a colour of the palette."""
    return markup.picture(theme.icon(name, token).pixmap(QSize(42, 42)), 14)


def table_markup(rows: Iterable[Sequence[str]], head: Sequence[str] = (), caption: str = "") -> Markup:
    """A table of rich text: a muted first column, the others aligned on the right."""
    muted, gap = theme.current().muted.name(), 3 * "\N{NO-BREAK SPACE}"
    lines = []
    if caption:
        span = max(1, len(head))
        lines.append(markup.filled('<td colspan="{}" style="color: {}">{}</td>', span, muted, caption))
    if head:
        words = (markup.filled('<td align="right" style="color: {}">{}{}</td>', muted, gap, word) for word in head)
        lines.append(markup.joined(words))
    for name, *cells in rows:
        first = markup.filled('<td valign="middle" style="color: {}">{}</td>', muted, name)
        values = (markup.filled('<td valign="middle" align="right">{}{}</td>', gap, cell) for cell in cells)
        lines.append(markup.joined([first, *values]))
    table = markup.joined(markup.filled("<tr>{}</tr>", line) for line in lines)
    return markup.filled('<table cellspacing="0" cellpadding="2">{}</table>', table)
