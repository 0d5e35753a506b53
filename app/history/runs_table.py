"""The table of runs: its view, the choice of columns, keys and menu."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QMenu

from netwright.app.history.row_table import ARROW, CELLS_MEASURED, LEAST_WIDTH, RowTable, add_choice
from netwright.app.history.runs_model import LAST, RunsModel, label_of
from netwright.designer import theme
from netwright.engine.runs.query import as_csv
from netwright.engine.runs.summary import RunSummary

PADDING = 20
MOST_WIDTHS = {"run": 240, "changes": 260, "tags": 140, "note": 240}
MOST_WIDTH = 180
HIDDEN, SHOWN = "experiments/hidden", "experiments/shown"
"""Settings: the columns that the user has hidden, and those that are to be shown where there is no room for all."""
REPAINT_MS = 30_000
"""Relative times grow."""


class RunsTable(RowTable):
    """The view. `chosen` is emitted when the selection changes; the other signals ask for what a menu or key stands
    for."""

    delete_requested = Signal()
    rename_requested = Signal()

    def __init__(self, model: RunsModel, menu: QMenu) -> None:
        super().__init__(model, "Runs")
        self._model, self._menu = model, menu
        self._settings = QSettings("Netwright", "Netwright")
        self._kept: list[Path] = []
        self._is_dressing = False
        self._own_widths: dict[str, int] = {}
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._make_header()
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._bring_back)
        model.dataChanged.connect(self._dress_columns)
        self.horizontalHeader().sectionResized.connect(self._on_resized)
        self.doubleClicked.connect(self.opened.emit)
        self._clock = QTimer(self, interval=REPAINT_MS)
        self._clock.timeout.connect(self.viewport().update)
        self._clock.start()

    def _make_header(self) -> None:
        header = self.horizontalHeader()
        header.setStretchLastSection(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        self._dress_columns()

    # ---- what is selected ----

    @property
    def selected(self) -> list[RunSummary]:
        """The selected runs, from top to bottom."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self._model.rows[row] for row in rows]

    def select(self, paths: list[Path]) -> None:
        """Select these runs, and scroll the first of them into view."""
        rows = sorted(row for path in paths if (row := self._model.row_of(path)) >= 0)
        self.select_rows(rows)
        if rows:
            self._make_current(rows[0])

    def _make_current(self, row: int) -> None:
        index = self._model.index(row, 0)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.scrollTo(index)

    def _keep(self) -> None:
        self._kept = [run.path for run in self.selected]
        self._is_busy = True

    def _bring_back(self) -> None:
        self._dress_columns()
        self.select(self._kept)
        self._is_busy = False
        self.chosen.emit()

    # ---- columns ----

    def _chosen(self, setting: str) -> set[str]:
        """The columns that the user has hidden, or asked for."""
        stored = self._settings.value(setting)
        return {stored} if isinstance(stored, str) else set(stored) if isinstance(stored, list) else set()

    def _width_of(self, column: str) -> int:
        """Return the width of a column: that of its header and of its longest cell, within limits."""
        figures, letters = QFontMetrics(self._model.figures), self.fontMetrics()
        if column in self._own_widths:
            return self._own_widths[column]
        texts = (self._model.text_of(run, column) for run in self._model.rows[:CELLS_MEASURED])
        cells = map(figures.horizontalAdvance, texts)
        most = MOST_WIDTHS.get(column, MOST_WIDTH)
        header = letters.horizontalAdvance(label_of(column)) + ARROW
        return max(LEAST_WIDTH, header + PADDING, min(most, max(cells, default=0) + PADDING))

    def _dress_columns(self, *_: object) -> None:
        """Give each column its width, and show as many as there is room for: those asked for, else the first ones."""
        self._is_dressing = True
        hidden, visible = self._chosen(HIDDEN), self._chosen(SHOWN)
        widths = {column: self._width_of(column) for column in self._model.columns}
        room = self.viewport().width() - sum(widths[column] for column in visible & widths.keys())
        for number, column in enumerate(self._model.columns):
            is_shown = column in visible or column == "run"
            if not is_shown and column not in hidden and self._is_shown_unasked(column) and widths[column] <= room:
                is_shown = True
            if is_shown and column not in visible:
                room -= widths[column]
            self.setColumnWidth(number, widths[column])
            self.setColumnHidden(number, not is_shown)
        self._is_dressing = False

    def _on_resized(self, number: int, _before: int, width: int) -> None:
        """Keep the width that the user gives a column."""
        if not self._is_dressing and QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            self._own_widths[self._model.columns[number]] = width

    def _is_shown_unasked(self, column: str) -> bool:
        """Return whether a column is shown unasked: no figures of the training split, and no empty one."""
        if column.startswith("training."):
            return False
        is_empty = not any(self._model.text_of(run, column) for run in self._model.rows)
        return not (is_empty and (column in LAST))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many columns as there is room for."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._dress_columns()

    def fill_columns_menu(self, menu: QMenu) -> None:
        """Fill the menu with an entry per column, to show or hide it."""
        menu.clear()
        theme.mark(menu, "role", "choices")
        for number, column in enumerate(self._model.columns):
            if column == "run":
                continue
            add_choice(menu, label_of(column), not self.isColumnHidden(number), partial(self._show_column, column))

    def _show_column(self, column: str, is_shown: bool) -> None:
        hidden, visible = self._chosen(HIDDEN) - {column}, self._chosen(SHOWN) - {column}
        (visible if is_shown else hidden).add(column)
        self._settings.setValue(HIDDEN, sorted(hidden))
        self._settings.setValue(SHOWN, sorted(visible))
        self._dress_columns()

    # ---- keys and menu ----

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Show the curves with Return, rename with F2, delete with Delete, copy as CSV with Ctrl+C."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit()
        elif event.key() == Qt.Key.Key_F2:
            self.rename_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(as_csv(self.selected or self._model.rows))
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the selected runs."""
        if self.selected:
            self._menu.exec(event.globalPos())
