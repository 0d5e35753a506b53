"""The budget of a smaller network as a row of fields, and the rows of its candidates as texts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QSpinBox, QWidget

from netwright.app.plots.words import metric_title
from netwright.designer.language import tr
from netwright.engine.analysis.operations.compress import CompressRequest
from netwright.engine.core.text import format_bytes, format_number, format_percent
from netwright.engine.project.options.metric_options import format_score


class BudgetRow(QWidget):
    """Fields of size, time and loss, and the button that searches."""

    searched = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.size_text, self.time, self.loss = QLineEdit(), QDoubleSpinBox(), QDoubleSpinBox()
        self.epochs, self.search_button = QSpinBox(), QPushButton(tr("Search"))
        self.size_text.setPlaceholderText(tr("any, or 1MB"))
        self.size_text.returnPressed.connect(self.searched)
        self.time.setRange(0.0, 10_000.0)
        self.time.setDecimals(2)
        self.time.setSuffix(tr(" ms"))
        self.time.setSpecialValueText(tr("any"))
        self.loss.setRange(0.0, 100.0)
        self.loss.setDecimals(1)
        self.loss.setValue(1.0)
        self.loss.setSuffix(tr(" %"))
        self.epochs.setRange(1, 10_000)
        self.epochs.setValue(5)
        self.search_button.setAutoDefault(False)
        self.search_button.clicked.connect(self.searched)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for text, field, tip in (
            (tr("&Size"), self.size_text, tr("Largest ONNX file, such as 1MB or 300KiB")),
            (tr("&Time"), self.time, tr("Longest time per sample on this machine, in ONNX Runtime on the CPU")),
            (tr("&Loss"), self.loss, tr("Largest loss: percentage points of accuracy, or percent of an error")),
            (tr("&Epochs"), self.epochs, tr("Epochs that each candidate trains on")),
        ):
            label = QLabel(text)
            label.setBuddy(field)
            field.setToolTip(tip)
            row.addWidget(label)
            row.addWidget(field, int(field is self.size_text))
        row.addWidget(self.search_button)

    def request(self, model: Path, **more: Any) -> CompressRequest:
        """Return the request of the fields."""
        return CompressRequest(
            model=model,
            size=self.size_text.text().strip(),
            time=self.time.value() or None,
            accuracy_loss=self.loss.value(),
            epochs=self.epochs.value(),
            **more,
        )


def heads_of(metric: str) -> list[str]:
    """Return the heads of the table of candidates."""
    heads = [tr("Removed"), tr("Numbers"), metric_title(metric), tr("Loss"), tr("Size"), tr("Time")]
    return [*heads, tr("Parameters"), tr("Budget")]


def cells_of(row: Mapping[str, Any], metric: str, best: int) -> list[str]:
    """Return a candidate as texts. `best`: number of the best one, or of the nearest where none is in the budget."""
    is_best, is_inside = row["number"] == best, row["is_in_budget"]
    remark = (tr("best") if is_best else tr("inside")) if is_inside else tr("nearest") if is_best else ""
    return [
        format_percent(row["amount"]),
        row["precision"],
        format_score(metric, row["score"]),
        f"{row['loss']:+.1f} %",
        format_bytes(row["bytes"]),
        tr("{time} ms", time=format_number(row["milliseconds"])),
        f"{row['parameters']:,}",
        remark,
    ]
