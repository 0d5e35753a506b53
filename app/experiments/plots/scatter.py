"""Scatter plots of trials: a matrix of all pairs of values, and the objective over each value."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QComboBox, QWidget

from netwright.app.experiments.plots.chart import TrialChart
from netwright.app.experiments.plots.frame import Frame
from netwright.app.experiments.plots.marks import add_points
from netwright.app.experiments.trial_texts import axis_label
from netwright.designer.language import noop, tr
from netwright.engine.runs.trial_axes import TrialAxis

LEFT, BELOW, TOP, RIGHT = 62.0, 40.0, 6.0, 8.0
BETWEEN = 10.0
MOST_AXES = 6
MOST_SLICES = 12
LEAST_SLICE = 190.0


def axis_choice(name: str) -> QComboBox:
    """Return an empty list of axes to choose from."""
    choice = QComboBox()
    choice.setAccessibleName(name)
    choice.setToolTip(name)
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return choice


def fill_choice(choice: QComboBox, axes: Sequence[TrialAxis], first: int = 0) -> None:
    """Offer axes; what is chosen stays where it is still there."""
    offered = [axis.name for axis in axes]
    if offered == [choice.itemData(at) for at in range(choice.count())]:
        return
    current = choice.currentData()
    choice.clear()
    for axis in axes:
        choice.addItem(axis_label(axis), axis.name)
    choice.setCurrentIndex(offered.index(current) if current in offered else min(first, len(offered) - 1))


class ScatterMatrix(TrialChart):
    """A scatter plot per pair of values and objectives; below the diagonal, where each pair stands once."""

    key, name, title = "matrix", noop("Matrix", "plot"), noop("Scatter matrix")
    help = noop("Every pair of values and objectives. The better a trial, the stronger its point.")

    def why_empty(self) -> str:
        """It needs two axes."""
        return super().why_empty() or ("" if self.findings.values else tr("No value differs between these trials."))

    @property
    def note(self) -> str:
        """Which axes have no room."""
        count = len(self.findings.axes)
        return tr("{count} of {total} axes", count=MOST_AXES, total=count) if count > MOST_AXES else ""

    @property
    def shown(self) -> list[TrialAxis]:
        """The objectives and the first values, as many as have room."""
        scores = self.findings.scores
        return [*self.findings.values[: max(1, MOST_AXES - len(scores))], *scores]

    def frames(self) -> list[Frame]:
        """Return the cells: row by row, columns to the left of the diagonal."""
        axes = self.shown
        count = len(axes) - 1
        wide = (self.width() - LEFT - RIGHT - BETWEEN * (count - 1)) / max(1, count)
        high = (self.height() - TOP - BELOW - BETWEEN * (count - 1)) / max(1, count)
        return [
            self.framed(
                QRectF(LEFT + x * (wide + BETWEEN), TOP + y * (high + BETWEEN), wide, high), axes[x], axes[y + 1]
            )
            for y in range(count)
            for x in range(y + 1)
        ]

    def parts_of(self, frame: Frame, frames: Sequence[Frame]) -> dict[str, bool]:
        """Return labels at the left and below."""
        is_left = frame.area.left() == LEFT
        has_x = frame.area.bottom() > frames[-1].area.bottom() - 1
        return {"has_x": has_x, "has_y": is_left, "has_name": is_left, "has_border": True}

    def lay(self) -> None:
        """Each trial stands in every cell."""
        self.set_spots(frame.points(self.findings.levels) for frame in self.frames())
        for points in self.laid:
            add_points(self.points, points, self.findings, 5.0)


class SlicePlot(TrialChart):
    """The objective over each value, one plot beside the other."""

    key, name, title = "slice", noop("Slice", "plot"), noop("Slice")
    help = noop("The objective over each value. The better a trial, the stronger its point.")

    def __init__(self, parent: QWidget | None = None) -> None:
        self.objective = axis_choice(tr("Objective"))
        super().__init__(parent)
        self.objective.activated.connect(self.refresh)

    def controls(self) -> Sequence[QWidget]:
        """Return the choice of the objective."""
        return (self.objective,)

    def prepare(self) -> None:
        """Offer the objectives."""
        fill_choice(self.objective, self.findings.scores)
        self.objective.setVisible(len(self.findings.scores) > 1)

    def why_empty(self) -> str:
        """It needs a value that differs."""
        return super().why_empty() or ("" if self.findings.values else tr("No value differs between these trials."))

    def frames(self) -> list[Frame]:
        """Return a cell per value, in rows as wide as there is room."""
        axes = self.findings.values[:MOST_SLICES]
        score = self.findings.scores[max(0, self.objective.currentIndex())]
        columns = max(1, min(len(axes), int((self.width() - LEFT) / LEAST_SLICE)))
        rows = math.ceil(len(axes) / columns)
        wide = (self.width() - LEFT - RIGHT - BETWEEN * (columns - 1)) / columns
        high = (self.height() - rows * (BELOW + TOP)) / rows
        cells = []
        for place, axis in enumerate(axes):
            row, column = divmod(place, columns)
            area = QRectF(LEFT + column * (wide + BETWEEN), TOP + row * (high + BELOW + TOP), wide, max(20.0, high))
            cells.append(self.framed(area, axis, score))
        return cells

    def parts_of(self, frame: Frame, frames: Sequence[Frame]) -> dict[str, bool]:
        """Return labels below, and those of the objective once per row."""
        return {**super().parts_of(frame, frames), "has_y": frame.area.left() == LEFT}

    def lay(self) -> None:
        """Each trial stands in every cell."""
        self.set_spots(frame.points(self.findings.levels) for frame in self.frames())
        for points in self.laid:
            add_points(self.points, points, self.findings)
