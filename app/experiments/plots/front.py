"""Pareto front: two objectives of the trials, and those that no other trial beats in both."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from netwright.app.experiments.plots.chart import TrialChart, paint_points
from netwright.app.experiments.plots.frame import Frame
from netwright.app.experiments.plots.scatter import BELOW, LEFT, RIGHT, TOP, axis_choice, fill_choice
from netwright.designer import theme
from netwright.engine.runs.trial_rows import pareto_front


class ParetoPlot(TrialChart):
    """One objective over another; the trials on the front are stars, joined by steps."""

    key, name, title = "front", "Pareto front", "Pareto front"
    help = "Trials that no other one beats in every objective are on the front."

    def __init__(self, parent: QWidget | None = None) -> None:
        self.x_choice, self.y_choice = axis_choice("Objective to the right"), axis_choice("Objective upwards")
        super().__init__(parent)
        for choice in (self.x_choice, self.y_choice):
            choice.activated.connect(self.refresh)

    def controls(self) -> Sequence[QWidget]:
        """Return the choices of both objectives."""
        return self.x_choice, self.y_choice

    def prepare(self) -> None:
        """Offer the objectives."""
        fill_choice(self.x_choice, self.findings.scores)
        fill_choice(self.y_choice, self.findings.scores, 1)
        for choice in (self.x_choice, self.y_choice):
            choice.setVisible(len(self.findings.scores) > 2)

    def why_empty(self) -> str:
        """It needs two objectives."""
        if len(self.findings.objectives) < 2:
            return (
                "A Pareto front needs several objectives: name them in Objectives, such as "
                "validation.accuracy, parameters."
            )
        return super().why_empty()

    @property
    def note(self) -> str:
        """How many trials are on the front."""
        return f"{len(self.front):,} on the front" if not self.empty else ""

    @property
    def front(self) -> list[int]:
        """The numbers of the trials on the front."""
        return [trial.number for trial in pareto_front(self.findings.trials, self.findings.objectives)]

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

    def lay(self) -> None:
        """Each trial is a point."""
        self.set_spots([self.frame().points(self.findings.levels)])

    def paint(self, painter: QPainter) -> None:
        """Points, and the steps of the front below them."""
        frame = self.frame()
        frame.paint(painter)
        painter.setPen(theme.current().text)
        painter.drawText(QPointF(4, TOP + 6), frame.y.label)
        points = frame.points(self.findings.levels)
        corners: list[QPointF] = []
        front = [n for n in self.front if n in frame.x.places and n in frame.y.places]
        x, y = (np.array([axis.places[n] for n in front]) for axis in (frame.x, frame.y))
        places = zip(frame.across(x).tolist(), frame.down(y).tolist(), strict=True)
        for point in sorted((QPointF(*place) for place in places), key=lambda point: point.x()):
            if corners:
                is_low = frame.x.is_low_better
                corners.append(
                    QPointF(point.x() if is_low else corners[-1].x(), corners[-1].y() if is_low else point.y())
                )
            corners.append(point)
        painter.setPen(QPen(theme.current().good, 1.2, Qt.PenStyle.DashLine))
        painter.setClipRect(frame.area)
        painter.drawPolyline(QPolygonF(corners))
        painter.setClipping(False)
        paint_points(painter, points, self.findings)
