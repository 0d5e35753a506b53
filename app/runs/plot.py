"""One live plot, painted by hand.

Painted with QPainter, not with pyqtgraph, which took 16 ms for one update of the two plots of a run
(the budget is 8 ms, this takes 6), costs 0.3 s to import and, left alive, crashes the interpreter at
exit. What a paint costs is bounded by the pixels of the plot.
"""

import ctypes
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget
from shiboken6 import getCppPointer

from app.runs.scales import Axis, Frame, figure, linear_axis, log_axis, steps_axis, tick_label
from app.runs.series import Floats, Points, Series
from designer import icons, theme

LEFT, TOP, RIGHT, BOTTOM = 48, 8, 12, 24
LABEL_PIXELS = 11
MAX_SMOOTHED_POINTS = 600
# More markers than this would hide the line they stand on.
MAX_MARKERS = 100
MAX_EPOCH_LINES = 60


@dataclass
class Drawing:
    """What is to be drawn, and how."""

    title: str
    token: str
    training: Series
    points: dict[str, Points]
    expected_steps: int = 0
    epoch_steps: int = 0
    smoothing: float = 0.9
    is_log: bool = False
    is_percent: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show yet."""
        return not len(self.training) and not any(len(points) for points in self.points.values())

    @property
    def last_step(self) -> float:
        """The newest step of all curves."""
        return max(self.training.last_step, *(points.last_step for points in self.points.values()), 0.0)

    @property
    def colour(self) -> QColor:
        """The colour of the training curve."""
        return QColor(getattr(theme.current(), self.token))

    @property
    def raw_colour(self) -> QColor:
        """The same, faint, for the values as they came."""
        return theme.current().mixed(self.colour, theme.current().panel, 0.42)

    def split_colour(self, split: str) -> QColor:
        """The colour of points that are no training points."""
        return theme.current().good if split == "test" else theme.current().warning


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


class Plot(QWidget):
    """Draws one quantity over the iterations."""

    def __init__(self, drawing: Drawing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.drawing = drawing
        self._frame: Frame | None = None
        self._smoothed: tuple[Floats, Floats] = (np.empty(0), np.empty(0))
        self._pointer: float | None = None
        self.setMouseTracking(True)
        self.setMinimumSize(240, 120)

    def sizeHint(self) -> QSize:
        """Wide enough to read."""
        return QSize(640, 240)

    def forget_pointer(self) -> None:
        """Takes the cross-hair away, for pictures."""
        self._pointer = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Moves the cross-hair."""
        self._pointer = event.position().x()
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Takes the cross-hair away."""
        self._pointer = None
        self.update()

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
        words = f"The {self.drawing.title.lower()} appears here when training starts."
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)

    def _paint_curves(self, painter: QPainter) -> None:
        drawing = self.drawing
        rect = QRectF(self.rect()).adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        across = steps_axis(drawing.expected_steps, drawing.last_step, max(2, int(rect.width() / 110)))
        raw = drawing.training.window(across.low, across.high, max(2, int(rect.width())))
        smooth = min(MAX_SMOOTHED_POINTS, max(2, int(rect.width() * 0.75)))
        self._smoothed = drawing.training.smoothed(across.low, across.high, drawing.smoothing, smooth)
        points = {split: points.arrays() for split, points in drawing.points.items() if len(points)}
        down = self._values_axis([raw[1], *(y for _, y in points.values())], max(2, int(rect.height() / 40)))
        frame = self._frame = Frame(rect=rect, x=across, y=down)
        self._paint_epochs(painter, frame)
        self._paint_axes(painter, frame)
        painter.save()
        painter.setClipRect(rect.adjusted(-5, -5, 5, 5))
        # A zigzag denser than the pixels is slow to smooth, and its spikes would fade.
        is_fine = len(raw[0]) <= rect.width()
        self._paint_line(painter, frame, raw, QPen(drawing.raw_colour, 0), is_fine)
        if drawing.smoothing > 0:
            self._paint_line(painter, frame, self._smoothed, _wide(drawing.colour), True)
        for split, (x, y) in points.items():
            self._paint_points(painter, frame, split, x, y)
        painter.restore()
        self._paint_nonfinite(painter, frame)
        self._paint_pointer(painter, frame)

    def _values_axis(self, values: list[Floats], count: int) -> Axis:
        joined = np.concatenate(values)
        joined = joined[np.isfinite(joined)]
        if self.drawing.is_log and (joined > 0).any():
            return log_axis(float(joined[joined > 0].min()), float(joined.max()), count)
        low, high = (float(joined.min()), float(joined.max())) if len(joined) else (0.0, 1.0)
        if self.drawing.is_percent and low >= 0 and high <= 1:
            ticks = (0.0, 0.25, 0.5, 0.75, 1.0) if count >= 4 else (0.0, 0.5, 1.0)
            return Axis(low=0, high=1, ticks=ticks)
        return linear_axis(low, high, count)

    def _paint_epochs(self, painter: QPainter, frame: Frame) -> None:
        """Faint vertical lines where epochs end, while there is room for them."""
        steps = self.drawing.epoch_steps
        if not steps or frame.x.high / steps > MAX_EPOCH_LINES:
            return
        painter.setPen(QPen(theme.current().mixed(theme.current().line, theme.current().panel, 0.45), 0))
        for x in frame.across(np.arange(steps, frame.x.high, steps, dtype=np.float64)).round().tolist():
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
        metrics = QFontMetricsF(painter.font())
        top, free = frame.rect.bottom() + 6, frame.rect.right() + RIGHT
        places = zip(frame.across(np.array(frame.x.ticks)).tolist(), frame.x.ticks, strict=True)
        for number, (x, value) in enumerate(reversed(list(places))):
            words = f"{value:,.0f}"
            width = metrics.horizontalAdvance(words)
            left = x - width / 2
            if number == 0:
                words += " iterations" if value != 1 else " iteration"
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
        pen = QPen(colour, 1.25)
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

    def _paint_nonfinite(self, painter: QPainter, frame: Frame) -> None:
        """Where values were no numbers: a tick each, words beside the first."""
        steps = self.drawing.training.nonfinite_steps()
        if not len(steps):
            return
        colour, rect = theme.current().warning, frame.rect
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(colour, 0))
        places = frame.across(steps).round().tolist()
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
        drawing = self.drawing
        series, shown = drawing.training, drawing.is_percent
        result: list[tuple[str, str]] = []
        if len(series):
            index = min(series.index(round(step)), len(series) - 1)
            place = float(series.steps(np.array([index]))[0])
            result.append(("iteration", f"{place:,.0f}"))
            result.append(("training", figure(float(series.values(index, index + 1)[0]), shown)))
            x, y = self._smoothed
            if drawing.smoothing > 0 and len(x):
                result.append(("smoothed", figure(float(np.interp(place, x, y)), shown)))
        for split, points in drawing.points.items():
            if nearest := points.nearest(step):
                result.append((f"{split} at {nearest[0]:,.0f}", figure(nearest[1], shown)))
        return result

    def _paint_pointer(self, painter: QPainter, frame: Frame) -> None:
        """A vertical line under the pointer and a box with what the curves say there."""
        if self._pointer is None or not frame.rect.left() <= self._pointer <= frame.rect.right():
            return
        palette, rect = theme.current(), frame.rect
        newest = float(frame.across(np.array([self.drawing.last_step]))[0])
        x = round(min(self._pointer, newest))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(palette.muted, 0))
        painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
        rows = self.readings(frame.step_at(x))
        metrics = QFontMetricsF(painter.font())
        names = max(metrics.horizontalAdvance(name) for name, _ in rows)
        width = names + 16 + max(metrics.horizontalAdvance(value) for _, value in rows) + 24
        left = x + 12 if x + 12 + width < rect.right() else x - 12 - width
        box = QRectF(left, rect.top() + 8, width, 16 * len(rows) + 16)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(QPen(palette.line, 1))
        painter.setBrush(palette.raised)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for number, (name, value) in enumerate(rows):
            line = QRectF(box.left() + 12, box.top() + 8 + 16 * number, width - 24, 16)
            painter.setPen(palette.muted)
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
            painter.setPen(palette.text)
            painter.drawText(line, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, value)


def _wide(colour: QColor) -> QPen:
    pen = QPen(colour, 2)
    # Round joins cost three times as much, and cannot be seen at this width.
    pen.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen
