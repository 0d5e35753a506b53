"""The confusion matrix of a run, as MATLAB's `confusionchart`: rows are actual classes, columns predicted ones."""

import math
from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from netwright.app.widgets import ValueTable
from netwright.designer import markup, theme
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
        self.title = "Confusion matrix"
        self._tables, self._can_close = dict(tables), can_close
        self.choice, self.note, self.chart, self.errors = QComboBox(), QLabel(), ConfusionChart(), _make_errors()
        self.chart.cell_chosen.connect(self.cell_chosen)
        self.choice.addItems(list(tables))
        self.choice.setAccessibleName("Split of the confusion matrix")
        self.choice.setVisible(len(tables) > 1)
        self.choice.setCurrentText(FIRST if FIRST in tables else self.choice.itemText(0))
        self.choice.currentTextChanged.connect(self.show_split)
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
        self.show_split(self.choice.currentText())

    def _make_head(self) -> QHBoxLayout:
        heading, close = QLabel(self.title), QToolButton()
        theme.mark(heading, "role", "strong")
        close.setAutoRaise(True)
        close.setIcon(theme.icon("close", "muted"))
        close.setToolTip("Hide this plot")
        close.setAccessibleName(f"Close {self.title}")
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
        share = f" ({format_percent(right / every, 1)})" if every else ""
        text = f"{right:,} of {every:,} correct{share}"
        self.note.setText(f"{split}: {text}" if len(self._tables) == 1 and self._can_close else text)
        self.chart.show_table(table)
        names, size = table.classes, range(len(table.classes))
        errors = [(table.counts[i][j], i, j) for i in size for j in size if i != j and table.counts[i][j]]
        errors.sort(key=lambda error: (-error[0], error[1:]))
        self.errors.show_rows([(f"{names[i]} → {names[j]}", f"{count:,}") for count, i, j in errors[:MOST_ERRORS]])
        self.errors.setVisible(bool(errors))
        self.setAccessibleName(f"{self.title}, {split}")
        self.setAccessibleDescription(text)


def _make_errors() -> ValueTable:
    """The list of actual → predicted classes that are confused most often."""
    table = ValueTable("Most frequent errors", tuple(map(str, range(MOST_ERRORS))))
    table.setMaximumWidth(_LIST_WIDTH)
    return table


class ConfusionChart(QWidget):
    """Square cells coloured by the share of their row; beside each row its recall, below each column its precision.
    The pointer tells a cell in words; a click on one with samples chooses it."""

    cell_chosen = Signal(int, int)

    def __init__(self, table: Confusion | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.show_table(table or Confusion(("",), ((0,),)))
        theme.changed.connect(self.update)

    def show_table(self, table: Confusion) -> None:
        """Show another matrix, with room for legible counts if it has few classes."""
        self.table = table
        cells = min(max(len(table.classes) * _LEAST_CELL, _LEAST_GRID), _MOST_GRID)
        self.setMinimumSize(_LEAST_GRID, cells + _ABOVE + _BELOW)
        self.update()

    def words(self, row: int, column: int) -> str:
        """One cell in words."""
        table, name = self.table, self.table.classes
        count, of = table.counts[row][column], table.of_class[row]
        share = f" ({format_percent(count / of, 1)})" if of else ""
        if row == column:
            return f"{name[row]}: {count:,} of {of:,} predicted correctly{share}"
        return f"{name[row]}: {count:,} of {of:,} predicted as {name[column]}{share}"

    # ---- places ----

    def _font(self, pixels: int) -> QFont:
        font = theme.figures(QFont(self.font()))
        font.setPixelSize(pixels)
        return font

    def _label_width(self) -> float:
        metrics = QFontMetricsF(self._font(11))
        widest = max(metrics.horizontalAdvance(name) for name in (*self.table.classes, "Precision"))
        return min(_MOST_LABEL, widest + _GAP)

    def _beside(self) -> tuple[float, float]:
        """The pixels left and right of the cells."""
        right = QFontMetricsF(self._font(11)).horizontalAdvance("Recall") + 2 * _GAP
        return self._label_width() + _CAPTION, right

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take no more width than the height needs: what stands beside the cells stays near them."""
        super().resizeEvent(event)
        room = self.height() - _ABOVE - _BELOW
        side = min(room, _LARGEST_CELL * len(self.table.classes))
        self.setMaximumWidth(max(self.minimumWidth(), math.ceil(sum(self._beside()) + side)))

    def grid(self) -> QRectF:
        """Where the cells are."""
        count, (left, right) = len(self.table.classes), self._beside()
        wide = max(1.0, self.width() - left - right)
        high = max(1.0, self.height() - _ABOVE - _BELOW)
        side = min(wide, high, _LARGEST_CELL * count)
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

    # ---- painting ----

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cells, names and shares."""
        painter = QPainter(self)
        grid = self.grid()
        self._paint_cells(painter, grid)
        self._paint_names(painter, grid)
        self._paint_shares(painter, grid)
        painter.end()

    def _paint_cells(self, painter: QPainter, grid: QRectF) -> None:
        palette, of_class = theme.current(), self.table.of_class
        cell = self._cell(grid, 0, 0)
        widest = max(f"{count:,}" for row in self.table.counts for count in row)
        font = self._font(12)
        room = QFontMetricsF(font).horizontalAdvance("0" * len(widest)) + 4
        has_text = cell.width() >= room and cell.height() >= _SMALLEST_TEXT + 4
        painter.setFont(font)
        painter.setPen(Qt.PenStyle.NoPen)
        for row, counts in enumerate(self.table.counts):
            for column, count in enumerate(counts):
                place = self._cell(grid, row, column)
                share = count / of_class[row] if of_class[row] else 0.0
                ground = self._ground(share, is_right=row == column) if count else palette.panel
                painter.fillRect(place, ground)
                if has_text and count:
                    painter.setPen(text_on(ground))
                    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, f"{count:,}")
        painter.setPen(QPen(palette.line, 1))
        if cell.width() >= 6 and cell.height() >= 6:
            for number in range(1, len(self.table.classes)):
                line = self._cell(grid, number, number).topLeft()
                painter.drawLine(QPointF(line.x(), grid.top()), QPointF(line.x(), grid.bottom()))
                painter.drawLine(QPointF(grid.left(), line.y()), QPointF(grid.right(), line.y()))
        painter.drawRect(grid)

    @staticmethod
    def _ground(share: float, *, is_right: bool) -> QColor:
        """A mistake is seen early: one in fifty has a tint already."""
        palette = theme.current()
        colour = palette.accent if is_right else palette.error
        return palette.mixed(colour, palette.panel, 0.08 + (0.42 if is_right else 0.5) * share)

    def _paint_names(self, painter: QPainter, grid: QRectF) -> None:
        palette, metrics, cell = theme.current(), QFontMetricsF(self._font(11)), self._cell(grid, 0, 0)
        painter.setFont(self._font(11))
        painter.setPen(palette.muted)
        wide, right = self._label_width() - _GAP, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        centre = Qt.AlignmentFlag.AlignCenter
        painter.drawText(QRectF(grid.left(), 0, grid.width(), 16), centre, "Predicted")
        painter.save()
        painter.translate(8, grid.center().y())
        painter.rotate(-90)
        painter.drawText(QRectF(-60, -8, 120, 16), centre, "Actual")
        painter.restore()
        painter.setPen(palette.text)
        every = max(1, round(14 / max(cell.height(), 0.1)))
        for row in range(0, len(self.table.classes), every):
            place = self._cell(grid, row, 0)
            name = markup.elided(metrics, self.table.classes[row], Qt.TextElideMode.ElideMiddle, wide)
            painter.drawText(QRectF(_CAPTION, place.center().y() - 8, wide, 16), right, name)
        widest, room = max(metrics.horizontalAdvance(name) for name in self.table.classes), cell.width() - 4
        every = 1 if room >= _READABLE else max(1, math.ceil((widest + 4) / cell.width()))
        if every * cell.width() > 3 * _READABLE and every > 1:
            return  # what is left of long names in narrow columns tells nothing: the pointer does
        room = every * cell.width() - 4
        for column in range(0, len(self.table.classes), every):
            place = self._cell(grid, 0, column)
            name = markup.elided(metrics, self.table.classes[column], Qt.TextElideMode.ElideMiddle, room)
            painter.drawText(QRectF(place.center().x() - room / 2, grid.top() - 18, room, 16), centre, name)

    def _paint_shares(self, painter: QPainter, grid: QRectF) -> None:
        palette, cell = theme.current(), self._cell(grid, 0, 0)
        painter.setFont(self._font(11))
        painter.setPen(palette.muted)
        align_left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if cell.height() >= 14:
            painter.drawText(QRectF(grid.right() + _GAP, grid.top() - 18, 60, 16), align_left, "Recall")
            for row, share in enumerate(self.table.recall):
                if self.table.of_class[row]:
                    at = QRectF(grid.right() + _GAP, self._cell(grid, row, 0).center().y() - 8, 60, 16)
                    painter.drawText(at, align_left, format_percent(share))
        if cell.width() >= _LEAST_CELL:
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(0, grid.bottom() + 3, grid.left() - _GAP, 16), right, "Precision")
            for column, share in enumerate(self.table.precision):
                if self.table.taken_for[column]:
                    at = QRectF(self._cell(grid, 0, column).left(), grid.bottom() + 3, cell.width(), 16)
                    painter.drawText(at, Qt.AlignmentFlag.AlignCenter, format_percent(share))

    def event(self, event: QEvent) -> bool:
        """The pointer tells a cell in words."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.cell_at(QPointF(event.pos()))
            words = self.words(*place) if place else ""
            QToolTip.showText(event.globalPos(), markup.wrapped(words), self)
            return True
        return super().event(event)


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
