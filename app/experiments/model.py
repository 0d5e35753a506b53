"""The table of runs: one row a run, a column for every figure that any of them has."""

import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from app.runs.facts_panel import STATES
from designer import theme
from engine.project.options.metrics import in_a_line, is_share
from engine.runs.query import Order, matching, order_by
from engine.runs.summary import DAMAGED, RunSummary
from engine.runs.table import score_names
from engine.runs.words import duration
from engine.words import percent

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
    """What stands above a column: `Validation loss` for `validation.loss`."""
    if column in LABELS:
        return LABELS[column]
    split, _, metric = column.partition(".")
    return f"{split.capitalize()} {in_a_line(metric)}"


def state_in_words(state: str) -> tuple[str, str]:
    """A state with its sign, and the name of its colour."""
    return _WORDS.get(state, (state, "muted"))


def figure_of(name: str, value: float | None) -> str:
    """A figure as a cell shows it: four digits, shares of correct answers in per cent."""
    if value is None:
        return ""
    if is_share(name.rpartition(".")[2]) and value == value:
        return percent(value, 2)
    return f"{value:#.4g}".rstrip(".")


def when(created: float) -> str:
    """Day and minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(created)) if created else ""


def text_of(run: RunSummary, column: str) -> str:
    """What stands in a cell."""
    match column:
        case "run":
            return run.path.name
        case "state":
            return state_in_words(run.state)[0]
        case "created":
            return when(run.created)
        case "seconds":
            seconds = run.number("seconds")
            return "" if seconds is None else duration(seconds)
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
    """The runs that are looked for, in the order of a column."""

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
        """How many there are, looked for or not."""
        return len(self._all)

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show others, or what has changed of the same. Where rows stay, selection and scrolling do too."""
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
        """Show the runs that fit, see `engine.runs.query`."""
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
        """The order that a column begins with: the best first."""
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
        """The row of a run, or -1."""
        return next((row for row, run in enumerate(self.rows) if run.path == path), -1)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One row a run."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Facts, figures, and what people say."""
        return 0 if parent.isValid() else len(self.columns)

    def _is_number(self, column: str) -> bool:
        return column in RIGHT or "." in column

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The columns' names, above their numbers' ends."""
        if orientation == Qt.Orientation.Vertical or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _TO_RIGHT if self._is_number(column) else _TO_LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return "What differs from the run before of the same project" if column == "changes" else label_of(column)
        if role == Qt.ItemDataRole.InitialSortOrderRole:
            return self.best_order(section)
        return label_of(column) if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Texts; numbers to the right, in digits of one width; states in their colour, with a sign."""
        run, column = self.rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return text_of(run, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _TO_RIGHT if self._is_number(column) else _TO_LEFT
            case Qt.ItemDataRole.FontRole:
                return self.figures if self._is_number(column) or column == "created" else None
            case Qt.ItemDataRole.ForegroundRole:
                return self._colour(run, column)
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(run, column)
        return None

    def _colour(self, run: RunSummary, column: str) -> object:
        if column == "state":
            return getattr(theme.current(), state_in_words(run.state)[1])
        return theme.current().muted if column in ("created", "environment", "changes") else None

    def _tip(self, run: RunSummary, column: str) -> str:
        if column == "state":
            return run.reason or text_of(run, column)
        if column == "changes":
            return "\n".join(map(str, run.changes))
        if column == "run":
            return str(run.path)
        return run.notes.note if column == "note" else text_of(run, column)
