"""Plot of what trials have reached: by their number, or by a value that varies."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Signal
from PySide6.QtGui import QMouseEvent

from netwright.app.experiments.trial_texts import axis_label, path_label
from netwright.app.plots.axes import Unit, tick_labels, values_axis
from netwright.app.plots.plot import Plot
from netwright.app.plots.plot_items import Line, Markers
from netwright.designer import markup, theme
from netwright.designer.language import in_sentence, tr
from netwright.designer.markup import Markup
from netwright.engine.core.ticks import round_ticks
from netwright.engine.project.experiment import Objective
from netwright.engine.project.options.metric_options import format_score, is_share
from netwright.engine.project.parameters import texts_of
from netwright.engine.runs.trial_axes import TrialAxis
from netwright.engine.runs.trial_log import COUNTED, Trial

MINIMUM_HEIGHT = 160
NUMBER = ""
"""The trials in their order, as the x axis."""


class TrialPlot(Plot):
    """The objective of each trial; along their numbers also the best so far. A click on a point picks its trial."""

    picked = Signal(int)

    def __init__(self) -> None:
        self._trials: list[Trial] = []
        self._objective, self._along = "", NUMBER
        self._marked: set[int] = set()
        self.paths: list[str] = []
        """The values by which trials can be plotted: those that are numbers."""
        self._drawn: list[Trial] = []
        """The trials that have a place, with their places, values and marks below."""
        self._places = self._values = np.empty(0)
        self._is_marked = np.empty(0, dtype=bool)
        super().__init__()
        self.setMinimumHeight(MINIMUM_HEIGHT)
        self._best, self._points, self._stars = Line(), Markers(size=7), Markers(size=12, symbol="star")
        for item in (self._best, self._points, self._stars):
            self.addItem(item, ignoreBounds=True)
        self.setAccessibleName(tr("What the trials reach"))

    def show_trials(self, trials: Sequence[Trial], objective: str, marked: set[int]) -> None:
        """Show trials; `marked` are the numbers of the best ones."""
        self._trials = [trial for trial in trials if trial.state in COUNTED and objective in trial.scores]
        self._objective, self._marked = objective, marked
        paths = dict.fromkeys(path for trial in self._trials for path in trial.values)
        texts = {path for trial in self._trials for path, value in trial.values.items() if not _is_number(value)}
        self.paths = [path for path in paths if path not in texts]
        self.plot_along(self._along if self._along in self.paths else NUMBER)

    def plot_along(self, path: str) -> None:
        """Choose the x axis: the path of a value, or `NUMBER`."""
        self._along = path
        self._drawn = [trial for trial in self._trials if not path or path in trial.values]
        self._places = np.array([self._place(trial) for trial in self._drawn], dtype=float)
        self._values = np.array([trial.scores[self._objective] for trial in self._drawn], dtype=float)
        self._is_marked = np.array([trial.number in self._marked for trial in self._drawn], dtype=bool)
        self.refresh()

    def dress(self) -> None:
        """Trials in the accent colour, the best marked, the best so far as a line of steps."""
        palette = theme.current()
        self._points.setPen(pg.mkPen(None))
        self._points.setBrush(pg.mkBrush(palette.accent))
        self._stars.setPen(pg.mkPen(palette.panel))
        self._stars.setBrush(pg.mkBrush(palette.good))
        self._best.setPen(pg.mkPen(palette.muted, width=1))

    def draw(self) -> str:
        """Points of the trials and the best so far."""
        for item in (self._points, self._stars, self._best):
            item.setVisible(False)
        if not np.isfinite(self._values).any():
            return tr("Trials that have ended are shown here.")
        numbers = self._along == NUMBER
        is_log = not numbers and (self._places > 0).all() and self._places.max() >= 20 * self._places.min()
        x = values_axis(self._places, self.num_x_ticks, is_log=bool(is_log))
        if numbers:  # of two trials there is no 1.2th
            x = replace(x, ticks=tuple(round_ticks(x.low, x.high, self.num_x_ticks, is_whole=True)))
        y = values_axis(self._values, self.num_y_ticks)
        metric = self._objective.rpartition(".")[2]
        name = tr("trial") if numbers else in_sentence(path_label(self._along))
        self.show_axes(x, Unit(name=name), y, tick_labels(y, is_percent=is_share(metric)))
        is_marked = self._is_marked
        self.lay(self._points, self._places[~is_marked], self._values[~is_marked])
        self.lay(self._stars, self._places[is_marked], self._values[is_marked])
        if numbers:
            best = np.minimum.accumulate if Objective(self._objective).is_low_better else np.maximum.accumulate
            self.lay(self._best, self._places, best(self._values), stepMode="right")
        return ""

    def _place(self, trial: Trial) -> float:
        return float(trial.number if self._along == NUMBER else trial.values[self._along])

    def _nearest(self, place: float) -> Trial | None:
        if not self._drawn:
            return None
        return self._drawn[int(np.argmin(np.abs(self.x.to_view(self._places) - self.x.to_view(np.array([place]))[0])))]

    def readout(self, place: float) -> tuple[float, Markup]:
        """The trial that is nearest to the pointer, with its values."""
        trial = self._nearest(place)
        if trial is None:
            return place, Markup()
        values = ", ".join(texts_of(trial.values, 4))
        label = axis_label(TrialAxis(self._objective, {}, is_score=True))
        score = f"{label} {format_score(self._objective, trial.scores[self._objective])}"
        head = tr("Trial {number}", number=trial.number)
        return self._place(trial), markup.filled("{}<br>{}<br>{}", head, values, score)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pick the trial under the pointer."""
        super().mouseReleaseEvent(event)
        place = self.x.from_view(self.view.mapSceneToView(self.mapToScene(event.position().toPoint())).x())
        trial = self._nearest(place)
        if trial is not None:
            self.picked.emit(trial.number)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
