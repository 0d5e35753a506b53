"""Options of the Predict page, in a menu of its button."""

from collections.abc import Mapping
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
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.files import read_file
from netwright.engine.project.preparation import PIXELS

TOP, MOST_TOP, MOST_BATCH = 5, 100, 65_536
WEIGHTS = ((noop("Result of the run"), ""), (noop("Best"), "best"), (noop("Last"), "last"))
NAMES_BYTES = 2**22


class PredictionOptions(QToolButton):
    """Options of predictions: number of classes, weights, samples per batch; for a network from elsewhere its inputs.

    `changed` asks for another answer, `network_changed` for the network to be loaded again.
    """

    changed = Signal()
    network_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setText(tr("Options"))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setProperty("role", "chip")
        self.class_names: tuple[str, ...] = ()
        self.top, self.batch = QSpinBox(), QSpinBox()
        self.weights, self.pixels, self.names = QComboBox(), QComboBox(), QPushButton(tr("Choose a file…"))
        self.top.setRange(1, MOST_TOP)
        self.top.setValue(TOP)
        self.batch.setRange(0, MOST_BATCH)
        self.batch.setSpecialValueText(tr("Automatic"))
        for label, value in WEIGHTS:
            self.weights.addItem(translation(label), value)
        self.pixels.addItems(PIXELS)
        panel = QWidget()
        self._form = QFormLayout(panel)
        self._form.setContentsMargins(16, 12, 16, 12)
        for label, widget, help in (
            (tr("Likeliest classes"), self.top, tr("Number of classes that are shown. Default 5.")),
            (tr("Weights"), self.weights, tr("Weights of the run, those of its result by default.")),
            (tr("Samples per batch"), self.batch, tr("By default as many as suit their size, up to 1,024.")),
            (tr("Pixels"), self.pixels, tr("Range of the pixels that the network takes. Default 0 to 1.")),
            (tr("Class names"), self.names, tr("A text file with the name of a class per line.")),
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
        return {"top": self.top.value(), "batch": self.batch.value(), **self.network_values()}

    def network_values(self) -> Mapping[str, Any]:
        """Return the options of the network itself."""
        if not self._is_onnx:
            return {"weights": self.weights.currentData()}
        pixels = self.pixels.currentText() if self.pixels.currentIndex() else ""
        return {"pixels": pixels, "classes": self.class_names}

    def _choose_names(self) -> None:
        name = QFileDialog.getOpenFileName(
            self, tr("Names of the classes, one per line"), "", tr("Text (*.txt *.csv)")
        )[0]
        if not name:
            return
        try:
            text = read_file(Path(name), NAMES_BYTES).decode("utf-8", "replace")
        except OSError as error:
            messages.show_error(self, tr("The names cannot be read"), f"{name}: {error.strerror or error}.")
            return
        self.class_names = tuple(line.strip() for line in text.splitlines() if line.strip())
        self.names.setText(tr("{count:,} names", count=len(self.class_names)))
        self.network_changed.emit()
