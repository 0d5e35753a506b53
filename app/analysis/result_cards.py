"""Cards and tables that the pages of the Test tab are made of."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from netwright.designer import theme
from netwright.designer.items import table_item
from netwright.designer.markup import visible

ROW_HEIGHT, MOST_ROWS = 28, 12


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> QTableWidget:
    """Return a table of texts that cannot be edited; all columns but the first have tabular figures."""
    table = QTableWidget(len(rows), len(head))
    table.setHorizontalHeaderLabels(list(map(visible, head)))
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    figures = theme.figures(table.font())
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            item = table_item(text, text)
            if column:
                item.setFont(figures)
            table.setItem(at, column, item)
    table.resizeColumnsToContents()
    for column in range(len(head)):
        table.setColumnWidth(column, table.columnWidth(column) + 16)
    table.setFixedHeight(ROW_HEIGHT * min(MOST_ROWS, len(rows)) + table.horizontalHeader().sizeHint().height() + 4)
    return table


def stacked(cards: Sequence[QWidget], layout: QBoxLayout) -> QWidget:
    """Return cards below or beside each other. Below, the last one takes the height that is left; beside, each takes
    the same width."""
    stack = QWidget()
    stack.setLayout(layout)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(12)
    for card in cards:
        layout.addWidget(card, 1 if card is cards[-1] or isinstance(layout, QHBoxLayout) else 0)
    return stack


def card(content: QWidget, title: str = "", note: str = "") -> QFrame:
    """Return a card with a heading, a muted note beside it, and the content below."""
    frame = QFrame()
    theme.mark(frame, "role", "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(16, 12, 16, 12)
    column.setSpacing(8)
    if title:
        heading, beside = QLabel(title), QLabel(note)
        theme.mark(heading, "role", "strong")
        theme.mark(beside, "role", "muted")
        row = QHBoxLayout()
        row.addWidget(heading)
        row.addWidget(beside)
        row.addStretch(1)
        column.addLayout(row)
        content.setAccessibleName(title)
    column.addWidget(content, 0, Qt.AlignmentFlag.AlignTop)
    return frame
