"""The report of an import: the layers made of the operators, how close the outputs are to the original, warnings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.dialog import Dialog
from netwright.app.messages import breakable
from netwright.app.shell import Shell, select_layer
from netwright.app.widgets import within_screen
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.items import table_item
from netwright.engine.core.errors import plural

WIDTH, HEIGHT = 700, 680
NOT_COMPARED = "The outputs are not compared"
"""Beginning of the warning that says why there is no comparison."""
Report = Mapping[str, Any]


def agreement(report: Report) -> tuple[str, str]:
    """Return how close the outputs are to those of the original in one sentence, and the role of its label."""
    outputs, samples = report.get("outputs") or [], int(report.get("samples") or 0)
    if not outputs:
        return "The outputs were not compared with the original.", "warning"
    over = f"over {plural(samples, 'random sample')}"
    far = [output["name"] for output in outputs if not output["agrees"]]
    if far:
        return f"Differs from the original {over}: {', '.join(far)}.", "error"
    largest = max((output["difference"] or 0.0) for output in outputs)
    return f"Agrees with the original {over}: largest difference {largest:.2g}.", "good"


def headline(report: Report) -> str:
    """Return size and origin in one line."""
    parts = [plural(int(report["layers"]), "layer"), plural(int(report["parameters"]), "parameter")]
    if report.get("opset"):
        parts.append(f"opset {report['opset']}")
    if report.get("producer"):
        parts.append(f"written by {report['producer']}")
    return " · ".join(parts)


def became(row: Mapping[str, Any]) -> str:
    """Return the layers made of the operators of one name, as text."""
    layers = [f"{count:,} {label}" for label, count in row["layers"].items()]
    opaque = "kept as it is" if row.get("opaque") == 1 else "kept as they are"
    words = {"folded": "computed at import", "removed": "not needed", "opaque": opaque}
    others = [f"{row[key]:,} {text}" for key, text in words.items() if row.get(key)]
    joined = row["lifted"] if not layers else 0
    return ", ".join([*layers, *([f"{joined:,} part of other layers"] if joined else []), *others])


def as_text(report: Report) -> str:
    """Return the report as plain text, for the clipboard."""
    lines = [f"{report['source']}", headline(report), agreement(report)[0], ""]
    for title, texts in (("Warnings", report["warnings"]), ("Notes", report["notes"])):
        if texts:
            lines += [title, *(f"  {text}" for text in texts), ""]
    lines += [
        "Operators",
        *(f"  {row['operator']}\t{row['count']:,}\t{became(row)}" for row in report["operators"]),
        "",
    ]
    lines += ["Outputs"]
    lines += [
        f"  {entry['name']}\tlargest difference {_number(entry['difference'])}\tspread {_number(entry['spread'])}\t"
        f"{'agrees' if entry['agrees'] else 'differs'}"
        for entry in report["outputs"]
    ]
    lines += ["", "Inputs", *(f"  {entry['name']}\t{entry['sizes']}" for entry in report["inputs"]), "", "Files"]
    lines += [f"  {report[name]}" for name in ("project", "weights", "constants") if report.get(name)]
    return "\n".join(lines) + "\n"


def _number(value: float | None) -> str:
    return "infinite" if value is None else f"{value:.3g}"


class ImportReport(Dialog):
    """Shows the report of one import. `wants_transfer` is true after the button for transfer learning was pressed."""

    layer_chosen = Signal(str)
    """The layer of an output that was clicked, by name."""

    def __init__(self, report: Report, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report = report
        self.wants_transfer = False
        self.setWindowTitle("Import report")
        self.resize(within_screen(self, WIDTH, HEIGHT))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 16)
        column.setSpacing(0)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(self._make_content())
        column.addWidget(area, 1)
        column.addLayout(self._make_foot())

    def _make_content(self) -> QWidget:
        report, content = self._report, QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        title = ElidedLabel()
        title.setText(f"{Path(report['source']).name} was imported", note=str(report["source"]))
        theme.mark(title, "role", "title")
        column.addWidget(title)
        column.addWidget(_text(headline(report), "help"))
        if report["outputs"] or not any(text.startswith(NOT_COMPARED) for text in report["warnings"]):
            column.addWidget(_text(*agreement(report)))
        for text in report["warnings"]:
            column.addWidget(_text(text, "warning"))
        if opaque_rows := [row for row in report["operators"] if row["opaque"]]:
            names = ", ".join(row["operator"] for row in opaque_rows)
            count = plural(sum(row["opaque"] for row in opaque_rows), "operator")
            text = "They run as in the original, and do not learn."
            if sum(row["opaque"] for row in opaque_rows) == 1:
                text = "It runs as in the original, and does not learn."
            column.addWidget(_text(f"{count} without a layer here: {names}. {text}", "help"))
        if report["outputs"]:
            rows = [
                [
                    *(entry["name"], entry.get("layer", ""), _number(entry["difference"]), _number(entry["spread"])),
                    "yes" if entry["agrees"] else "no",
                ]
                for entry in report["outputs"]
            ]
            outputs = _table(["Output", "Layer", "Largest difference", "Spread", "Agrees"], rows, texts=(0, 1))
            outputs.setToolTip("Click an output to go to its layer")
            outputs.cellClicked.connect(self._on_output)
            column.addWidget(_card("Outputs", outputs))
        rows = [[row["operator"], f"{row['count']:,}", became(row)] for row in report["operators"]]
        column.addWidget(_card("Operators", _table(["Operator", "Count", "Became"], rows, wide=2)))
        rows = [[entry["name"], entry["sizes"]] for entry in report["inputs"]]
        column.addWidget(_card("Inputs", _table(["Input", "Sizes"], rows, wide=1)))
        files = [str(report[name]) for name in ("project", "weights", "constants") if report.get(name)]
        column.addWidget(_card("Files", *(_text(file, "") for file in files)))
        if report["notes"]:
            column.addWidget(_card("Notes", *(_text(note, "muted") for note in report["notes"])))
        column.addStretch(1)
        return content

    def _make_foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(20, 8, 20, 0)
        row.setSpacing(8)
        self.copy = QPushButton("Copy report")
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self._copy)
        self.transfer = QPushButton("Transfer learning…")
        self.transfer.setToolTip("Replace the head for other data, and freeze the layers before it")
        self.transfer.setAutoDefault(False)
        self.transfer.setVisible(bool(self._report.get("weights")))
        self.transfer.clicked.connect(self._on_transfer)
        close = QPushButton("Close")
        close.setDefault(True)
        theme.mark(close, "primary", True)
        close.clicked.connect(self.accept)
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(self.transfer)
        row.addWidget(close)
        return row

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(as_text(self._report))
        self.copy.setText("Report copied")

    def _on_output(self, row: int, _: int) -> None:
        if layer := self._report["outputs"][row].get("layer"):
            self.accept()
            self.layer_chosen.emit(layer)

    def _on_transfer(self) -> None:
        self.wants_transfer = True
        self.accept()


def show_report(shell: Shell, report: Report) -> bool:
    """Show the report of an import. Return whether the user wants to adapt the network to other data."""
    dialog = ImportReport(report, shell.dialog_parent)
    dialog.layer_chosen.connect(lambda name: select_layer(shell, name))
    dialog.exec()
    wants_transfer = dialog.wants_transfer
    dialog.deleteLater()
    return wants_transfer


def _text(text: str, role: str) -> QLabel:
    label = QLabel(breakable(text))
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        theme.mark(label, "role", role)
    return label


def _card(title: str, *content: QWidget) -> QFrame:
    frame = QFrame()
    theme.mark(frame, "role", "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(16, 12, 16, 12)
    column.setSpacing(8)
    heading = QLabel(title.upper())
    theme.mark(heading, "role", "section")
    column.addWidget(heading)
    for widget in content:
        column.addWidget(widget)
    return frame


def _table(
    heads: list[str], rows: Sequence[Sequence[str]], *, wide: int = 0, texts: Sequence[int] = (0,)
) -> QTableWidget:
    """Return a table without scroll bars of its own; the column `wide` takes the room that is left, and numbers, which
    are in all columns but it and `texts`, are at the right."""
    table = QTableWidget(len(rows), len(heads))
    table.setHorizontalHeaderLabels(heads)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(26)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
    header.setHighlightSections(False)
    numeric = [j for j in range(len(heads)) if j != wide and j not in texts]
    for j in range(len(heads)):
        side = Qt.AlignmentFlag.AlignRight if j in numeric else Qt.AlignmentFlag.AlignLeft
        head = table.horizontalHeaderItem(j)
        if head is not None:
            head.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        for i, row in enumerate(rows):
            item = table_item(row[j], row[j])
            item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            table.setItem(i, j, item)
    table.setFixedHeight(header.sizeHint().height() + 26 * len(rows) + 4)
    return table
