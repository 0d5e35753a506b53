"""One quantity of several runs in one plot. Each has a colour and a number, which stands at the end of its curve."""

from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from netwright.app.plots.axes import Unit, places_axis, tick_labels, values_axis
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_data import LinkedXAxis
from netwright.app.plots.plot_items import Line, Markers, table_markup
from netwright.app.plots.series import Floats
from netwright.app.plots.timeline import Along
from netwright.app.plots.traces import Curve, Trace
from netwright.app.plots.words import metric_in_a_line
from netwright.designer import markup, theme
from netwright.designer.language import tr, translation
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_number, format_value
from netwright.engine.project.options.metric_options import is_share

FAMILIES = (
    *("Convolution", "Activation", "Fully connected", "Combination"),
    *("Pooling", "Attention", "Recurrent", "Normalisation"),
)
RIGHT = 28
"""Room for the numbers of runs beside their curves, in pixels."""
MAX_SMOOTHED_POINTS = 500
BADGE = 8.0
LEAST = 0.02
"""No smaller part is shown, in iterations, epochs or seconds."""


def run_colour(number: int) -> QColor:
    """The colour of a run by its place, strong enough for a line on the panel."""
    palette = theme.current()
    colour = palette.family(FAMILIES[number % len(FAMILIES)])
    return colour if palette.is_dark else palette.mixed(colour, palette.text, 0.8)


@dataclass
class Comparison:
    """The runs to draw, and how."""

    name: str = "loss"
    traces: list[Trace] = field(default_factory=list)
    along: Along = "iterations"
    smoothing: float = 0.6
    is_log: bool = False
    shows_training: bool = True
    shows_validation: bool = True
    x_axis: LinkedXAxis = field(default_factory=lambda: LinkedXAxis(least=LEAST))
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
class RunLines:
    """The curves of one run, as far as they are in view: places and values."""

    number: int
    training: tuple[Floats, Floats]
    validation: tuple[Floats, Floats]


class Badge(QGraphicsItem):
    """The number of a run beside the end of its curve, in pixels of the plot."""

    def __init__(self, number: int, parent: QGraphicsItem) -> None:
        super().__init__(parent)
        self.number = number

    def boundingRect(self) -> QRectF:
        """A disc around the middle."""
        return QRectF(-BADGE, -BADGE, 2 * BADGE, 2 * BADGE)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Draws the disc."""
        paint_badge(painter, self.number, self.boundingRect())


@dataclass
class RunItems:
    """The plot items for the curves of one run."""

    training: Line
    validation: Line
    markers: Markers
    badge: Badge


class ComparisonPlot(Plot):
    """Draws one quantity of several runs; what it costs depends on the pixels and the number of runs."""

    def __init__(self, comparison: Comparison, parent: QWidget | None = None) -> None:
        super().__init__(comparison, parent, right=RIGHT)
        self.comparison = comparison
        self._unit = Unit(name=translation("iterations"))
        self._runs: list[RunItems] = []
        self.setMinimumSize(220, 120)

    def dress(self) -> None:
        """Each run has its colour; wide pens are for the few points of smoothed lines."""
        width = 2 if self.comparison.smoothing > 0 else 1
        for number, items in enumerate(self._runs):
            colour = run_colour(number)
            items.training.setPen(colour, width=width)
            items.validation.setPen(colour, dash=[4, 3])
            items.markers.setPen(theme.current().panel)
            items.markers.setBrush(colour)

    def draw(self) -> str:
        """Draws the curves that there are."""
        lines = self._lines()
        if not lines:
            return tr("These runs have no {quantity} to show.", quantity=metric_in_a_line(self.comparison.name))
        while len(self._runs) < len(self.comparison.traces):
            self._add_run()
        self.dress()
        self._set_axes(np.concatenate([y for line in lines for _, y in (line.training, line.validation)]))
        for items in self._runs:
            for item in vars(items).values():
                item.setVisible(False)
        for line in lines:
            items, mask = self._runs[line.number], self.spaced(line.validation[0])
            self.lay(items.training, *line.training)
            self.lay(items.validation, *line.validation)
            self.lay(items.markers, *(part[mask] for part in line.validation))
        self._place_badges(lines)
        return ""

    def _add_run(self) -> None:
        badge = Badge(len(self._runs), self.plotItem)
        items = RunItems(Line(antialias=True), Line(antialias=True), Markers(symbol="o", size=8), badge)
        for item in (items.training, items.validation, items.markers):
            self.addItem(item, ignoreBounds=True)
        self._runs.append(items)

    def _lines(self) -> list[RunLines]:
        """The curves as points in the units of the axes."""
        comparison, result = self.comparison, []
        x_axis, along = comparison.x_axis, comparison.along
        x_axis.expected_steps = furthest = comparison.last_step
        low, high = x_axis.view(furthest)
        none = np.empty(0), np.empty(0)
        for number, trace, curve in comparison.curves():
            training = validation = none
            begin, end = (trace.step_at(place, along) for place in (low, high))
            if comparison.shows_training and len(curve.training):
                end = min(end, curve.training.last_step) if x_axis.part is None else end
                if comparison.smoothing > 0:
                    points = min(MAX_SMOOTHED_POINTS, self.columns)
                    steps, y = curve.training.smoothed(begin, end, comparison.smoothing, points)
                else:
                    steps, y = curve.training.window(begin, end, self.columns)
                training = trace.places(steps, along), y
            if comparison.shows_validation and len(curve.validation):
                steps, y = curve.validation.between(begin, end)
                validation = trace.places(steps, along), y
            if len(training[0]) or len(validation[0]):
                result.append(RunLines(number, training, validation))
        return result

    def _set_axes(self, values: Floats) -> None:
        comparison = self.comparison
        low, high = comparison.x_axis.part or (0.0, 0.0)
        if comparison.x_axis.part is None:
            high = max(comparison.last_step, 1.0 if comparison.along == "time" else 1e-9)
        x, self._unit = places_axis(low, high, comparison.along, self.num_x_ticks)
        y = values_axis(values, self.num_y_ticks, is_log=comparison.is_log)
        self.show_axes(x, self._unit, y, tick_labels(y, is_percent=comparison.is_percent))

    def _place_badges(self, lines: list[RunLines]) -> None:
        """The number of each run beside the end of its curve; numbers whose ends are close stand apart."""
        ends: list[tuple[float, float, int]] = []
        rect = self.view.sceneBoundingRect()
        for line in lines:
            x, y = line.training if len(line.training[0]) else line.validation
            along, down = self.to_pixels(x, y)
            in_view = (along >= rect.left() - 1) & (along <= rect.right() + 1)
            good = np.flatnonzero(np.isfinite(down) & in_view)
            if len(good):
                height = min(max(float(down[good[-1]]), rect.top()), rect.bottom())
                ends.append((height, float(along[good[-1]]), line.number))
        for group in columns_of(ends, 2 * BADGE + 1):
            heights = spread([height for height, _, _ in group], 2 * BADGE + 1, rect.bottom() - BADGE)
            for height, (_, end, number) in zip(heights, group, strict=True):
                badge = self._runs[number].badge
                badge.setPos(min(end + BADGE + 6, self.width() - BADGE - 2), height)
                badge.setVisible(True)

    def readings(self, place: float) -> list[tuple[int, str, str]]:
        """The values of the runs at a place of the lower axis: number, training value, validation value."""
        comparison, result = self.comparison, []
        for number, trace, curve in comparison.curves():
            step = trace.step_at(place, comparison.along)
            training = validation = ""
            if comparison.shows_training and len(curve.training) and step <= curve.training.last_step + 1:
                index = min(curve.training.index(round(step)), len(curve.training) - 1)
                training = format_value(curve.training.value(index), is_percent=comparison.is_percent, is_measured=True)
            if comparison.shows_validation and (nearest := curve.validation.nearest(step)):
                validation = format_value(nearest[1], is_percent=comparison.is_percent, is_measured=True)
            if training or validation:
                result.append((number, training, validation))
        return result

    def readout(self, place: float) -> tuple[float, Markup]:
        """The values of each run under the pointer."""
        comparison = self.comparison
        where = f"{place:,.0f}" if comparison.along == "iterations" else format_number(place / self._unit.divisor, 4)
        splits = {"training": comparison.shows_training, "validation": comparison.shows_validation}
        head = [translation(word) for word, is_shown in splits.items() if is_shown]
        rows: list[list[str]] = []
        for number, *values in self.readings(place):
            badge = markup.picture(badge_pixmap(number, 3), 16)
            rows.append([badge, *(values if len(head) == 2 else [values[0] or values[1]])])
        return place, table_markup(rows, ["", *head], f"{where} {self._unit.name}")


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
    places: list[float] = []
    for height in heights:
        places.append(max(height, places[-1] + apart) if places else height)
    limit = lowest
    for number in range(len(places) - 1, -1, -1):
        places[number] = min(places[number], limit)
        limit = places[number] - apart
    return places


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


def badge_pixmap(number: int, ratio: float) -> QPixmap:
    """The number of a run on its disc, for icons and text."""
    pixmap = QPixmap(QSize(18, 18) * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_badge(painter, number, QRectF(1, 1, 16, 16))
    painter.end()
    return pixmap
