"""The curves of a plot as a sentence, for who does not see them."""

import numpy as np

from netwright.app.plots.plot_data import PlotData
from netwright.app.plots.series import Floats
from netwright.designer.language import sentences, tr
from netwright.engine.core.text import format_value

RECENT = 3
"""Points over which a curve rises or falls."""
MOST_POINTS = 64
"""Points of a training curve that are enough for its trend."""
LEVEL = 0.02
"""Fraction of the range of a curve below which a change is none."""


def sentence(data: PlotData) -> str:
    """Return the newest value of a plot, its trend, the best one and that of the test; empty without values."""
    if len(validation := data.points["validation"]) and validation.last_step > 0:
        split, (_, values), (step, newest) = tr("validation"), validation.arrays(), validation.last
    elif len(data.training):
        training, split = data.training, tr("training")
        step, newest = training.last_step, training.value(len(training) - 1)
        _, values = (data.smoothed if data.smoothing else data.window)(0, data.last_step, MOST_POINTS)
    else:
        return ""
    values = values[np.isfinite(values)]
    if not len(values):
        return tr("{title}: no value is finite.", title=data.title)
    texts = [
        tr(
            "{title} in {split}: {value} after iteration {step}, {trend}.",
            title=data.title,
            split=split,
            value=_shown(data, newest),
            step=f"{step:,.0f}",
            trend=_trend(values),
        )
    ]
    if data.bests:
        step, value = data.bests[-1]
        texts.append(tr("Best {value} after iteration {step}.", value=_shown(data, value), step=f"{step:,.0f}"))
    if len(data.points["test"]):
        texts.append(tr("Test {value}.", value=_shown(data, data.points["test"].last[1])))
    return sentences(texts)


def _trend(values: Floats) -> str:
    change = values[-1] - values[max(0, len(values) - 1 - RECENT)]
    if abs(change) <= LEVEL * np.ptp(values):
        return tr("level")
    return tr("falling") if change < 0 else tr("rising")


def _shown(data: PlotData, value: float) -> str:
    return format_value(float(value), is_percent=data.is_percent, is_measured=True)
