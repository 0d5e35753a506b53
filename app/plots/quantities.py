"""Every quantity that a run has a curve of: what it is called, and how it is shown."""

import math
from dataclasses import dataclass

from netwright.app.plots.plot_data import VALUE, Beside, LinkedXAxis, PlotData
from netwright.app.plots.points import Points, Track
from netwright.app.plots.series import Series
from netwright.app.plots.words import metric_title
from netwright.designer.language import noop, tr, translation
from netwright.engine.project.options.metric_options import is_share
from netwright.engine.runs.events import Progress

LOSS = "loss"
GRADIENT_NORM = "gradient_norm"
MIB = 2.0**20


@dataclass(frozen=True)
class Quantity:
    """One that is neither the loss nor a metric."""

    title: str
    can_smooth: bool = True
    is_percent: bool = False
    waiting: str = ""


OF_PROGRESS = {
    "learn_rate": Quantity(noop("Learn rate"), can_smooth=False),
    "samples_per_second": Quantity(noop("Samples per second")),
    "peak_share": Quantity(
        noop("Share of measured peak"),
        is_percent=True,
        waiting=noop(
            "What the layers compute, as a share of what the device was measured to do, "
            "appears here once a training has lasted a few seconds."
        ),
    ),
    "memory": Quantity(noop("Memory, MiB"), can_smooth=False),
    "utilisation": Quantity(
        noop("Utilisation"),
        is_percent=True,
        waiting=noop("How busy the processors or GPUs are appears here when training starts, where it is known."),
    ),
}
"""Values of each report, a few times per second."""
OTHERS = {
    GRADIENT_NORM: Quantity(
        noop("Gradient norm"),
        waiting=noop(
            "No gradient norm is measured. Switch it on with ⋯ beside the buttons of a run "
            "that trains, or in the training options for the next one."
        ),
    )
}
SHARES = "time_shares"
DATA, COMPUTING, COMMUNICATION = "data", "computing", "communication"
BESIDE = {DATA: "warning", COMMUNICATION: "Pooling"}
"""The other parts of the time of a step, waiting for data and for other workers: a colour or a layer family each."""
_SHARES = Quantity(
    noop("Step time"), can_smooth=False, is_percent=True, waiting=noop("Shares of the time of steps appear here.")
)
OFFERED = (*OF_PROGRESS, SHARES, *OTHERS)
"""The quantities of every run beside its loss and its metrics."""


def plot_data_of(name: str, x_axis: LinkedXAxis) -> PlotData:
    """An empty plot of a quantity by its name in the events."""
    quantity = OF_PROGRESS.get(name) or OTHERS.get(name) or (_SHARES if name == SHARES else None)
    points = {"validation": Points(), "test": Points()}
    if quantity is None:
        title = tr("Loss") if name == LOSS else metric_title(name)
        token = "loss" if name == LOSS else "accent"
        return PlotData(title, token, Series(), points, x_axis=x_axis, is_percent=is_share(name))
    return PlotData(
        translation(quantity.title),
        "accent",
        Track() if name in (*OF_PROGRESS, SHARES) else Series(),
        points,
        x_axis=x_axis,
        word=VALUE if name in OF_PROGRESS else COMPUTING if name == SHARES else "training",
        can_smooth=quantity.can_smooth,
        smoothing=0.0,
        is_percent=quantity.is_percent,
        waiting=translation(quantity.waiting),
        beside={word: Beside(token, Track()) for word, token in BESIDE.items()} if name == SHARES else {},
    )


def shares_of(event: Progress) -> dict[str, float]:
    """Shares of the time of the steps since the last report, which add up to one. The communication of other workers
    is not measured where they send while they compute."""
    shares = {DATA: event.data_share, COMMUNICATION: event.communication_share}
    shares = {name: share for name, share in shares.items() if math.isfinite(share)}
    return {**shares, COMPUTING: max(0.0, 1.0 - sum(shares.values()))} if shares else {}


def of_progress(event: Progress) -> dict[str, float]:
    """The values of the quantities in a report."""
    values = {
        "learn_rate": event.rate,
        "samples_per_second": event.samples_per_second,
        "memory": event.memory_bytes / MIB,
    }
    measured = {"utilisation": event.utilisation, "peak_share": event.peak_share}
    return values | {name: value for name, value in measured.items() if math.isfinite(value)}
