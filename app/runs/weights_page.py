"""How weights, gradients and activations of a layer are distributed, over the steps of a run."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from netwright.app.plots.card import FigureCard
from netwright.app.plots.distribution_plot import DistributionPlot
from netwright.app.runs.watched_page import READING_MS, RecordPage
from netwright.designer import theme
from netwright.designer.language import noop, tr, translation
from netwright.designer.markup import visible
from netwright.engine.runs.events import Event, Progress
from netwright.engine.runs.watched_weights import KINDS, POINTS, WeightStep, read_weights

TITLES = {"weights": noop("Weights"), "gradients": noop("Gradients"), "activations": noop("Activations")}
NOTES = {
    "weights": noop("all learnable numbers of the layer"),
    "gradients": noop("of the loss with respect to the weights, before clipping"),
    "activations": noop("outputs of the layer for the samples of a step"),
}
READING_SHARE = 20
"""A file that takes long to read is read less often: after so many times the time that this takes."""


class WeightsPage(RecordPage):
    """Shows a chosen layer; it is read while it is seen."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: Sequence[WeightStep] = ()
        self.layer = QComboBox()
        self.layer.setAccessibleName(tr("Layer whose distributions are shown"))
        self.layer.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.layer.currentIndexChanged.connect(self._show)
        label = self._label = QLabel(tr("Layer"))
        theme.mark(label, "role", "muted")
        label.setBuddy(self.layer)
        self.note = QLabel()
        theme.mark(self.note, "role", "muted")
        self.note.setWordWrap(True)
        self.plots: dict[str, DistributionPlot] = {}
        self.cards: dict[str, FigureCard] = {}
        """Made for the first run that has records: most have none, and plots are most of what the page takes."""
        content = QWidget()
        column = self._column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        head = QHBoxLayout()
        head.setSpacing(8)
        for widget in (label, self.layer):
            head.addWidget(widget)
        head.addWidget(self.note, 1)
        column.addLayout(head)
        column.addStretch(1)
        self.setWidget(content)
        self.show_steps([])

    def _make_cards(self) -> None:
        for place, kind in enumerate(KINDS, 1):
            plot = self.plots[kind] = DistributionPlot()
            title, note = translation(TITLES[kind]), translation(NOTES[kind])
            self.cards[kind] = FigureCard(plot, title, note, partial(self._rows, kind))
            self._column.insertWidget(place, self.cards[kind])

    def read(self, run: Path | None) -> None:
        """Show the distributions of a run; while nobody looks, none is read."""
        if run is None:
            self.show_steps([])
        elif self.isVisible():
            start_s = time.monotonic()
            self.show_steps(read_weights(run))
            self._timer.setInterval(max(READING_MS, round(1000 * READING_SHARE * (time.monotonic() - start_s))))

    def is_news(self, event: Event) -> bool:
        """Whether the run has told its progress."""
        return isinstance(event, Progress)

    def showEvent(self, event: QShowEvent) -> None:
        """Read what came while nobody looked."""
        super().showEvent(event)
        self._look()

    def show_steps(self, steps: Sequence[WeightStep]) -> None:
        """Show the distributions of a run: of the layer that was chosen, where it has it."""
        self.steps = steps
        if steps and not self.cards:
            self._make_cards()
        names = list(dict.fromkeys(name for step in steps for name in step.layers))
        if names != [self.layer.itemData(place) for place in range(self.layer.count())]:
            learning = next((name for step in steps for name, kinds in step.layers.items() if "weights" in kinds), None)
            chosen = self.layer.currentData() if self.layer.currentData() in names else learning
            self.layer.blockSignals(True)
            self.layer.clear()
            for name in names:
                self.layer.addItem(visible(name), name)
            self.layer.setCurrentIndex(max(0, self.layer.findData(chosen)))
            self.layer.blockSignals(False)
        self._show()

    def _show(self, _: object = None) -> None:
        has_any = bool(self.layer.count())
        for widget in (self._label, self.layer):
            widget.setVisible(has_any)
        nothing = tr(
            "How weights, gradients and activations are distributed is kept where the training options ask for it: "
            "Watch weights, under Monitoring."
        )
        self.note.setText(tr("Bright where many values lie. Line: median; dashes: 5 and 95 %.") if has_any else nothing)
        for kind, card in self.cards.items():
            rows = [
                (step.iteration, values)
                for step in self.steps
                if (values := step.layers.get(self.layer.currentData(), {}).get(kind)) is not None
            ]
            self.plots[kind].show_steps(rows)
            title = translation(TITLES[kind])
            self.plots[kind].setAccessibleName(
                tr("{kind} of {layer} over the iterations", kind=title, layer=self.layer.currentText())
            )
            card.setVisible(bool(rows))

    def _rows(self, kind: str) -> Iterator[list[object]]:
        """Yield the quantiles of all layers, for a CSV file."""
        yield ["layer", "epoch", "iteration", *(f"{100 * place / (POINTS - 1):g} %" for place in range(POINTS))]
        for step in self.steps:
            for name, kinds in step.layers.items():
                if kind in kinds:
                    yield [name, step.epoch, step.iteration, *kinds[kind]]
