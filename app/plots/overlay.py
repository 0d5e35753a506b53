"""One quantity of several runs in one plot. Each has a colour and a number, which stands at the end of its curve."""

from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.plots.drawing import Across
from app.plots.plot import draw_marker, polygons
from app.plots.scales import Axis, Frame, figure, linear_axis, log_axis, places_axis, tick_label
from app.plots.series import Floats
from app.plots.timeline import Along
from app.plots.traces import Curve, Trace
from app.plots.zoomed import ZoomedPlot
from designer import theme
from engine.project.options.metrics import is_share

FAMILIES = (
    *("Convolution", "Activation", "Fully connected", "Combination"),
    *("Pooling", "Attention", "Recurrent", "Normalisation"),
)
LEFT, TOP, RIGHT, BOTTOM = 52, 10, 28, 26
LABEL_PIXELS = 11
MOST_MARKERS = 60
SMOOTHED_POINTS = 500
BADGE = 8.0
LEAST = 0.02
"""No smaller part is shown, in iterations, epochs or seconds."""


def run_colour(number: int) -> QColor:
    """The colour of a run by its place, strong enough for a line on the panel."""
    palette = theme.current()
    colour = palette.family(FAMILIES[number % len(FAMILIES)])
    return colour if palette.is_dark else palette.mixed(colour, palette.text, 0.8)


@dataclass
class Overlay:
    """What is to be drawn, and how."""

    name: str = "loss"
    traces: list[Trace] = field(default_factory=list)
    along: Along = "iterations"
    smoothing: float = 0.6
    is_log: bool = False
    shows_training: bool = True
    shows_validation: bool = True
    across: Across = field(default_factory=lambda: Across(least=LEAST))
    """The part in view, in the units of the lower axis, which steps of several runs have in common."""

    @property
    def is_percent(self) -> bool:
        """Whether values are shares, shown as per cent."""
        return is_share(self.name)

    def curves(self) -> list[tuple[int, Trace, Curve]]:
        """The curves of this quantity that there are, with the places of their runs."""
        return [(n, trace, curve) for n, trace in enumerate(self.traces) if (curve := trace.curves.get(self.name))]

    @property
    def last_step(self) -> float:
        """How far the furthest run has come, in the units of the lower axis."""
        ends = [trace.places(np.array([c.last_step]), self.along)[0] for _, trace, c in self.curves()]
        return float(max(ends, default=0.0))


@dataclass(frozen=True)
class _Line:
    number: int
    training: tuple[Floats, Floats]
    validation: tuple[Floats, Floats]


class OverlayPlot(ZoomedPlot):
    """Draws the curves; what a paint costs depends on the pixels and the number of runs.

    A drag shows a part, the wheel more or less of it around the pointer, Shift with either moves it, a double click
    shows all again. `part_changed` tells the plots beside it.
    """

    def __init__(self, overlay: Overlay, parent: QWidget | None = None) -> None:
        super().__init__(overlay, parent)
        self.overlay = overlay
        self.setMinimumSize(220, 120)

    def sizeHint(self) -> QSize:
        """Wide enough to read."""
        return QSize(480, 280)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Axes, curves, numbers, and what is under the pointer."""
        painter = QPainter(self)
        self._frame = None
        lines = self._lines()
        if lines:
            font = theme.figures(self.font())
            font.setPixelSize(LABEL_PIXELS)
            painter.setFont(font)
            self._paint(painter, lines)
        else:
            painter.setPen(theme.current().muted)
            words = f"These runs have no {self.overlay.name} to show."
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)
        painter.end()

    # ---- what is drawn ----

    def _lines(self) -> list[_Line]:
        """The curves as points in the units of the axes."""
        overlay, found = self.overlay, []
        overlay.across.expected_steps = furthest = overlay.last_step
        low, high = overlay.across.view(furthest)
        none = np.empty(0), np.empty(0)
        width = max(2, self.width() - LEFT - RIGHT)
        for number, trace, curve in overlay.curves():
            training = validation = none
            begin, end = (trace.step_at(place, overlay.along) for place in (low, high))
            if overlay.shows_training and len(curve.training):
                end = min(end, curve.training.last_step) if overlay.across.part is None else end
                if overlay.smoothing > 0:
                    steps, y = curve.training.smoothed(begin, end, overlay.smoothing, min(SMOOTHED_POINTS, width))
                else:
                    steps, y = curve.training.window(begin, end, width)
                training = trace.places(steps, overlay.along), y
            if overlay.shows_validation and len(curve.validation):
                steps, y = curve.validation.between(begin, end)
                validation = trace.places(steps, overlay.along), y
            if len(training[0]) or len(validation[0]):
                found.append(_Line(number, training, validation))
        return found

    def _frame_of(self, lines: list[_Line]) -> tuple[Frame, float, str]:
        """The axes, and for the lower one what its values are divided by, and their unit."""
        rect = QRectF(self.rect()).adjusted(LEFT, TOP, -RIGHT, -BOTTOM)
        count = max(2, int(rect.width() / 90))
        across, divisor, unit = lower_axis(self.overlay.last_step, self.overlay.along, count)
        if self.overlay.across.part is not None:
            across, counted = places_axis(*self.overlay.across.part, self.overlay.along, count)
            divisor, unit = counted.divisor, counted.name
        values = np.concatenate([y for line in lines for _, y in (line.training, line.validation)])
        down = self._values_axis(values[np.isfinite(values)], max(2, int(rect.height() / 40)))
        return Frame(rect=rect, x=across, y=down), divisor, unit

    def _values_axis(self, values: Floats, count: int) -> Axis:
        if self.overlay.is_log and (values > 0).any():
            return log_axis(float(values[values > 0].min()), float(values.max()), count)
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        return linear_axis(low, high, count)

    def _paint(self, painter: QPainter, lines: list[_Line]) -> None:
        frame, divisor, unit = self._frame_of(lines)
        self._frame = frame
        self._paint_axes(painter, frame, divisor, unit)
        painter.save()
        is_whole = self.overlay.across.part is None
        painter.setClipRect(frame.rect.adjusted(-5, -5, 5, 5) if is_whole else frame.rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line in lines:
            self._paint_line(painter, frame, line)
        painter.restore()
        self._paint_badges(painter, frame, lines)
        self._zooming.paint(painter, frame)
        self._paint_pointer(painter, frame, divisor, unit)

    def _paint_axes(self, painter: QPainter, frame: Frame, divisor: float, unit: str) -> None:
        palette, rect = theme.current(), frame.rect
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for y, value in zip(frame.down(np.array(frame.y.ticks)).round().tolist(), frame.y.ticks, strict=True):
            painter.setPen(QPen(palette.line, 0))
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
            painter.setPen(palette.muted)
            words = tick_label(value, frame.y, self.overlay.is_percent)
            painter.drawText(QRectF(0, y - 8, LEFT - 8, 16), right, words)
        metrics, free = QFontMetricsF(painter.font()), float(self.width())
        places = frame.across(np.array(frame.x.ticks)).tolist()
        for number, (x, value) in enumerate(reversed(list(zip(places, frame.x.ticks, strict=True)))):
            words = f"{value / divisor:,.6g}" + (f" {unit}" if number == 0 else "")
            width = metrics.horizontalAdvance(words)
            left = min(x - metrics.horizontalAdvance(words.partition(" ")[0]) / 2, free - width)
            if left + width <= free:
                painter.drawText(QPointF(left, rect.bottom() + 18), words)
                free = left - 12

    def _paint_line(self, painter: QPainter, frame: Frame, line: _Line) -> None:
        colour = run_colour(line.number)
        x, y = line.training
        painter.setPen(QPen(colour, 2 if self.overlay.smoothing > 0 else 1))
        for polygon in polygons(frame.across(x), frame.down(y)):
            painter.drawPolyline(polygon)
        x, y = line.validation
        pen = QPen(colour, 1.25)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        for polygon in polygons(frame.across(x), frame.down(y)):
            painter.drawPolyline(polygon)
        if len(x) > MOST_MARKERS:
            return
        painter.setPen(QPen(theme.current().panel, 1))
        painter.setBrush(colour)
        for px, py in zip(frame.across(x).tolist(), frame.down(y).tolist(), strict=True):
            if py == py:
                draw_marker(painter, "validation", QPointF(px, py))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_badges(self, painter: QPainter, frame: Frame, lines: list[_Line]) -> None:
        """The number of each run beside the end of its curve; numbers whose ends are close stand apart."""
        ends: list[tuple[float, float, int]] = []
        for line in lines:
            x, y = line.training if len(line.training[0]) else line.validation
            down, along = frame.down(y), frame.across(x)
            seen = (along >= frame.rect.left() - 1) & (along <= frame.rect.right() + 1)
            good = np.flatnonzero(np.isfinite(down) & seen)
            if len(good):
                height = min(max(float(down[good[-1]]), frame.rect.top()), frame.rect.bottom())
                ends.append((height, float(along[good[-1]]), line.number))
        for group in columns_of(ends, 2 * BADGE + 1):
            heights = spread([height for height, _, _ in group], 2 * BADGE + 1, frame.rect.bottom() - BADGE)
            for height, (_, end, number) in zip(heights, group, strict=True):
                left = min(end + BADGE + 6, self.width() - BADGE - 2)
                paint_badge(painter, number, _badge_at(QPointF(left, height)))

    def readings(self, place: float) -> list[tuple[int, str, str]]:
        """What the runs say at a place of the lower axis: number, training value, validation value."""
        overlay, result = self.overlay, []
        for number, trace, curve in overlay.curves():
            step = trace.step_at(place, overlay.along)
            training = validation = ""
            if overlay.shows_training and len(curve.training) and step <= curve.training.last_step + 1:
                index = min(curve.training.index(round(step)), len(curve.training) - 1)
                training = figure(float(curve.training.values(index, index + 1)[0]), overlay.is_percent)
            if overlay.shows_validation and (nearest := curve.validation.nearest(step)):
                validation = figure(nearest[1], overlay.is_percent)
            if training or validation:
                result.append((number, training, validation))
        return result

    def _paint_pointer(self, painter: QPainter, frame: Frame, divisor: float, unit: str) -> None:
        """A vertical line, and a box with what each run says there."""
        if self._pointer is None or not frame.rect.left() <= self._pointer <= frame.rect.right():
            return
        palette, rect, x = theme.current(), frame.rect, round(self._pointer)
        place = frame.place_at(x)
        rows = self.readings(place)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(palette.muted, 0))
        painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        heads = ["training"] * self.overlay.shows_training + ["validation"] * self.overlay.shows_validation
        width, line = 32.0 + 76 * len(heads), 19.0
        left = x + 12 if x + 12 + width < rect.right() else x - 12 - width
        box = QRectF(left, rect.top() + 4, width, line * (len(rows) + 2) + 6)
        painter.setPen(QPen(palette.line, 1))
        painter.setBrush(palette.raised)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(palette.muted)
        where = f"{place:,.0f} {unit}" if self.overlay.along == "iterations" else f"{place / divisor:,.4g} {unit}"
        painter.drawText(box.adjusted(10, 4, -10, 0), Qt.AlignmentFlag.AlignLeft, where)
        for column, words in enumerate(heads):
            painter.drawText(QRectF(left + 24 + 76 * column, box.top() + line, 72, line), right, words)
        for row, (number, *values) in enumerate(rows, start=2):
            top = box.top() + line * row
            paint_badge(painter, number, _badge_at(QPointF(left + 18, top + line / 2)))
            painter.setPen(palette.text)
            shown = values if len(heads) == 2 else [values[0] or values[1]]
            for column, words in enumerate(shown):
                painter.drawText(QRectF(left + 24 + 76 * column, top, 72, line), right, words)


def columns_of(ends: list[tuple[float, float, int]], apart: float) -> list[list[tuple[float, float, int]]]:
    """Ends of curves as height, place and number, in groups that lie above each other, each from the top down."""
    groups: list[list[tuple[float, float, int]]] = []
    for end in sorted(ends, key=lambda end: end[1]):
        if groups and end[1] - groups[-1][-1][1] < apart:
            groups[-1].append(end)
        else:
            groups.append([end])
    return [sorted(group) for group in groups]


def spread(heights: list[float], apart: float, lowest: float) -> list[float]:
    """Heights in rising order moved apart, none below the lowest."""
    found: list[float] = []
    for height in heights:
        found.append(max(height, found[-1] + apart) if found else height)
    limit = lowest
    for number in range(len(found) - 1, -1, -1):
        found[number] = min(found[number], limit)
        limit = found[number] - apart
    return found


def lower_axis(furthest: float, along: Along, count: int) -> tuple[Axis, float, str]:
    """The lower axis to a place, and what its values are divided by for their unit."""
    high = max(furthest, 1.0 if along == "time" else 1e-9) or 1.0
    axis, unit = places_axis(0.0, high, along, count)
    return axis, unit.divisor, unit.name


def _badge_at(middle: QPointF) -> QRectF:
    return QRectF(middle.x() - BADGE, middle.y() - BADGE, 2 * BADGE, 2 * BADGE)


def paint_badge(painter: QPainter, number: int, box: QRectF) -> None:
    """The number of a run on a disc in its colour."""
    palette = theme.current()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(palette.panel, 1))
    painter.setBrush(run_colour(number))
    painter.drawEllipse(box)
    font = QFont(painter.font())
    font.setPixelSize(10)
    font.setWeight(QFont.Weight.Bold)
    painter.setFont(font)
    painter.setPen(palette.background if palette.is_dark else palette.panel)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(number + 1))
    painter.restore()
