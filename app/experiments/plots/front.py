"""Pareto front: two objectives of the trials, and those that no other trial beats in both."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QWidget

from netwright.app.experiments.plots.chart import TrialChart
from netwright.app.experiments.plots.frame import Frame, shares
from netwright.app.experiments.plots.marks import add_points
from netwright.app.experiments.plots.scatter import BELOW, LEFT, RIGHT, TOP, axis_choice, fill_choice
from netwright.app.experiments.trial_texts import axis_label
from netwright.app.plots.plot_items import Line
from netwright.designer import theme
from netwright.designer.language import noop, tr
from netwright.engine.runs.trial_rows import pareto_front


class ParetoPlot(TrialChart):
    """One objective over another; the trials on the front are stars, joined by steps."""

    key, name, title = "front", noop("Pareto front", "plot"), noop("Pareto front")
    help = noop("Trials that no other one beats in every objective are on the front.")

    def __init__(self, parent: QWidget | None = None) -> None:
        self.x_choice, self.y_choice = axis_choice(tr("Objective to the right")), axis_choice(tr("Objective upwards"))
        self.line = Line(antialias=True)
        self.front: list[int] = []
        """The numbers of the trials on the front."""
        super().__init__(parent)
        for choice in (self.x_choice, self.y_choice):
            choice.activated.connect(self.refresh)

    def controls(self) -> Sequence[QWidget]:
        """Return the choices of both objectives."""
        return self.x_choice, self.y_choice

    def prepare(self) -> None:
        """Offer the objectives, and find the trials on the front."""
        self.front = [trial.number for trial in pareto_front(self.findings.trials, self.findings.objectives)]
        fill_choice(self.x_choice, self.findings.scores)
        fill_choice(self.y_choice, self.findings.scores, 1)
        for choice in (self.x_choice, self.y_choice):
            choice.setVisible(len(self.findings.scores) > 2)

    def why_empty(self) -> str:
        """It needs two objectives."""
        if len(self.findings.objectives) < 2:
            return tr(
                "A Pareto front needs several objectives: name them in Objectives, such as "
                "validation.accuracy, parameters."
            )
        return super().why_empty()

    @property
    def note(self) -> str:
        """How many trials are on the front."""
        return tr("{count:,} on the front", count=len(self.front)) if not self.empty else ""

    def frame(self) -> Frame:
        """Return the axes."""
        scores = self.findings.scores
        area = QRectF(LEFT, TOP + 12, self.width() - LEFT - RIGHT, self.height() - TOP - 12 - BELOW)
        return self.framed(
            area, scores[max(0, self.x_choice.currentIndex())], scores[max(0, self.y_choice.currentIndex())]
        )

    def frames(self) -> Sequence[Frame]:
        """Return the only pair of axes."""
        return () if self.empty else (self.frame(),)

    def parts_of(self, frame: Frame, frames: Sequence[Frame]) -> dict[str, bool]:
        """Return labels and names of both axes."""
        return {**super().parts_of(frame, frames), "has_name": True}

    def lay(self) -> None:
        """Each trial is a point, above the steps of the front."""
        frame, name = self.frame(), self.panels[0].name
        name.setText(axis_label(frame.y))
        name.setRotation(0)
        name.setPos(4, 0)
        points = frame.points(self.findings.levels)
        self.set_spots([points])
        add_points(self.points, points, self.findings)
        front = [n for n in self.front if n in frame.x.places and n in frame.y.places]
        x, y = (shares(axis, np.array([axis.places[n] for n in front], dtype=float)) for axis in (frame.x, frame.y))
        order = np.argsort(x, kind="stable")
        # Steps lie on the side of the worse values: a corner has the x of the next trial, or its y.
        mode = "right" if frame.x.is_low_better else "left"
        self.line.setParentItem(self.panels[0].view.childGroup)
        self.line.setData(x[order], y[order], stepMode=mode)

    def dress(self) -> None:
        """Dash the steps, in the colour of the best."""
        super().dress()
        self.line.setPen(pg.mkPen(theme.current().good, width=1.2, style=Qt.PenStyle.DashLine))
