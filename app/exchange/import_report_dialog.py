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
from netwright.designer.engine_messages import message_text
from netwright.designer.items import table_item
from netwright.designer.language import layer_label, tr
from netwright.engine.core.text import format_value

WIDTH, HEIGHT = 700, 680
NOT_COMPARED = "The outputs are not compared"
"""Beginning of the warning that says why there is no comparison."""
Report = Mapping[str, Any]


def agreement(report: Report) -> tuple[str, str]:
    """Return how close the outputs are to those of the original in one sentence, and the role of its label."""
    outputs, samples = report.get("outputs") or [], int(report.get("samples") or 0)
    if not outputs:
        return tr("The outputs were not compared with the original."), "warning"
    if far := [output["name"] for output in outputs if not output["agrees"]]:
        names = ", ".join(far)
        return tr("Differs from the original over %n random sample(s): {names}.", "", samples, names=names), "error"
    largest = max((output["difference"] or 0.0) for output in outputs)
    text = tr(
        "Agrees with the original over %n random sample(s): largest difference {difference:.2g}.",
        "",
        samples,
        difference=largest,
    )
    return text, "good"


def headline(report: Report) -> str:
    """Return size and origin in one line."""
    parts = [tr("%n layer(s)", "", int(report["layers"])), tr("%n parameter(s)", "", int(report["parameters"]))]
    if report.get("opset"):
        parts.append(tr("opset {version}", version=report["opset"]))
    if report.get("producer"):
        parts.append(tr("written by {program}", program=report["producer"]))
    return " · ".join(parts)


def became(row: Mapping[str, Any]) -> str:
    """Return the layers made of the operators of one name, as text."""
    parts = [f"{count:,} {layer_label(label)}" for label, count in row["layers"].items()]
    if row["lifted"] and not parts:
        parts.append(tr("{count:,} part of other layers", count=row["lifted"]))
    if count := row.get("folded"):
        parts.append(tr("{count:,} computed at import", count=count))
    if count := row.get("removed"):
        parts.append(tr("{count:,} not needed", count=count))
    if count := row.get("opaque"):
        parts.append(tr("1 kept as it is") if count == 1 else tr("{count:,} kept as they are", count=count))
    return tr(", ").join(parts)


def as_text(report: Report) -> str:
    """Return the report as plain text, for the clipboard."""
    lines = [f"{report['source']}", headline(report), agreement(report)[0], ""]
    for title, texts in ((tr("Warnings"), report["warnings"]), (tr("Notes"), report["notes"])):
        if texts:
            lines += [title, *(f"  {message_text(text)}" for text in texts), ""]
    lines += [
        tr("Operators"),
        *(f"  {row['operator']}\t{row['count']:,}\t{became(row)}" for row in report["operators"]),
        "",
    ]
    lines += [tr("Outputs")]
    lines += [
        "\t".join(
            (
                f"  {entry['name']}",
                tr("largest difference {value}", value=_number(entry["difference"])),
                tr("spread {value}", value=_number(entry["spread"])),
                tr("agrees") if entry["agrees"] else tr("differs"),
            )
        )
        for entry in report["outputs"]
    ]
    lines += [
        "",
        tr("Inputs"),
        *(f"  {entry['name']}\t{entry['sizes']}" for entry in report["inputs"]),
        "",
        tr("Files"),
    ]
    lines += [f"  {report[name]}" for name in ("project", "weights", "constants") if report.get(name)]
    return "\n".join(lines) + "\n"


def _opaque(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on operators that became no layer of a type here."""
    names, count = ", ".join(row["operator"] for row in rows), sum(row["opaque"] for row in rows)
    if count == 1:
        return tr(
            "1 operator without a layer here: {names}. It runs as in the original, and does not learn.", names=names
        )
    return tr(
        "{count:,} operators without a layer here: {names}. They run as in the original, and do not learn.",
        count=count,
        names=names,
    )


def _number(value: float | None) -> str:
    return tr("infinite") if value is None else f"{format_value(value)}"


class ImportReport(Dialog):
    """Shows the report of one import. `wants_transfer` is true after the button for transfer learning was pressed."""

    layer_chosen = Signal(str)
    """The layer of an output that was clicked, by name."""

    def __init__(self, report: Report, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report = report
        self.wants_transfer = False
        self.setWindowTitle(tr("Import report"))
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
        title.setText(tr("{name} was imported", name=Path(report["source"]).name), note=str(report["source"]))
        theme.mark(title, "role", "title")
        column.addWidget(title)
        column.addWidget(_text(headline(report), "help"))
        if report["outputs"] or not any(text.startswith(NOT_COMPARED) for text in report["warnings"]):
            column.addWidget(_text(*agreement(report)))
        for text in report["warnings"]:
            column.addWidget(_text(message_text(text), "warning"))
        if opaque_rows := [row for row in report["operators"] if row["opaque"]]:
            column.addWidget(_text(_opaque(opaque_rows), "help"))
        if report["outputs"]:
            column.addWidget(_card(tr("Outputs"), self._make_outputs()))
        rows = [[row["operator"], f"{row['count']:,}", became(row)] for row in report["operators"]]
        column.addWidget(_card(tr("Operators"), _table([tr("Operator"), tr("Count"), tr("Became")], rows, wide=2)))
        rows = [[entry["name"], entry["sizes"]] for entry in report["inputs"]]
        column.addWidget(_card(tr("Inputs"), _table([tr("Input"), tr("Sizes")], rows, wide=1)))
        files = [str(report[name]) for name in ("project", "weights", "constants") if report.get(name)]
        column.addWidget(_card(tr("Files"), *(_text(file, "") for file in files)))
        if report["notes"]:
            column.addWidget(_card(tr("Notes"), *(_text(message_text(note), "muted") for note in report["notes"])))
        column.addStretch(1)
        return content

    def _make_outputs(self) -> QTableWidget:
        """Return the comparison of each output with the original."""
        rows = [
            [
                *(entry["name"], entry.get("layer", ""), _number(entry["difference"]), _number(entry["spread"])),
                tr("yes") if entry["agrees"] else tr("no"),
            ]
            for entry in self._report["outputs"]
        ]
        heads = [tr("Output"), tr("Layer"), tr("Largest difference"), tr("Spread"), tr("Agrees")]
        outputs = _table(heads, rows, texts=(0, 1))
        outputs.setToolTip(tr("Click an output to go to its layer"))
        outputs.cellClicked.connect(self._on_output)
        return outputs

    def _make_foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(20, 8, 20, 0)
        row.setSpacing(8)
        self.copy = QPushButton(tr("Copy report"))
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self._copy)
        self.transfer = QPushButton(tr("Transfer learning…"))
        self.transfer.setToolTip(tr("Replace the head for other data, and freeze the layers before it"))
        self.transfer.setAutoDefault(False)
        if not self._report.get("weights"):
            self.transfer.hide()
        self.transfer.clicked.connect(self._on_transfer)
        close = QPushButton(tr("Close"))
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
        self.copy.setText(tr("Report copied"))

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
