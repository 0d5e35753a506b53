"""Importance of the parameters: how much of the differences between trials each explains."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QWidget

from netwright.app.experiments.plots.chart import TrialChart
from netwright.app.experiments.plots.scatter import axis_choice, fill_choice
from netwright.app.experiments.trial_texts import axis_label
from netwright.app.plots.bar_rows import BarRow, BarRows, BarStyle, Column
from netwright.app.plots.card import Rows
from netwright.app.processes import EngineServer
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.text import format_percent
from netwright.engine.experiments.operations.experiment_importance import OPERATION, ImportanceRequest

BARS = BarStyle(row=30, bar=18)
COMPUTING = noop("Computing how much each parameter matters…")
LEAST_TRIALS = 4
GROWTH = 1.25
"""While trials train, it is computed anew once there are so many times as many."""


class ImportancePlot(TrialChart):
    """A bar per parameter: its share of the variance of the objective, by functional ANOVA in a process of the engine.
    It needs the extra `experiments` of the installation; without it says so."""

    key, name, title = "importance", noop("Importance", "plot"), noop("Importance")
    help = noop(
        "Share of the differences between trials that each parameter explains: "
        "functional ANOVA over a random forest (Hutter et al., 2014)."
    )

    server: EngineServer
    """Answers; set before the plot is seen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.objective: QComboBox = axis_choice(tr("Objective"))
        self.importance: dict[str, float] = {}
        self._reason = ""
        self._asked: tuple[str, str, int] | None = None
        self._request: int | None = None
        super().__init__(parent)
        self.bars = BarRows((Column(most=190, is_right=True), Column(is_right=True, is_muted=True)), BARS)
        self.bars.setParent(self)
        self.objective.activated.connect(self._ask)

    def controls(self) -> Sequence[QWidget]:
        """Return the choice of the objective."""
        return (self.objective,)

    def prepare(self) -> None:
        """Offer the objectives, and compute."""
        fill_choice(self.objective, self.findings.scores)
        self.objective.setVisible(len(self.findings.scores) > 1)
        self._ask()

    def why_empty(self) -> str:
        """It needs trials with different values."""
        ended = len(self.findings.levels)
        if len(self.findings.values) < 2:
            return tr("Importances compare parameters: at least two have to differ between the trials.")
        if ended < LEAST_TRIALS:
            return tr(
                "Importances need at least {least} finished trials; there are {count}.", least=LEAST_TRIALS, count=ended
            )
        return self._reason or ("" if self.importance else translation(COMPUTING))

    def _ask(self) -> None:
        """Ask the engine, once for each number of trials that have ended."""
        folder, name = self.findings.folder, self.objective.currentData()
        if folder is None or name is None or not self.isVisible() or self._request is not None:
            return
        key = (str(folder.path), str(name), len(self.findings.levels))
        if self._is_known(key) or len(self.findings.levels) < LEAST_TRIALS or len(self.findings.values) < 2:
            return
        if self._asked is None or key[:2] != self._asked[:2]:
            self.importance = {}
        self._asked, self._reason = key, ""
        request = ImportanceRequest(experiment=folder.path.absolute(), objective=str(name))
        self._request = self.server.ask(OPERATION, request, self._on_finished, self._on_failed)
        self.empty = self.why_empty()
        self.refresh()

    def _is_known(self, key: tuple[str, str, int]) -> bool:
        """Return whether the answer would be much the same: while trials train, a few more do not change it, and the
        computation would take their processors."""
        if self._asked is None or key[:2] != self._asked[:2]:
            return False
        is_over = all(trial.is_over for trial in self.findings.trials)
        return key[2] == self._asked[2] or (not is_over and key[2] < GROWTH * self._asked[2])

    def _on_finished(self, answer: Mapping[str, Any]) -> None:
        self._request = None
        self.importance = {str(path): float(share) for path, share in answer["importance"].items()}
        self.empty = self.why_empty()
        self.refresh()
        self._ask()  # trials may have ended meanwhile

    def _on_failed(self, reason: str) -> None:
        self._request, self.importance, self._reason = None, {}, reason
        self.empty = self.why_empty()
        self.refresh()

    def draw(self) -> str:
        """A bar per parameter, the most important first."""
        labels = {axis.name: axis_label(axis) for axis in self.findings.values}
        order = sorted(self.importance.items(), key=lambda item: -item[1])
        self.bars.show_rows(
            [BarRow((labels.get(path, path), format_percent(share, 1)), ((share, "accent"),)) for path, share in order]
        )
        self.bars.setFixedHeight(self.height())
        self.bars.setFixedWidth(self.width())
        return super().draw()

    def show_items(self, is_shown: bool) -> None:
        """Show the bars, or hide them."""
        super().show_items(is_shown)
        self.bars.setVisible(is_shown)

    def rows(self) -> Rows:
        """Return the shares."""
        yield ["parameter", "importance"]
        yield from sorted(self.importance.items(), key=lambda item: -item[1])

    def showEvent(self, event: QShowEvent) -> None:
        """Compute once it is seen."""
        super().showEvent(event)
        self._ask()

    def hideEvent(self, event: QHideEvent) -> None:
        """Compute no more than is seen."""
        super().hideEvent(event)
        if self._request is not None:
            self.server.cancel(self._request)
            self._request, self._asked = None, None
