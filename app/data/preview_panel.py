"""A preview of the data: the number of samples per split and class, and some samples as pictures, rows or series."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.data.data_charts import ColumnCharts, class_chart
from netwright.app.data.data_checks import DataChecks
from netwright.app.data.file_check import FileCheck
from netwright.app.data.tiles import (
    Masked,
    Paired,
    Picture,
    Sound,
    Span,
    Sparkline,
    Tile,
    Tiles,
    channel_colour,
    spans_of,
)
from netwright.app.widgets import WrappedRow
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.items import table_item
from netwright.engine.core.text import format_number
from netwright.engine.project.dataset_info import SPLITS, DatasetInfo
from netwright.engine.project.options.augmentation_options import AUGMENTATION
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions

MOST_SERIES = 24
FEW_COLUMNS = 24
"""Columns that are shown before all are asked for."""
MOST_WIDTH, WIDEST, FEW_WIDE = 220, 640, 4
"""Widest columns of a table, in pixels: of many columns, and of few, whose texts are read."""
LONG_CELL, MOST_TOLD = 24, 1000
"""Characters from which on a cell may be cut and has a tooltip, and those of the tooltip."""
LEGEND_ROW = 20
LONGEST_LARGE, LONGEST_FIGURE, LARGE_HEIGHT, WIDEST_FIGURE = 10, 13, 32, 240


class Preview(QWidget):
    """Shows one answer of the engine; its content is made anew for each."""

    def __init__(self, checks: DataChecks | None = None) -> None:
        """Show the card `checks` among the others."""
        super().__init__()
        self._checks = checks
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        outer.addWidget(self._area)
        self.content = QWidget()
        self.bar: AugmentedBar | None = None
        self.tiles: Tiles | None = None
        self.files = FileCheck()

    def show_answer(self, answer: dict[str, Any], facts: DatasetInfo, *, has_files: bool = False) -> None:
        """Show the answer to the request `preview`, and with `has_files` the check of the image files. Images
        and sequences have a bar over them, which the caller fills."""
        self.content = QWidget()
        self.bar = AugmentedBar() if can_augment(facts) else None
        self.tiles = None
        column = QVBoxLayout(self.content)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(_counts(facts))
        for note in (*filter(None, [answer.get("loading")]), *(answer.get("notes") or [])):
            column.addWidget(_muted(note))
        column.addWidget(self.files)  # out of the old content, which is deleted
        self.files.setVisible(has_files)
        if self._checks is not None:
            column.addWidget(self._checks)
            self._checks.show()
        self.tiles = samples_of(answer)
        if self.tiles is not None:
            legend = lanes_of(answer, facts.inputs[0].columns if facts.inputs else ())
            column.addWidget(make_card("Samples", self.tiles, self.bar, above=legend))
        if answer.get("classes"):
            counted = answer.get("counted", "samples")
            title = "Classes" if counted == "samples" else f"Classes, counted in {counted}"
            is_coloured = any("mask" in p for p in answer.get("pictures") or ()) or any(
                "steps" in s for s in answer.get("series") or ()
            )
            column.addWidget(make_card(title, class_chart(answer["classes"], is_coloured=is_coloured)))
        if answer.get("lengths"):
            from netwright.app.plots.histogram_plot import HistogramPlot  # pyqtgraph, which other data does without

            column.addWidget(make_card("Lengths", HistogramPlot(answer["lengths"], "steps", "sequences")))
        if answer.get("columns"):
            column.addWidget(_columns(answer["columns"], is_table=bool(answer.get("rows"))))
        if answer.get("rows"):
            heads = [str(c["name"]) for c in answer.get("columns", [])]
            column.addWidget(make_card("First rows", make_table(heads, answer["rows"])))
        column.addStretch(1)
        self._area.setWidget(self.content)

    def show_samples(self, answer: dict[str, Any]) -> None:
        """Replace the samples; all else stays."""
        old, new = self.tiles, samples_of(answer)
        if old is None or new is None:
            return
        self.tiles = new
        holder = old.parentWidget()
        assert holder is not None
        layout = holder.layout()
        assert layout is not None
        layout.replaceWidget(old, self.tiles)
        old.hide()
        old.deleteLater()


def _muted(text: str) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    theme.mark(label, "role", "muted")
    return label


def make_card(title: str, content: QWidget, corner: QWidget | None = None, *, above: QWidget | None = None) -> QFrame:
    """Return a card with a title, a widget beside it and one between it and the content."""
    frame = QFrame()
    theme.mark(frame, "role", "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(16, 12, 16, 16)
    column.setSpacing(12)
    heading = QLabel(title.upper())
    theme.mark(heading, "role", "section")
    if corner is None:
        column.addWidget(heading)
    else:
        row = QHBoxLayout()
        row.addWidget(heading)
        row.addWidget(corner, 1)
        column.addLayout(row)
    if above is not None:
        column.addWidget(above)
    column.addWidget(content)
    return frame


def _size_of(number: str) -> str:
    """Return the role of a figure: as large as it can be shown whole."""
    return "large" if len(number) <= LONGEST_LARGE else "figure" if len(number) <= LONGEST_FIGURE else "title"


def _counts(facts: DatasetInfo) -> WrappedRow:
    """Return the sizes of the three splits, and the inputs and targets, as cards in a row."""
    cards = []
    figures = [(split.capitalize(), f"{facts.samples.get(split, 0):,}", "samples") for split in SPLITS]
    sizes = ", ".join(input.short() for input in facts.inputs)
    figures.append(("Input", sizes, " and ".join(input.type.layout for input in facts.inputs)))
    if len(facts.targets) == 1 and facts.targets[0].per == "sample" and facts.task in ("classes", "numbers"):
        is_class = facts.task == "classes"
        title, unit = ("Classes", "to predict") if is_class else ("Responses", "to predict")
        figures.append((title, f"{facts.outputs:,}", unit))
    elif len(facts.targets) == 1:
        figures.append(("Target", facts.targets[0].spoken(), facts.targets[0].name))
    else:
        figures.append(("Targets", str(len(facts.targets)), ", ".join(target.name for target in facts.targets)))
    for title, number, unit in figures:
        frame = QFrame()
        theme.mark(frame, "role", "card")
        column = QVBoxLayout(frame)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(4)
        figure = ElidedLabel(number)
        theme.mark(figure, "role", _size_of(number))
        figure.setMinimumHeight(LARGE_HEIGHT)
        figure.ensurePolished()
        figure.setMinimumWidth(min(figure.fontMetrics().horizontalAdvance(number) + 2, WIDEST_FIGURE))
        for label in (_muted(title), figure, _muted(unit)):
            label.setWordWrap(False)
            column.addWidget(label)
        cards.append(frame)
    return WrappedRow(cards)


def can_augment(facts: DatasetInfo) -> bool:
    """Return whether the samples that are shown can be augmented: images, or sequences of numbers."""
    return bool(facts.inputs) and (facts.inputs[0].type.layout == "image" or facts.inputs[0].is_series)


def samples_of(answer: dict[str, Any], most: int | None = None) -> Tiles | None:
    """Return the samples of an answer as tiles: pictures, read from their files, or sequences; None for others."""
    if answer.get("pictures"):
        pictures = answer["pictures"][:most]
        tiles = [
            picture_tile(p, str(p["label"]), f"{p['label']} ({p['split']})" if p["split"] else p["label"])
            for p in pictures
        ]
        return Tiles(tiles, is_stretched="wave" in pictures[0])
    if answer.get("series"):
        series = answer["series"][: most or MOST_SERIES]
        spans = spans_of(lane for sample in series for lane in Sparkline.lanes(sample["values"], ahead_of(sample)))
        return Tiles([_sparkline(sample, spans) for sample in series], is_stretched=True)
    return None


def picture_tile(picture: dict[str, Any], label: str, tip: str) -> Tile:
    """Return a picture as a tile, with its mask, its target image or its wave where it has one."""
    if "target" in picture:
        return Paired(picture["file"], picture["target"], label, tip)
    if "wave" in picture:
        return Sound(picture["file"], picture["wave"], label, tip)
    return (
        Masked(picture["file"], picture["mask"], label, tip)
        if "mask" in picture
        else Picture(picture["file"], label, tip)
    )


def ahead_of(sample: Mapping[str, Any]) -> list[tuple[int, list[float]]]:
    """Return the values to predict, each with the index of its channel, or -1 where it is no input."""
    channels = list(sample.get("channels") or ())
    items = (sample.get("ahead") or {}).items()
    return [(channels.index(name) if name in channels else -1, values) for name, values in items]


def _sparkline(sample: dict[str, Any], spans: list[Span]) -> Sparkline:
    """Return a sequence as a tile; of a window of a time series with the values to predict."""
    ahead, channels = sample.get("ahead") or {}, list(sample.get("channels") or ())
    label = str(sample["label"]) if not ahead else f"{', '.join(ahead)}: {sample['label']}"
    lines = [
        label,
        ", ".join(channels),
        f"Right of the line: {', '.join(ahead)}" if ahead else "",
        str(sample["split"]),
    ]
    tip = "\n".join(filter(None, lines))
    return Sparkline(sample["values"], label, tip, steps=sample.get("steps", ()), ahead=ahead_of(sample), spans=spans)


class Lanes(QWidget):
    """Names the lanes of sequences, with colour and range, in as many columns as fit."""

    def __init__(self, names: list[str], spans: list[Span]) -> None:
        super().__init__()
        self.texts = [
            (name, f"{format_number(low)} to {format_number(high)}" if low <= high else "no values")
            for name, (low, high) in zip(names, spans, strict=True)
        ]
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("; ".join(f"{name}: {span}" for name, span in self.texts))

    def _places(self, width: int) -> list[QPoint]:
        """Return where each entry begins."""
        measure, places, x, y = self.fontMetrics(), [], 0, 0
        for name, span in self.texts:
            needed = measure.horizontalAdvance(f"{name}  {span}") + 16
            if x and x + needed > width:
                x, y = 0, y + LEGEND_ROW
            places.append(QPoint(x, y))
            x += needed + 20
        return places

    def hasHeightForWidth(self) -> bool:
        """Return true: a narrow window needs more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows."""
        return self._places(width)[-1].y() + LEGEND_ROW if self.texts else 0

    def sizeHint(self) -> QSize:
        """Return the size in a window of usual width."""
        return QSize(900, self.heightForWidth(900))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a line in the colour, the name and the range of each lane."""
        painter, palette = QPainter(self), theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, (place, (name, span)) in enumerate(zip(self._places(self.width()), self.texts, strict=True)):
            area = QRectF(place.x(), place.y(), self.width(), LEGEND_ROW)
            painter.setPen(QPen(channel_colour(index), 2.0))
            painter.drawLine(QPointF(area.left(), area.center().y()), QPointF(area.left() + 10, area.center().y()))
            painter.setPen(palette.text)
            painter.drawText(area.adjusted(16, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, name)
            painter.setPen(palette.muted)
            offset = 16 + painter.fontMetrics().horizontalAdvance(f"{name}  ")
            painter.drawText(area.adjusted(offset, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, span)
        painter.end()


def lanes_of(answer: dict[str, Any], names: Sequence[str] = ()) -> Lanes | None:
    """Return the legend of the sequences of an answer; None where there are none. `names` are those of the channels,
    where the answer has none."""
    if not (series := answer.get("series")):
        return None
    spans = spans_of(lane for sample in series for lane in Sparkline.lanes(sample["values"], ahead_of(sample)))
    channel_names = list(series[0].get("channels") or names)
    channel_names += [name for name in series[0].get("ahead") or () if name not in channel_names]
    if len(channel_names) < len(spans):
        channel_names = [f"Channel {index + 1}" for index in range(len(spans))]
    return Lanes(channel_names[: len(spans)], spans)


def _columns(columns: list[dict[str, Any]], *, is_table: bool) -> QFrame:
    """Return the columns of a table with their values; those whose values are not counted, and arrays, as a table."""
    if not any(column.get("histogram") for column in columns):
        rows = [[column["name"], column["role"], column["kind"]] for column in columns]
        return make_card("Columns" if is_table else "Arrays", make_table(["Name", "Role", "Kind"], rows))
    content = QWidget()
    inside = QVBoxLayout(content)
    inside.setContentsMargins(0, 0, 0, 0)
    charts = ColumnCharts(columns[:FEW_COLUMNS])
    inside.addWidget(charts)
    if (rest := len(columns) - FEW_COLUMNS) > 0:
        more = QPushButton(f"Show {rest:,} more columns")
        theme.mark(more, "role", "link")
        more.clicked.connect(lambda: charts.show_columns(columns))
        more.clicked.connect(more.hide)
        inside.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)
    return make_card(f"Columns, {len(columns):,}", content)


def make_table(heads: list[str], rows: list[list[Any]]) -> QTableWidget:
    """Return rows as a table that shows itself whole, up to a height. Columns without a cell are left out."""
    heads = heads[: max(map(len, rows), default=len(heads))]
    table = QTableWidget(len(rows), len(heads))
    table.verticalHeader().hide()
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setFrameShape(QFrame.Shape.NoFrame)
    numbers = {j for j in range(len(heads)) if all(_is_number(row[j]) for row in rows if j < len(row))}
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            text = _cell(value)
            item = table_item(text, text[:MOST_TOLD] if len(text) > LONG_CELL else "")
            if j in numbers:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            table.setItem(i, j, item)
    table.horizontalHeader().setMaximumSectionSize(MOST_WIDTH if len(heads) > FEW_WIDE else WIDEST)
    table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.setShowGrid(False)
    table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    for j in range(len(heads)):
        side = Qt.AlignmentFlag.AlignRight if j in numbers else Qt.AlignmentFlag.AlignLeft
        head = table_item(heads[j], heads[j])
        head.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        table.setHorizontalHeaderItem(j, head)
    height = table.horizontalHeader().sizeHint().height() + table.verticalHeader().defaultSectionSize() * len(rows)
    table.setFixedHeight(min(height + 4, 420))
    return table


def _is_number(value: Any) -> bool:
    """Return whether a cell is a number, or the text of one, as in the rows of a file."""
    if not isinstance(value, str):
        return isinstance(value, (int, float))
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return format_number(value, 6) if isinstance(value, int | float) else str(value)


NOTHING_YET = "No augmentation"


def changes_of(project: Project) -> tuple[object, ...]:
    """Return the values that the augmented samples of an epoch depend on, beside the data."""
    options = project.training
    return options.seed, *(getattr(options, name) for name in AUGMENTATION)


class AugmentedBar(QWidget):
    """A switch to show samples as augmented, the epoch, and a link to the options."""

    epoch_chosen = Signal(int)
    """The epoch whose augmentation is shown; 0 for the samples as they are."""
    options_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._epoch = 0
        self.shown = QCheckBox("Show as augmented")
        self.shown.setToolTip("The samples of the training split as an epoch changes them at random")
        self.shown.toggled.connect(self._on_toggled)
        self.note = ElidedLabel("")
        self.again = QPushButton("New samples")
        self.again.setToolTip("As the next epoch changes them")
        self.again.clicked.connect(lambda: self._choose(self._epoch + 1))
        self.options = QPushButton()
        self.options.clicked.connect(self.options_wanted)
        for link in (self.again, self.options):
            theme.mark(link, "role", "link")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addStretch(1)
        for widget in (self.shown, self.note, self.again, self.options):
            row.addWidget(widget)

    def show_state(self, options: TrainingOptions, problem: str, epoch: int) -> None:
        """Show what can be shown, and which epoch is; `problem` says why these options cannot be used."""
        self._epoch = epoch
        can_show = bool(options.augments) and not problem
        text = problem or (f"Epoch {epoch}" if epoch else "" if can_show else NOTHING_YET)
        theme.mark(self.note, "role", "error" if problem else "help")
        self.note.setText(text)
        self.note.setVisible(bool(text))
        self.shown.blockSignals(True)
        self.shown.setChecked(epoch > 0)
        self.shown.blockSignals(False)
        self.shown.setVisible(can_show)
        self.again.setVisible(epoch > 0)
        self.options.setText("Change…" if options.augments else "Augment…")
        self.options.setToolTip("The random changes, among the training options")

    def _on_toggled(self, is_on: bool) -> None:
        self._choose(1 if is_on else 0)

    def _choose(self, epoch: int) -> None:
        self.epoch_chosen.emit(epoch)
