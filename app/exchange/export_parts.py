"""Parts of the export dialog: rows and labels, the options of ONNX, and the tables that an export answers with."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QCheckBox,
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
from netwright.designer.engine_messages import message_text, part_text
from netwright.designer.forms.form import Form
from netwright.designer.items import table_item
from netwright.designer.language import noop, tr, translation
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.project.export_options import CHECK, CONTENT, NUMBERS, SHAPES, OnnxOptions
from netwright.engine.project.export_report import layer_rows, measured_rows
from netwright.engine.project.file import save
from netwright.engine.project.project import Project

MOST_ROWS = 8
"""Number of rows that a table shows without scrolling."""
LONGEST_TITLE = 60
"""Characters up to which the title of a question names its files."""
MOST_NAMES = 12
"""Number of class names that are shown."""
KINDS = {"real": noop("real"), "random": noop("random")}
"""Samples that a comparison is made on."""


def options_form(parent: QWidget) -> Form:
    """Return the form of the options of ONNX, their groups folded away."""
    return Form(OnnxOptions(), folded=(NUMBERS, SHAPES, CONTENT, CHECK), parent=parent)


def option_texts(form: Form) -> dict[str, str]:
    """Return the options that differ from their defaults, as the request of an export has them."""
    record = form.record.without_hidden()
    return {name: type(record).fields[name].show(value) for name, value in record.changed().items()}


def agreement(answer: Mapping[str, Any], who: str) -> str:
    """Return the sentence on the comparison; `who` ran the file."""
    difference, samples, kind = (
        answer["largest_difference"],
        answer["samples"],
        translation(KINDS[answer["samples_kind"]]),
    )
    if answer["precision"] != "float32":
        return tr(
            "In {precision} it differs by at most {difference:.2g} of the largest output over {samples:,} {kind} "
            "samples; in float32 it agrees with torch.",
            precision=answer["precision"],
            difference=difference,
            samples=samples,
            kind=kind,
        )
    return tr(
        "{program} agrees: largest difference {difference:.2g} over {samples:,} {kind} samples.",
        program=who,
        difference=difference,
        samples=samples,
        kind=kind,
    )


def measured_on(measured: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on the data and the threads of the table of measurements."""
    first = measured[0]
    threads, split = int(first["threads"]), first["split"]
    if not split:
        return tr("Speed on the CPU with %n thread(s).", "", threads)
    return tr(
        "Metrics on {samples:,} samples of the {split} data; speed on the CPU with %n thread(s).",
        "",
        threads,
        samples=first["samples"],
        split=translation(split),
    )


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
    """Make a label of several lines whose text can be selected. A screen reader says the text, and `name` after it."""
    label = QLabel()
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setAccessibleDescription(name)
    return label


def input_lines(entry: dict[str, Any]) -> list[str]:
    """Return the lines on one input from the answer of the export."""
    values = str(entry["text"]).rpartition(f", {entry['dtype']}, ")[0]
    sizes = " × ".join(size if isinstance(size, str) else f"{size:,}" for size in entry["shape"])
    short = tr(
        "{name}: {values}, {type}, {sizes} ({axes})",
        name=entry["name"],
        values=part_text(values),
        type=entry["dtype"],
        sizes=sizes,
        axes=tr(", ").join(map(part_text, entry["axes"])),
    )
    return [short, *map(message_text, entry["preparation"])]


def listed(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many follow."""
    shown, rest = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return tr("{names} and {count:,} more", names=shown, count=rest) if rest > 0 else shown


def question_of_replacing(files: Sequence[Path]) -> tuple[str, str]:
    """Return the title and the text of the question whether files of one folder may be replaced."""
    names, folder = tr(" and ").join(path.name for path in files), files[0].parent
    is_short = len(names) < LONGEST_TITLE
    title = tr("Replace {names}?", names=names) if is_short else tr("Replace %n file(s)?", "", len(files))
    if len(files) == 1:
        return title, tr("It exists in {folder}: {name}.", folder=folder, name=names)
    return title, tr("They exist in {folder}: {names}.", folder=folder, names=names)


def training_files(target: Path) -> list[Path]:
    """Return the files that the training script of an exported network may consist of."""
    endings = (".initial.safetensors", ".data.npz", ".split.npz", ".split.json")
    return [target.with_name(f"train_{target.stem}.py"), *(target.with_name(target.stem + end) for end in endings)]


class ScriptsRow(QWidget):
    """The scripts that can be written beside a file: a training for PyTorch, and for networks of tokens one that
    writes on."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.training = QCheckBox(tr("With a training script that gives the losses of the run"))
        self.training.setToolTip(
            tr(
                "Plain PyTorch: data, splits, loss, solver and schedule of the project; one "
                "process, or several under torchrun"
            )
        )
        self.generation = QCheckBox(tr("With a script that writes on with the language model"))
        self.generation.setToolTip(tr("Plain Python that needs no Netwright: temperature, top-k, top-p, stop, seed"))
        for box in (self.training, self.generation):
            column.addWidget(box)
        self._format, self._takes_tokens = "", False

    def follow(self, *, format: str | None = None, takes_tokens: bool | None = None) -> None:
        """Show the scripts of a format, and of a network that takes tokens or does not."""
        self._format = self._format if format is None else format
        self._takes_tokens = self._takes_tokens if takes_tokens is None else takes_tokens
        has_generation = self._takes_tokens and self._format in ("onnx", "pytorch")
        self.training.setVisible(self._format == "pytorch")
        self.generation.setVisible(has_generation)
        self.setVisible(has_generation or self._format == "pytorch")

    @property
    def has_training(self) -> bool:
        """Whether a training script is asked for."""
        return self._format == "pytorch" and self.training.isChecked()

    @property
    def has_generation(self) -> bool:
        """Whether a script that writes on is asked for."""
        return not self.generation.isHidden() and self.generation.isChecked()

    def files(self, target: Path) -> list[Path]:
        """Return the files that the scripts beside a file may consist of."""
        writing = [target.with_name(f"generate_{target.stem}.py")] if self.has_generation else []
        return [*writing, *(training_files(target) if self.has_training else ())]


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
        self.setAccessibleName(tr("Report of the export"))
        self.cellClicked.connect(self._on_clicked)
        self.hide()

    def show_measured(self, measured: Sequence[Mapping[str, Any]]) -> None:
        """Show accuracy, size and speed."""
        self._layers = []
        metrics, batches = measured[0]["metrics"], measured[0]["milliseconds"]
        header = ["", tr("Size"), *(translation(name[:1].upper() + name[1:]) for name in metrics)]
        header += [tr("ms, batch {size}", size=batch) for batch in batches]
        self._show(header, measured_rows(measured)[1:])

    def show_layers(self, layers: Sequence[Mapping[str, Any]]) -> None:
        """Show the differences layer by layer, from the first that differs on."""
        self._layers = [row["layer"] for row in layers]
        header = [tr("Layer"), tr("Difference"), tr("Relative to spread"), ""]
        marks = {"first that differs": tr("first that differs"), "differs": tr("differs")}
        self._show(header, [(*row[:-1], marks.get(row[-1], row[-1])) for row in layer_rows(layers)[1:]])
        first = next((number for number, row in enumerate(layers) if row["is_first"]), None)
        if first is not None:
            self.selectRow(first)
            self.scrollTo(self.model().index(first, 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def clear_report(self) -> None:
        """Forget the table and hide it."""
        self._layers = []
        self.setRowCount(0)
        self.hide()

    def _show(self, header: Sequence[str], body: Sequence[tuple[str, ...]]) -> None:
        self.setColumnCount(len(header))
        self.setRowCount(len(body))
        self.setHorizontalHeaderLabels(header)
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
