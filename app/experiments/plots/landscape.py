"""Contour: the objective over two values, between the trials estimated from those around."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from PySide6.QtWidgets import QComboBox, QWidget

from netwright.app.experiments.plots.chart import FEW, SMOOTH, WAITING, TrialChart, level_colour, paint_points
from netwright.app.experiments.plots.frame import INSET, WHOLE, Frame, Part, shares, ticks_of
from netwright.app.experiments.plots.scatter import BELOW, LEFT, TOP, axis_choice, fill_choice, paint_name
from netwright.app.plots.series import Floats
from netwright.designer import theme
from netwright.engine.runs.trial_axes import TrialAxis

CELLS = 200
BANDS = 10
WIDTH = 0.09
"""Standard deviation of the kernel, as a share of an axis."""
BINNED, BINS = 2000, 256
"""The number of trials from which those in one of so many bins per side count as one place."""
LEAST_WEIGHT = 1e-3
"""Cells that no trial reaches with such a weight are left empty."""
SCALE_WIDTH, RIGHT = 12.0, 86.0


def estimated(places: Floats, scores: Floats, cells: int = CELLS, x_part: Part = WHOLE, y_part: Part = WHOLE) -> Floats:
    """Return estimates over a part of the unit square, `(cells, cells)` with rows from the bottom up: the mean of the
    scores at `places`, `(N, 2)`, weighted by a Gaussian kernel (Nadaraya, 1964; Watson, 1964); NaN far from all of
    them."""
    middles = (np.arange(cells) + 0.5) / cells
    is_binned = len(places) > BINNED
    known = (np.arange(BINS) + 0.5)[:, None] / BINS * np.ones(2) if is_binned else places
    across, down = (
        np.exp(-0.5 * (((low + middles * (high - low))[:, None] - known[None, :, side]) / WIDTH) ** 2)
        for side, (low, high) in enumerate((x_part, y_part))
    )  # (cells, N)
    if is_binned:
        column, row = np.clip((places * BINS).astype(np.int64), 0, BINS - 1).T
        bins, square = row * BINS + column, (BINS, BINS)
        counts = np.bincount(bins, minlength=BINS * BINS).reshape(square).astype(np.float64)
        totals = np.bincount(bins, scores, BINS * BINS).reshape(square).astype(np.float64)
        weights, sums = down @ counts @ across.T, down @ totals @ across.T
    else:
        weights, sums = down @ across.T, (down * scores[None, :]) @ across.T
    return np.where(weights > LEAST_WEIGHT, sums / np.maximum(weights, 1e-300), np.nan)


class ContourPlot(TrialChart):
    """The objective over two values as bands of colour, with the trials as points."""

    key, name, title = "contour", "Contour", "Contour"
    help = "The objective over two values; between the trials it is estimated from those around."

    def __init__(self, parent: QWidget | None = None) -> None:
        self.x_choice, self.y_choice = axis_choice("Value to the right"), axis_choice("Value upwards")
        self.objective = axis_choice("Objective")
        super().__init__(parent)
        for choice in self._choices:
            choice.activated.connect(self.refresh)

    @property
    def _choices(self) -> tuple[QComboBox, ...]:
        return self.x_choice, self.y_choice, self.objective

    def controls(self) -> Sequence[QWidget]:
        """Return the choices of both values and of the objective."""
        return self._choices

    def prepare(self) -> None:
        """Offer the values and the objectives."""
        values = self.findings.values
        numbers = [place for place, axis in enumerate(values) if not axis.categories] + list(range(len(values)))
        fill_choice(self.x_choice, values, numbers[0] if numbers else 0)
        others = [place for place in numbers if place != numbers[0]]
        fill_choice(self.y_choice, values, others[0] if others else 0)
        fill_choice(self.objective, self.findings.scores)
        self.objective.setVisible(len(self.findings.scores) > 1)
        for choice in (self.x_choice, self.y_choice):
            choice.setVisible(not self.empty)

    def why_empty(self) -> str:
        """It needs two values that differ."""
        if super().why_empty():
            return WAITING
        return "" if len(self.findings.values) > 1 else "A contour needs two values that differ between the trials."

    @property
    def score(self) -> TrialAxis:
        """The objective that is shown."""
        return self.findings.scores[max(0, self.objective.currentIndex())]

    def frame(self) -> Frame:
        """Return the axes."""
        values = self.findings.values
        area = QRectF(LEFT, TOP, self.width() - LEFT - RIGHT, self.height() - TOP - BELOW)
        return self.framed(
            area, values[max(0, self.x_choice.currentIndex())], values[max(0, self.y_choice.currentIndex())]
        )

    def frames(self) -> Sequence[Frame]:
        """Return the only pair of axes."""
        return () if self.empty else (self.frame(),)

    def lay(self) -> None:
        """Each trial is a point."""
        self.set_spots([self.frame().points(self.findings.levels)])

    def paint(self, painter: QPainter) -> None:
        """Bands, the grid above them, the trials, and the scale of the colours."""
        frame, score = self.frame(), self.score
        numbers = [n for n in score.places if n in frame.x.places and n in frame.y.places]
        if not numbers:
            return
        places = np.column_stack(
            [shares(axis, np.array([axis.places[n] for n in numbers])) for axis in (frame.x, frame.y)]
        )
        values = (shares(score, np.array([score.places[n] for n in numbers])) - INSET) / (1 - 2 * INSET)
        found = estimated(
            places,
            1 - values if score.is_low_better else values,
            x_part=frame.x_part,
            y_part=frame.y_part,
        )
        painter.drawImage(frame.area, _image(found))
        frame.paint(painter)
        points = frame.points(numbers)
        if len(points.numbers) <= SMOOTH:
            halo = 8 if len(points.numbers) <= FEW else 5
            painter.setPen(QPen(theme.current().panel, halo, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawPoints(points.polygon())
        paint_points(painter, points, self.findings, 5.5)
        paint_name(painter, frame)
        self._paint_scale(painter, frame.area)

    def _paint_scale(self, painter: QPainter, area: QRectF) -> None:
        """Paint the bands with the scores that they stand for, the best at the top."""
        score, left, high = self.score, area.right() + 12, area.height() / BANDS
        for band in range(BANDS):
            box = QRectF(left, area.bottom() - (band + 1) * high, SCALE_WIDTH, high + 0.5)
            painter.fillRect(box, _band_colour(band))
        painter.setPen(theme.current().muted)
        for place, text in ticks_of(score, max(2, int(area.height() / 48))):
            share = score.share(place)
            if 0 <= share <= 1:
                y = area.bottom() - (1 - share if score.is_low_better else share) * area.height()
                painter.drawText(
                    QRectF(left + SCALE_WIDTH + 5, y - 8, RIGHT - 34, 16), Qt.AlignmentFlag.AlignVCenter, text
                )


def _band_colour(band: int) -> QColor:
    return theme.current().mixed(level_colour(7), theme.current().panel, 0.08 + 0.62 * band / (BANDS - 1))


def _image(found: Floats) -> QImage:
    """Return a picture of the estimates, in bands of colour; clear where there are none."""
    bands = np.clip(np.nan_to_num(found * BANDS, nan=0.0), 0, BANDS - 1).astype(np.uint8)
    bands[np.isnan(found)] = BANDS
    content = np.ascontiguousarray(bands[::-1]).tobytes()
    image = QImage(content, CELLS, CELLS, CELLS, QImage.Format.Format_Indexed8)
    image.setColorTable([*(_band_colour(band).rgb() for band in range(BANDS)), 0])
    return image.convertToFormat(QImage.Format.Format_ARGB32)
