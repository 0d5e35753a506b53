"""The plot of a forecast, behind the past that it was made from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt

from app.plots.axes import Unit, linear_axis, tick_labels, values_axis
from app.plots.items import Line
from app.plots.plot import Plot
from designer import markup, theme
from designer.markup import Markup


class ForecastPlot(Plot):
    """A series up to now, and its forecast behind a dashed line, with the true values where they are known."""

    def __init__(
        self, name: str, history: Sequence[float], ahead: Sequence[float], truth: Sequence[float] = ()
    ) -> None:
        self._name, self._known = name, np.array(truth, float)
        self._history, self._ahead = np.array(history, float), np.array(ahead, float)
        super().__init__()
        after = "; dotted: what followed" if len(truth) else ""
        self.heading = f"{name}, next {len(ahead):,} steps{after}"
        self.setMinimumHeight(260)
        self._past, self._next, self._now, self._true = Line(), Line(), Line(), Line()
        for item in (self._now, self._true, self._past, self._next):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName(f"Forecast of {name}")

    def dress(self) -> None:
        """The past muted, what really followed dotted, the forecast in the accent colour."""
        palette = theme.current()
        self._past.setPen(pg.mkPen(palette.muted, width=1))
        self._true.setPen(pg.mkPen(palette.muted, width=1, style=Qt.PenStyle.DotLine))
        self._next.setPen(pg.mkPen(palette.accent, width=2))
        self._now.setPen(pg.mkPen(palette.line, width=1, style=Qt.PenStyle.DashLine))

    def draw(self) -> str:
        """Steps from the present to the right, before it to the left."""
        both = np.concatenate([self._history, self._ahead, self._known])
        if not np.isfinite(both).any():
            return "The forecast has no finite numbers."
        x = linear_axis(1.0 - len(self._history), float(len(self._ahead)), self.num_x_ticks)
        y = values_axis(both, self.num_y_ticks)
        self._past.setData(np.arange(1 - len(self._history), 1, dtype=float), self._history)
        joined = np.concatenate([self._history[-1:], self._ahead])
        self._next.setData(np.arange(1 - len(self._history[-1:]), len(self._ahead) + 1, dtype=float), joined)
        self._true.setData(np.arange(1, len(self._known) + 1, dtype=float), self._known)
        self._now.setData([0.0, 0.0], [y.low, y.high])
        self.show_axes(x, Unit(name="steps", is_whole=True), y, tick_labels(y))
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The step that is nearest to the pointer."""
        step = int(np.clip(round(place), 1 - len(self._history), len(self._ahead)))
        value = self._ahead[step - 1] if step > 0 else self._history[step - 1]
        kind = "forecast" if step > 0 else "before"
        if 0 < step <= len(self._known):
            true, predicted = f"{self._known[step - 1]:.5g}", f"{value:.5g}"
            text = markup.filled("step {}<br>{} {}<br>true {}", f"{step:+d}", self._name, predicted, true)
            return float(step), text
        return float(step), markup.filled("step {}, {}<br>{} {}", f"{step:+d}", kind, self._name, f"{value:.5g}")


def forecast_plots(answer: Mapping[str, Any], output: Mapping[str, Any]) -> list[ForecastPlot]:
    """Return a plot for each series that an output predicts; none where it is no forecast."""
    series, value, truth = answer.get("series"), output.get("value"), answer.get("truth", ())
    if not series or not isinstance(value, list) or not all(isinstance(one, int | float) for one in value):
        return []
    names = [name for name in str(output["name"]).split(", ") if name in series["names"]]
    if not names or len(value) % len(names):
        return []
    known = truth if len(truth) == len(value) else ()
    pasts = dict(zip(series["names"], series["values"], strict=False))
    return [
        ForecastPlot(name, pasts[name], value[place :: len(names)], known[place :: len(names)])
        for place, name in enumerate(names)
        if name in pasts
    ]
