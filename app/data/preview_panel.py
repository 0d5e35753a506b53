"""A preview of the data: samples as pictures, rows or series, and beside them the classes and the proposed network."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from netwright.app.data.data_charts import ColumnCharts, class_bars, split_bars
from netwright.app.data.findings_strip import ReviewPart
from netwright.app.data.lanes import lanes_of
from netwright.app.data.option_words import column_name, column_words
from netwright.app.data.preview_tiles import can_augment, samples_of
from netwright.app.data.sample_tables import make_table
from netwright.app.data.samples_bar import SamplesBar
from netwright.app.data.tiles import Tiles
from netwright.designer import theme
from netwright.designer.engine_messages import message_text
from netwright.designer.language import noop, tr, translation
from netwright.engine.project.dataset_info import DatasetInfo

FEW_COLUMNS = 24
"""Columns that are shown before all are asked for."""
ASIDE_WIDTH, LEAST_BESIDE, SHORT = 340, 820, 800
"""Pixels of the cards beside the samples, and of the page from which on they stand there and not below;
and the height of the window below which the way out of the page comes first."""


CLASSES = {
    "samples": noop("Classes"),
    "steps": noop("Classes, counted in steps"),
    "pixels": noop("Classes, counted in pixels"),
    "voxels": noop("Classes, counted in voxels"),
}
"""The title of the classes, by what the engine counts of them."""


class Preview(QWidget):
    """Shows one answer of the engine; its content is made anew for each."""

    def __init__(self, review: ReviewPart | None = None, aside: Sequence[QWidget] = ()) -> None:
        """Show `review` above the samples, where it is wanted, and the cards `aside` below the one of the classes."""
        super().__init__()
        self.review, self._cards = review, tuple(aside)
        for card in filter(None, (review, *aside)):  # without a parent they would outlive the window
            card.setParent(self)
            card.hide()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        outer.addWidget(self._area)
        self.content = QWidget()
        self.bar: SamplesBar | None = None
        self.tiles: Tiles | None = None

    def show_answer(self, answer: dict[str, Any], facts: DatasetInfo) -> None:
        """Show the answer to the request `preview`."""
        self.content = QWidget()
        self.tiles, self.bar = samples_of(answer), None
        column = QVBoxLayout(self.content)
        column.setContentsMargins(24, 0, 24, 16)
        column.setSpacing(12)
        if self.review is not None:
            column.addWidget(self.review)  # out of the old content, which is deleted
            loading = message_text(answer.get("loading") or "")
            self.review.show_notes([*filter(None, [loading]), *(answer.get("notes") or [])])
        column.addWidget(_Beside(self._samples(answer, facts), self._aside(answer, facts)), 1)
        self._area.setWidget(self.content)

    def _samples(self, answer: dict[str, Any], facts: DatasetInfo) -> QWidget:
        """Return the samples: tiles below their bar, or rows, and what is known of the columns."""
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        if self.tiles is not None:
            names = [str(entry["name"]) for entry in answer.get("classes") or ()]
            first = facts.targets[0]
            self.bar = SamplesBar(facts.samples, names if first.is_one_class else (), can_augment=can_augment(facts))
            column.addWidget(self.bar)
            if (legend := lanes_of(answer, facts.inputs[0].columns if facts.inputs else ())) is not None:
                column.addWidget(legend)
            column.addWidget(self.tiles)
        if answer.get("rows"):
            heads = [column_name(column) for column in answer.get("columns", [])]
            column.addWidget(make_card(tr("First rows"), make_table(heads, answer["rows"])))
        if answer.get("columns"):
            column.addWidget(_columns(answer["columns"], is_table=bool(answer.get("rows"))))
        if answer.get("lengths"):
            from netwright.app.plots.histogram_plot import HistogramPlot  # pyqtgraph, which other data does without

            plot = HistogramPlot(answer["lengths"], tr("steps"), tr("sequences"))
            column.addWidget(make_card(tr("Lengths"), plot))
        column.addStretch(1)
        return part

    def _aside(self, answer: dict[str, Any], facts: DatasetInfo) -> QWidget:
        """Return the cards beside the samples."""
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        if is_first := self.window().height() < SHORT:
            self._add_cards(column)
        if answer.get("classes"):
            counted = answer.get("counted", "samples")
            is_coloured = any("mask" in p for p in answer.get("pictures") or ()) or any(
                "steps" in s for s in answer.get("series") or ()
            )
            bars = class_bars(answer["classes"], is_coloured=is_coloured)
            column.addWidget(make_card(translation(CLASSES[counted]), bars))
        else:
            column.addWidget(make_card(tr("Splits"), split_bars(facts.samples)))
        if not is_first:
            self._add_cards(column)
        column.addStretch(1)
        return part

    def _add_cards(self, column: QVBoxLayout) -> None:
        for card in self._cards:
            column.addWidget(card)
            card.show()

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


class _Beside(QWidget):
    """The samples with the cards beside them; below them where the page is narrow."""

    def __init__(self, main: QWidget, aside: QWidget) -> None:
        super().__init__()
        self._row = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(24)
        self._row.addWidget(main, 1)
        self._row.addWidget(aside)
        aside.setFixedWidth(ASIDE_WIDTH)
        self.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Turn the row into a column, or back, when the width changes."""
        if event.type() == QEvent.Type.Resize:
            is_wide = self.width() >= LEAST_BESIDE
            side = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
            self._row.setDirection(side)
        return False


def make_card(title: str, content: QWidget, *, above: QWidget | None = None) -> QFrame:
    """Return a card with a title, and a widget between it and the content."""
    frame = QFrame()
    theme.mark(frame, "role", "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(16, 12, 16, 16)
    column.setSpacing(10)
    heading = QLabel(title)
    theme.mark(heading, "role", "strong")
    column.addWidget(heading)
    if above is not None:
        column.addWidget(above)
    column.addWidget(content)
    return frame


def _columns(columns: list[dict[str, Any]], *, is_table: bool) -> QFrame:
    """Return the columns of a table with their values; those whose values are not counted, and arrays, as a table."""
    if not any(column.get("histogram") for column in columns):
        rows = [[column_name(column), column_words(column["role"]), column_words(column["kind"])] for column in columns]
        return make_card(
            tr("Columns") if is_table else tr("Arrays"), make_table([tr("Name"), tr("Role"), tr("Kind")], rows)
        )
    content = QWidget()
    inside = QVBoxLayout(content)
    inside.setContentsMargins(0, 0, 0, 0)
    charts = ColumnCharts(columns[:FEW_COLUMNS])
    inside.addWidget(charts)
    if (rest := len(columns) - FEW_COLUMNS) > 0:
        more = QPushButton(tr("Show %n more column(s)", "", rest))
        theme.mark(more, "role", "link")
        more.clicked.connect(lambda: charts.show_columns(columns))
        more.clicked.connect(more.hide)
        inside.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)
    return make_card(tr("Columns, {count:,}", count=len(columns)), content)
