"""The table of runs on screen: sorting, choosing columns, keys and menu."""

from pathlib import Path

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QPoint, QSettings, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView

from app.experiments.model import RunsModel, label_of
from designer import theme
from engine.runs.summary import RunSummary
from engine.runs.table import as_csv

WIDTHS = {
    "run": 212,
    "state": 104,
    "created": 136,
    "seconds": 72,
    "environment": 96,
    "epochs": 68,
    "changes": 260,
    "tags": 120,
    "note": 220,
}
LEAST_FIGURE_WIDTH, MOST_FIGURE_WIDTH = 96, 200
SETTING = "experiments/hidden"


class RunsTable(QTableView):
    """The rows. `chosen` tells that others are selected; the other signals ask for what a menu or key stands for."""

    chosen = Signal()
    opened = Signal()
    delete_requested = Signal()

    def __init__(self, model: RunsModel, menu: QMenu) -> None:
        super().__init__()
        self._model, self._menu = model, menu
        self._settings = QSettings("Netwright", "Netwright")
        self._kept: list[Path] = []
        self._is_refilling = False
        self._dressed: tuple[str, ...] = ()
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAccessibleName("Runs")
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(30)
        self._make_header()
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._bring_back)
        self.selectionModel().selectionChanged.connect(self._on_selected)
        self.doubleClicked.connect(self.opened.emit)

    def _make_header(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setMinimumSectionSize(56)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._show_columns_menu)
        self.setSortingEnabled(True)
        self._dress_columns()

    # ---- what is selected ----

    @property
    def selected(self) -> list[RunSummary]:
        """The selected runs, from top to bottom."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self._model.rows[row] for row in rows]

    def select(self, paths: list[Path]) -> None:
        """Select these runs, and bring the first of them into view."""
        rows = sorted(row for path in paths if (row := self._model.row_of(path)) >= 0)
        chosen = QItemSelection()
        last = len(self._model.columns) - 1
        for row in rows:
            chosen.select(self._model.index(row, 0), self._model.index(row, last))
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if rows:
            self._make_current(rows[0])

    def _make_current(self, row: int) -> None:
        index = self._model.index(row, 0)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.scrollTo(index)

    def _keep(self) -> None:
        self._kept = [run.path for run in self.selected]
        self._is_refilling = True

    def _bring_back(self) -> None:
        if self._dressed != self._model.columns:  # else they keep the widths that somebody gave them
            self._dress_columns()
        self.select(self._kept)
        self._is_refilling = False
        self.chosen.emit()

    def _on_selected(self) -> None:
        if not self._is_refilling:
            self.chosen.emit()

    # ---- columns ----

    def _hidden(self) -> set[str]:
        """The columns that were chosen not to be seen; those of the training part at first."""
        known = self._settings.value(SETTING)
        if known is None:
            return {column for column in self._model.columns if column.startswith("training.")}
        return {known} if isinstance(known, str) else set(known) if isinstance(known, list) else set()

    def _dress_columns(self) -> None:
        self._dressed = self._model.columns
        hidden = self._hidden()
        for number, column in enumerate(self._model.columns):
            words = self.fontMetrics().horizontalAdvance(label_of(column))
            self.setColumnWidth(number, WIDTHS.get(column, min(MOST_FIGURE_WIDTH, max(LEAST_FIGURE_WIDTH, words + 24))))
            self.setColumnHidden(number, column in hidden)

    def fill_columns_menu(self, menu: QMenu) -> None:
        """An entry a column, to show or hide it."""
        menu.clear()
        theme.mark(menu, "role", "choices")
        for number, column in enumerate(self._model.columns):
            if column == "run":
                continue
            action = menu.addAction(label_of(column))
            action.setCheckable(True)
            action.setChecked(not self.isColumnHidden(number))
            action.toggled.connect(lambda is_shown, column=column: self._show_column(column, is_shown))

    def _show_columns_menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        self.fill_columns_menu(menu)
        menu.exec(self.horizontalHeader().mapToGlobal(at))
        menu.deleteLater()

    def _show_column(self, column: str, is_shown: bool) -> None:
        hidden = self._hidden() - {column} if is_shown else self._hidden() | {column}
        self._settings.setValue(SETTING, sorted(hidden))
        self.setColumnHidden(self._model.columns.index(column), not is_shown)

    # ---- keys and menu ----

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return shows the curves, Delete deletes, Ctrl+C copies as CSV."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(as_csv(self.selected or self._model.rows))
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the selected runs."""
        if self.selected:
            self._menu.exec(event.globalPos())
