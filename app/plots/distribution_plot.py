"""How the values of a layer are distributed, over the steps of a run: a heat map with the median and 90 % of them."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QWidget

from netwright.app.plots.axes import places_axis, tick_labels, values_axis
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, table_markup
from netwright.app.plots.series import Floats
from netwright.designer import markup, theme
from netwright.designer.language import tr
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_number
from netwright.engine.drawing.colour_maps import colours
from netwright.engine.runs.watched_weights import POINTS, Distribution

HEIGHT = 232
ROWS, MOST_COLUMNS = 80, 240
"""Of the picture: finer rows would show how many quantiles there are."""
MEDIAN = POINTS // 2
LOW, HIGH = POINTS // 20, POINTS - 1 - POINTS // 20
"""Places of the quantiles of 5 % and 95 %."""
BEYOND = 0.3
"""Share of the height for the outer values: a few that are far out would leave no room for the others."""


class DistributionPlot(Plot):
    """Brighter where more of the values lie, each step on its own. The line is the median, dashes are at 5 and 95 %."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self._steps: Floats = np.zeros(0)
        self._quantiles: Floats = np.zeros((0, POINTS))
        super().__init__(parent=parent, right=16)
        self.setFixedHeight(HEIGHT)
        self._image = pg.ImageItem(axisOrder="row-major")
        self._image.setZValue(-10)
        self.addItem(self._image, ignoreBounds=True)
        self._halos, self._lines = ([Line(antialias=True) for _ in range(3)] for _ in range(2))
        for line in (*self._halos, *self._lines):
            self.addItem(line, ignoreBounds=True)

    def show_steps(self, steps: Sequence[tuple[int, Distribution]]) -> None:
        """Show distributions by iteration."""
        self._steps = np.array([step for step, _ in steps], np.float64)
        self._quantiles = np.array([values for _, values in steps], np.float64).reshape(len(steps), POINTS)
        self.setAccessibleDescription(self.sentence)
        self.refresh()

    @property
    def sentence(self) -> str:
        """The first and the newest distribution, for who does not see them."""
        if not len(self._steps):
            return ""
        texts = [
            tr(
                "After iteration {step}: median {median}, 90 % between {low} and {high}.",
                step=f"{self._steps[place]:,.0f}",
                median=format_number(self._quantiles[place, MEDIAN]),
                low=format_number(self._quantiles[place, LOW]),
                high=format_number(self._quantiles[place, HIGH]),
            )
            for place in sorted({0, len(self._steps) - 1})
        ]
        return " ".join(texts)

    def dress(self) -> None:
        """White lines on dark ones, which are seen on every colour of the map and beside it."""
        palette = theme.current()
        light, dark = (palette.panel, palette.text) if not palette.is_dark else (palette.text, palette.panel)
        for halo, line, is_dashed in zip(self._halos, self._lines, (True, False, True), strict=True):
            style = Qt.PenStyle.DashLine if is_dashed else Qt.PenStyle.SolidLine
            halo.setPen(pg.mkPen(dark, width=3.2))
            line.setPen(pg.mkPen(light, width=1.4, style=style))

    def draw(self) -> str:
        """The picture and the lines over it; iterations below."""
        if not len(self._steps):
            return tr("Nothing of this kind was kept for this layer.")
        first, last = float(self._steps[0]), float(self._steps[-1])
        x, unit = places_axis(first, max(last, first + 1), "iterations", self.num_x_ticks)
        low, high = self._span()
        y = values_axis(np.array([low, high]), self.num_y_ticks)
        self.show_axes(x, unit, y, tick_labels(y))
        self._image.setImage(self._picture(x.low, x.high, y.low, y.high), levels=(0, 255))
        self._image.setRect(QRectF(x.low, y.low, x.high - x.low, y.high - y.low))
        for place, halo, line in zip((LOW, MEDIAN, HIGH), self._halos, self._lines, strict=True):
            for item in (halo, line):
                self.lay(item, self._steps, self._quantiles[:, place])
        return ""

    def _span(self) -> tuple[float, float]:
        """The values in view: all but those far out, of which there are few."""
        low, high = float(self._quantiles[:, LOW].min()), float(self._quantiles[:, HIGH].max())
        room = (high - low) * BEYOND or abs(high) * 0.1 or 1.0
        return (
            max(low - room, min(low, float(self._quantiles[:, 0].min()))),
            min(high + room, max(high, float(self._quantiles[:, -1].max()))),
        )

    def _picture(self, left: float, right: float, low: float, high: float) -> NDArray[np.uint8]:
        """Colours (H, W, 4) of the density from below, between steps as between the lines; clear where there are no
        values."""
        edges, shares = np.linspace(low, high, 1 + ROWS), np.linspace(0, 1, POINTS)
        columns = np.linspace(left, right, min(MOST_COLUMNS, self.columns))
        between = [np.interp(columns, self._steps, values) for values in self._quantiles.T]
        pictures = []
        for quantiles in np.stack(between, axis=1):
            behind = np.interp(edges, quantiles, shares, left=0, right=1)
            behind[edges >= quantiles[-1]] = 1  # equal quantiles are a jump, which ends at the last of them
            density = np.diff(behind)
            pictures.append(np.sqrt(density / max(float(density.max()), 1e-12)))
        levels = np.array(pictures).T
        table = np.array([(*colour, 255) for colour in colours("sequential")], np.uint8)
        picture: NDArray[np.uint8] = table[(levels * (len(table) - 1)).astype(np.int64)]
        picture[levels <= 0] = 0
        return picture

    def readout(self, place: float) -> tuple[float, Markup]:
        """The newest distribution at an iteration."""
        number = max(0, int(np.searchsorted(self._steps, place, side="right")) - 1)
        values = self._quantiles[number]
        names = (tr("largest"), "95 %", tr("median"), "5 %", tr("smallest"))
        places = (POINTS - 1, HIGH, MEDIAN, LOW, 0)
        rows = [(name, format_number(values[at])) for name, at in zip(names, places, strict=True)]
        caption = tr("iteration {step}", step=f"{self._steps[number]:,.0f}")
        return float(self._steps[number]), markup.joined([table_markup(rows, caption=caption)])
