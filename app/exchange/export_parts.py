"""Parts of the export dialog: rows and labels, the options of ONNX, and the tables that an export answers with."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QRadioButton,
    QScrollArea,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.designer import theme
from netwright.designer.forms.form import Form
from netwright.designer.items import table_item
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.project.export_options import CHECK, CONTENT, NUMBERS, SHAPES, OnnxOptions
from netwright.engine.project.export_report import layer_rows, measured_rows
from netwright.engine.project.file import save
from netwright.engine.project.project import Project

MOST_ROWS = 8
"""Number of rows that a table shows without scrolling."""
MOST_NAMES = 12
"""Number of class names that are shown."""


def options_form(parent: QWidget) -> Form:
    """Return the form of the options of ONNX, their groups folded away."""
    return Form(OnnxOptions(), folded=(NUMBERS, SHAPES, CONTENT, CHECK), parent=parent)


def option_texts(form: Form) -> dict[str, str]:
    """Return the options that differ from their defaults, as the request of an export has them."""
    record = form.record.without_hidden()
    return {name: type(record).fields[name].show(value) for name, value in record.changed().items()}


def agreement(answer: Mapping[str, Any], who: str) -> str:
    """Return the sentence on the comparison; `who` ran the file."""
    over = f"over {answer['samples']:,} {answer['samples_kind']} samples"
    if answer["precision"] != "float32":
        return (
            f"In {answer['precision']} it differs by at most {answer['largest_difference']:.2g} of the largest output "
            f"{over}; in float32 it agrees with torch."
        )
    return f"{who} agrees: largest difference {answer['largest_difference']:.2g} {over}."


def choice_row(group: QButtonGroup, index: int, label: str = "", text: str = "") -> tuple[QHBoxLayout, QLabel]:
    """Return a row with a button of the group, and the label that says what it means."""
    row = QHBoxLayout()
    button = QRadioButton(label)
    button.setMinimumWidth(96)
    help_label = QLabel(text)
    help_label.setWordWrap(True)
    theme.mark(help_label, "role", "help")
    group.addButton(button, index)
    row.addWidget(button)
    row.addWidget(help_label, 1)
    return row, help_label


def section_label(text: str) -> QLabel:
    """Return the heading of a section."""
    label = QLabel(text)
    theme.mark(label, "role", "section")
    return label


def text_label(name: str) -> QLabel:
    """Make a label of several lines whose text can be selected."""
    label = QLabel()
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setAccessibleName(name)
    return label


def input_lines(entry: dict[str, Any]) -> list[str]:
    """Return the lines on one input from the answer of the export."""
    return [f"{entry['name']}: {entry['text']}", *entry["preparation"]]


def listed(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many follow."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def training_files(target: Path) -> list[Path]:
    """Return the files that the training script of an exported network may consist of."""
    endings = (".initial.safetensors", ".data.npz", ".split.npz", ".split.json")
    return [target.with_name(f"train_{target.stem}.py"), *(target.with_name(target.stem + end) for end in endings)]


class ContentArea(QScrollArea):
    """Asks for as much room as its content needs, and scrolls where the screen has less."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = QWidget()
        self.column = QVBoxLayout(content)
        """The content."""
        self.column.setContentsMargins(20, 20, 20, 0)
        self.column.setSpacing(12)
        self.setWidget(content)

    def sizeHint(self) -> QSize:
        """Return the size of the content."""
        self.column.activate()
        return self.column.totalSizeHint()


class ReportTable(QTableWidget):
    """Shows accuracy, size and speed, or the differences layer by layer; hidden while it has nothing."""

    layer_chosen = Signal(str)
    """The path of the layer whose row was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layers: list[str] = []
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.setAccessibleName("Report of the export")
        self.cellClicked.connect(self._on_clicked)
        self.hide()

    def show_measured(self, measured: Sequence[Mapping[str, Any]]) -> None:
        """Show accuracy, size and speed."""
        self._layers = []
        self._show(measured_rows(measured))

    def show_layers(self, layers: Sequence[Mapping[str, Any]]) -> None:
        """Show the differences layer by layer, from the first that differs on."""
        self._layers = [row["layer"] for row in layers]
        self._show(layer_rows(layers))
        first = next((number for number, row in enumerate(layers) if row["is_first"]), None)
        if first is not None:
            self.selectRow(first)
            self.scrollTo(self.model().index(first, 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def clear_report(self) -> None:
        """Forget the table and hide it."""
        self._layers = []
        self.setRowCount(0)
        self.hide()

    def _show(self, rows: Sequence[tuple[str, ...]]) -> None:
        header, *body = rows
        self.setColumnCount(len(header))
        self.setRowCount(len(body))
        self.setHorizontalHeaderLabels(
            [text if text.startswith("ms,") else text[:1].upper() + text[1:] for text in header]
        )
        first = self.horizontalHeaderItem(0)
        if first is not None:
            first.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for line, row in enumerate(body):
            for column, text in enumerate(row):
                item = table_item(text)
                if column > 0 and not text.isalpha():
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(line, column, item)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.resizeRowsToContents()
        heights = [self.rowHeight(line) for line in range(min(len(body), MOST_ROWS))]
        start = self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth() + 2
        self.setFixedHeight(start + sum(heights))
        self.show()

    def _on_clicked(self, line: int, _: int) -> None:
        if line < len(self._layers):
            self.layer_chosen.emit(self._layers[line])


def proposed_file(folder: Path, stem: str) -> Path:
    """Return the file to propose: in the folder, or at home where that cannot be written to."""
    return (folder if os.access(folder, os.W_OK) else Path.home()) / f"{stem}.onnx"


def project_copy(project: Project, base: Path, folder: Path) -> Path:
    """Write the project as it is on the canvas, saved or not, into a folder; its data is found from there."""
    data = project.data
    if data.path and "://" not in data.path:
        data = data.replace(path=str((base / data.path).resolve()))
    path = folder / f"project{SUFFIX}"
    save(project.with_section("data", data), path)
    return path
