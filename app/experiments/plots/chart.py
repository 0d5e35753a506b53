"""What all plots of trials share: what they show, their axes in pixels, colours by rank, and choosing a trial."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QGraphicsSimpleTextItem, QSizePolicy, QToolButton, QWidget

from netwright.app.experiments.plots.frame import NO_SPOTS, WHOLE, Frame, Part, Spots, shares, ticks_of
from netwright.app.plots.axes import LABEL_PIXELS, LEFT_PIXELS, TickAxis
from netwright.app.plots.canvas import Canvas
from netwright.app.plots.figure_card import Rows
from netwright.app.plots.items import Line, Points, ZoomBox
from netwright.app.plots.plot import PER_NOTCH, SHIFT_PER_NOTCH
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
LEAST_PART = 0.002
DRAG_PIXELS, SLACK = 6.0, 8.0
NEAR_PIXELS = 14.0
"""Distance within which a mark is under the pointer."""
BOX_GAP = 14
BELOW_PIXELS = 40
"""Height of the labels and the name of a lower axis."""
NAME_PIXELS = 10


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


class Panel:
    """A pair of axes with its view, whose coordinates are the shares of both axes."""

    def __init__(self, chart: "TrialChart") -> None:
        self.view, self.name = ZoomBox(has_y_parts=True), QGraphicsSimpleTextItem()
        self.x_axis, self.y_axis = TickAxis("bottom", 8, has_unit=False), TickAxis("left")
        self.x_axis.setHeight(BELOW_PIXELS)
        self.frame: Frame | None = None
        for axis in (self.x_axis, self.y_axis):
            axis.linkToView(self.view)
            axis.setZValue(-1000)  # the grid lies behind the marks
        for item in self.items:
            chart.scene().addItem(item)
        self.view.chosen.connect(lambda part: chart.show_rect(self, part))
        self.view.moved.connect(lambda before, now: chart.move_parts(self, before - now))

    @property
    def items(self) -> tuple[Any, ...]:
        """All that it has in the scene."""
        return self.view, self.x_axis, self.y_axis, self.name

    def place(self, frame: Frame, *, has_x: bool, has_y: bool, has_name: bool, has_border: bool) -> None:
        """Show the axes of a frame, with their labels and the name of the left one as asked for."""
        self.frame, area = frame, frame.area
        self.view.setGeometry(area)
        self.view.setRange(xRange=frame.x_part, yRange=frame.y_part, padding=0, disableAutoRange=False)
        self.view.setBorder(theme.current().line if has_border else None)
        self.x_axis.setGeometry(QRectF(area.left(), area.bottom() - 2, area.width(), BELOW_PIXELS))
        self.y_axis.setGeometry(QRectF(area.left() - LEFT_PIXELS, area.top(), LEFT_PIXELS, area.height()))
        self.x_axis.name = frame.x.label if has_x else ""
        self.x_axis.show_texts(_labels(frame.x, frame.x_part, max(2, int(area.width() / 80)), area.width() / 2))
        self.y_axis.show_texts(_labels(frame.y, frame.y_part, max(2, int(area.height() / 30)), LEFT_PIXELS + 2))
        self.y_axis.setStyle(showValues=has_y)
        self.x_axis.setVisible(has_x)
        metrics = QFontMetricsF(self.name.font())
        text = markup.elided(metrics, frame.y.label, Qt.TextElideMode.ElideMiddle, int(area.height()))
        self.name.setText(text)
        self.name.setRotation(-90)
        middle = area.center().y() + metrics.horizontalAdvance(text) / 2
        self.name.setPos(NAME_PIXELS - metrics.height() / 2, middle)
        self.name.setVisible(has_name)

    def show(self, is_shown: bool) -> None:
        """Show all, or hide it."""
        for item in self.items:
            item.setVisible(is_shown)


def _labels(axis: TrialAxis, part: Part, count: int, room: float) -> list[tuple[float, str]]:
    """Return the ticks of a part of an axis, as shares of its length, with their labels."""
    metrics = QFontMetricsF(label_font())
    ticks = ticks_of(axis, count, part)
    places = shares(axis, np.array([place for place, _ in ticks], dtype=float)).tolist()
    texts = (markup.elided(metrics, text, Qt.TextElideMode.ElideMiddle, int(room)) for _, text in ticks)
    return list(zip(places, texts, strict=True))


def label_font() -> QFont:
    """Return the font of labels and names of axes."""
    font = theme.figures(QApplication.font())
    font.setPixelSize(LABEL_PIXELS)
    return font


class RankedLines:
    """A line per trial in the colours of their ranks: one item per rank, and one for each line that stands out."""

    def __init__(self) -> None:
        self.items = [Line(antialias=True) for _ in range(LEVELS + 1)]
        self.above = [Line(antialias=True) for _ in range(2)]
        self.lines: dict[int, tuple[Floats, Floats]] = {}
        for height, item in enumerate([*self.items, *self.above]):
            item.setZValue(height)
        for item in self.items:
            item.setCacheMode(item.CacheMode.DeviceCoordinateCache)

    def add_to(self, view: ZoomBox) -> None:
        """Put the items into a view."""
        for item in [*self.items, *self.above]:
            view.addItem(item, ignoreBounds=True)

    def show(
        self, lines: Mapping[int, tuple[Floats, Floats]], findings: Findings, *, alpha: int = 255, width: float = 1.0
    ) -> None:
        """Show lines, in coordinates of the view."""
        self.lines = dict(lines)
        groups: list[list[tuple[Floats, Floats]]] = [[] for _ in self.items]
        for number, line in lines.items():
            groups[LEVELS if number in findings.marked else findings.levels.get(number, 0)].append(line)
        for level, (item, group) in enumerate(zip(self.items, groups, strict=True)):
            colour = level_colour(level) if level < LEVELS else theme.current().good
            colour.setAlpha(alpha if level < LEVELS else 255)
            item.setPen(pg.mkPen(colour, width=width if level < LEVELS else 2))
            set_lines(item, group)

    def highlight(self, marks: Iterable[tuple[int | None, QColor]]) -> None:
        """Show the lines of some trials above the others."""
        for item, (number, colour) in zip(self.above, marks, strict=True):
            item.setPen(pg.mkPen(colour, width=2.4))
            set_lines(item, [self.lines[number]] if number in self.lines else [])


def set_lines(item: Line, lines: Sequence[tuple[Floats, Floats]]) -> None:
    """Show several lines by one item."""
    gap = np.array([np.nan])
    parts = [part for x, y in lines for part in ((x, y), (gap, gap))]
    item.setVisible(bool(parts))
    if parts:
        x, y = (np.concatenate(values) for values in zip(*parts, strict=True))
        item.setData(x, y, connect="finite")


class TrialChart(Canvas):
    """A plot of trials. A click on a mark picks its trial; the picked one is ringed in all plots. A drag shows a part,
    the wheel more or less of it around the pointer, Shift with either moves it, a double click shows all again; below
    or left of a pair of axes, one of them alone.

    A subclass names itself, says in `why_empty` what it lacks, has pairs of axes in `frames`, and lays marks out on
    them in `lay`.
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
        self.hovered: int | None = None
        self.empty = WAITING
        """Why there is nothing to see."""
        self.panels: list[Panel] = []
        self._pressed: QPointF | None = None
        super().__init__(parent)
        self.points, self.rings = Points(), Points()
        for height, item in ((10, self.points), (20, self.rings)):
            item.setZValue(height)
            self.scene().addItem(item)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(140)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.whole = QToolButton()
        self.whole.setAutoRaise(True)
        self.whole.setIcon(theme.icon("fit", "muted"))
        self.whole.setToolTip("Show the whole axes again (double click)")
        self.whole.setAccessibleName(f"Show all of {self.title}")
        self.whole.clicked.connect(self.show_all)
        self.whole.hide()
        self.setAccessibleName(self.title)
        self.prepare_canvas()

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
        self._highlight()

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

    def highlight(self) -> None:
        """Ring the picked trial and the one under the pointer."""
        palette = theme.current()
        for number, colour in ((self.number, palette.text), (self.hovered, palette.accent)):
            if number is not None:
                for spot in self.spots_of(number):
                    self.rings.add_ring(spot, colour, 6.5)

    def _highlight(self) -> None:
        self.rings.clear(QRectF(self.rect()))
        if not self.empty:
            self.highlight()

    def readout(self, mark: int) -> Markup:
        """Return the trial with its values and scores."""
        return trial_markup(self.findings, mark)

    def choose(self, mark: int) -> None:
        """Tell the trial that was clicked."""
        self.picked.emit(mark)

    # ---- drawing ----

    def lay(self) -> None:
        """Lay marks out on the axes."""

    def axes(self) -> Sequence[TickAxis]:
        """Return the axes of all panels."""
        return [axis for panel in self.panels for axis in (panel.x_axis, panel.y_axis)]

    def views(self) -> Sequence[ZoomBox]:
        """Return the views of all panels."""
        return [panel.view for panel in self.panels]

    def dress(self) -> None:
        """Give the names of axes their font and colour."""
        for panel in self.panels:
            panel.name.setFont(label_font())
            panel.name.setBrush(theme.current().text)

    def draw(self) -> str:
        """Place the axes, then the marks."""
        self.points.clear(QRectF(self.rect()), is_smooth=len(self.findings.levels) <= SMOOTH)
        self.set_spots([])
        frames = () if self.empty else self.frames()
        while len(self.panels) < len(frames):
            self.panels.append(Panel(self))
            self._is_dressed = False
        self.ensure_dressed()
        for panel in self.panels[len(frames) :]:
            panel.show(False)
        for panel, frame in zip(self.panels, frames, strict=False):
            panel.show(True)
            panel.place(frame, **self.parts_of(frame, frames))
        if not self.empty:
            self.lay()
        self._highlight()
        return self.empty

    def parts_of(self, frame: Frame, frames: Sequence[Frame]) -> dict[str, bool]:
        """Return which parts of a pair of axes are shown."""
        return {"has_x": True, "has_y": True, "has_name": False, "has_border": False}

    def show_items(self, is_shown: bool) -> None:
        """Show marks, or hide them; the panels are placed by `draw`."""
        for item in (self.points, self.rings):
            item.setVisible(is_shown)
        for panel in () if is_shown else self.panels:
            panel.show(False)

    def add_points(self, points: Spots, size: float = 6.0) -> None:
        """Add the points of trials in the colours of their ranks, the best ones last and as stars; many are smaller."""
        dot = size if len(points.numbers) <= FEW else 0.6 * size
        levels = np.array([self.findings.levels.get(n, 0) for n in points.numbers.tolist()], dtype=np.int64)
        is_marked = np.isin(points.numbers, list(self.findings.marked))
        for level in range(LEVELS):
            places = points.of((levels == level) & ~is_marked)
            self.points.add_dots(places.polygon(), level_colour(level), dot)
        palette = theme.current()
        stars = [QPointF(x, y) for x, y in points.of(is_marked).at.tolist()]
        self.points.add_stars(stars, palette.good, palette.panel, size)

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

    def show_rect(self, panel: Panel, part: QRectF) -> None:
        """Show a part of both axes of a panel."""
        if panel.frame is not None:
            self.show_part(panel.frame.x, (part.left(), part.right()))
            self.show_part(panel.frame.y, (part.top(), part.bottom()))

    def move_parts(self, panel: Panel, way: QPointF) -> None:
        """Move the parts of both axes of a panel that are in view."""
        if panel.frame is not None:
            frame = panel.frame
            for axis, (low, high), share in ((frame.x, frame.x_part, way.x()), (frame.y, frame.y_part, way.y())):
                self.show_part(axis, (low + share, high + share))

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
            step = (low - high) * SHIFT_PER_NOTCH * notches
            wide = PER_NOTCH**-notches
            part = (
                (low + step, high + step)
                if moves
                else (middle + (low - middle) * wide, middle + (high - middle) * wide)
            )
            self.show_part(axis, part)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag, or a click."""
        self._pressed = event.position() if event.button() == Qt.MouseButton.LeftButton else None
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what is under the pointer, unless it drags."""
        super().mouseMoveEvent(event)
        self._point(None if event.buttons() else event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the mark that is clicked."""
        super().mouseReleaseEvent(event)
        pressed, self._pressed, at = self._pressed, None, event.position()
        mark = self.mark_at(at) if not self.empty else None
        if pressed is not None and mark is not None and (at - pressed).manhattanLength() <= DRAG_PIXELS:
            self.choose(mark)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all again."""
        super().mouseDoubleClickEvent(event)
        if self.parts:
            self.show_all()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape gives up what is dragged."""
        dragged = [view for view in self.views() if view.is_dragged]
        if event.key() == Qt.Key.Key_Escape and dragged:
            dragged[0].cancel()
        else:
            QWidget.keyPressEvent(self, event)

    def leaveEvent(self, event: QEvent) -> None:
        """Tell nothing any more."""
        super().leaveEvent(event)
        self._point(None)

    def forget_pointer(self) -> None:
        """Tell nothing, for pictures."""
        self._point(None)

    def _point(self, at: QPointF | None) -> None:
        mark = self.mark_at(at) if at is not None and not self.empty else None
        if mark != self.hovered:
            self.hovered = mark
            self._highlight()
        self._box.setVisible(mark is not None)
        if mark is None or at is None:
            return
        markup.show(self._box, self.readout(mark))
        self._box.adjustSize()
        width, height = self._box.width(), self._box.height()
        left = at.x() + BOX_GAP if at.x() + BOX_GAP + width < self.width() else at.x() - BOX_GAP - width
        top = min(max(0.0, at.y() - height / 2), max(0.0, self.height() - height))
        self._box.move(round(max(0.0, left)), round(top))


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
