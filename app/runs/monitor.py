"""The Train tab: live curves of a run, where it is, where it runs, and the controls to stop it."""

import contextlib
import csv
import math
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app.dialogs import messages
from app.runs.curves import CurveCard
from app.runs.facts_panel import FactsPanel
from app.runs.metric_cards import MetricCards
from app.runs.supervisor import Outcome
from designer import theme
from engine.runs.confusion import read_confusions
from engine.runs.events import Event, Message, Points, Requested, Resumed, Started
from engine.runs.folder import RunFolder

START_SMOOTHING = 0.6


class Monitor(QWidget):
    """Takes the events of one run at a time. `shutdown` must be called before the program ends."""

    stop_requested = Signal()
    stop_after_epoch_requested = Signal()
    train_requested = Signal()
    export_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder: RunFolder | None = None
        self._steps_per_epoch = 0
        self.metrics = MetricCards()
        self.loss_card = CurveCard("Loss", token="loss")
        self.facts = FactsPanel()
        self.facts.stop_clicked.connect(self.stop_requested)
        self.facts.stop_after_epoch_clicked.connect(self.stop_after_epoch_requested)
        self.facts.train_clicked.connect(self.train_requested)
        self.facts.export_clicked.connect(self.export_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._make_curves(), 1)
        side = QScrollArea()
        side.setWidgetResizable(True)
        side.setFrameShape(QFrame.Shape.NoFrame)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setWidget(self.facts)
        side.setFixedWidth(380)
        row.addWidget(side)
        self.show_nothing()

    @property
    def metric_card(self) -> CurveCard:
        """The curves of the main metric."""
        return self.metrics.main

    @property
    def cards(self) -> tuple[CurveCard, ...]:
        """Every card, the loss last."""
        return (*self.metrics.cards, self.loss_card)

    def _make_curves(self) -> QWidget:
        area = QWidget()
        column = QVBoxLayout(area)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.metrics, 1)
        column.addWidget(self.loss_card, 1)
        column.addLayout(self._make_controls())
        return area

    def _make_controls(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        label = QLabel("Smoothing")
        theme.mark(label, "role", "muted")
        self.smoothing = QSlider(Qt.Orientation.Horizontal)
        self.smoothing.setRange(0, 99)
        self.smoothing.setFixedWidth(140)
        self.smoothing.setAccessibleName("Smoothing of the training curves")
        self._smoothing_value = QLabel()
        self._smoothing_value.setMinimumWidth(32)
        label.setBuddy(self.smoothing)
        self.smoothing.valueChanged.connect(self._set_smoothing)
        self.smoothing.setValue(round(START_SMOOTHING * 100))
        log_y = QCheckBox("Logarithmic loss")
        log_y.toggled.connect(self.loss_card.set_log_y)
        export = QPushButton("Export curves")
        menu = QMenu(export)
        menu.addAction("Pictures (PNG)…", lambda: self._export_pictures("png"))
        menu.addAction("Drawings (SVG)…", lambda: self._export_pictures("svg"))
        menu.addAction("Numbers (CSV)…", self._export_csv)
        export.setMenu(menu)
        for widget in (self.metrics.choice, label, self.smoothing, self._smoothing_value, log_y):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(export)
        return row

    def _set_smoothing(self, percent: int) -> None:
        self._smoothing_value.setText(f"{percent / 100:.2f}")
        for part in (self.metrics, self.loss_card):
            part.set_smoothing(percent / 100)

    # ---- what a run says ----

    def show_nothing(self) -> None:
        """Before the first run."""
        for part in (self.metrics, self.loss_card):
            part.clear()
        self.facts.show_nothing()

    def show_starting(self, name: str) -> None:
        """A run is being prepared."""
        for part in (self.metrics, self.loss_card):
            part.clear()
        self.facts.show_starting(name)

    def show_refused(self, message: str) -> None:
        """The run could not be prepared: the user's input or the environment does not allow it."""
        self.facts.show_refused(message)

    def show_run(self, folder: RunFolder) -> None:
        """Another run is shown from now on; its events follow."""
        self._folder = folder
        for part in (self.metrics, self.loss_card):
            part.clear()
        self.facts.show_run(folder)

    def take(self, event: Event) -> None:
        """One event of the run."""
        if isinstance(event, Started):
            self.metrics.set_main(event.metric)
            self._steps_per_epoch = event.steps_per_epoch
            for part in (self.metrics, self.loss_card):
                part.set_expected_steps(event.iterations)
                part.set_epoch_steps(event.steps_per_epoch)
        if isinstance(event, Points):
            self._draw(event)
        if isinstance(event, Resumed):
            for card in self.cards:
                card.go_back(event.iteration)
        if isinstance(event, Requested) and event.what == "epochs" and self._steps_per_epoch:
            for part in (self.metrics, self.loss_card):
                part.set_expected_steps(int(event.value) * self._steps_per_epoch)
        self.facts.take(event)
        if isinstance(event, Message) and event.severity == "warning":
            self.facts.add_line("!", event.text)

    def _draw(self, points: Points) -> None:
        if points.split not in ("training", "validation"):
            return
        for name, values in points.values.items():
            card = self.loss_card if name == "loss" else self.metrics.card(name)
            card.append(points.split, points.first_step, points.steps_apart, [float(v) for v in values])

    def show_stopping(self, *, after_epoch: bool) -> None:
        """A stop was asked for."""
        self.facts.show_stopping(after_epoch=after_epoch)

    def show_outcome(self, outcome: Outcome) -> None:
        """The run has ended."""
        for card in self.cards:
            card.show_end()
        if self._folder is not None:
            with contextlib.suppress(OSError):  # a chart that cannot be read is not shown
                self.metrics.set_confusions(read_confusions(self._folder.path))
        self.facts.show_outcome(outcome)

    # ---- leaving as files ----

    def _export_pictures(self, kind: str) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Export the curves", f"curves.{kind}", f"*.{kind}")
        if not name:
            return
        base = Path(name).with_suffix("")
        try:
            for card in self.cards:
                target = base.with_name(f"{base.name}-{card.title.lower()}.{kind}")
                card.export_png(target) if kind == "png" else card.export_svg(target)
        except OSError as error:
            self._complain(name, error)

    def _export_csv(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Export the curves", "curves.csv", "*.csv")
        if not name:
            return
        try:
            self.write_csv(Path(name))
        except OSError as error:
            self._complain(name, error)

    def write_csv(self, path: Path) -> None:
        """Every point of every curve: curve, split, step, value. Raises `OSError`."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("curve", "split", "step", "value"))
            for card in self.cards:
                for split, step, value in card.rows():
                    writer.writerow((card.title.lower(), split, int(step), _number(value)))

    def _complain(self, name: str, error: OSError) -> None:
        messages.show_error(self, "The curves cannot be exported", f"{name} cannot be written: {error.strerror}.")

    def shutdown(self) -> None:
        """Let go of the plots, in order."""
        for part in (self.metrics, self.loss_card):
            part.shutdown()


def _number(value: Any) -> str:
    return f"{value:.9g}" if math.isfinite(value) else str(value)
