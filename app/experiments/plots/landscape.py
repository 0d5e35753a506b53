"""Contour: the objective over two values, between the trials estimated from those around."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QWidget

from netwright.app.experiments.plots.chart import WAITING, TrialChart
from netwright.app.experiments.plots.frame import INSET, WHOLE, Frame, Part, shares, ticks_of
from netwright.app.experiments.plots.marks import FEW, SMOOTH, add_points, level_colour
from netwright.app.experiments.plots.scatter import BELOW, LEFT, TOP, axis_choice, fill_choice
from netwright.app.plots.axes import TickAxis
from netwright.app.plots.plot_items import ZoomBox
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
    centres = (np.arange(BINS) + 0.5)[:, None] / BINS * np.ones(2) if is_binned else places
    across, down = (
        np.exp(-0.5 * (((low + middles * (high - low))[:, None] - centres[None, :, side]) / WIDTH) ** 2)
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
        self._image, self._scale_image = (pg.ImageItem(axisOrder="row-major", levels=(0, 255)) for _ in range(2))
        self._scale, self._scale_axis = ZoomBox(), TickAxis("right")
        super().__init__(parent)
        self._scale.addItem(self._scale_image, ignoreBounds=True)
        self._scale_axis.linkToView(self._scale)
        for item in (self._scale, self._scale_axis):
            self.scene().addItem(item)
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

    def axes(self) -> list[TickAxis]:
        """Return the axes, and that of the scale."""
        return [*super().axes(), self._scale_axis]

    def parts_of(self, frame: Frame, frames: Sequence[Frame]) -> dict[str, bool]:
        """Return labels and names of both axes."""
        return {**super().parts_of(frame, frames), "has_name": True}

    def lay(self) -> None:
        """Bands, the grid above them, the trials, and the scale of the colours."""
        frame, score, panel = self.frame(), self.score, self.panels[0]
        self.set_spots([frame.points(self.findings.levels)])
        numbers = [n for n in score.places if n in frame.x.places and n in frame.y.places]
        if self._image.parentItem() is None:
            panel.view.addItem(self._image, ignoreBounds=True)
            for axis in (panel.x_axis, panel.y_axis):
                axis.setZValue(5)
        self._image.setVisible(bool(numbers))
        if not numbers:
            return
        places = np.column_stack(
            [shares(axis, np.array([axis.places[n] for n in numbers])) for axis in (frame.x, frame.y)]
        )
        values = (shares(score, np.array([score.places[n] for n in numbers])) - INSET) / (1 - 2 * INSET)
        values = 1 - values if score.is_low_better else values
        colours = _image(estimated(places, values, x_part=frame.x_part, y_part=frame.y_part))
        self._image.setImage(colours, autoLevels=False)
        (left, right), (low, high) = frame.x_part, frame.y_part
        self._image.setRect(QRectF(left, low, right - left, high - low))
        points = frame.points(numbers)
        if len(points.numbers) <= SMOOTH:
            self.points.add_dots(points.polygon(), theme.current().panel, 8 if len(points.numbers) <= FEW else 5)
        add_points(self.points, points, self.findings, 5.5)
        self._lay_scale(frame.area)

    def show_items(self, is_shown: bool) -> None:
        """Show the scale beside the trials."""
        super().show_items(is_shown)
        self._scale.setVisible(is_shown)
        if not is_shown:
            self._scale_axis.hide()

    def _lay_scale(self, area: QRectF) -> None:
        """Show the bands with the scores that they stand for, the best at the top."""
        score = self.score
        self._scale.setGeometry(QRectF(area.right() + 12, area.top(), SCALE_WIDTH, area.height()))
        self._scale_image.setImage(_image((np.arange(BANDS)[:, None] + 0.5) / BANDS), autoLevels=False)
        self._scale_image.setRect(QRectF(0, 0, 1, 1))
        self._scale.setRange(xRange=(0, 1), yRange=(0, 1), padding=0, disableAutoRange=False)
        self._scale_axis.show()  # pyqtgraph gives a hidden axis no width
        self._scale_axis.setGeometry(QRectF(area.right() + 12 + SCALE_WIDTH, area.top(), RIGHT - 34, area.height()))
        texts = []
        for place, text in ticks_of(score, max(2, int(area.height() / 48))):
            share = score.share(place)
            if 0 <= share <= 1:
                texts.append((1 - share if score.is_low_better else share, text))
        self._scale_axis.show_texts(texts)


def _band_colour(band: int) -> QColor:
    return theme.current().mixed(level_colour(7), theme.current().panel, 0.08 + 0.62 * band / (BANDS - 1))


def _image(values: Floats) -> NDArray[np.uint8]:
    """Return estimates as colours in bands (rows, columns, 4); clear where there are none."""
    bands = np.clip(np.nan_to_num(values * BANDS, nan=0.0), 0, BANDS - 1).astype(np.uint8)
    bands[np.isnan(values)] = BANDS
    colours = [_band_colour(band).getRgb() for band in range(BANDS)]
    return np.array([*colours, (0, 0, 0, 0)], np.uint8)[bands]
