"""The model of the table of runs: which columns there are, and what stands in them."""

import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from netwright.app.runs.facts_panel import STATES
from netwright.designer import theme
from netwright.designer.items import TableModel
from netwright.engine.core.text import format_ago, format_duration
from netwright.engine.project.options.metric_options import format_score, in_a_line
from netwright.engine.project.project import SECTIONS
from netwright.engine.runs.query import (
    OPTION,
    Order,
    UnknownName,
    matching,
    option_names,
    order_by,
    score_names,
    unknown_name,
)
from netwright.engine.runs.run_options import in_order, shown
from netwright.engine.runs.summary import DAMAGED, RunSummary

Index = QModelIndex | QPersistentModelIndex
FIRST = ("run", "state")
FACTS = ("created", "seconds", "epochs")
LAST = ("tags", "note", "environment", "changes")
NETWORK = "network"
MOST_DIFFERING = 6
"""Columns of options, at most: a comparison shows all that differ."""
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
    NETWORK: "Network",
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
    if column.startswith(OPTION):
        return option_label(column.removeprefix(OPTION))
    split, _, metric = column.partition(".")
    return f"{split.capitalize()} {in_a_line(metric)}"


def state_in_words(state: str) -> tuple[str, str]:
    """Return a state with its sign, and the name of its colour."""
    return _WORDS.get(state, (state, "muted"))


def figure_of(name: str, value: float | None) -> str:
    """Return a figure as a cell shows it; empty where there is none."""
    return "" if value is None else format_score(name, value)


def when(created: float) -> str:
    """Return day, minute and second."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(created)) if created else ""


def ago(created: float) -> str:
    """Return how long ago a run was started."""
    return format_ago(time.time() - created) if created else ""


def option_label(path: str) -> str:
    """Return the label of an option, as its field in the dialog has it."""
    section, _, name = path.partition(".")
    record = SECTIONS.get(section)
    field = record.fields.get(name) if record is not None else None
    return field.label if field is not None else path


def differing(runs: Sequence[RunSummary]) -> list[str]:
    """Return the columns of options, network and environment in which runs differ, in the order of the dialog."""
    if len(runs) < 2:
        return []
    paths = [path for path in option_names(runs) if len({shown(run.options, path) for run in runs}) > 1]
    columns = [f"{OPTION}{path}" for path in in_order(paths)][:MOST_DIFFERING]
    if len({run.network for run in runs if run.network}) > 1:
        columns.insert(0, NETWORK)
    return columns


def columns_of(runs: Sequence[RunSummary]) -> tuple[str, ...]:
    """Return the columns for runs, those that tell them apart first: what differs, the metrics of held-out samples,
    facts, notes, and the rest."""
    scores = score_names(runs)
    held_out = [name for name in scores if not name.startswith("training.")]
    metrics = [name for name in held_out if not name.endswith(".loss")]
    losses = [name for name in held_out if name.endswith(".loss")]
    rest = [name for name in scores if name not in held_out]
    return (*FIRST, *differing(runs), *metrics, *FACTS, *losses, *LAST, *rest)


def letters_of(runs: Sequence[RunSummary]) -> dict[str, str]:
    """Return a letter for each network, in the order of the runs."""
    letters: dict[str, str] = {}
    for run in runs:
        if run.network:
            letters.setdefault(run.network, chr(ord("A") + len(letters) % 26))
    return letters


def text_of(run: RunSummary, column: str) -> str:
    """Return the text of a cell."""
    match column:
        case "run":
            return run.title
        case "state":
            return state_in_words(run.state)[0]
        case "created":
            return ago(run.created)
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
    if column.startswith(OPTION):
        return run.option_text(column.removeprefix(OPTION))
    return figure_of(column, run.scores.get(column))


class RunsModel(TableModel):
    """The runs that match the search, sorted by a column."""

    def __init__(self) -> None:
        super().__init__()
        self.columns: tuple[str, ...] = columns_of(())
        self._letters: dict[str, str] = {}
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
        self._letters = letters_of(runs[::-1])
        self._refresh()

    @property
    def unknown(self) -> UnknownName | None:
        """The first name of the query that no run has."""
        return unknown_name(self._all, self._query)

    def look_for(self, query: str) -> None:
        """Show the runs that match a query, see `netwright.engine.runs.query`."""
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
        is_word = key in LAST or key == NETWORK or key.startswith(OPTION)
        is_down = key == "changes" or (not is_word and order_by(key, ()).is_down)
        return Qt.SortOrder.DescendingOrder if is_down else Qt.SortOrder.AscendingOrder

    def _wanted(self) -> list[RunSummary]:
        return self._order.sorted(matching(self._all, self._query))

    def _refresh(self) -> None:
        rows = self._wanted()
        columns = columns_of(rows) if rows else self.columns
        if columns != self.columns:
            self.beginResetModel()
            self.columns, self.rows = columns, rows
            self.endResetModel()
            return
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

    def text_of(self, run: RunSummary, column: str) -> str:
        """Return the text of a cell; networks go by letters."""
        return self._letters.get(run.network, "") if column == NETWORK else text_of(run, column)

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
        return column in RIGHT or ("." in column and not column.startswith(OPTION))

    def heading(self, section: int, role: int) -> object:
        """Return the names of the columns, aligned as their values."""
        if not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _TO_RIGHT if self._is_number(column) else _TO_LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return "Differences from the previous run of the same project" if column == "changes" else label_of(column)
        if role == Qt.ItemDataRole.InitialSortOrderRole:
            return self.best_order(section)
        return label_of(column) if role == Qt.ItemDataRole.DisplayRole else None

    def cell(self, index: Index, role: int) -> object:
        """Return texts; numbers right-aligned in tabular figures; states in their colour, with a sign."""
        run, column = self.rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text_of(run, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _TO_RIGHT if self._is_number(column) else _TO_LEFT
            case Qt.ItemDataRole.FontRole:
                return self.figures if self._is_number(column) or column == "created" else None
            case Qt.ItemDataRole.ForegroundRole:
                if column == "state":
                    return getattr(theme.current(), state_in_words(run.state)[1])
                return theme.current().muted if column in ("created", "environment", "changes", "epochs") else None
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(run, column)
        return None

    def _tip(self, run: RunSummary, column: str) -> str:
        if column == "state":
            return run.reason or text_of(run, column)
        if column == "changes":
            return "\n".join(map(str, run.changes))
        if column == "run":
            return f"{run.title}\n{run.path}"
        if column == "created":
            return when(run.created)
        return run.notes.note if column == "note" else text_of(run, column)
