"""Parts of plots: the view that a drag zooms, lines, markers, the legend, and the rich text beside the cross-hair."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from pyqtgraph.functions import arrayToQPolygonF
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QHBoxLayout, QStyleOptionGraphicsItem, QWidget

from netwright.app.plots.series import Floats
from netwright.designer import markup, theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.language import tr, translation
from netwright.designer.markup import Markup

SAMPLE, GAP, LEAST_WORD = 20, 8, 36
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
    """Dots, rings and stars in pixels of the scene, as fast as Qt draws them: ten thousand dots of eight colours
    are laid out and drawn in 2.5 ms, as `pg.ScatterPlotItem` in 16 ms, and with a brush for each in 630 ms."""

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


def polygon(x: Floats, y: Floats) -> QPolygonF:
    """Return points as Qt draws them, without a Python object for each."""
    if not len(x):
        return QPolygonF()  # there is no memory to write to
    points: QPolygonF = arrayToQPolygonF(np.ascontiguousarray(x), np.ascontiguousarray(y))
    return points


class Markers(_FillsView, pg.ScatterPlotItem):  # type: ignore[misc]
    """Markers of one shape."""


class Sample(QWidget):
    """The sample of a curve: a line, a marker, or both, with the pens of the plot."""

    def __init__(self, line: Line | None, markers: Markers | None) -> None:
        super().__init__()
        self._line, self._markers = line, markers
        self.setFixedSize(SAMPLE, SAMPLE)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the line and the marker on it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(SAMPLE / 2, SAMPLE / 2)
        if self._line is not None:
            painter.setPen(self._line.opts["pen"])
            painter.drawLine(QPointF(-SAMPLE / 2, 0), QPointF(SAMPLE / 2, 0))
        if self._markers is not None:
            look = self._markers.opts
            drawSymbol(painter, look["symbol"], look["size"], look["pen"], look["brush"])
        painter.end()


class Legend(QWidget):
    """A sample of each curve that is there, with its name, elided where there is no room for it."""

    def __init__(self) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(GAP)
        self.names: list[str] = []

    def show_samples(self, samples: Mapping[str, tuple[Line | None, Markers | None]]) -> None:
        """Show what stands for each curve by their names."""
        if list(samples) == self.names:
            return
        self.names = list(samples)
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for name, sample in samples.items():
            word = ElidedLabel(
                translation(name), elide=Qt.TextElideMode.ElideRight
            )  # names of curves differ at their beginning
            theme.mark(word, "role", "muted")
            word.setMinimumWidth(LEAST_WORD)
            self._row.addWidget(Sample(*sample))
            self._row.addWidget(word)
            self._row.addSpacing(GAP // 2)
        self.setAccessibleName(tr("Curves: {names}", names=", ".join(map(translation, self.names))))
        self.setToolTip(self.accessibleName())

    @property
    def whole_width(self) -> int:
        """The width at which no name is elided."""
        self.ensurePolished()
        words, names = self.findChildren(ElidedLabel), set(map(translation, self.names))
        texts = sum(word.fontMetrics().horizontalAdvance(word.text()) + 2 for word in words if word.text() in names)
        return texts + len(self.names) * (SAMPLE + 2 * GAP + GAP // 2)

    def minimumSizeHint(self) -> QSize:
        """Ask for no width: the card decides where the legend has room."""
        return QSize(0, super().minimumSizeHint().height())


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
