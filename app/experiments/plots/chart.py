"""What all plots of trials share: what they show, their axes in pixels, colours by rank, and choosing a trial."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolButton, QWidget

from netwright.app.experiments.plots.frame import NO_SPOTS, WHOLE, Frame, Part, Spots
from netwright.app.plots.drawn import NEAR_PIXELS, DrawnChart
from netwright.app.plots.figure_card import Rows
from netwright.app.plots.series import Floats
from netwright.designer import markup, theme
from netwright.designer.markup import Markup
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.parameters import value_text
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_axes import TrialAxis, axes_of
from netwright.engine.runs.trial_log import Trial

LEVELS = 8
"""Colours that trials have by their rank."""
WEAKEST = 0.22
MARGIN = 44.0
"""Pixels below and left of axes that belong to their labels."""
MOST_TOLD = 6
FEW, SMOOTH = 200, 1500
"""Numbers of points up to which they are large, and have smooth edges, which take most of the time."""
WAITING = "Trials that have ended are shown here."
PER_NOTCH = 0.8
"""Share of what was in view that stays with a notch of the wheel."""
LEAST_PART = 0.002
DRAG_PIXELS, SLACK = 6.0, 8.0


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


def paint_points(painter: QPainter, points: Spots, findings: Findings, size: float = 6.0) -> None:
    """Paint the points of trials in the colours of their ranks, the best ones last and as stars; many are smaller."""
    dot = size if len(points.numbers) <= FEW else 0.6 * size
    levels = np.array([findings.levels.get(n, 0) for n in points.numbers.tolist()], dtype=np.int64)
    is_marked = np.isin(points.numbers, list(findings.marked))
    is_smooth = len(points.numbers) <= SMOOTH
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_smooth)
    for level in range(LEVELS):
        pen = QPen(level_colour(level), dot)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap if is_smooth else Qt.PenCapStyle.SquareCap)
        painter.setPen(pen)
        painter.drawPoints(points.of((levels == level) & ~is_marked).polygon())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    palette = theme.current()
    painter.setPen(QPen(palette.panel, 1))
    painter.setBrush(palette.good)
    for x, y in points.of(is_marked).at.tolist():
        painter.drawPolygon(star(QPointF(x, y), size))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def star(at: QPointF, radius: float) -> QPolygonF:
    """Return a star around a point."""
    corners = []
    for corner in range(10):
        angle, length = math.pi * (corner / 5 - 0.5), radius * (1.0 if corner % 2 == 0 else 0.45)
        corners.append(QPointF(at.x() + length * math.cos(angle), at.y() + length * math.sin(angle)))
    return QPolygonF(corners)


class TrialChart(DrawnChart):
    """A plot of trials. A click on a mark picks its trial; the picked one is ringed in all plots. A drag shows a part,
    the wheel more or less of it around the pointer, Shift with either moves it, a double click shows all again; below
    or left of a pair of axes, one of them alone.

    A subclass names itself, says in `why_empty` what it lacks, lays points or lines out in its `frames`, and paints
    them.
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
        self._spots = NO_SPOTS
        self.laid: list[Spots] = []
        """Where trials are in each of the frames."""
        self.parts: dict[str, Part] = {}
        """The parts of the axes that are in view, by their names; of those that are not seen whole."""
        self._pressed: tuple[QPointF, Frame, dict[str, Part]] | None = None
        self._band = QRectF()
        super().__init__(parent)
        self.whole = QToolButton()
        self.whole.setAutoRaise(True)
        self.whole.setIcon(theme.icon("fit", "muted"))
        self.whole.setToolTip("Show the whole axes again (double click)")
        self.whole.setAccessibleName(f"Show all of {self.title}")
        self.whole.clicked.connect(self.show_all)
        self.whole.hide()
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

    def set_spots(self, spots: Iterable[Spots]) -> None:
        """Say where trials are: each as often as it is seen."""
        self.laid = list(spots)
        parts = [NO_SPOTS, *self.laid]
        self._spots = Spots(np.concatenate([one.numbers for one in parts]), np.concatenate([one.at for one in parts]))

    def spots_of(self, number: int) -> Iterator[QPointF]:
        """Yield the places of a trial."""
        for place in np.flatnonzero(self._spots.numbers == number):
            yield QPointF(*self._spots.at[place])

    def mark_at(self, at: QPointF) -> int | None:
        """Return the number of the trial at a position."""
        if not len(self._spots.numbers):
            return None
        apart: Floats = np.hypot(self._spots.at[:, 0] - at.x(), self._spots.at[:, 1] - at.y())
        nearest = int(apart.argmin())
        return int(self._spots.numbers[nearest]) if apart[nearest] <= NEAR_PIXELS else None

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

    # ---- parts of the axes ----

    def frames(self) -> Sequence[Frame]:
        """Return the pairs of axes whose parts can be chosen."""
        return ()

    def framed(self, area: QRectF, x: TrialAxis, y: TrialAxis) -> Frame:
        """Return a pair of axes with the parts of them that are in view."""
        return Frame(area, x, y, self.parts.get(x.name, WHOLE), self.parts.get(y.name, WHOLE))

    def show_part(self, axis: TrialAxis, part: Part) -> None:
        """Show a part of an axis, as far as there is one."""
        wide = min(1.0, max(LEAST_PART, part[1] - part[0]))
        begin = min(max(0.0, part[0]), 1 - wide)
        self.parts[axis.name] = begin, begin + wide
        if wide > 0.999:
            del self.parts[axis.name]
        self._zoomed()

    def show_all(self) -> None:
        """Show all axes whole."""
        self.parts.clear()
        self._zoomed()

    def _zoomed(self) -> None:
        self.whole.setVisible(bool(self.parts))
        self.refresh()

    def _axes_at(self, at: QPointF) -> tuple[Frame, bool, bool] | None:
        """Return the pair of axes at a position, and whether the lower and the left one are meant there."""
        for frame in () if self.empty else self.frames():
            area = frame.area
            in_x = area.left() - SLACK <= at.x() <= area.right() + SLACK
            in_y = area.top() - SLACK <= at.y() <= area.bottom() + SLACK
            below, left = 0 < at.y() - area.bottom() < MARGIN, 0 < area.left() - at.x() < MARGIN
            if (in_x and (in_y or below)) or (in_y and left):
                return frame, in_x, in_y
        return None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Show more or less around the pointer; with Shift, move."""
        found = self._axes_at(event.position())
        if found is None:
            event.ignore()
            return
        event.accept()
        frame, has_x, has_y = found
        turn = event.angleDelta()
        notches = (turn.y() or turn.x()) / 120
        moves = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier) or abs(turn.x()) > abs(turn.y())
        axes = zip((frame.x, frame.y), (frame.x_part, frame.y_part), frame.share_at(event.position()), strict=True)
        for (axis, (low, high), middle), is_meant in zip(axes, (has_x, has_y and not moves), strict=True):
            if not is_meant:
                continue
            step = (low - high) * 0.1 * notches
            wide = PER_NOTCH**notches
            part = (
                (low + step, high + step)
                if moves
                else (middle + (low - middle) * wide, middle + (high - middle) * wide)
            )
            self.show_part(axis, part)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag."""
        found = self._axes_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and found is not None and found[1] and found[2]:
            self._pressed = event.position(), found[0], dict(self.parts)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag a rectangle, or with Shift what is in view; else tell what is under the pointer."""
        if self._pressed is None:
            super().mouseMoveEvent(event)
            return
        (begun, frame, _), at = self._pressed, event.position()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._band.isNull():
            (x, y), (x_before, y_before) = frame.share_at(at), frame.share_at(begun)
            for axis, (low, high), moved in (
                (frame.x, frame.x_part, x_before - x),
                (frame.y, frame.y_part, y_before - y),
            ):
                self.show_part(axis, (low + moved, high + moved))
        elif (at - begun).manhattanLength() > DRAG_PIXELS:
            self._band = QRectF(begun, at).normalized().intersected(frame.area)
            self._point(None)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Show what was dragged over; choose the mark that is clicked."""
        pressed, band = self._pressed, self._band
        self._pressed, self._band = None, QRectF()
        if pressed is None or (band.isNull() and self.parts == pressed[2]):
            super().mouseReleaseEvent(event)
        elif band.width() > DRAG_PIXELS or band.height() > DRAG_PIXELS:
            frame = pressed[1]
            (left, low), (right, high) = frame.share_at(band.bottomLeft()), frame.share_at(band.topRight())
            if band.width() > DRAG_PIXELS:
                self.show_part(frame.x, (left, right))
            if band.height() > DRAG_PIXELS:
                self.show_part(frame.y, (low, high))
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all again."""
        if self.parts:
            self.show_all()
        else:
            super().mouseDoubleClickEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape gives up what is dragged."""
        if event.key() == Qt.Key.Key_Escape and self._pressed is not None:
            self._pressed, self._band = None, QRectF()
            self.update()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the chart, and the rectangle that is dragged."""
        super().paintEvent(event)
        if not self._band.isNull():
            painter = QPainter(self)
            colour = QColor(theme.current().accent)
            painter.setPen(QPen(colour, 1))
            colour.setAlpha(40)
            painter.setBrush(colour)
            painter.drawRect(self._band)
            painter.end()


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
