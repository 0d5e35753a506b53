"""What all plots of trials share: what they show, their axes in pixels, colours by rank, and choosing a trial."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.plots.axes import nice_step
from app.plots.drawn import NEAR_PIXELS, DrawnChart
from app.plots.figure_card import Rows
from app.plots.series import Floats
from designer import markup, theme
from designer.markup import Markup
from engine.project.experiment import ExperimentOptions
from engine.project.parameters import value_text
from engine.runs.experiments import ExperimentFolder, Trial
from engine.runs.trial_axes import TrialAxis, axes_of

LEVELS = 8
"""Colours that trials have by their rank."""
WEAKEST = 0.22
INSET = 0.04
"""Share of an axis that stays free at both ends."""
GAP = 8.0
MOST_TOLD = 6
FEW = 200
WAITING = "Trials that have ended are shown here."


@dataclass(frozen=True)
class Findings:
    """What the plots of an experiment show: its trials, their values and scores as axes, and the best of them."""

    folder: ExperimentFolder | None = None
    options: ExperimentOptions = field(default_factory=ExperimentOptions)
    trials: tuple[Trial, ...] = ()
    objectives: tuple[str, ...] = ()
    marked: frozenset[int] = frozenset()

    @cached_property
    def axes(self) -> list[TrialAxis]:
        """Values that differ, then objectives."""
        return axes_of(self.trials, self.options, self.objectives)

    @property
    def values(self) -> list[TrialAxis]:
        """The axes of the values."""
        return [axis for axis in self.axes if not axis.is_score]

    @property
    def scores(self) -> list[TrialAxis]:
        """The axes of the objectives."""
        return [axis for axis in self.axes if axis.is_score]

    @cached_property
    def by_number(self) -> dict[int, Trial]:
        """The trials by their numbers."""
        return {trial.number: trial for trial in self.trials}

    @cached_property
    def levels(self) -> dict[int, int]:
        """The rank of each trial with a score by the first objective, from 0 for the last to `LEVELS` - 1."""
        if not self.scores:
            return {}
        first = self.scores[0]
        order = sorted(first.places, key=lambda number: first.places[number], reverse=first.is_low_better)
        return {number: place * LEVELS // len(order) for place, number in enumerate(order)}


def level_colour(level: int) -> QColor:
    """Return the colour of trials of a level: the better, the stronger."""
    palette = theme.current()
    return palette.mixed(palette.accent, palette.panel, WEAKEST + (1 - WEAKEST) * level / (LEVELS - 1))


def ticks_of(axis: TrialAxis, count: int) -> list[tuple[float, str]]:
    """Return about `count` places of an axis with their labels."""
    if axis.categories:
        stride = max(1, math.ceil(len(axis.categories) / max(1, count)))
        return [(float(n), text) for n, text in enumerate(axis.categories) if n % stride == 0]
    low, high = axis.ends
    if axis.is_log:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        factors = (1.0, 2.0, 5.0) if len(powers) <= 3 else (1.0,)
        places = [factor * 10.0**power for power in powers for factor in factors]
        found = [place for place in places if low * 0.999 <= place <= high * 1.001]
        stride = max(1, math.ceil(len(found) / max(2, count)))
        return [(place, axis.said(place)) for place in found[::stride]]
    step = max(nice_step(high - low, count), 1.0 if axis.is_whole else 0.0)
    first = math.ceil(low / step - 1e-9)
    return [(n * step + 0.0, axis.said(n * step + 0.0)) for n in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Frame:
    """A pair of axes in a rectangle of pixels."""

    area: QRectF
    x: TrialAxis
    y: TrialAxis

    def across(self, place: float) -> float:
        """Return the pixel of a place of the lower axis, from the left."""
        return self.area.left() + (INSET + (1 - 2 * INSET) * self.x.share(place)) * self.area.width()

    def down(self, place: float) -> float:
        """Return the pixel of a place of the left axis, from the top."""
        return self.area.bottom() - (INSET + (1 - 2 * INSET) * self.y.share(place)) * self.area.height()

    def points(self, numbers: Iterable[int]) -> dict[int, QPointF]:
        """Return the points of trials that have both."""
        x, y = self.x.places, self.y.places
        return {n: QPointF(self.across(x[n]), self.down(y[n])) for n in numbers if n in x and n in y}

    def paint(self, painter: QPainter, *, has_x: bool = True, has_y: bool = True) -> None:
        """Paint the grid, the ticks and the names of the axes."""
        palette, metrics, area = theme.current(), QFontMetricsF(painter.font()), self.area
        count = max(2, int(area.height() / 30))
        for place, text in ticks_of(self.y, count):
            y = self.down(place)
            painter.setPen(QPen(palette.line, 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            if has_y:
                _text(painter, QRectF(0, y - 8, area.left() - GAP, 16), text, Qt.AlignmentFlag.AlignRight)
        if has_x:
            free = area.left() - 20
            for place, text in ticks_of(self.x, max(2, int(area.width() / 80))):
                x, width = self.across(place), metrics.horizontalAdvance(text)
                if x - width / 2 >= free:
                    box = QRectF(x - width / 2 - 1, area.bottom() + 4, width + 2, 16)
                    _text(painter, box, text, Qt.AlignmentFlag.AlignHCenter)
                    free = x + width / 2 + GAP
            name = QRectF(area.left(), area.bottom() + 20, area.width(), 16)
            _text(painter, name, self.x.label, Qt.AlignmentFlag.AlignHCenter)


def _text(painter: QPainter, box: QRectF, text: str, side: Qt.AlignmentFlag) -> None:
    painter.setPen(theme.current().muted)
    shown = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideMiddle, box.width())
    painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)


def paint_points(painter: QPainter, points: dict[int, QPointF], findings: Findings, size: float = 6.0) -> None:
    """Paint the points of trials in the colours of their ranks, the best ones last and as stars; many are smaller."""
    dot = size if len(points) <= FEW else 0.6 * size
    groups: dict[int, list[QPointF]] = {}
    for number, point in points.items():
        if number not in findings.marked:
            groups.setdefault(findings.levels.get(number, 0), []).append(point)
    for level in sorted(groups):
        pen = QPen(level_colour(level), dot)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPoints(groups[level])
    palette = theme.current()
    painter.setPen(QPen(palette.panel, 1))
    painter.setBrush(palette.good)
    for number in findings.marked & points.keys():
        painter.drawPolygon(star(points[number], size))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def star(at: QPointF, radius: float) -> QPolygonF:
    """Return a star around a point."""
    corners = []
    for corner in range(10):
        angle, length = math.pi * (corner / 5 - 0.5), radius * (1.0 if corner % 2 == 0 else 0.45)
        corners.append(QPointF(at.x() + length * math.cos(angle), at.y() + length * math.sin(angle)))
    return QPolygonF(corners)


class TrialChart(DrawnChart):
    """A plot of trials. A click on a mark picks its trial; the picked one is ringed in all plots.

    A subclass names itself, says in `why_empty` what it lacks, lays points or lines out, and paints them.
    """

    key = ""
    name = ""
    """Its name where it is chosen."""
    title = ""
    help = ""
    picked = Signal(int)
    changed = Signal()
    """What it shows was chosen anew."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.findings = Findings()
        self.number: int | None = None
        self._numbers: list[int] = []
        self._spots = np.zeros((0, 2))
        super().__init__(parent)
        self.setAccessibleName(self.title)
        self.empty = WAITING

    def controls(self) -> Sequence[QWidget]:
        """Return the widgets that choose what it shows."""
        return ()

    def why_empty(self) -> str:
        """Return what has to be there before there is something to see; empty where it is."""
        return "" if self.findings.levels else WAITING

    def prepare(self) -> None:
        """Take the findings in, before anything is drawn."""

    def rows(self) -> Rows:
        """Return what is shown as a table: its head, then its rows."""
        found = self.findings
        yield ["trial", "state", *(axis.name for axis in found.axes)]
        for trial in found.trials:
            cells = [_cell(axis, trial.number) for axis in found.axes]
            yield [trial.number, trial.state, *cells]

    @property
    def note(self) -> str:
        """What is said beside the title."""
        return ""

    def show_findings(self, findings: Findings) -> None:
        """Show the trials of an experiment."""
        self.findings = findings
        self.empty = self.why_empty()
        self.prepare()
        self.refresh()

    def select(self, number: int | None) -> None:
        """Ring a trial."""
        self.number = number
        self.update()

    def set_spots(self, spots: Iterable[tuple[int, QPointF]]) -> None:
        """Say where trials are: each as often as it is seen."""
        found = list(spots)
        self._numbers = [number for number, _ in found]
        self._spots = np.array([(point.x(), point.y()) for _, point in found], dtype=float).reshape(-1, 2)

    def spots_of(self, number: int) -> Iterator[QPointF]:
        """Yield the places of a trial."""
        for place, known in enumerate(self._numbers):
            if known == number:
                yield QPointF(*self._spots[place])

    def mark_at(self, at: QPointF) -> int | None:
        """Return the number of the trial at a position."""
        if not self._numbers:
            return None
        apart: Floats = np.hypot(self._spots[:, 0] - at.x(), self._spots[:, 1] - at.y())
        nearest = int(apart.argmin())
        return self._numbers[nearest] if apart[nearest] <= NEAR_PIXELS else None

    def highlight(self, painter: QPainter) -> None:
        """Ring the picked trial and the one under the pointer."""
        palette = theme.current()
        for number, colour in ((self.number, palette.text), (self.hovered, palette.accent)):
            if number is not None:
                painter.setPen(QPen(colour, 1.6))
                for spot in self.spots_of(number):
                    painter.drawEllipse(spot, 6.5, 6.5)

    def readout(self, mark: int) -> Markup:
        """Return the trial with its values and scores."""
        return trial_markup(self.findings, mark)

    def choose(self, mark: int) -> None:
        """Tell the trial that was clicked."""
        self.picked.emit(mark)


def trial_markup(findings: Findings, number: int) -> Markup:
    """Return a trial with its values and scores as rich text."""
    trial = findings.by_number[number]
    lines = [markup.filled("<b>Trial {}</b>", str(number))]
    labels = {axis.name: axis.label for axis in findings.values}
    for path, value in list(trial.values.items())[:MOST_TOLD]:
        lines.append(markup.filled("<br>{} {}", labels.get(path, path), value_text(value)))
    for axis in findings.scores:
        if number in axis.places:
            lines.append(markup.filled("<br>{} <b>{}</b>", axis.label, axis.said(axis.places[number])))
    return markup.joined(lines)


def _cell(axis: TrialAxis, number: int) -> str | float:
    if number not in axis.places:
        return ""
    place = axis.places[number]
    return axis.said(place) if axis.categories else place
