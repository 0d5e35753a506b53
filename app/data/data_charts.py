"""Charts of the Data tab: the samples of each class in each split, and the values of each column."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from netwright.app.data.option_words import column_words
from netwright.app.data.tiles import GAP, class_colour
from netwright.app.plots.bar_rows import BarRow, BarRows, BarStyle, Column
from netwright.app.widgets import FlowRow
from netwright.designer import markup, theme
from netwright.designer.language import named, tr, translation
from netwright.engine.core.text import format_number
from netwright.engine.project.dataset_info import SPLITS

SPLIT_COLOURS = {split: {"training": "accent", "validation": "warning"}.get(split, "good") for split in SPLITS}
"""Colours of the palette for splits, as curves have them."""
MOST_HEIGHT = 280
CELL = QSize(188, 104)
BARS_HEIGHT = 44
_MIDDLE, _RIGHT = Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def class_bars(classes: Sequence[Mapping[str, Any]], *, is_coloured: bool) -> QWidget:
    """Return a row per class: its name, a bar of the counts in each split on one scale, and their sum; and a legend
    with the sum of each split. `classes` have a `name` and a count per split. `is_coloured` shows the colour that
    samples use."""
    rows = []
    for number, entry in enumerate(classes):
        counts = {split: int(entry.get(split, 0)) for split in SPLITS}
        parts = tuple((float(counts[split]), colour) for split, colour in SPLIT_COLOURS.items())
        swatch = partial(class_colour, number) if is_coloured else None
        tip = "\n".join([str(entry["name"]), *(named(translation(split), f"{n:,}") for split, n in counts.items())])
        rows.append(BarRow((str(entry["name"]), f"{sum(counts.values()):,}"), parts, swatch=swatch, tip=tip))
    totals = {split: sum(int(entry.get(split, 0)) for entry in classes) for split in SPLITS}
    return _with_legend(rows, totals, tr("Samples per class and split, {count:,} classes", count=len(rows)))


def split_bars(samples: Mapping[str, int]) -> QWidget:
    """Return a row per split with its number of samples."""
    rows = [
        BarRow((translation(split.capitalize()), f"{samples.get(split, 0):,}"), ((samples.get(split, 0), colour),))
        for split, colour in SPLIT_COLOURS.items()
    ]
    return _with_legend(rows, {}, tr("Samples per split"))


def _with_legend(rows: Sequence[BarRow], totals: Mapping[str, int], name: str) -> QWidget:
    """Return rows of bars above a legend of the splits."""
    chart = BarRows(
        (Column(share=0.4), Column(is_right=True)), BarStyle(row=28, bar=10, has_track=True, most_height=MOST_HEIGHT)
    )
    chart.show_rows(rows)
    chart.setAccessibleName(name)
    part = QWidget()
    column = QVBoxLayout(part)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(8)
    column.addWidget(chart)
    if totals:
        legend = FlowRow(gap=16)
        legend.show_widgets([_entry(split, count) for split, count in totals.items()])
        column.addWidget(legend)
    return part


def _entry(split: str, count: int) -> QWidget:
    """Return the colour, the name and the sum of a split."""
    entry = QWidget()
    row = QHBoxLayout(entry)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    label = QLabel(f"{translation(split)} {count:,}")
    theme.mark(label, "role", "help")
    row.addWidget(_Swatch(SPLIT_COLOURS[split]))
    row.addWidget(label)
    return entry


class _Swatch(QWidget):
    """A square in a colour of the palette."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token
        self.setFixedSize(8, 8)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the square."""
        QPainter(self).fillRect(self.rect(), getattr(theme.current(), self._token))


class ColumnCharts(QWidget):
    """A small histogram per column, as many side by side as fit. Only what is in view is painted."""

    def __init__(self, columns: Sequence[Mapping[str, Any]]) -> None:
        super().__init__()
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.show_columns(columns)
        theme.changed.connect(self.update)

    def show_columns(self, columns: Sequence[Mapping[str, Any]]) -> None:
        """Show these columns."""
        self.columns = list(columns)
        self.setAccessibleName(tr("Values of {count:,} columns", count=len(self.columns)))
        self.setAccessibleDescription("; ".join(_tip(column).replace("\n", ", ") for column in self.columns[:50]))
        self.updateGeometry()

    def _across(self, width: int) -> int:
        return max(1, (width + GAP) // (CELL.width() + GAP))

    def hasHeightForWidth(self) -> bool:
        """Return true: a narrow window needs more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows."""
        rows = -(-len(self.columns) // self._across(width))
        return max(0, rows * (CELL.height() + GAP) - GAP)

    def sizeHint(self) -> QSize:
        """Return the size of four columns; any width will do."""
        width = 4 * (CELL.width() + GAP)
        return QSize(width, self.heightForWidth(width))

    def cell(self, number: int) -> QRectF:
        """Return where a column is."""
        across = self._across(self.width())
        width = (self.width() + GAP) / across - GAP
        row, at = divmod(number, across)
        return QRectF(at * (width + GAP), row * (CELL.height() + GAP), width, CELL.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the columns in view."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        across, area = self._across(self.width()), event.rect()
        first = max(0, area.top() // (CELL.height() + GAP)) * across
        last = (area.bottom() // (CELL.height() + GAP) + 1) * across
        for number in range(first, min(last, len(self.columns))):
            _paint_column(painter, self.columns[number], self.cell(number), self.font())
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Show the figures of the column under the pointer."""
        if isinstance(event, QHelpEvent):
            number = self._at(event.pos())
            if number is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), markup.visible(_tip(self.columns[number])), self)
            return True
        return super().event(event)

    def _at(self, point: QPoint) -> int | None:
        return next((n for n in range(len(self.columns)) if self.cell(n).contains(point.toPointF())), None)


def _tip(column: Mapping[str, Any]) -> str:
    """Return name, kind and figures of a column, as lines."""
    counted = column.get("histogram") or {}
    lines = [f"{column['name']} ({column_words(str(column['role']))})", column_words(str(column["kind"]))]
    if column.get("low") is not None:
        lines.append(tr("{low} to {high}", low=format_number(column["low"]), high=format_number(column["high"])))
        lines.append(tr("mean {value}", value=format_number(column["mean"])))
    if "names" in counted:
        lines += [f"{name}: {count:,}" for name, count in zip(counted["names"], counted["counts"], strict=True)]
    if counted.get("others"):
        others = counted["different"] - len(counted["names"])
        lines.append(tr("{others:,} others: {count:,}", others=others, count=counted["others"]))
    if counted.get("sampled"):
        lines.append(tr("counted over {count:,} of the values", count=counted["sampled"]))
    return "\n".join(lines)


def _paint_column(painter: QPainter, column: Mapping[str, Any], cell: QRectF, font: QFont) -> None:
    palette, counted = theme.current(), column.get("histogram") or {}
    painter.setPen(palette.line)
    painter.setBrush(palette.panel)
    painter.drawRoundedRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    inside = cell.adjusted(10, 6, -10, -6)
    is_response = column["role"] == "response"
    small, strong = QFont(font), QFont(font)
    small.setPixelSize(11)
    strong.setWeight(QFont.Weight.DemiBold)
    painter.setFont(small)
    role = column_words(str(column["role"])) if column["role"] != "input" else ""
    width = painter.fontMetrics().horizontalAdvance(role)
    painter.setPen(palette.accent if is_response else palette.muted)
    painter.drawText(QRectF(inside.left(), inside.top(), inside.width(), 20), _RIGHT, role)
    painter.setFont(strong)
    painter.setPen(palette.text)
    room = inside.width() - (width + 8 if role else 0)
    name = markup.elided(painter.fontMetrics(), str(column["name"]), Qt.TextElideMode.ElideMiddle, int(room))
    painter.drawText(QRectF(inside.left(), inside.top(), room, 20), _MIDDLE, name)
    bars = QRectF(inside.left(), inside.top() + 24, inside.width(), BARS_HEIGHT)
    paint_bars(painter, bars, counted.get("counts") or [], is_apart="names" in counted)
    below = QRectF(inside.left(), bars.bottom() + 2, inside.width(), 20)
    painter.setFont(theme.figures(small))
    missing = tr("{count:,} missing", count=counted["missing"]) if counted.get("missing") else ""
    ends = _ends(column)
    painter.setPen(palette.muted)
    right_text = missing or ends[1]
    right_width = painter.fontMetrics().horizontalAdvance(right_text) + 8
    left_text = markup.elided(
        painter.fontMetrics(), ends[0], Qt.TextElideMode.ElideRight, int(below.width() - right_width)
    )
    painter.drawText(below, _MIDDLE, left_text)
    painter.setPen(palette.warning if missing else palette.muted)
    painter.drawText(below, _RIGHT, right_text)


def _ends(column: Mapping[str, Any]) -> tuple[str, str]:
    """Return the texts at the left and the right below the bars."""
    counted = column.get("histogram") or {}
    if column.get("low") is not None:
        low, high = format_number(column["low"]), format_number(column["high"])
        return (low, high) if not counted.get("missing") else (tr("{low} to {high}", low=low, high=high), "")
    if "names" in counted:
        different = tr("{count:,} different", count=counted["different"])
        return ", ".join(counted["names"]) or column_words(str(column["kind"])), different
    return column_words(str(column["kind"])), ""


def paint_bars(painter: QPainter, area: QRectF, counts: Sequence[float], *, is_apart: bool = False) -> None:
    """Paint counts as bars from a common ground, with gaps where they stand for names."""
    palette = theme.current()
    painter.fillRect(QRectF(area.left(), area.bottom() - 1, area.width(), 1), palette.line)
    if not counts:
        return
    most, width = max(counts) or 1, area.width() / max(len(counts), 4 if is_apart else 1)
    width = min(width, 28.0) if is_apart else width
    gap = min(4.0, width / 4) if is_apart else min(1.0, width / 4)
    for number, count in enumerate(counts):
        if count:
            height = max(1.5, (area.height() - 1) * count / most)
            bar = QRectF(area.left() + number * width, area.bottom() - 1 - height, width - gap, height)
            painter.fillRect(bar, palette.accent)
