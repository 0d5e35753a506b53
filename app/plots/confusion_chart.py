"""A chart of which class was taken for which, as MATLAB's confusion chart: rows are right, columns what was said."""

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from designer import markup, theme
from engine.core.text import format_percent
from engine.runs.confusion import Confusion

_MOST_LABEL = 120
_GAP = 6
_SMALLEST_TEXT = 9
_CAPTION = 24.0
_READABLE = 40
"""Of a name that is cut off so much must be left."""
_LARGEST_CELL = 64.0


class ConfusionCard(QFrame):
    """The chart of one part of the data under its title."""

    def __init__(self, title: str, table: Confusion, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme.mark(self, "role", "card")
        self.title = title
        right = sum(row[i] for i, row in enumerate(table.counts))
        every = sum(table.of_class)
        heading, note = QLabel(title), QLabel(f"{right:,} of {every:,} right")
        theme.mark(heading, "role", "strong")
        theme.mark(note, "role", "muted")
        self.chart = ConfusionChart(table)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(4)
        column.addWidget(heading)
        column.addWidget(note)
        column.addWidget(self.chart, 1)
        self.setAccessibleName(title)
        self.setAccessibleDescription(note.text())


class ConfusionChart(QWidget):
    """Cells coloured by the share of their row; behind each row how many were found, below each column how many of
    those said were right. The pointer tells a cell in words."""

    def __init__(self, table: Confusion, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = table
        self.setMinimumSize(160, 120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Room for ten classes."""
        return QSize(480, 360)

    def words(self, row: int, column: int) -> str:
        """One cell in words."""
        table, name = self.table, self.table.classes
        count, of = table.counts[row][column], table.of_class[row]
        share = f" ({format_percent(count / of, 1)})" if of else ""
        if row == column:
            return f"{count:,} of {of:,} {name[row]} were recognised{share}"
        return f"{count:,} of {of:,} {name[row]} were taken for {name[column]}{share}"

    # ---- places ----

    def _font(self, pixels: int) -> QFont:
        font = theme.figures(QFont(self.font()))
        font.setPixelSize(pixels)
        return font

    def _label_width(self) -> float:
        metrics = QFontMetricsF(self._font(11))
        widest = max(metrics.horizontalAdvance(name) for name in (*self.table.classes, "Prec"))
        return min(_MOST_LABEL, widest + _GAP)

    def grid(self) -> QRectF:
        """Where the cells are."""
        count, percent = len(self.table.classes), QFontMetricsF(self._font(11)).horizontalAdvance("Recall") + 2 * _GAP
        left, top = self._label_width() + _CAPTION, 36.0
        wide = max(1.0, self.width() - left - percent)
        high = max(1.0, self.height() - top - 20.0)
        cell_width, cell_height = min(wide / count, 2 * _LARGEST_CELL), min(high / count, _LARGEST_CELL)
        return QRectF(left, top, cell_width * count, cell_height * count)

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
        painter.drawText(QRectF(grid.left(), 0, grid.width(), 16), centre, "Taken for")
        painter.save()
        painter.translate(8, grid.center().y())
        painter.rotate(-90)
        painter.drawText(QRectF(-60, -8, 120, 16), centre, "Class")
        painter.restore()
        painter.setPen(palette.text)
        every = max(1, round(14 / max(cell.height(), 0.1)))
        for row in range(0, len(self.table.classes), every):
            place = self._cell(grid, row, 0)
            name = metrics.elidedText(self.table.classes[row], Qt.TextElideMode.ElideMiddle, wide)
            painter.drawText(QRectF(_CAPTION, place.center().y() - 8, wide, 16), right, name)
        widest, room = max(metrics.horizontalAdvance(name) for name in self.table.classes), cell.width() - 4
        every = 1 if room >= _READABLE else max(1, math.ceil((widest + 4) / cell.width()))
        if every * cell.width() > 3 * _READABLE and every > 1:
            return  # what is left of long names in narrow columns tells nothing: the pointer does
        room = every * cell.width() - 4
        for column in range(0, len(self.table.classes), every):
            place = self._cell(grid, 0, column)
            name = metrics.elidedText(self.table.classes[column], Qt.TextElideMode.ElideMiddle, room)
            painter.drawText(QRectF(place.center().x() - room / 2, grid.top() - 18, room, 16), centre, name)

    def _paint_shares(self, painter: QPainter, grid: QRectF) -> None:
        palette, cell = theme.current(), self._cell(grid, 0, 0)
        painter.setFont(self._font(11))
        painter.setPen(palette.muted)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if cell.height() >= 14:
            painter.drawText(QRectF(grid.right() + _GAP, grid.top() - 18, 60, 16), left, "Recall")
            for row, share in enumerate(self.table.recall):
                if self.table.of_class[row]:
                    at = QRectF(grid.right() + _GAP, self._cell(grid, row, 0).center().y() - 8, 60, 16)
                    painter.drawText(at, left, format_percent(share))
        if cell.width() >= 34:
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(0, grid.bottom() + 3, grid.left() - _GAP, 16), right, "Precision")
            for column, share in enumerate(self.table.precision):
                if self.table.taken_for[column]:
                    at = QRectF(self._cell(grid, 0, column).left(), grid.bottom() + 3, cell.width(), 16)
                    painter.drawText(at, Qt.AlignmentFlag.AlignCenter, format_percent(share))

    def event(self, event: QEvent) -> bool:
        """The pointer tells a cell in words."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self.cell_at(QPointF(event.pos()))
            words = self.words(*found) if found else ""
            QToolTip.showText(event.globalPos(), markup.wrapped(words), self)
            return True
        return super().event(event)


def text_on(ground: QColor) -> QColor:
    """The colour of a number that can be read on this ground."""
    palette = theme.current()
    return max((palette.text, palette.background), key=lambda colour: _contrast(colour, ground))


def _contrast(one: QColor, other: QColor) -> float:
    """The ratio of luminances, 1 to 21, as in WCAG 2."""

    def luminance(colour: QColor) -> float:
        parts = (colour.redF(), colour.greenF(), colour.blueF())
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
