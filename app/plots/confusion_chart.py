"""The confusion matrix of a run, as MATLAB's `confusionchart`: rows are actual classes, columns predicted ones."""

import math
from collections.abc import Mapping

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from netwright.app.plots.heat_map import HeatMap, StillCanvas, Texts
from netwright.app.plots.plot_items import ZoomBox
from netwright.app.widgets import ValueTable
from netwright.designer import markup, theme
from netwright.designer.language import named, tr, translation
from netwright.engine.core.text import format_percent
from netwright.engine.runs.confusion import Confusion

_MOST_LABEL = 120
_GAP = 6
_SMALLEST_TEXT = 9
_CAPTION = 24.0
_READABLE = 40
"""Of a name that is cut off so much must be left."""
_LARGEST_CELL = 56.0
_LEAST_CELL, _LEAST_GRID, _MOST_GRID = 38, 140, 560
_ABOVE, _BELOW = 36, 20
"""Pixels above the cells for the names of columns, and below for precision."""
_LIST_WIDTH = 280
_CENTRE = Qt.AlignmentFlag.AlignCenter
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
MOST_ERRORS = 8
FIRST = "test"
"""The split that is shown first: training and validation have shaped the network."""


class ConfusionCard(QFrame):
    """The matrix of one split, a list of its most frequent errors, and a choice where there are several splits.
    `closed` tells that the card is to go, `cell_chosen` the row and the column of a cell that is clicked."""

    closed, cell_chosen = Signal(), Signal(int, int)

    def __init__(
        self, tables: Mapping[str, Confusion], parent: QWidget | None = None, *, can_close: bool = True
    ) -> None:
        """`tables` by split; the test split is shown first where there is one. Without `can_close` it is
        one matrix inside another card, which has frame and heading."""
        super().__init__(parent)
        if can_close:
            theme.mark(self, "role", "card")
        self.title = tr("Confusion matrix")
        self._tables, self._can_close = dict(tables), can_close
        self.choice, self.note, self.chart, self.errors = QComboBox(), QLabel(), ConfusionChart(), _make_errors()
        self.chart.cell_chosen.connect(self.cell_chosen)
        for split in tables:
            self.choice.addItem(translation(split), split)
        self.choice.setAccessibleName(tr("Split of the confusion matrix"))
        if len(tables) < 2:
            self.choice.hide()
        self.choice.setCurrentIndex(max(0, self.choice.findData(FIRST)))
        self.choice.currentIndexChanged.connect(lambda _: self.show_split(self.choice.currentData()))
        theme.mark(self.note, "role", "muted")
        column = QVBoxLayout(self)
        column.setSpacing(8)
        if can_close:
            column.setContentsMargins(16, 12, 16, 12)
            column.addLayout(self._make_head())
        else:
            column.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(32)
        row.addWidget(self.chart, 3)
        row.addWidget(self.errors, 1, Qt.AlignmentFlag.AlignTop)
        row.addStretch()
        column.addLayout(row, 1)
        self.show_split(self.choice.currentData())

    def _make_head(self) -> QHBoxLayout:
        heading, close = QLabel(self.title), QToolButton()
        theme.mark(heading, "role", "strong")
        close.setAutoRaise(True)
        close.setIcon(theme.icon("close", "muted"))
        close.setToolTip(tr("Hide this plot"))
        close.setAccessibleName(tr("Close {title}", title=self.title))
        close.clicked.connect(self.closed)
        head = QHBoxLayout()
        head.setSpacing(8)
        for widget in (heading, self.choice, self.note):
            head.addWidget(widget)
        head.addStretch(1)
        head.addWidget(close)
        return head

    def values(self) -> list[list[object]]:
        """Return the matrix for a CSV file: true classes in rows."""
        table = self.chart.table
        rows = zip(table.classes, table.counts, strict=True)
        return [["actual \\ predicted", *table.classes], *([name, *counts] for name, counts in rows)]

    def show_split(self, split: str) -> None:
        """Show the matrix of a split."""
        table = self._tables[split]
        right, every = sum(row[i] for i, row in enumerate(table.counts)), sum(table.of_class)
        text = tr("{count:,} of {total:,} correct", count=right, total=every)
        text = f"{text} ({format_percent(right / every, 1)})" if every else text
        shown_split = translation(split)
        self.note.setText(named(shown_split, text) if len(self._tables) == 1 and self._can_close else text)
        self.chart.show_table(table)
        names, size = table.classes, range(len(table.classes))
        errors = [(table.counts[i][j], i, j) for i in size for j in size if i != j and table.counts[i][j]]
        errors.sort(key=lambda error: (-error[0], error[1:]))
        self.errors.show_rows([(f"{names[i]} → {names[j]}", f"{count:,}") for count, i, j in errors[:MOST_ERRORS]])
        self.errors.setVisible(bool(errors))
        self.setAccessibleName(f"{self.title}, {shown_split}")
        self.setAccessibleDescription(text)


def _make_errors() -> ValueTable:
    """The list of actual → predicted classes that are confused most often."""
    table = ValueTable(tr("Most frequent errors"), tuple(map(str, range(MOST_ERRORS))))
    table.setMaximumWidth(_LIST_WIDTH)
    return table


class ConfusionChart(StillCanvas):
    """Square cells coloured by the share of their row; beside each row its recall, below each column its precision.
    The pointer tells a cell in words; a click on one with samples chooses it."""

    cell_chosen = Signal(int, int)

    def __init__(
        self, table: Confusion | None = None, parent: QWidget | None = None, *, is_compact: bool = False
    ) -> None:
        """A compact one is as high as its width allows, and leaves the precision out."""
        self.table = table or Confusion(("",), ((0,),))
        self._is_compact = is_compact
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._map, self._lines = HeatMap(self.scene()), pg.PlotCurveItem()
        self._map.view.addItem(self._lines, ignoreBounds=True)
        self._texts, self._actual = Texts(), Texts()
        self._actual.setRotation(-90)
        for item in (self._texts, self._actual):
            self.scene().addItem(item)
        self.prepare_canvas()
        self.show_table(self.table)

    def show_table(self, table: Confusion) -> None:
        """Show another matrix, with room for legible counts if it has few classes."""
        self.table = table
        cells = min(max(len(table.classes) * _LEAST_CELL, _LEAST_GRID), _MOST_GRID)
        self.setMinimumSize(_LEAST_GRID, cells + _ABOVE + _BELOW)
        self._limit_width()
        self.refresh()

    def words(self, at: QPointF) -> str:
        """Return the words about the cell at a point."""
        place = self.cell_at(at)
        return self.words_of(*place) if place else ""

    def words_of(self, row: int, column: int) -> str:
        """One cell in words."""
        table, name = self.table, self.table.classes
        count, of = table.counts[row][column], table.of_class[row]
        if row == column:
            text = tr("{name}: {count:,} of {total:,} predicted correctly", name=name[row], count=count, total=of)
        else:
            text = tr(
                "{name}: {count:,} of {total:,} predicted as {other}",
                name=name[row],
                count=count,
                total=of,
                other=name[column],
            )
        return f"{text} ({format_percent(count / of, 1)})" if of else text

    # ---- places ----

    def _font(self, pixels: int) -> QFont:
        font = theme.figures(QFont(self.font()))
        font.setPixelSize(pixels)
        return font

    def _label_width(self) -> float:
        metrics = QFontMetricsF(self._font(11))
        below = () if self._is_compact else (tr("Precision", "metric"),)
        widest = max(metrics.horizontalAdvance(name) for name in (*self.table.classes, *below))
        return min(_MOST_LABEL, widest + _GAP)

    def _beside(self) -> tuple[float, float]:
        """The pixels left and right of the cells."""
        right = QFontMetricsF(self._font(11)).horizontalAdvance(tr("Recall", "metric")) + 2 * _GAP
        return self._label_width() + _CAPTION, right

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take no more width than the height needs: what stands beside the cells stays near them."""
        super().resizeEvent(event)
        self._limit_width()

    def _limit_width(self) -> None:
        if self._is_compact:
            self.setFixedHeight(math.ceil(self.grid().height()) + _ABOVE + _GAP)
            return
        room = self.height() - _ABOVE - _BELOW
        side = min(room, _LARGEST_CELL * len(self.table.classes))
        self.setMaximumWidth(max(self.minimumWidth(), math.ceil(sum(self._beside()) + side)))

    def grid(self) -> QRectF:
        """Where the cells are."""
        count, (left, right) = len(self.table.classes), self._beside()
        wide = max(1.0, self.width() - left - right)
        high = max(1.0, self.height() - _ABOVE - _BELOW)
        side = min(wide, _LARGEST_CELL * count, math.inf if self._is_compact else high)
        return QRectF(left, _ABOVE, side, side)

    def _cell(self, grid: QRectF, row: int, column: int) -> QRectF:
        count = len(self.table.classes)
        wide, high = grid.width() / count, grid.height() / count
        return QRectF(grid.left() + column * wide, grid.top() + row * high, wide, high)

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Row and column at a point, if there is a cell."""
        grid, count = self.grid(), len(self.table.classes)
        if not grid.contains(at):
            return None
        row = min(count - 1, int((at.y() - grid.top()) * count / grid.height()))
        return row, min(count - 1, int((at.x() - grid.left()) * count / grid.width()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the cell under the pointer."""
        place = self.cell_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and place and self.table.counts[place[0]][place[1]]:
            self.cell_chosen.emit(*place)

    # ---- drawing ----

    def draw(self) -> str:
        """Lay out cells, names and shares."""
        grid = self.grid()
        self._texts.clear(QRectF(self.rect()), self._font(11))
        self._draw_cells(grid)
        self._draw_names(grid)
        self._draw_shares(grid)
        return ""

    def views(self) -> list[ZoomBox]:
        """Return the view of the cells."""
        return [self._map.view]

    def _draw_cells(self, grid: QRectF) -> None:
        palette, of_class, size = theme.current(), self.table.of_class, len(self.table.classes)
        cell = self._cell(grid, 0, 0)
        widest = max(f"{count:,}" for row in self.table.counts for count in row)
        room = QFontMetricsF(self._font(12)).horizontalAdvance("0" * len(widest)) + 4
        has_text = cell.width() >= room and cell.height() >= _SMALLEST_TEXT + 4
        colours = np.empty((size, size, 3), np.uint8)
        for row, counts in enumerate(self.table.counts):
            for column, count in enumerate(counts):
                share = count / of_class[row] if of_class[row] else 0.0
                ground = self._ground(share, is_right=row == column) if count else palette.panel
                colours[row, column] = ground.red(), ground.green(), ground.blue()
                if has_text and count:
                    place = self._cell(grid, row, column)
                    self._texts.add(place, _CENTRE, f"{count:,}", text_on(ground), 12)
        self._map.show(0, colours)
        self._map.place(grid)
        self._lines.setVisible(cell.width() >= 6 and size > 1)
        self._lines.setPen(palette.line)
        ends = np.tile([0.0, 1.0], size - 1), np.repeat(np.arange(1, size) / size, 2)
        self._lines.setData(np.concatenate(ends), np.concatenate(ends[::-1]), connect="pairs")

    @staticmethod
    def _ground(share: float, *, is_right: bool) -> QColor:
        """A mistake is seen early: one in fifty has a tint already."""
        palette = theme.current()
        colour = palette.accent if is_right else palette.error
        return palette.mixed(colour, palette.panel, 0.08 + (0.42 if is_right else 0.5) * share)

    def _draw_names(self, grid: QRectF) -> None:
        palette, metrics, cell = theme.current(), QFontMetricsF(self._font(11)), self._cell(grid, 0, 0)
        wide = self._label_width() - _GAP
        self._texts.add(QRectF(grid.left(), 0, grid.width(), 16), _CENTRE, tr("Predicted"), palette.muted)
        self._actual.clear(QRectF(-60, -8, 120, 16), self._font(11))
        self._actual.add(QRectF(-60, -8, 120, 16), _CENTRE, tr("Actual"), palette.muted)
        self._actual.setPos(8, grid.center().y())
        every = max(1, round(14 / max(cell.height(), 0.1)))
        for row in range(0, len(self.table.classes), every):
            place = self._cell(grid, row, 0)
            name = markup.elided(metrics, self.table.classes[row], Qt.TextElideMode.ElideMiddle, wide)
            self._texts.add(QRectF(_CAPTION, place.center().y() - 8, wide, 16), _RIGHT, name, palette.text)
        widest, room = max(metrics.horizontalAdvance(name) for name in self.table.classes), cell.width() - 4
        every = 1 if room >= _READABLE else max(1, math.ceil((widest + 4) / cell.width()))
        if every * cell.width() > 3 * _READABLE and every > 1:
            return  # what is left of long names in narrow columns tells nothing: the pointer does
        room = every * cell.width() - 4
        for column in range(0, len(self.table.classes), every):
            place = self._cell(grid, 0, column)
            name = markup.elided(metrics, self.table.classes[column], Qt.TextElideMode.ElideMiddle, room)
            at = QRectF(place.center().x() - room / 2, grid.top() - 18, room, 16)
            self._texts.add(at, _CENTRE, name, palette.text)

    def _draw_shares(self, grid: QRectF) -> None:
        palette, cell = theme.current(), self._cell(grid, 0, 0)
        align_left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if cell.height() >= 14:
            head = QRectF(grid.right() + _GAP, grid.top() - 18, 60, 16)
            self._texts.add(head, align_left, tr("Recall", "metric"), palette.muted)
            for row, share in enumerate(self.table.recall):
                if self.table.of_class[row]:
                    at = QRectF(grid.right() + _GAP, self._cell(grid, row, 0).center().y() - 8, 60, 16)
                    self._texts.add(at, align_left, format_percent(share), palette.muted)
        if cell.width() >= _LEAST_CELL and not self._is_compact:
            head = QRectF(0, grid.bottom() + 3, grid.left() - _GAP, 16)
            self._texts.add(head, _RIGHT, tr("Precision", "metric"), palette.muted)
            for column, share in enumerate(self.table.precision):
                if self.table.taken_for[column]:
                    at = QRectF(self._cell(grid, 0, column).left(), grid.bottom() + 3, cell.width(), 16)
                    self._texts.add(at, _CENTRE, format_percent(share), palette.muted)


def text_on(ground: QColor) -> QColor:
    """The colour of a number that can be read on this ground."""
    palette = theme.current()
    return max((palette.text, palette.background), key=lambda colour: _contrast(colour, ground))


def _contrast(first: QColor, other: QColor) -> float:
    """The ratio of luminances, 1 to 21, as in WCAG 2."""

    def luminance(colour: QColor) -> float:
        parts = (colour.redF(), colour.greenF(), colour.blueF())
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])

    high, low = sorted((luminance(first), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
