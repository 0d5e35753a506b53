"""A histogram with axes: how many samples have a length, a size or an error."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyqtgraph as pg

from netwright.app.plots.axes import Axis, Unit, linear_axis
from netwright.app.plots.plot import Plot
from netwright.designer import markup, theme
from netwright.designer.language import tr
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_number
from netwright.engine.core.ticks import round_ticks

HEIGHT = 168


class HistogramPlot(Plot):
    """Counts over values (`netwright.engine.data.tables.histograms.of_numbers`): counts upwards."""

    def __init__(self, counted: Mapping[str, Any], unit: str, of: str, *, is_whole: bool = True) -> None:
        """`unit` is what the values count, such as `steps`; `of` what is counted, such as `sequences`. With `is_whole`
        the values are whole numbers."""
        self._counts = np.array(counted["counts"], dtype=float)
        self._edges = np.linspace(counted["low"], counted["high"], len(self._counts) + 1)
        self._unit, self._of, self._is_whole = unit, of, is_whole
        super().__init__()
        self.setFixedHeight(HEIGHT)
        middles, width = (self._edges[:-1] + self._edges[1:]) / 2, self._edges[1] - self._edges[0]
        self._bars = pg.BarGraphItem(x=middles, height=self._counts, width=width * 0.9)
        self.addItem(self._bars, ignoreBounds=True)
        self.setAccessibleName(tr("Number of {of} by {unit}", of=of, unit=unit))

    def dress(self) -> None:
        """In the accent colour, without borders."""
        self._bars.setOpts(brush=theme.current().accent, pen=pg.mkPen(None))

    def draw(self) -> str:
        """Round numbers on both axes."""
        low, high = float(self._edges[0]), float(self._edges[-1])
        y = linear_axis(0.0, float(self._counts.max()), 3)
        y = replace(y, ticks=tuple(tick for tick in y.ticks if tick.is_integer()))
        x = Axis(low=low, high=high, ticks=tuple(round_ticks(low, high, self.num_x_ticks, is_whole=self._is_whole)))
        self.show_axes(x, Unit(name=self._unit, is_whole=self._is_whole), y, [f"{tick:,.0f}" for tick in y.ticks])
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The bin under the pointer."""
        number = int(np.clip(np.searchsorted(self._edges, place) - 1, 0, len(self._counts) - 1))
        first, last = self._edges[number], self._edges[number + 1]
        if self._is_whole:
            first, last = np.ceil(first), np.ceil(last) - 1
            values = f"{first:,.0f}" if first == last else tr("{first:,.0f} to {last:,.0f}", first=first, last=last)
        else:
            values = tr("{first} to {last}", first=format_number(first), last=format_number(last))
        values = f"{values} {self._unit}".rstrip()
        text = markup.filled("{}<br>{} {}", values, f"{self._counts[number]:,.0f}", self._of)
        return float(self._edges[number] + self._edges[number + 1]) / 2, text
