"""How far confidences are those of right answers, and a temperature that corrects them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from netwright.app.analysis.plots import ReliabilityPlot
from netwright.app.plots.card import FigureCard
from netwright.designer import theme
from netwright.designer.language import tr
from netwright.engine.core.text import format_figure, format_number


class CalibrationCard(FigureCard):
    """The calibration of an output; with a temperature before and after. `fit_wanted` asks for one, `store_wanted` that
    it is stored with the network, `reset_wanted` that what is stored is removed."""

    fit_wanted, store_wanted, reset_wanted = Signal(), Signal(), Signal()

    def __init__(self, target: Mapping[str, Any], calibrated: Mapping[str, Any] | None = None) -> None:
        """`calibrated` is an entry of the result of `netwright-engine evaluate --calibrate`."""
        self._sides: Mapping[str, Mapping[str, Any]] = {"before": target["calibration"]}
        temperature = (target.get("stored") or {}).get("temperature", 1.0)
        if calibrated is not None:
            self._sides = {"before": calibrated["before"], "after": calibrated["after"]}
        self.fit, self.store = QPushButton(tr("Fit a temperature")), QPushButton(tr("Store with the network"))
        self.reset, self.said = QPushButton(tr("Reset")), QLabel()
        content = QWidget()
        column, buttons = QVBoxLayout(content), QHBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        for side, figures in self._sides.items():
            if calibrated is not None:
                column.addWidget(QLabel(_error_text(side, figures["expected_error"])))
            column.addWidget(ReliabilityPlot(figures["bins"]))
        for button in (self.fit, self.store, self.reset):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addWidget(self.said)
        column.addLayout(buttons)
        error = tr("expected error {error}", error=format_figure(target["calibration"]["expected_error"]))
        super().__init__(content, tr("Calibration"), error if calibrated is None else "", self._rows)
        theme.mark(self.said, "role", "muted")
        self.said.setWordWrap(True)
        is_stored = temperature != 1.0
        fitted = calibrated["temperature"] if calibrated is not None else 1.0
        sentences = []
        if calibrated is not None:
            sentences.append(
                tr("Temperature {temperature}, fitted on the validation split.", temperature=format_number(fitted))
            )
        if is_stored:
            number = format_number(temperature)
            sentences.append(tr("Stored with the network, which predict applies: {temperature}.", temperature=number))
        text = " ".join(sentences)
        self.said.setText(text)
        self.said.setVisible(bool(text))
        self.fit.setToolTip(tr("Divide the logits by one number, so that confidences are as high as the accuracy"))
        self.fit.setVisible(calibrated is None)
        self.store.setVisible(calibrated is not None and fitted != temperature)
        self.reset.setVisible(is_stored)
        self.fit.clicked.connect(self.fit_wanted)
        self.store.clicked.connect(self.store_wanted)
        self.reset.clicked.connect(self.reset_wanted)

    def _rows(self) -> Iterator[Sequence[object]]:
        yield "side", "low", "high", "count", "confidence", "accuracy"
        for side, figures in self._sides.items():
            for entry in figures["bins"]:
                yield side, entry["low"], entry["high"], entry["count"], entry["confidence"], entry["accuracy"]


def _error_text(side: str, value: float) -> str:
    error = format_figure(value)
    if side == "before":
        return tr("Before: expected error {error}", error=error)
    return tr("After: expected error {error}", error=error)
