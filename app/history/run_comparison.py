"""Runs side by side: curves in one picture, figures and options in a table with what differs marked."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFont, QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSlider,
    QSplitter,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.app.plots.card import PlotCard
from netwright.app.plots.comparison_plot import LEAST, Comparison, ComparisonPlot, badge_pixmap
from netwright.app.plots.curve_export import ExportButton, count_of, write_runs_csv
from netwright.app.plots.plot_data import LinkedXAxis
from netwright.app.plots.timeline import Along
from netwright.app.plots.traces import Traces
from netwright.app.plots.words import metric_title
from netwright.app.runs.run_texts import label_of, letters_of, option_label, option_text, state_in_words, text_of
from netwright.app.runs.segments import PairPage, Segments
from netwright.app.runs.watched_page import WatchedPair
from netwright.app.widgets import FlowRow
from netwright.designer import theme
from netwright.designer.elided_label import ElidedLabel
from netwright.designer.engine_messages import title_text
from netwright.designer.items import table_item
from netwright.designer.language import listed, named, noop, tr, translation
from netwright.designer.markup import visible
from netwright.engine.project.options.metric_options import format_score, is_better_low
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.query import option_names, score_names
from netwright.engine.runs.run_options import in_order
from netwright.engine.runs.summary import RunSummary

FACTS = ("created", "seconds", "environment", "epochs")
REDRAW_MS = 33
LABEL_WIDTH, RUN_WIDTH, LEAST_RUN_WIDTH = 220, 240, 140
AROUND_TABLE = 72
"""Margins beside the table, and its scroll bar."""
NARROW = 800
"""Width of the page below which the slider has no word beside it."""
MOST_CURVES = 8
"""More curves in one plot could not be told apart."""
ONLY_TWO = noop("The answers of two runs that have ended can be compared.")
BEST = Qt.ItemDataRole.UserRole
"""Whether a cell holds the best value of its row."""
ALONG = {"iterations": noop("By iteration"), "epochs": noop("By epoch"), "time": noop("By time")}


@dataclass(frozen=True)
class Row:
    """One thing of every run. `path` is the `--set` path of an option."""

    label: str
    values: tuple[str, ...]
    path: str = ""
    best: frozenset[int] = frozenset()
    """The runs with the best value of a loss or metric, by number; none where all are equal."""

    @property
    def differs(self) -> bool:
        """Whether the runs do not have all the same."""
        return len(set(self.values)) > 1


def rows_of(runs: Sequence[RunSummary]) -> list[Row]:
    """Every row, those in which runs differ and the others."""
    return [*_facts(runs), *_options(runs)]


def _facts(runs: Sequence[RunSummary]) -> Iterator[Row]:
    yield Row(tr("State"), tuple(state_in_words(run.state)[0] for run in runs))
    for name in FACTS:
        yield Row(label_of(name), tuple(text_of(run, name) for run in runs))
    for name in score_names(runs):
        texts = tuple(format_score(name, run.scores.get(name)) for run in runs)
        yield Row(label_of(name), texts, best=_best(name, [run.scores.get(name) for run in runs]))
    if letters := letters_of(runs):
        yield Row(tr("Network"), tuple(letters.get(run.network, "") for run in runs))


def _best(name: str, values: Sequence[float | None]) -> frozenset[int]:
    """Return which values of a loss or metric are the best; none where all that are known are equal."""
    numbers = [value for value in values if value is not None and not math.isnan(value)]
    if len(set(numbers)) < 2:
        return frozenset()
    metric = name.rpartition(".")[2]
    best = min(numbers) if metric == "loss" or is_better_low(metric) else max(numbers)
    return frozenset(number for number, value in enumerate(values) if value == best)


def _options(runs: Sequence[RunSummary]) -> Iterator[Row]:
    for path in in_order(option_names(runs)):
        yield Row(option_label(path), tuple(option_text(run, path) for run in runs), path)


class ComparePage(QWidget):
    """`show_runs` fills it. `answers` shows where two runs answer otherwise. `shutdown` must be called before the
    program ends."""

    closed = Signal()
    networks_requested = Signal(object, object)

    def __init__(self, answers: PairPage | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answers = answers
        self.runs: list[RunSummary] = []
        self.traces = Traces(self)
        self.x_axis = LinkedXAxis(least=LEAST)
        self.metric_curves, self.loss_curves = Comparison(x_axis=self.x_axis), Comparison(x_axis=self.x_axis)
        self.plots = ComparisonPlot(self.metric_curves), ComparisonPlot(self.loss_curves)
        self.cards = tuple(PlotCard(plot) for plot in self.plots)
        self.title, self.segments = ElidedLabel(), Segments()
        self.quantity = QComboBox()
        self.table = QTableWidget()
        self._redraw = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._redraw.timeout.connect(self._draw)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addLayout(self._make_head())
        column.addWidget(self.segments, 1)
        self.segments.set_corner(self._make_controls())
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(12)
        parts.setStyleSheet("QSplitter::handle { background: transparent; }")
        parts.addWidget(self._make_plots())
        parts.addWidget(self._make_table())
        parts.setSizes([420, 360])
        page = QScrollArea()  # a low window shows a part of the plots, not parts of each
        page.setWidgetResizable(True)
        page.setFrameShape(QFrame.Shape.NoFrame)
        page.setWidget(parts)
        self.segments.add("curves", tr("Curves and options"), page)
        if answers is not None:
            self.segments.add("answers", translation(answers.title), answers)
        self.watched = WatchedPair()
        self.segments.add("watched", tr("Answers while they trained"), self.watched)
        self.traces.changed.connect(self.watched.look_again)
        self.traces.changed.connect(self._on_traces)
        theme.changed.connect(self._dress)

    # ---- making ----

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.back = QPushButton(tr("Close"))
        self.back.setToolTip(tr("Back to one run (Esc)"))
        self.back.setShortcut("Esc")
        self.back.clicked.connect(self.closed)
        theme.mark(self.title, "role", "figure")
        row.addWidget(self.title, 1)
        row.addWidget(self.back)
        return row

    def _make_controls(self) -> FlowRow:
        self.along = QComboBox()
        self.along.setAccessibleName(tr("Horizontal axis of the curves"))
        for key in get_args(Along):
            self.along.addItem(translation(ALONG[key]), key)
        self.along.currentIndexChanged.connect(self.show_all)
        self.quantity.setAccessibleName(tr("Quantity of the left plot"))
        self.quantity.currentIndexChanged.connect(self._on_controls)
        self.training, self.validation = QCheckBox(tr("Training (solid)")), QCheckBox(tr("Validation (dashed)"))
        self.is_log = QCheckBox(tr("Logarithmic loss"))
        for box, is_on in ((self.training, True), (self.validation, True), (self.is_log, False)):
            box.setChecked(is_on)
            box.toggled.connect(self._on_controls)
        self.smoothing_label = label = QLabel(tr("Smoothing"))
        theme.mark(label, "role", "muted")
        self.smoothing = QSlider(Qt.Orientation.Horizontal)
        self.smoothing.setAccessibleName(tr("Smoothing of the training curves"))
        self.smoothing.setRange(0, 99)
        self.smoothing.setToolTip(tr("Smoothing of the training curves"))
        self.smoothing.setFixedWidth(80)
        self.smoothing.setValue(60)
        self.smoothing.valueChanged.connect(self._on_controls)
        label.setBuddy(self.smoothing)
        smoothing = QWidget()
        pair = QHBoxLayout(smoothing)
        pair.setContentsMargins(0, 0, 0, 0)
        pair.addWidget(label)
        pair.addWidget(self.smoothing)
        self.whole = QPushButton()
        self.whole.setAccessibleName(tr("Show the whole runs"))
        self.whole.setToolTip(tr("Show the whole runs again; a double click on a plot does the same"))
        self.whole.clicked.connect(self.show_all)
        self.whole.hide()
        self.export = ExportButton(
            lambda: [card for card in self.cards if not card.isHidden()],
            lambda path: write_runs_csv(path, self.traces.traces),
            lambda: count_of(self.traces.traces),
        )
        boxes = self.training, self.validation, self.is_log, smoothing
        self.controls = FlowRow(has_end=True)
        self.controls.show_widgets((*boxes, self.quantity, self.along, self.whole, self.export))
        return self.controls

    def _make_plots(self) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for card in self.cards:
            card.plot.part_changed.connect(self._on_part_changed)
            row.addWidget(card, 1)
        return holder

    def _make_table(self) -> QWidget:
        card = QFrame()
        theme.mark(card, "role", "card")
        column = QVBoxLayout(card)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(4)
        head = QHBoxLayout()
        head.setContentsMargins(8, 0, 4, 0)
        self.only_different = QCheckBox(tr("Differences only"))
        self.only_different.setChecked(True)
        self.only_different.toggled.connect(self._fill)
        self.networks = QPushButton(tr("Compare networks…"))
        self.networks.clicked.connect(lambda: self.networks_requested.emit(*self.runs[:2]))
        head.addWidget(self.only_different)
        head.addStretch(1)
        head.addWidget(self.networks)
        column.addLayout(head)
        self.table.setAccessibleName(tr("Results and options of the runs"))
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        self.table.setWordWrap(False)
        self.table.setTabKeyNavigation(False)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.table.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(28)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        column.addWidget(self.table, 1)
        return card

    # ---- showing ----

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Compare these runs."""
        self.runs = list(runs)
        names = [title_text(run.title) for run in self.runs]
        if len(names) == 2:
            title = listed(names)
        elif len(runs) > MOST_CURVES:
            title = tr("{count:,} runs compared, curves of the first {most}", count=len(names), most=MOST_CURVES)
        else:
            title = tr("{count:,} runs compared", count=len(names))
        self.title.setText(title)
        self._show_answers()
        self.watched.set_pair([(title_text(run.title), run.path) for run in self.runs])
        is_two = len(self.runs) == 2
        self.networks.setEnabled(is_two)
        self.networks.setToolTip(tr("Layer by layer, on the canvas") if is_two else tr("Compares two runs at a time"))
        self.x_axis.part = None
        self.whole.hide()
        self.traces.show_runs([RunFolder(run.path) for run in self.runs[:MOST_CURVES]])
        self.metric_curves.traces = self.loss_curves.traces = self.traces.traces
        self._fill()
        self._on_traces()

    def _show_answers(self) -> None:
        """Compare the answers, where there are two runs that have ended."""
        pair = [(title_text(run.title), run.path) for run in self.runs if run.result is not None]
        if self._answers is not None and len(pair) == len(self.runs) == 2:
            self._answers.set_pair(pair[0], pair[1])
            self.segments.set_run(pair[0][1], "")
        else:
            self.segments.set_run(None, translation(ONLY_TWO))

    def resume(self) -> None:
        """Somebody looks again."""
        self.traces.resume()

    def rest(self) -> None:
        """Nobody looks."""
        self.traces.rest()

    def _on_traces(self) -> None:
        names = sorted(name for name in self.traces.names() if name != "loss")
        is_open = self.quantity.view().isVisible()  # its entries would move under the pointer
        if not is_open and names != [self.quantity.itemData(at) for at in range(self.quantity.count())]:
            current = self.quantity.currentData()
            self.quantity.blockSignals(True)
            self.quantity.clear()
            for name in names:
                self.quantity.addItem(visible(_said(name)), name)
            self.quantity.setCurrentIndex(max(0, self.quantity.findData(current)))
            self.quantity.blockSignals(False)
        self.quantity.setVisible(len(names) > 1)
        self.segments.place_controls()
        self.cards[0].setVisible(bool(names) or not self.traces.is_read)
        self._on_controls()

    def show_all(self, _: object = None) -> None:
        """The whole runs are in view."""
        self.x_axis.part = None
        self._on_part_changed()

    def _on_part_changed(self) -> None:
        self.whole.setVisible(self.x_axis.part is not None)
        self.segments.place_controls()
        self._on_controls()

    def _on_controls(self, _: object = None) -> None:
        self.metric_curves.name = self.quantity.currentData() or "metric"
        for comparison in (self.metric_curves, self.loss_curves):
            comparison.along = self.along.currentData()
            comparison.smoothing = self.smoothing.value() / 100
            comparison.shows_training = self.training.isChecked()
            comparison.shows_validation = self.validation.isChecked()
        self.loss_curves.is_log = self.is_log.isChecked()
        for card, plot in zip(self.cards, self.plots, strict=True):
            card.title = _said(plot.comparison.name)
        if not self._redraw.isActive():
            self._redraw.start()

    def _draw(self) -> None:
        for card in self.cards:
            count = len(self.traces.traces)
            card.plot.setAccessibleName(tr("{quantity} of {count} runs", quantity=card.title, count=count))
            card.plot.refresh()

    def _fill(self, _: object = None) -> None:
        """The table below."""
        rows = rows_of(self.runs)
        if self.only_different.isChecked():
            rows = [row for row in rows if row.differs]
        table = self.table
        table.clear()
        table.setColumnCount(1 + len(self.runs))
        table.setRowCount(len(rows))
        table.setHorizontalHeaderItem(0, table_item())
        for number, run in enumerate(self.runs):
            head = table_item(title_text(run.title), tr("Run {number}: {path}", number=number + 1, path=run.path))
            head.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            table.setHorizontalHeaderItem(number + 1, head)
        self._fit_columns()
        for at, row in enumerate(rows):
            self._fill_row(at, row)
        self._dress()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns into the table, as far as they stay legible, and the controls into a line."""
        super().resizeEvent(event)
        self._fit_columns()
        self.smoothing_label.setVisible(event.size().width() > NARROW)
        self.segments.place_controls()

    def _fit_columns(self) -> None:
        room = (self.width() - AROUND_TABLE - LABEL_WIDTH) // max(1, len(self.runs))
        self.table.setColumnWidth(0, LABEL_WIDTH)
        for column in range(1, self.table.columnCount()):
            self.table.setColumnWidth(column, min(RUN_WIDTH, max(LEAST_RUN_WIDTH, room)))

    def _fill_row(self, at: int, row: Row) -> None:
        strong = QFont(self.table.font())
        strong.setWeight(QFont.Weight.DemiBold)
        words = tr("differs") if row.differs else tr("the same")
        self.table.setItem(at, 0, table_item(row.label, named(row.path or row.label, words)))
        for number, text in enumerate(row.values):
            is_best = number in row.best
            item = table_item(text, tr("{text}\nThe best of these runs", text=text) if is_best else text)
            item.setFont(theme.figures(strong if is_best else self.table.font()))
            item.setData(BEST, is_best)
            self.table.setItem(at, number + 1, item)

    def _dress(self) -> None:
        """Badges in the header, and muted labels, in the colours that hold."""
        self.whole.setIcon(theme.icon("fit"))
        for number in range(min(len(self.runs), MOST_CURVES)):
            if (head := self.table.horizontalHeaderItem(number + 1)) is not None:
                head.setIcon(QIcon(badge_pixmap(number, self.devicePixelRatioF())))
        for at in range(self.table.rowCount()):
            for column in range(self.table.columnCount()):
                if (item := self.table.item(at, column)) is not None and (column == 0 or item.data(BEST)):
                    item.setForeground(theme.current().good if column else theme.current().muted)

    def shutdown(self) -> None:
        """Read and draw no more."""
        self.traces.rest()
        self._redraw.stop()
        self.segments.shutdown()
        theme.changed.disconnect(self._dress)


def _said(name: str) -> str:
    words = metric_title(name)
    return words[:1].upper() + words[1:]
