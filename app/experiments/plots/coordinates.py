"""Parallel coordinates: an axis per value and objective, a line per trial, and brushes that filter.

Inselberg: The plane with parallel coordinates. The Visual Computer 1, 1985.
"""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QPushButton, QStyleOptionGraphicsItem, QWidget

from netwright.app.experiments.plots.chart import NEAR_PIXELS, TrialChart
from netwright.app.experiments.plots.frame import ticks_of
from netwright.app.experiments.plots.marks import RankedLines, label_font, set_lines
from netwright.app.experiments.trial_texts import axis_label
from netwright.app.plots.plot_items import Line, ZoomBox
from netwright.app.plots.series import Floats
from netwright.designer import markup, theme
from netwright.designer.language import noop, tr
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

    key, name, title = "coordinates", noop("Parallel", "plot"), noop("Parallel coordinates")
    help = noop("Drag along an axis to keep the trials that pass there. Click a line to select its trial.")
    filtered = Signal(object)
    """The numbers of the trials that all brushes keep; None without a brush."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._brushes: dict[str, tuple[float, float]] = {}
        self._drag: tuple[str, float] | None = None
        self._lines: dict[int, tuple[Floats, Floats]] = {}
        self.view, self._ranked, self._others = ZoomBox(), RankedLines(), Line(antialias=True)
        self._clear = QPushButton(tr("Clear brushes"))
        theme.mark(self._clear, "role", "link")
        super().__init__(parent)
        self._axes_item = _Axes(self)
        self.view.addItem(self._others, ignoreBounds=True)
        self._ranked.add_to(self.view)
        for item in (self.view, self._axes_item):
            self.scene().addItem(item)
        self._others.setZValue(-1)
        self.view.setAcceptedMouseButtons(Qt.MouseButton.NoButton)  # a drag brushes an axis
        self._clear.clicked.connect(self.clear)
        self._clear.hide()

    def controls(self) -> Sequence[QWidget]:
        """Return the button that takes all brushes away."""
        return (self._clear,)

    def why_empty(self) -> str:
        """It needs a value that differs."""
        if super().why_empty():
            return super().why_empty()
        return "" if self.findings.values else tr("No value differs between these trials.")

    def prepare(self) -> None:
        """Forget brushes of axes that are gone."""
        names = {axis.name for axis in self.findings.axes}
        self._brushes = {name: brush for name, brush in self._brushes.items() if name in names}
        self._clear.setVisible(bool(self._brushes))

    @property
    def note(self) -> str:
        """How many trials the brushes keep."""
        count = len(self.findings.levels)
        limit = tr("the best {count:,} are drawn", count=MOST_LINES) if count > MOST_LINES else ""
        share = tr("{count:,} of %n trial(s)", "", count, count=len(self.kept)) if self._brushes else ""
        return tr("; ").join(filter(None, (share, limit)))

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
        """A line through the places of each trial; those that are left out below the others."""
        axes, rect = self.findings.axes, self._rect
        self.view.setGeometry(rect.adjusted(-2, -2, 2, 2))
        self.view.setRange(
            xRange=(rect.left() - 2, rect.right() + 2), yRange=(-rect.bottom() - 2, -rect.top() + 2), padding=0
        )
        places = [(axis, self.across(axis)) for axis in axes]
        self._lines = {}
        for number in self._drawn():
            points = [(x, self._down(axis.share(axis.places[number]))) for axis, x in places if number in axis.places]
            x, y = np.array(points, dtype=float).reshape(-1, 2).T
            self._lines[number] = x, y
        brushed = self.kept
        lines = {number: (x, -y) for number, (x, y) in self._lines.items()}
        foreground = {number: line for number, line in lines.items() if number in brushed}
        left_out = QColor(theme.current().muted)
        left_out.setAlpha(FADED)
        self._others.setPen(pg.mkPen(left_out, width=1))
        set_lines(self._others, [line for number, line in lines.items() if number not in brushed])
        self._ranked.show(
            foreground, self.findings, alpha=min(255, max(LEAST_ALPHA, 255 * CLEAR // max(1, len(brushed))))
        )
        self._axes_item.prepareGeometryChange()
        self._axes_item.update()

    def views(self) -> list[ZoomBox]:
        """Return the view of the lines."""
        return [self.view]

    def show_items(self, is_shown: bool) -> None:
        """Show lines and axes, or hide them."""
        super().show_items(is_shown)
        self.view.setVisible(is_shown)
        self._axes_item.setVisible(is_shown)

    def _drawn(self) -> Sequence[int]:
        """Return the trials that are drawn: of very many, those that the brushes keep, and of these the best."""
        levels = self.findings.levels
        if len(levels) <= MOST_LINES:
            return list(levels)
        brushed, own = self.kept, {self.number} | self.findings.marked
        order = sorted(levels, key=lambda number: (number in own, number in brushed, levels[number]), reverse=True)
        return order[:MOST_LINES]

    def paint_axes(self, painter: QPainter) -> None:
        """Paint the axes with their names, ticks and brushes, above the lines."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(label_font())
        palette, rect = theme.current(), self._rect
        axes = self.findings.axes
        room = rect.width() / max(1, len(axes) - 1)
        for axis in axes:
            x = self.across(axis)
            painter.setPen(QPen(palette.muted, 1))
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
            painter.setPen(palette.text)
            box = QRectF(x - min(room, 2 * SIDE) / 2 + 2, 0, min(room, 2 * SIDE) - 4, TOP - 10)
            name = markup.elided(
                painter.fontMetrics(), axis_label(axis), Qt.TextElideMode.ElideMiddle, int(box.width())
            )
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, name)
            for place, text in ticks_of(axis, max(2, int(rect.height() / 48))):
                self._paint_tick(painter, QPointF(x, self._down(axis.share(place))), text, min(room, SIDE + 40) - 14)
            if axis.name in self._brushes:
                self._paint_brush(painter, x, *self._brushes[axis.name])

    def _paint_tick(self, painter: QPainter, at: QPointF, text: str, room: float) -> None:
        palette, metrics = theme.current(), painter.fontMetrics()
        label = markup.elided(metrics, text, Qt.TextElideMode.ElideMiddle, max(24, int(room)))
        box = QRectF(at.x() + 5, at.y() - 8, metrics.horizontalAdvance(label) + 4, 16)
        ground = QColor(palette.panel)
        ground.setAlpha(205)
        painter.fillRect(box, ground)
        painter.setPen(QPen(palette.muted, 1))
        painter.drawLine(at, QPointF(at.x() + 4, at.y()))
        painter.drawText(box.translated(2, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)

    def _paint_brush(self, painter: QPainter, x: float, low: float, high: float) -> None:
        accent = QColor(theme.current().accent)
        painter.setPen(QPen(accent, 1))
        accent.setAlpha(70)
        painter.setBrush(accent)
        painter.drawRect(QRectF(x - BRUSH / 2, self._down(high), BRUSH, self._down(low) - self._down(high)))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    # ---- pointer ----

    def highlight(self) -> None:
        """The picked line and the one under the pointer, above the others."""
        palette = theme.current()
        self._ranked.highlight(((self.number, palette.text), (self.hovered, palette.accent)))

    def mark_at(self, at: QPointF) -> int | None:
        """Return the trial whose line is nearest to the pointer."""
        if self._drag is not None:
            return None
        best, nearest = NEAR_PIXELS / 2, None
        for number in self.kept & self._lines.keys():
            x, y = self._lines[number]
            if len(x) > 1 and x[0] <= at.x() <= x[-1]:
                apart = abs(float(np.interp(at.x(), x, y)) - at.y())
                if apart < best:
                    best, nearest = apart, number
        return nearest

    def _axis_at(self, at: QPointF) -> TrialAxis | None:
        near = [axis for axis in self.findings.axes if abs(self.across(axis) - at.x()) <= BRUSH]
        return near[0] if near and not self.empty else None

    def _share_at(self, at: QPointF) -> float:
        return min(max((self._rect.bottom() - at.y()) / self._rect.height(), 0.0), 1.0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a brush on an axis."""
        super().mousePressEvent(event)
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


class _Axes(QGraphicsItem):
    """The axes of parallel coordinates, above their lines."""

    def __init__(self, chart: ParallelCoordinates) -> None:
        super().__init__()
        self._chart = chart
        self.setZValue(5)

    def boundingRect(self) -> QRectF:
        """The whole chart."""
        return QRectF(self._chart.rect())

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Paint axes and brushes."""
        self._chart.paint_axes(painter)
