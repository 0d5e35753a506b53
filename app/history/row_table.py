"""Base of the tables of runs and of trials: rows that are selected as a whole, and columns that a menu shows."""

from collections.abc import Callable, Iterable
from itertools import groupby

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView

from netwright.app.widgets import RowDelegate
from netwright.designer import markup

LEAST_WIDTH, ROW_HEIGHT, CELLS_MEASURED = 56, 30, 200
ARROW = 12
"""Room for the arrow of the sorted column."""


class RowTable(QTableView):
    """A table of rows. `chosen` is emitted when the user changes the selection, `opened` for a double click or Return.
    A menu on its header shows and hides columns; a subclass fills it."""

    chosen = Signal()
    opened = Signal()

    def __init__(self, model: QAbstractItemModel, name: str) -> None:
        super().__init__()
        self._is_busy = False
        """Whether selection and columns change by the program and not by the user."""
        self.setModel(model)
        self.setItemDelegate(RowDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAccessibleName(name)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header = self.horizontalHeader()
        # With the table's own one, each painting of the header asks every row of each column whether it is selected.
        header.setSelectionModel(QItemSelectionModel(model, header))
        header.setHighlightSections(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        header.setMinimumSectionSize(LEAST_WIDTH)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._show_columns_menu)
        self.selectionModel().selectionChanged.connect(self._on_selected)

    def fill_columns_menu(self, menu: QMenu) -> None:
        """Fill a menu with an entry per column, to show or hide it."""
        raise NotImplementedError

    def _show_columns_menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        self.fill_columns_menu(menu)
        menu.exec(self.horizontalHeader().mapToGlobal(at))
        menu.deleteLater()

    def _on_selected(self) -> None:
        if not self._is_busy:
            self.chosen.emit()

    def select_rows(self, rows: Iterable[int]) -> None:
        """Select rows in place of those that are selected."""
        selection, last = QItemSelection(), self.model().columnCount() - 1
        for _, run in groupby(enumerate(rows), lambda pair: pair[1] - pair[0]):  # a range for rows in a row
            spans = [row for _, row in run]
            selection.append(QItemSelectionRange(self.model().index(spans[0], 0), self.model().index(spans[-1], last)))
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)


def add_choice(menu: QMenu, text: str, is_on: bool, show: Callable[[bool], None]) -> None:
    """Add an entry that shows or hides a column."""
    action = menu.addAction(markup.without_mnemonic(text))
    action.setCheckable(True)
    action.setChecked(is_on)
    action.toggled.connect(show)
