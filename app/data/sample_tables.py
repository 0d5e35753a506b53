"""Rows of a table as a widget."""

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableWidget

from netwright.designer.items import table_item
from netwright.engine.core.text import NOTHING, format_value

MOST_WIDTH, WIDEST, FEW_WIDE = 220, 640, 4
"""Widest columns of a table, in pixels: of many columns, and of few, whose texts are read."""
LONG_CELL, MOST_TOLD = 24, 1000
"""Characters from which on a cell may be cut and has a tooltip, and those of the tooltip."""


def make_table(heads: list[str], rows: list[list[Any]]) -> QTableWidget:
    """Return rows as a table that shows itself whole, up to a height. Columns without a cell are left out."""
    heads = heads[: max(map(len, rows), default=len(heads))]
    table = QTableWidget(len(rows), len(heads))
    table.verticalHeader().hide()
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setFrameShape(QFrame.Shape.NoFrame)
    numbers = {j for j in range(len(heads)) if _are_numbers([row[j] for row in rows if j < len(row)])}
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            text = format_value(value, digits=6)
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


def _are_numbers(cells: Sequence[Any]) -> bool:
    """Return whether the cells are numbers, but for empty ones."""
    values = [cell for cell in cells if format_value(cell) != NOTHING]
    return bool(values) and all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    """Return whether a cell is a number, or the text of one, as in the rows of a file."""
    if not isinstance(value, str):
        return isinstance(value, (int, float))
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False
