"""Options of the Predict page, in a menu of its button."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QMenu,
    QPushButton,
    QSpinBox,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from netwright.app import messages
from netwright.engine.core.files import read_file
from netwright.engine.project.preparation import PIXELS

TOP, MOST_TOP, MOST_BATCH = 5, 100, 65_536
WEIGHTS = (("Result of the run", ""), ("Best", "best"), ("Last", "last"))
NAMES_BYTES = 2**22


class PredictionOptions(QToolButton):
    """Options of predictions: number of classes, weights, samples per batch; for a network from elsewhere its inputs.

    `changed` asks for another answer, `network_changed` for the network to be loaded again.
    """

    changed = Signal()
    network_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setText("Options")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setProperty("role", "chip")
        self.class_names: tuple[str, ...] = ()
        self.top, self.batch = QSpinBox(), QSpinBox()
        self.weights, self.pixels, self.names = QComboBox(), QComboBox(), QPushButton("Choose a file…")
        self.top.setRange(1, MOST_TOP)
        self.top.setValue(TOP)
        self.batch.setRange(0, MOST_BATCH)
        self.batch.setSpecialValueText("Automatic")
        for label, value in WEIGHTS:
            self.weights.addItem(label, value)
        self.pixels.addItems(PIXELS)
        panel = QWidget()
        self._form = QFormLayout(panel)
        self._form.setContentsMargins(16, 12, 16, 12)
        for label, widget, help in (
            ("Likeliest classes", self.top, "Number of classes that are shown. Default 5."),
            ("Weights", self.weights, "Weights of the run, those of its result by default."),
            ("Samples per batch", self.batch, "By default as many as suit their size, up to 1,024."),
            ("Pixels", self.pixels, "Range of the pixels that the network takes. Default 0 to 1."),
            ("Class names", self.names, "A text file with the name of a class per line."),
        ):
            widget.setToolTip(help)
            widget.setAccessibleName(label)
            self._form.addRow(label, widget)
        menu, action = QMenu(self), QWidgetAction(self)
        action.setDefaultWidget(panel)
        menu.addAction(action)
        self.setMenu(menu)
        self.top.valueChanged.connect(self.changed)
        self.weights.activated.connect(self.network_changed)
        self.pixels.activated.connect(self.network_changed)
        self.names.clicked.connect(self._choose_names)
        self.show_kind(is_onnx=False, is_foreign=False)

    def show_kind(self, *, is_onnx: bool, is_foreign: bool) -> None:
        """Show the options that apply to a run, an ONNX file of Netwright, or one from elsewhere."""
        self._form.setRowVisible(self.weights, not is_onnx)
        self._is_onnx = is_onnx
        for widget in (self.pixels, self.names):
            self._form.setRowVisible(widget, is_foreign)

    def values(self) -> dict[str, Any]:
        """Return the options as fields of a `PredictRequest`."""
        values: dict[str, Any] = {"top": self.top.value(), "batch": self.batch.value()}
        if not self._is_onnx:
            return {**values, "weights": self.weights.currentData()}
        pixels = self.pixels.currentText() if self.pixels.currentIndex() else ""
        return {**values, "pixels": pixels, "classes": self.class_names}

    def _choose_names(self) -> None:
        name = QFileDialog.getOpenFileName(self, "Names of the classes, one per line", "", "Text (*.txt *.csv)")[0]
        if not name:
            return
        try:
            text = read_file(Path(name), NAMES_BYTES).decode("utf-8", "replace")
        except OSError as error:
            messages.show_error(self, "The names cannot be read", f"{name}: {error.strerror or error}.")
            return
        self.class_names = tuple(line.strip() for line in text.splitlines() if line.strip())
        self.names.setText(f"{len(self.class_names):,} names")
        self.network_changed.emit()
