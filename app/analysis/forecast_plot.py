"""The plot of a forecast, behind the past that it was made from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt

from netwright.app.plots.axes import Unit, linear_axis, tick_labels, values_axis
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line
from netwright.designer import markup, theme
from netwright.designer.language import tr
from netwright.designer.markup import Markup
from netwright.engine.core.text import format_number


class ForecastPlot(Plot):
    """A series up to now, and its forecast behind a dashed line, with the true values where they are known."""

    def __init__(
        self,
        name: str,
        history: Sequence[float],
        ahead: Sequence[float],
        truth: Sequence[float] = (),
        *,
        season: int = 0,
        group: str = "",
    ) -> None:
        """`season`: period of the series in steps, 0 where it has none; its last one is repeated beside the forecast.
        `group`: name of the series, where there are several."""
        self._name, self._known = name, np.array(truth, float)
        self._history, self._ahead = np.array(history, float), np.array(ahead, float)
        self._season = season if 1 < season <= len(history) else 0
        super().__init__()
        whole = tr("{name} of {group}", name=name, group=group) if group else name
        parts = [
            tr("{series}, next %n step(s)", "", len(ahead), series=whole),
            *([tr("dotted: what followed")] if len(truth) else []),
            tr("thin: {baseline}", baseline=self.baseline_name),
        ]
        self.heading = tr("; ").join(parts)
        self.setMinimumHeight(260)
        self._past, self._next, self._now, self._true, self._simple = Line(), Line(), Line(), Line(), Line()
        for item in (self._now, self._simple, self._true, self._past, self._next):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName(markup.visible(tr("Forecast of {series}", series=whole)))

    @property
    def baseline_name(self) -> str:
        """Name of the forecast that needs no network, as in the scores of a run."""
        return tr("season of {season}", season=self._season) if self._season else tr("last value")

    def baseline(self) -> np.ndarray:
        """Return the forecast that needs no network: the last season again, without one the last value."""
        if not len(self._history):
            return np.full(len(self._ahead), np.nan)
        last = self._history[-self._season :] if self._season else self._history[-1:]
        return np.resize(last, len(self._ahead))

    def dress(self) -> None:
        """Set the colours: the past muted, the true continuation dotted, the forecast in the accent colour."""
        palette = theme.current()
        self._past.setPen(pg.mkPen(palette.muted, width=1))
        self._simple.setPen(pg.mkPen(palette.warning, width=1))
        self._true.setPen(pg.mkPen(palette.muted, width=1, style=Qt.PenStyle.DotLine))
        self._next.setPen(pg.mkPen(palette.accent, width=2))
        self._now.setPen(pg.mkPen(palette.line, width=1, style=Qt.PenStyle.DashLine))

    def draw(self) -> str:
        """Steps from the present to the right, before it to the left."""
        both = np.concatenate([self._history, self._ahead, self._known, self.baseline()])
        if not np.isfinite(both).any():
            return tr("The forecast has no finite numbers.")
        x = linear_axis(1.0 - len(self._history), float(len(self._ahead)), self.num_x_ticks)
        y = values_axis(both, self.num_y_ticks)
        self._past.setData(np.arange(1 - len(self._history), 1, dtype=float), self._history)
        joined = np.concatenate([self._history[-1:], self._ahead])
        self._next.setData(np.arange(1 - len(self._history[-1:]), len(self._ahead) + 1, dtype=float), joined)
        self._simple.setData(np.arange(1, len(self._ahead) + 1, dtype=float), self.baseline())
        self._true.setData(np.arange(1, len(self._known) + 1, dtype=float), self._known)
        self._now.setData([0.0, 0.0], [y.low, y.high])
        self.show_axes(x, Unit(name=tr("steps"), is_whole=True), y, tick_labels(y))
        return ""

    def readout(self, place: float) -> tuple[float, Markup]:
        """The step that is nearest to the pointer."""
        step = int(np.clip(round(place), 1 - len(self._history), len(self._ahead)))
        value = self._ahead[step - 1] if step > 0 else self._history[step - 1]
        if 0 < step <= len(self._known):
            true, predicted = format_number(self._known[step - 1]), format_number(value)
            head, known = tr("step {step:+d}", step=step), tr("true {value}", value=true)
            text = markup.filled("{}<br>{} {}<br>{}", head, self._name, predicted, known)
        else:
            head = tr("step {step:+d}, forecast", step=step) if step > 0 else tr("step {step:+d}, before", step=step)
            text = markup.filled("{}<br>{} {}", head, self._name, format_number(value))
        if step > 0:
            simple = markup.filled("<br>{} {}", self.baseline_name, format_number(self.baseline()[step - 1]))
            text = markup.joined([text, simple])
        return float(step), text


def forecast_plots(answer: Mapping[str, Any], output: Mapping[str, Any]) -> list[ForecastPlot]:
    """Return a plot for each series that an output predicts; none where it is no forecast."""
    series, value, truth = answer.get("series"), output.get("value"), answer.get("truth", ())
    if not series or not isinstance(value, list) or not all(isinstance(number, int | float) for number in value):
        return []
    names = [name for name in str(output["name"]).split(", ") if name in series["names"]]
    if not names or len(value) % len(names):
        return []
    true_values = truth if len(truth) == len(value) else ()
    pasts = dict(zip(series["names"], series["values"], strict=False))
    season, group = series.get("season", 0), str(answer.get("group", ""))
    return [
        ForecastPlot(
            name, pasts[name], value[place :: len(names)], true_values[place :: len(names)], season=season, group=group
        )
        for place, name in enumerate(names)
        if name in pasts
    ]
