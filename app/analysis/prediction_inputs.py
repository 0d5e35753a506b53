"""The inputs of the Predict page: a drawing pad, a form for a row, a text, and files that are dropped."""

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from netwright.app.analysis.drawing_pad import PAD, WHITE, DrawingPad
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.forms.typed_line import TypedLine
from netwright.designer.language import tr
from netwright.designer.markup import visible
from netwright.engine.core.text import format_number
from netwright.engine.project.preparation import ColumnPreparation, InputPreparation, Preparation

USUAL_PEN, LEAST_PEN, MOST_PEN = 22, 4, 64
PEN_CELLS = 1.35
"""Width of the pen in pixels of the network's image, where these are large."""
USUAL_SPREAD = 2.0
"""Standard deviations around the mean in which values usually lie."""
DRAWING = "drawing.png"


class SampleInput(QWidget):
    """A way to give one sample. `changed` is emitted when there is another one."""

    changed = Signal()

    def sample(self, folder: Path) -> dict[str, Any] | None:
        """Return the sample as fields of a `PredictRequest`, None without one; files are written to `folder`."""
        raise NotImplementedError


class DrawingInput(SampleInput):
    """A drawing pad with its pen. `side`: height of the network's image in pixels."""

    def __init__(self, side: int) -> None:
        super().__init__()
        pen_width = min(MOST_PEN, max(USUAL_PEN, round(PEN_CELLS * PAD / side)))
        self.pad = DrawingPad(pen_width)
        self.pad.changed.connect(self.changed)
        self.pen = _slider(tr("Width of the pen"), LEAST_PEN, MOST_PEN, pen_width)
        self.pen.valueChanged.connect(lambda value: setattr(self.pad, "pen_width", value))
        self.grey = _slider(tr("Grey level of the pen"), 0, WHITE, WHITE)
        self.grey.valueChanged.connect(lambda value: setattr(self.pad, "ink", value))
        self.clear_button, self.invert_button = QPushButton(tr("Clear")), QPushButton(tr("Invert"))
        self.clear_button.clicked.connect(self.pad.clear)
        self.invert_button.clicked.connect(self._invert)
        self.invert_button.setToolTip(tr("Light on dark, or dark on light, as in the training data"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.pad)
        tools = QGridLayout()
        tools.setHorizontalSpacing(8)
        tools.setVerticalSpacing(4)
        for row, (text, slider) in enumerate(((tr("Pen"), self.pen), (tr("Grey level"), self.grey))):
            label = QLabel(text)
            theme.mark(label, "role", "muted")
            tools.addWidget(label, row, 0)
            tools.addWidget(slider, row, 1)
        tools.addWidget(self.clear_button, 0, 2)
        tools.addWidget(self.invert_button, 1, 2)
        tools.setColumnStretch(1, 1)
        column.addLayout(tools)
        self.setFixedWidth(PAD)

    def _invert(self) -> None:
        self.pad.invert()
        self.grey.setValue(self.pad.ink)

    def sample(self, folder: Path) -> dict[str, Any] | None:
        """Return the drawing as a file, None for an empty sheet."""
        if self.pad.is_blank:
            return None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / DRAWING
        self.pad.image.save(str(file))
        return {"files": (file,)}


def _slider(name: str, low: int, high: int, value: int) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(low, high)
    slider.setValue(value)
    slider.setAccessibleName(name)
    slider.setToolTip(name)
    return slider


class TextInput(SampleInput):
    """A text to type or paste."""

    def __init__(self) -> None:
        super().__init__()
        self.box = QPlainTextEdit()
        self.box.setPlaceholderText(tr("Type or paste a text: the prediction follows."))
        self.box.setAccessibleName(tr("Text"))
        self.box.setTabChangesFocus(True)
        self.box.textChanged.connect(self.changed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.box)

    def sample(self, folder: Path) -> dict[str, Any] | None:
        """Return the text, None without any."""
        text = self.box.toPlainText().strip()
        return {"samples": [text]} if text else None


class RowInput(SampleInput):
    """A form with a field for each column; it begins with a usual row."""

    def __init__(self, record: Preparation) -> None:
        super().__init__()
        self.fields: dict[str, QLineEdit | QComboBox] = {}
        self.usual: dict[str, str] = {}
        self._numbers: list[str] = []
        content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        for input_part in record.inputs:
            start = 0
            for table_column in input_part.columns:
                self._add(grid, table_column, usual_values(input_part, table_column, start))
                start += len(table_column.names)
        for place, share in enumerate((3, 3, 2)):
            grid.setColumnStretch(place, share)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(content)
        self.reset_button = QPushButton(tr("Reset to averages"))
        self.reset_button.setToolTip(
            tr("An average of each number, the most frequent category of each text, in the training data")
        )
        self.reset_button.clicked.connect(self.reset)
        grid.addWidget(self.reset_button, len(self.fields), 1, Qt.AlignmentFlag.AlignLeft)
        grid.setRowStretch(len(self.fields) + 1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(area)

    def _add(self, grid: QGridLayout, column: ColumnPreparation, usual: tuple[str, str]) -> None:
        """Add the field of a column, with its usual value and a note on its range."""
        value, note = usual
        row = len(self.fields)
        field: QLineEdit | QComboBox
        if column.kind == "category":
            field = QComboBox()
            if column.missing is not None:
                field.addItem(tr("no value"), "")
            for category in column.categories:
                field.addItem(visible(category), category)
            field.setCurrentIndex(max(0, field.findData(value)))
            field.setMinimumContentsLength(8)
            field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            field.currentIndexChanged.connect(self.changed)
        else:
            field = TypedLine(value)
            field.setPlaceholderText(column.form if column.kind == "date" else tr("number"))
            field.setFont(theme.figures(field.font()))
            field.textEdited.connect(self.changed)
        label, help = ElidedLabel(column.name), ElidedLabel(note, elide=Qt.TextElideMode.ElideRight)
        if note:
            help.setText(note, note=tr("In the training data: {note}", note=note))
        theme.mark(help, "role", "help")
        label.setBuddy(field)
        field.setAccessibleName(visible(column.name))
        for place, widget in enumerate((label, field, help)):
            grid.addWidget(widget, row, place)
        self.fields[column.name], self.usual[column.name] = field, value
        if column.kind == "number":
            self._numbers.append(column.name)

    def reset(self) -> None:
        """Fill in the usual row."""
        for name, field in self.fields.items():
            field.blockSignals(True)
            if isinstance(field, QLineEdit):
                field.setText(self.usual[name])
            else:
                field.setCurrentIndex(max(0, field.findData(self.usual[name])))
            field.blockSignals(False)
        self.changed.emit()

    def sample(self, folder: Path) -> dict[str, Any] | None:
        """Return the row, None as long as no field is filled in. Fields that hold no number are marked."""
        for column in self._numbers:
            field = self.fields[column]
            assert isinstance(field, QLineEdit)
            theme.mark(field, "invalid", bool(field.text().strip()) and not is_number(field.text()))
        row = {
            name: field.text() if isinstance(field, QLineEdit) else field.currentData()
            for name, field in self.fields.items()
        }
        return {"samples": [row]} if any(row.values()) else None


def usual_values(input_part: InputPreparation, column: ColumnPreparation, start: int) -> tuple[str, str]:
    """Return the usual value of a column, and a note on its range in the training data. Where that is not known it
    follows from the normalisation, whose numbers from `start` on are those of the column."""
    count = len(column.names)
    normalization = input_part.normalization
    means, parts = [], []
    if normalization is not None:
        numbers = (normalization.shift, normalization.scale)
        each = [part if len(part) > 1 else part * (start + count) for part in numbers]
        means, parts = ([*part[start : start + count]] for part in each)
    if column.kind == "category":
        if (
            normalization is not None
            and normalization.method in ("zscore", "zerocenter")
            and len(means) == len(column.categories)
        ):
            return column.categories[means.index(max(means))], ""
        return column.missing if isinstance(column.missing, str) else next(iter(column.categories), ""), ""
    if column.kind == "date":
        return column.form, ""
    if column.span:
        low, middle, high = column.span
        middle = round(middle) if column.numbers == "whole" else middle
        return _typed(middle), _range(low, high)
    if normalization is None or len(means) != 1:
        return _typed(column.missing) if isinstance(column.missing, float) else "", ""
    middle, spread = means[0], 1 / parts[0] if parts and parts[0] else 0.0
    if normalization.method == "zscore":  # of a network that does not say in which range its data lies
        low, high = middle - USUAL_SPREAD * spread, middle + USUAL_SPREAD * spread
        return _typed(middle), tr("mostly {low} to {high}", low=format_number(low), high=format_number(high))
    if normalization.method == "rescale-zero-one":
        return _typed(middle + spread / 2), _range(middle, middle + spread)
    if normalization.method == "rescale-symmetric":
        return _typed(middle), _range(middle - spread, middle + spread)
    return _typed(middle), ""


def _range(low: float, high: float) -> str:
    return tr("{low} to {high}", low=format_number(low), high=format_number(high))


def _typed(value: float) -> str:
    """Return a number as it is typed, without commas."""
    return format_number(value).replace(",", "")


def is_number(text: str) -> bool:
    """Return whether a text is a finite number; commas may group its digits."""
    try:
        return isfinite(float(text.replace(",", "")))
    except ValueError:
        return False


class FileInput(QFrame):
    """Buttons for files and folders, and a hint on dropping and pasting."""

    files_chosen = Signal(list)

    def __init__(
        self, hint: str, ask: Callable[[bool], Sequence[str]], paste: Callable[[], None], *, takes_folders: bool
    ) -> None:
        """`ask` asks for files, or with true for a folder; `paste` takes the contents of the clipboard."""
        super().__init__()
        self.hint = QLabel(hint)
        self.hint.setWordWrap(True)
        theme.mark(self.hint, "role", "help")
        row = QHBoxLayout()
        row.setSpacing(8)
        self.buttons: dict[str, QPushButton] = {}
        for key, text, is_folder in (("files", tr("Files…"), False), ("folder", tr("Folder…"), True)):
            button = self.buttons[key] = QPushButton(text)
            button.clicked.connect(lambda _=False, is_folder=is_folder: self._ask(ask, is_folder=is_folder))
            if is_folder and not takes_folders:
                button.hide()
            row.addWidget(button)
        button = self.buttons["paste"] = QPushButton(tr("Paste"))
        button.setToolTip(tr("Predict what is on the clipboard (Ctrl+V)"))
        button.clicked.connect(paste)
        row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.hint)

    def _ask(self, ask: Callable[[bool], Sequence[str]], *, is_folder: bool) -> None:
        if files := list(ask(is_folder)):
            self.files_chosen.emit(files)

    def sizeHint(self) -> QSize:
        """Return the size of the drawing pad in width."""
        return QSize(PAD, super().sizeHint().height())


def input_for(record: Preparation) -> SampleInput | None:
    """Return the way to give a sample by hand that suits a network, None where it takes files alone."""
    reads = {entry.reads for entry in record.inputs}
    if reads == {"columns"}:
        return RowInput(record)
    if reads == {"text"}:
        return TextInput()
    entry = record.inputs[0]
    return DrawingInput(entry.sizes[1] or PAD) if takes_pictures(record) and entry.sizes[0] == 1 else None


def takes_pictures(record: Preparation) -> bool:
    """Return whether a network takes one picture, grey or in colour."""
    entry = record.inputs[0]
    is_picture = entry.reads in ("image", "array") and entry.axes == ("C", "H", "W")
    return len(record.inputs) == 1 and is_picture and entry.sizes[0] in (1, 3)


def hint_for(record: Preparation) -> str:
    """Return a text on the files that can be dropped."""
    first = record.inputs[0]
    reads = {entry.reads for entry in record.inputs}
    if takes_pictures(record):
        return tr("Drop pictures or a folder here, or paste one (Ctrl+V).")
    if reads == {"columns"}:
        return tr(
            "Drop a CSV, Excel or Parquet table with these columns here, or paste its rows with a header (Ctrl+V)."
        )
    if reads == {"text"}:
        return tr("Drop text files here: each line is a text.")
    if "sound" in reads:
        return tr("Drop audio files or a folder here.")
    shapes = ", ".join(f"{entry.source or entry.name} ({_shape(entry)})" for entry in record.inputs)
    if first.columns and first.axes == ("T", "C"):
        names = ", ".join(first.column_names)
        ahead = record.inputs[1].sizes[0] if len(record.inputs) > 1 else 0
        if first.sizes[0] is None:
            hint = tr(
                "Drop a table here, a row per time step, oldest first, or paste it (Ctrl+V). Columns: {names}.",
                names=names,
            )
        else:
            hint = tr(
                "Drop a table of at least {rows:,} rows here, a row per time step, oldest first, or paste it "
                "(Ctrl+V). Columns: {names}.",
                rows=_steps(record),
                names=names,
            )
        return tr("{hint} The last {count:,} rows are the steps to predict.", hint=hint, count=ahead) if ahead else hint
    return tr("Drop arrays (.npz, .npy) here, samples first: {shapes}.", shapes=shapes)


def _steps(record: Preparation) -> int:
    return sum(entry.sizes[0] or 0 for entry in record.inputs)


def _shape(entry: InputPreparation) -> str:
    sizes = zip(entry.axes, entry.sizes, strict=True)
    return " × ".join(("N", *(axis if size is None else f"{size:,}" for axis, size in sizes)))


def dropped(data: QMimeData) -> list[str]:
    """Return the files on the clipboard or under the pointer."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
