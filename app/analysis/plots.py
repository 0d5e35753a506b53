"""Plots of an evaluation: confidence against accuracy, and predicted against true numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt

from netwright.app.plots.axes import Axis, Unit, linear_axis, tick_labels, values_axis
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, Markers
from netwright.designer import markup, theme
from netwright.designer.language import tr
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_figure, format_number, format_percent

HEIGHT = 240


class ReliabilityPlot(Plot):
    """Share of correct answers over the confidence that the network had in them, in bins; on the diagonal a confidence
    is as high as the accuracy (Guo et al. 2017)."""

    def __init__(self, bins: Sequence[Mapping[str, float]]) -> None:
        """`bins` are those of `calibration` in the result of `netwright-engine evaluate`."""
        self._bins = list(bins)
        super().__init__()
        self.setFixedHeight(HEIGHT)
        middles = [(entry["low"] + entry["high"]) / 2 for entry in self._bins]
        widths = [0.92 * (entry["high"] - entry["low"]) for entry in self._bins]
        self._bars = pg.BarGraphItem(x=middles, height=[entry["accuracy"] for entry in self._bins], width=widths)
        self._diagonal = Line([0.0, 1.0], [0.0, 1.0])
        for item in (self._bars, self._diagonal):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName(tr("Accuracy by confidence"))

    def dress(self) -> None:
        """Bars in the accent colour, the diagonal dashed."""
        palette = theme.current()
        self._bars.setOpts(brush=palette.mixed(palette.accent, palette.panel, 0.6), pen=pg.mkPen(None))
        self._diagonal.setPen(pg.mkPen(palette.muted, width=1, style=Qt.PenStyle.DashLine))

    def draw(self) -> str:
        """Both axes from 0 to 100 %."""
        axis = linear_axis(0.0, 1.0, 4)
        self.show_axes(axis, Unit(name=tr("confidence")), axis, tick_labels(axis, is_percent=True))
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The bin under the pointer."""
        match = next((entry for entry in self._bins if entry["low"] <= place <= entry["high"]), None)
        if match is None:
            return place, Markup()
        sure, correct = format_percent(match["confidence"], 1), format_percent(match["accuracy"], 1)
        count = tr("%n sample(s)", "", int(match["count"]))
        text = markup.filled("{}<br>{}", count, tr("{sure} sure, {correct} correct", sure=sure, correct=correct))
        return (match["low"] + match["high"]) / 2, text


class PredictionPlot(Plot):
    """Predicted numbers over true ones, one point per sample; on the diagonal a prediction is right."""

    def __init__(self, residuals: Mapping[str, Any]) -> None:
        """`residuals` is an entry of the result of `netwright-engine evaluate`."""
        points = np.array(residuals["points"], dtype=float).reshape(-1, 2)
        self._true, self._predicted = points[:, 0], points[:, 1]
        self._name = str(residuals["name"])
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self._points = Markers(x=self._true, y=self._predicted, size=5)
        self._diagonal = Line()
        for item in (self._diagonal, self._points):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName(markup.visible(tr("Predicted against true {name}", name=self._name)))

    def dress(self) -> None:
        """Points in the accent colour, the diagonal dashed."""
        palette = theme.current()
        self._points.setPen(pg.mkPen(None))
        self._points.setBrush(pg.mkBrush(palette.accent))
        self._diagonal.setPen(pg.mkPen(palette.muted, width=1, style=Qt.PenStyle.DashLine))

    def draw(self) -> str:
        """The same range on both axes."""
        both = np.concatenate([self._true, self._predicted])
        if not np.isfinite(both).any():
            return tr("The predictions are not finite numbers.")
        x, y = values_axis(both, self.num_x_ticks), values_axis(both, self.num_y_ticks)
        ends = [min(x.low, y.low), max(x.high, y.high)]
        self._diagonal.setData(ends, ends)
        self.show_axes(x, Unit(name=tr("true")), y, tick_labels(y))
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The sample that is nearest to the pointer."""
        if not len(self._true):
            return place, Markup()
        nearest = int(np.nanargmin(np.abs(self._true - place)))
        true, predicted = format_number(self._true[nearest]), format_number(self._predicted[nearest])
        lines = tr("true {value}", value=true), tr("predicted {value}", value=predicted)
        return float(self._true[nearest]), markup.filled("{}<br>{}", *lines)


class StepsPlot(Plot):
    """RMSE of each predicted number, such as the steps of a forecast in their order."""

    def __init__(self, residuals: Sequence[Mapping[str, Any]]) -> None:
        """`residuals` are those of the result of `netwright-engine evaluate`."""
        self._names = [str(entry["name"]) for entry in residuals]
        self._errors = np.array([entry["rmse"] for entry in residuals], dtype=float)
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self._bars = pg.BarGraphItem(x=np.arange(1, len(self._errors) + 1), height=self._errors, width=0.8)
        self.addItem(self._bars, ignoreBounds=True)
        self.setAccessibleName(tr("Error of each predicted number"))

    def dress(self) -> None:
        """In the accent colour, without borders."""
        palette = theme.current()
        self._bars.setOpts(brush=palette.mixed(palette.accent, palette.panel, 0.6), pen=pg.mkPen(None))

    def draw(self) -> str:
        """The numbers from 1 on, the errors from 0."""
        if not np.isfinite(self._errors).all():
            return tr("The errors are not finite numbers.")
        count = len(self._errors)
        step = max(1, round(count / self.num_x_ticks))
        x = Axis(low=0.5, high=count + 0.5, ticks=tuple(float(at) for at in range(step, count + 1, step)))
        y = linear_axis(0.0, float(self._errors.max()), self.num_y_ticks)
        self.show_axes(x, Unit(name="", is_whole=True), y, tick_labels(y))
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The number under the pointer."""
        at = int(np.clip(round(place), 1, len(self._names)))
        return float(at), markup.filled("{}<br>RMSE {}", self._names[at - 1], format_figure(self._errors[at - 1]))
