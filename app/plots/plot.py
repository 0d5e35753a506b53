"""One live plot, painted by hand.

Painted with QPainter, not with pyqtgraph, which took 16 ms for one update of the two plots of a run
(the budget is 8 ms, this takes 6), costs 0.3 s to import and, left alive, crashes the interpreter at
exit. What a paint costs is bounded by the pixels of the plot.
"""

import ctypes
import math

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QWidget
from shiboken6 import getCppPointer

from app.plots import marks, readout
from app.plots.drawing import Drawing
from app.plots.scales import Axis, Frame, Unit, linear_axis, log_axis, places_axis, tick_label
from app.plots.series import Floats
from app.plots.zoomed import ZoomedPlot
from designer import icons, theme

LEFT, TOP, RIGHT, BOTTOM = 52, 8, 12, 24
LABEL_PIXELS = 11
MAX_SMOOTHED_POINTS = 600
# More markers than this would hide the line they stand on.
MAX_MARKERS = 100
MAX_EPOCH_LINES = 60
BEST_RADIUS = 7


def polygons(x: Floats, y: Floats) -> list[QPolygonF]:
    """Lines through points in pixels, broken at gaps (NaN)."""
    good = np.isfinite(y)
    if good.all():
        return [_polygon(x, y)] if len(x) else []
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(np.int8)))
    return [_polygon(x[begin:end], y[begin:end]) for begin, end in edges.reshape(-1, 2)]


def _polygon(x: Floats, y: Floats) -> QPolygonF:
    polygon = QPolygonF()
    polygon.resize(len(x))
    # Written straight into Qt's memory: a QPointF a point in Python would cost a hundred times as much.
    points = np.stack([x, np.clip(y, -1e6, 1e6)], axis=1)
    ctypes.memmove(getCppPointer(polygon.data())[0], points.ctypes.data, points.nbytes)
    return polygon


def draw_marker(painter: QPainter, split: str, at: QPointF, radius: float = 3.5) -> None:
    """A disc for validation, a diamond for test: told apart without colour."""
    if split == "test":
        wide = radius * 1.4
        painter.drawPolygon(QPolygonF([at + QPointF(*d) for d in ((0, -wide), (wide, 0), (0, wide), (-wide, 0))]))
    else:
        painter.drawEllipse(at, radius, radius)


class Plot(ZoomedPlot):
    """Draws one quantity over the iterations, the epochs or the time of a run.

    A drag shows a part of the run, the wheel more or less of it around the pointer, Shift with either moves it, a
    double click shows all again. The values' axis fits what is in view. `part_changed` tells the plots beside it.
    """

    def __init__(self, drawing: Drawing, parent: QWidget | None = None) -> None:
        super().__init__(drawing, parent)
        self.drawing = drawing
        self._unit = Unit(name="iterations")
        self._smoothed: tuple[Floats, Floats] = (np.empty(0), np.empty(0))
        self.setMinimumSize(240, 120)

    def sizeHint(self) -> QSize:
        """Wide enough to read."""
        return QSize(640, 240)

    def changeEvent(self, event: QEvent) -> None:
        """Another font or style needs another picture."""
        self.update()
        super().changeEvent(event)

    def label_font(self) -> QFont:
        """The font of axis labels."""
        font = theme.figures(self.font())
        font.setPixelSize(LABEL_PIXELS)
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws everything; what it costs depends on the pixels, not on the history."""
        painter = QPainter(self)
        painter.setFont(self.label_font())
        if self.drawing.is_empty:
            self._frame = None
            self._paint_empty(painter)
        else:
            self._paint_curves(painter)
        painter.end()

    def _paint_empty(self, painter: QPainter) -> None:
        font = QFont(self.font())
        painter.setFont(font)
        painter.setPen(theme.current().muted)
        title = self.drawing.title
        name = title if title[1:2].isupper() else title[:1].lower() + title[1:]
        words = self.drawing.waiting or f"The {name} appears here when training starts."
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)

    def _paint_curves(self, painter: QPainter) -> None:
        drawing = self.drawing
        rect = QRectF(self.rect()).adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        low, high = drawing.across.view(drawing.last_step)
        x, y = drawing.window(low, high, max(2, int(rect.width())))
        raw = self._placed(x), y
        smooth = min(MAX_SMOOTHED_POINTS, max(2, int(rect.width() * 0.75)))
        self._smoothed = drawing.smoothed(low, high, smooth)
        smoothed = self._placed(self._smoothed[0]), self._smoothed[1]
        parts = {split: points.between(low, high) for split, points in drawing.points.items() if len(points)}
        if drawing.across.is_log:  # the validation before the first step has no place there
            parts = {split: (x[x > 0], y[x > 0]) for split, (x, y) in parts.items()}
        points = {split: (self._placed(x), y) for split, (x, y) in parts.items()}
        width = max(2, int(rect.width()))
        lines = [(other, other.line.window(low, high, width)) for other in drawing.beside.values() if len(other.line)]
        values = [raw[1], *(y for _, y in points.values()), *(y for _, (_, y) in lines)]
        frame = self._frame = self._make_frame(rect, low, high, values)
        self._paint_epochs(painter, frame, low, high)
        self._paint_axes(painter, frame)
        marks.paint(drawing.across.marks, painter, frame, drawing)
        painter.save()
        painter.setClipRect(rect.adjusted(-9, -9, 9, 9) if drawing.across.part is None else rect)
        # A zigzag denser than the pixels is slow to smooth, and its spikes would fade.
        is_fine = len(raw[0]) <= rect.width()
        self._paint_line(painter, frame, raw, QPen(drawing.raw_colour, 0), is_fine)
        if drawing.smoothing > 0:
            self._paint_line(painter, frame, smoothed, _wide(drawing.colour), True)
        for other, (x, y) in lines:
            self._paint_line(painter, frame, (self._placed(x), y), QPen(other.colour, 0), is_fine)
        for split, (x, y) in points.items():
            self._paint_points(painter, frame, split, x, y)
        self._paint_best(painter, frame)
        painter.restore()
        self._paint_nonfinite(painter, frame)
        self._zooming.paint(painter, frame)
        self._paint_pointer(painter, frame)

    def _placed(self, steps: Floats) -> Floats:
        """Where steps are on the lower axis."""
        return self.drawing.across.timeline.places(steps, self.drawing.across.along)

    def _make_frame(self, rect: QRectF, low: float, high: float, values: list[Floats]) -> Frame:
        across = self.drawing.across
        ends = self._placed(np.array([low, high]))
        count = max(2, int(rect.width() / 110))
        x, self._unit = places_axis(float(ends[0]), float(ends[1]), across.along, count, is_log=across.is_log)
        return Frame(rect=rect, x=x, y=self._values_axis(values, max(2, int(rect.height() / 40))))

    def _values_axis(self, values: list[Floats], count: int) -> Axis:
        joined = np.concatenate(values)
        joined = joined[np.isfinite(joined)]
        if self.drawing.is_log and (joined > 0).any():
            return log_axis(float(joined[joined > 0].min()), float(joined.max()), count)
        low, high = (float(joined.min()), float(joined.max())) if len(joined) else (0.0, 1.0)
        if self.drawing.is_percent and low >= 0 and high <= 1 and self.drawing.across.part is None:
            ticks = (0.0, 0.25, 0.5, 0.75, 1.0) if count >= 4 else (0.0, 0.5, 1.0)
            return Axis(low=0, high=1, ticks=ticks)
        return linear_axis(low, high, count)

    def _paint_epochs(self, painter: QPainter, frame: Frame, low: float, high: float) -> None:
        """Faint vertical lines where epochs end, while there is room for them."""
        steps = self.drawing.across.timeline.steps_per_epoch
        if not steps or (high - low) / steps > MAX_EPOCH_LINES:
            return
        painter.setPen(QPen(theme.current().mixed(theme.current().line, theme.current().panel, 0.45), 0))
        ends = np.arange(steps * (low // steps + 1), high, steps, dtype=np.float64)
        for x in frame.across(self._placed(ends)).round().tolist():
            painter.drawLine(QPointF(x, frame.rect.top()), QPointF(x, frame.rect.bottom()))

    def _paint_axes(self, painter: QPainter, frame: Frame) -> None:
        palette, rect = theme.current(), frame.rect
        heights = frame.down(np.array(frame.y.ticks)).round().tolist()
        painter.setPen(QPen(palette.line, 0))
        for y in heights:
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
        painter.setPen(palette.muted)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for y, value in zip(heights, frame.y.ticks, strict=True):
            words = tick_label(value, frame.y, self.drawing.is_percent)
            painter.drawText(QRectF(0, y - 8, LEFT - 8, 16), right, words)
        self._paint_steps(painter, frame)

    def _paint_steps(self, painter: QPainter, frame: Frame) -> None:
        """The labels below; the last one says what is counted."""
        metrics, ticks = QFontMetricsF(painter.font()), frame.x.ticks
        top, free = frame.rect.bottom() + 6, frame.rect.right() + RIGHT
        apart = ticks[1] - ticks[0] if len(ticks) > 1 else frame.x.high - frame.x.low
        places = zip(frame.across(np.array(ticks)).tolist(), ticks, strict=True)
        for number, (x, value) in enumerate(reversed(list(places))):
            words = self._unit.label(value, value if frame.x.is_log else apart)
            width = metrics.horizontalAdvance(words)
            left = x - width / 2
            if number == 0:
                words += f" {self._unit.name}"
                whole = metrics.horizontalAdvance(words)
                left = min(left, free - whole)
                width = whole
            if left + width <= free:
                painter.drawText(QRectF(left, top, width + 2, 16), Qt.AlignmentFlag.AlignLeft, words)
                free = left - 12

    def _paint_line(
        self, painter: QPainter, frame: Frame, points: tuple[Floats, Floats], pen: QPen, is_fine: bool
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_fine)
        painter.setPen(pen)
        for polygon in polygons(frame.across(points[0]), frame.down(points[1])):
            painter.drawPolyline(polygon)

    def _paint_points(self, painter: QPainter, frame: Frame, split: str, x: Floats, y: Floats) -> None:
        colour = self.drawing.split_colour(split)
        pen = QPen(colour, 0)  # a dashed line that is wider than a pixel takes five times as long
        pen.setDashPattern([4, 3])
        self._paint_line(painter, frame, (x, y), pen, True)
        if len(x) > MAX_MARKERS:
            return
        painter.setPen(QPen(theme.current().panel, 1))
        painter.setBrush(colour)
        for px, py in zip(frame.across(x).tolist(), frame.down(y).tolist(), strict=True):
            if py == py:
                draw_marker(painter, split, QPointF(px, py), 4)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_best(self, painter: QPainter, frame: Frame) -> None:
        """A ring around the validation that was best: its network is kept."""
        if not self.drawing.bests:
            return
        step, value = self.drawing.bests[-1]
        x = float(frame.across(self._placed(np.array([step])))[0])
        y = float(frame.down(np.array([value]))[0])
        if math.isfinite(x) and math.isfinite(y):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            painter.setPen(QPen(theme.current().text, 1.5))
            painter.drawEllipse(QPointF(x, y), BEST_RADIUS, BEST_RADIUS)

    def _paint_nonfinite(self, painter: QPainter, frame: Frame) -> None:
        """Where values were no numbers: a tick each, words beside the first."""
        steps, (low, high) = self.drawing.training.nonfinite_steps(), self.drawing.across.view(self.drawing.last_step)
        steps = steps[(steps >= low) & (steps <= high)]
        if not len(steps):
            return
        colour, rect = theme.current().warning, frame.rect
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(colour, 0))
        places = frame.across(self._placed(steps)).round().tolist()
        for x in places:
            painter.drawLine(QPointF(x, rect.bottom() - 8), QPointF(x, rect.bottom()))
        first, count = places[0], self.drawing.training.num_nonfinite
        painter.drawLine(QPointF(first, rect.top()), QPointF(first, rect.bottom()))
        words = f"Not a number at {steps[0]:,.0f}" + (f", {count:,} in all" if count > 1 else "")
        width = QFontMetricsF(painter.font()).horizontalAdvance(words) + 18
        left = first + 6 if first + 6 + width < rect.right() else first - 6 - width
        painter.fillRect(QRectF(left - 2, rect.top() + 2, width + 4, 16), theme.current().panel)
        icons.draw(painter, "warning", QRectF(left, rect.top() + 3, 14, 14), colour)
        painter.drawText(QPointF(left + 18, rect.top() + 14), words)

    def readings(self, step: float) -> list[tuple[str, str]]:
        """What the curves say at a step, as pairs of name and value."""
        return readout.readings(self.drawing, step, self._smoothed)

    def _paint_pointer(self, painter: QPainter, frame: Frame) -> None:
        """A vertical line under the pointer and a box with what the curves say there."""
        if self._pointer is None or not frame.rect.left() <= self._pointer <= frame.rect.right():
            return
        newest = float(frame.across(self._placed(np.array([self.drawing.last_step])))[0])
        x = round(max(frame.rect.left(), min(self._pointer, newest)))
        step = self.drawing.across.timeline.step_at(frame.place_at(x), self.drawing.across.along)
        marked = marks.readings(self.drawing.across.marks, frame, self.drawing, x)
        readout.paint(painter, frame.rect, x, self.readings(step) + marked)


def _wide(colour: QColor) -> QPen:
    pen = QPen(colour, 2)
    # Round joins cost three times as much, and cannot be seen at this width.
    pen.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen
