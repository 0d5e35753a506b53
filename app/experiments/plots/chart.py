"""Base of all plots of trials: their findings, their axes in pixels, colours by rank, and choosing a trial."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from netwright.app.experiments.plots.frame import NO_SPOTS, WHOLE, Frame, Part, Spots
from netwright.app.experiments.plots.marks import LEVELS, SMOOTH, Panel, label_font
from netwright.app.experiments.trial_texts import axis_label, axis_value, value_in_words
from netwright.app.plots.axes import TickAxis
from netwright.app.plots.canvas import Canvas
from netwright.app.plots.card import Rows
from netwright.app.plots.plot import PER_NOTCH, SHIFT_PER_NOTCH
from netwright.app.plots.plot_items import Points, ZoomBox
from netwright.app.plots.series import Floats
from netwright.designer import markup, theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import Markup
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_axes import TrialAxis, axes_of
from netwright.engine.runs.trial_log import Trial

MARGIN = 44.0
"""Pixels below and left of axes that belong to their labels."""
MOST_TOLD = 6
WAITING = noop("Trials that have ended are shown here.")
LEAST_PART = 0.002
DRAG_PIXELS, SLACK = 6.0, 8.0
NEAR_PIXELS = 14.0
"""Distance within which a mark is under the pointer."""
BOX_GAP = 14


@dataclass(frozen=True)
class Findings:
    """The content of the plots of an experiment: its trials, their values and scores as axes, and the best of them."""

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
    """Emitted when other content is chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.findings = Findings()
        self.number: int | None = None
        self._spots = NO_SPOTS
        self.laid: list[Spots] = []
        """Where trials are in each of the frames."""
        self.parts: dict[str, Part] = {}
        """The parts of the axes that are in view, by their names; of those that are not seen whole."""
        self.hovered: int | None = None
        self.empty = translation(WAITING)  # why there is nothing to see
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
        self.whole.setToolTip(tr("Show the whole axes again (double click)"))
        self.whole.setAccessibleName(tr("Show all of {title}", title=translation(self.title)))
        self.whole.clicked.connect(self.show_all)
        self.whole.hide()
        self.setAccessibleName(translation(self.title))
        self.prepare_canvas()

    def controls(self) -> Sequence[QWidget]:
        """Return the widgets that choose what it shows."""
        return ()

    def why_empty(self) -> str:
        """Return the reason why the plot is empty; an empty text where it is not."""
        return "" if self.findings.levels else translation(WAITING)

    def prepare(self) -> None:
        """Take the findings in, before anything is drawn."""

    def rows(self) -> Rows:
        """Return the content as a table: its head, then its rows."""
        return _rows(self.findings)

    @property
    def note(self) -> str:
        """The note beside the title."""
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
        self._spots = Spots(np.concatenate([s.numbers for s in parts]), np.concatenate([s.at for s in parts]))

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
            self._add_panel()
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

    def _add_panel(self) -> None:
        panel = Panel(self.scene())
        panel.view.chosen.connect(lambda part: self.show_rect(panel, part))
        panel.view.moved.connect(lambda before, now: self.move_parts(panel, before - now))
        self.panels.append(panel)

    def parts_of(self, frame: Frame, frames: Sequence[Frame]) -> dict[str, bool]:
        """Return which parts of a pair of axes are shown."""
        return {"has_x": True, "has_y": True, "has_name": False, "has_border": False}

    def show_items(self, is_shown: bool) -> None:
        """Show marks, or hide them; the panels are placed by `draw`."""
        for item in (self.points, self.rings):
            item.setVisible(is_shown)
        for panel in () if is_shown else self.panels:
            panel.show(False)

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
        hit = self._axes_at(event.position())
        if hit is None:
            event.ignore()
            return
        event.accept()
        frame, has_x, has_y = hit
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
            self.picked.emit(mark)

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
        _place_beside(self._box, at, self.size())


def trial_markup(findings: Findings, number: int) -> Markup:
    """Return a trial with its values and scores as rich text."""
    trial = findings.by_number[number]
    lines = [markup.filled("<b>{}</b>", tr("Trial {number}", number=number))]
    labels = {axis.name: axis_label(axis) for axis in findings.values}
    for path, value in list(trial.values.items())[:MOST_TOLD]:
        lines.append(markup.filled("<br>{} {}", labels.get(path, path), value_in_words(path, value)))
    for axis in findings.scores:
        if number in axis.places:
            lines.append(markup.filled("<br>{} <b>{}</b>", axis_label(axis), axis_value(axis, axis.places[number])))
    return markup.joined(lines)


def _cell(axis: TrialAxis, number: int) -> str | float:
    if number not in axis.places:
        return ""
    place = axis.places[number]
    return axis.said(place) if axis.categories else place


def _rows(findings: Findings) -> Rows:
    yield ["trial", "state", *(axis.name for axis in findings.axes)]
    for trial in findings.trials:
        yield [trial.number, trial.state, *(_cell(axis, trial.number) for axis in findings.axes)]


def _place_beside(box: QWidget, at: QPointF, room: QSize) -> None:
    """Move a box beside a point, on the side where it has room."""
    width, height = box.width(), box.height()
    x = at.x() + BOX_GAP if at.x() + BOX_GAP + width < room.width() else at.x() - BOX_GAP - width
    y = min(max(0.0, at.y() - height / 2), max(0.0, room.height() - height))
    box.move(round(max(0.0, x)), round(y))
