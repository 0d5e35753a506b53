"""The table of runs: its model, sorting, choice of columns, keys and menu."""

import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QSettings,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QFont, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView

from app.runs.facts_panel import STATES
from designer import markup, theme
from engine.core.text import format_duration, format_percent
from engine.project.options.metrics import in_a_line, is_share
from engine.runs.query import Order, as_csv, matching, order_by, score_names
from engine.runs.summary import DAMAGED, RunSummary

Index = QModelIndex | QPersistentModelIndex
FIRST = ("run", "state", "created", "seconds", "epochs")
LAST = ("changes", "tags", "note", "environment")
LABELS = {
    "run": "Run",
    "state": "State",
    "created": "Started",
    "seconds": "Time",
    "environment": "Environment",
    "epochs": "Epochs",
    "changes": "Changed",
    "tags": "Tags",
    "note": "Note",
}
RIGHT = ("seconds", "epochs")
_WORDS = {**STATES, DAMAGED: ("✕ Damaged", "error")}
_ROOT = QModelIndex()
_TO_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_TO_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def label_of(column: str) -> str:
    """Return the header of a column: `Validation loss` for `validation.loss`."""
    if column in LABELS:
        return LABELS[column]
    split, _, metric = column.partition(".")
    return f"{split.capitalize()} {in_a_line(metric)}"


def state_in_words(state: str) -> tuple[str, str]:
    """Return a state with its sign, and the name of its colour."""
    return _WORDS.get(state, (state, "muted"))


def figure_of(name: str, value: float | None) -> str:
    """Return a figure as a cell shows it: four digits, shares of correct answers in per cent."""
    if value is None:
        return ""
    if is_share(name.rpartition(".")[2]) and value == value:
        return format_percent(value, 2)
    return f"{value:#.4g}".rstrip(".")


def when(created: float) -> str:
    """Return day and minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(created)) if created else ""


def text_of(run: RunSummary, column: str) -> str:
    """Return the text of a cell."""
    match column:
        case "run":
            return run.path.name
        case "state":
            return state_in_words(run.state)[0]
        case "created":
            return when(run.created)
        case "seconds":
            seconds = run.number("seconds")
            return "" if seconds is None else format_duration(seconds)
        case "epochs":
            epochs = run.number("epochs")
            return "" if epochs is None else f"{epochs:,.0f}"
        case "environment":
            return run.environment
        case "changes":
            return "; ".join(map(str, run.changes))
        case "tags":
            return ", ".join(run.notes.tags)
        case "note":
            return " ".join(run.notes.note.split())
    return figure_of(column, run.scores.get(column))


class RunsModel(QAbstractTableModel):
    """The runs that match the search, sorted by a column."""

    def __init__(self) -> None:
        super().__init__()
        self.columns: tuple[str, ...] = (*FIRST, *LAST)
        self.rows: list[RunSummary] = []
        self._all: Sequence[RunSummary] = ()
        self._query = ""
        self._order = Order()
        self.figures = QFont()

    @property
    def num_all(self) -> int:
        """The number of runs, matching or not."""
        return len(self._all)

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Set the runs. Where rows stay the same, selection and scroll position do, too."""
        self._all = runs
        columns = (*FIRST, *score_names(runs), *LAST)
        if columns != self.columns:
            self.beginResetModel()
            self.columns = columns
            self.rows = self._wanted()
            self.endResetModel()
            return
        self._refresh()

    def look_for(self, query: str) -> None:
        """Show the runs that match a query, see `engine.runs.query`."""
        if query != self._query:
            self._query = query
            self._refresh()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; newest first for none."""
        is_known = 0 <= column < len(self.columns)
        key = self.columns[column] if is_known else "created"
        self._order = Order(key, order == Qt.SortOrder.DescendingOrder or not is_known)
        self._refresh()

    def best_order(self, column: int) -> Qt.SortOrder:
        """Return the first sort order of a column: the best first."""
        key = self.columns[column]
        is_down = key == "changes" or (key not in LAST and order_by(key, ()).is_down)
        return Qt.SortOrder.DescendingOrder if is_down else Qt.SortOrder.AscendingOrder

    def _wanted(self) -> list[RunSummary]:
        return self._order.sorted(matching(self._all, self._query))

    def _refresh(self) -> None:
        rows = self._wanted()
        if [run.path for run in rows] == [run.path for run in self.rows]:
            changed = [row for row, run in enumerate(rows) if run != self.rows[row]]
            self.rows = rows
            if changed:
                last = len(self.columns) - 1
                self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], last))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def row_of(self, path: Path) -> int:
        """Return the row of a run, or -1."""
        return next((row for row, run in enumerate(self.rows) if run.path == path), -1)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of runs."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns: facts, figures, and notes."""
        return 0 if parent.isValid() else len(self.columns)

    def _is_number(self, column: str) -> bool:
        return column in RIGHT or "." in column

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the names of the columns, aligned as their values."""
        if orientation == Qt.Orientation.Vertical or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _TO_RIGHT if self._is_number(column) else _TO_LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return "Differences from the previous run of the same project" if column == "changes" else label_of(column)
        if role == Qt.ItemDataRole.InitialSortOrderRole:
            return self.best_order(section)
        return label_of(column) if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return texts; numbers right-aligned in tabular figures; states in their colour, with a sign."""
        run, column = self.rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return text_of(run, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _TO_RIGHT if self._is_number(column) else _TO_LEFT
            case Qt.ItemDataRole.FontRole:
                return self.figures if self._is_number(column) or column == "created" else None
            case Qt.ItemDataRole.ForegroundRole:
                if column == "state":
                    return getattr(theme.current(), state_in_words(run.state)[1])
                return theme.current().muted if column in ("created", "environment", "changes") else None
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(run, column)
        return None

    def _tip(self, run: RunSummary, column: str) -> str:
        if column == "state":
            return run.reason or text_of(run, column)
        if column == "changes":
            return "\n".join(map(str, run.changes))
        if column == "run":
            return str(run.path)
        return run.notes.note if column == "note" else text_of(run, column)


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
    """The view. `chosen` is emitted when the selection changes; the other signals ask for what a menu or key stands
    for."""

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
        """Select these runs, and scroll the first of them into view."""
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
        """The columns that the user has hidden; at first those of the training split."""
        stored = self._settings.value(SETTING)
        if stored is None:
            return {column for column in self._model.columns if column.startswith("training.")}
        return {stored} if isinstance(stored, str) else set(stored) if isinstance(stored, list) else set()

    def _dress_columns(self) -> None:
        self._dressed = self._model.columns
        hidden = self._hidden()
        for number, column in enumerate(self._model.columns):
            words = self.fontMetrics().horizontalAdvance(label_of(column))
            self.setColumnWidth(number, WIDTHS.get(column, min(MOST_FIGURE_WIDTH, max(LEAST_FIGURE_WIDTH, words + 24))))
            self.setColumnHidden(number, column in hidden)

    def fill_columns_menu(self, menu: QMenu) -> None:
        """Fill the menu with an entry per column, to show or hide it."""
        menu.clear()
        theme.mark(menu, "role", "choices")
        for number, column in enumerate(self._model.columns):
            if column == "run":
                continue
            action = menu.addAction(markup.without_mnemonic(label_of(column)))
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
        """Show the curves with Return, delete with Delete, copy as CSV with Ctrl+C."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(as_csv(self.selected or self._model.rows))
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the selected runs."""
        if self.selected:
            self._menu.exec(event.globalPos())
