"""The model of the table of trials: rows and groups that are shown, and what stands in their cells."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from netwright.app.experiments.trial_texts import (
    COLOURS,
    NO_CHANGE,
    column_label,
    difference_text,
    state_words,
    trial_title,
    value_in_words,
    value_of_group,
)
from netwright.app.runs.run_texts import ago, when
from netwright.designer import theme
from netwright.designer.engine_messages import duration_text, message_text
from netwright.designer.items import Index, TableModel
from netwright.designer.language import named, tr
from netwright.engine.core.text import format_percent
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.runs.query import OPTION, UnknownName, matching, unknown_name
from netwright.engine.runs.run_options import Options, shown
from netwright.engine.runs.trial_log import OVER, STATES, Trial, TrialRun
from netwright.engine.runs.trial_marks import NOTHING, Marks
from netwright.engine.runs.trial_reader import Live
from netwright.engine.runs.trial_rows import (
    FACTS,
    TEXTS,
    Group,
    TrialRow,
    columns_of,
    difference,
    grouped,
    is_low_better,
    is_score,
    ordered,
)

CURVE, SHARE, IS_NOTED, TINT, INDENT = (Qt.ItemDataRole.UserRole + number for number in range(1, 6))
"""Roles: values of a curve; the share of a running trial that is done; whether a note stands in the cell; the colour
that the user gave the row; the level of a group, or of what is in it."""
BEST, BASELINE = "★", "◆"
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ROOT = QModelIndex()
Row = TrialRow | Group


@dataclass
class Shown:
    """The content of the table of an experiment: its trials and the facts beside them."""

    trials: Sequence[Trial] = ()
    objectives: Sequence[str] = ()
    best: frozenset[int] = frozenset()
    marks: Marks = field(default_factory=Marks)
    defaults: Options = field(default_factory=dict)
    """Options of the project, as far as no trial varies them."""
    is_alive: bool = False


class TrialsModel(TableModel):
    """Trials that match the search, sorted, and in groups that can be folded."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = Shown()
        self.columns: tuple[str, ...] = ()
        self.extra: tuple[str, ...] = ()
        """Columns of options that do not vary, which the user has asked for."""
        self.rows: list[Row] = []
        self.group_columns: tuple[str, ...] = ()
        self.order: tuple[str, bool] = ("trial", False)
        """The column that rows are sorted by, and whether the highest value is first."""
        self.shows_hidden = False
        self.curves: dict[int, list[float]] = {}
        self.live: dict[int, Live] = {}
        self.figures = QFont()
        self._query = ""
        self._kept: frozenset[int] | None = None
        self._folded: set[tuple[str, ...]] = set()
        self._made: dict[int, TrialRow] = {}
        self._paths: dict[str, Any] = {}
        self._scores: dict[str, float] = {}
        """Parameters and facts of the trials, each with any value."""
        self._has_hosts = False
        self._matching: list[TrialRow] = []

    # ---- what is shown ----

    def show(self, shown_now: Shown) -> None:
        """Show an experiment, or what has changed in it."""
        if not shown_now.trials:
            self._paths, self._scores, self._has_hosts = {}, {}, False
        self.shown = shown_now
        self._make_rows()
        self._refresh()

    def look_for(self, query: str) -> None:
        """Show the trials that match a query, see `netwright.engine.runs.query`."""
        if query != self._query:
            self._query = query
            self._refresh()

    def keep_only(self, numbers: Iterable[int] | None) -> None:
        """Show trials of these numbers alone; None for all."""
        self._kept = frozenset(numbers) if numbers is not None else None
        self._refresh()

    def group_by(self, columns: Sequence[str]) -> None:
        """Show the trials in groups by the values of columns."""
        self.group_columns, self._folded = tuple(columns), set()
        self._refresh()

    def show_hidden(self, is_on: bool) -> None:
        """Show hidden trials too, or no more."""
        self.shows_hidden = is_on
        self._refresh()

    def show_options(self, columns: Sequence[str]) -> None:
        """Have columns of options that do not vary."""
        self.extra = tuple(columns)
        self._refresh()

    def sort_by(self, column: str, *, is_down: bool) -> None:
        """Sort by a column."""
        if self.order != (column, is_down):
            self.order = column, is_down
            self._refresh()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by the number of a column; by trial for none."""
        is_known = 0 <= column < len(self.columns)
        name = self.columns[column] if is_known else "trial"
        self.sort_by("started" if name == "curve" else name, is_down=is_known and order == Qt.SortOrder.DescendingOrder)

    def toggle(self, row: int) -> None:
        """Fold or unfold the group in a row."""
        if isinstance(group := self.rows[row], Group):
            self._folded ^= {group.key}
            self._refresh()

    def is_folded(self, group: Group) -> bool:
        """Return whether a group is folded."""
        return group.key in self._folded

    @property
    def unknown(self) -> UnknownName | None:
        """The first name of the query that no trial has."""
        with_all = Trial(0, self._paths, runs=(TrialRun("", "", self._scores),))
        row = TrialRow(with_all, defaults=self.shown.defaults)
        return unknown_name([row], self._query, states=STATES, noun="trial")

    @property
    def trial_rows(self) -> list[TrialRow]:
        """All trials that match, in their order, also those in folded groups."""
        return self._matching

    @property
    def num_hidden(self) -> int:
        """The number of trials that the user has hidden."""
        return sum(marks.is_hidden for marks in self.shown.marks.trials.values())

    @property
    def baseline(self) -> TrialRow | None:
        """The trial that others are compared with."""
        return self._made.get(self.shown.marks.baseline)

    def is_filled(self, column: str) -> bool:
        """Return whether any trial has a reason, a note or tags."""
        if column == "reason":
            return any(trial.reason for trial in self.shown.trials)
        name = "note" if column == "note" else "tags"
        return any(getattr(marks.notes, name) for marks in self.shown.marks.trials.values())

    def trial_row(self, number: int) -> TrialRow | None:
        """Return a trial by its number."""
        return self._made.get(number)

    def row_of(self, number: int) -> int:
        """Return the row of a trial, or -1."""
        places = (at for at, row in enumerate(self.rows) if isinstance(row, TrialRow) and row.trial.number == number)
        return next(places, -1)

    # ---- refreshing ----

    def _refresh(self) -> None:
        rows = [row for row in self._made.values() if self.shows_hidden or not row.marks.is_hidden]
        rows = [row for row in rows if self._kept is None or row.trial.number in self._kept]
        self._matching = ordered(matching(rows, self._query), self.order[0], is_down=self.order[1])
        order = self._unfolded(grouped(self._matching, self.group_columns)) if self.group_columns else self._matching
        standard = columns_of(self._paths, self._scores, self.shown.objectives, has_hosts=self._has_hosts)
        columns = (*standard, *self.extra)
        if columns != self.columns:
            self.beginResetModel()
            self.columns, self.rows = columns, list(order)
            self.endResetModel()
            return
        if len(order) >= len(self.rows) and all(map(_is_same, self.rows, order)):
            self._change_in_place(list(order), len(self.rows))
            return
        self.beginResetModel()
        self.rows = list(order)
        self.endResetModel()

    def _change_in_place(self, rows: list[Row], num_before: int) -> None:
        """Replace rows that stay where they are, and append those that are new."""
        changed = [at for at in range(num_before) if rows[at] is not self.rows[at]]
        self.rows[:] = rows[:num_before]
        if changed:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(self.columns) - 1))
        if len(rows) > num_before:
            self.beginInsertRows(_ROOT, num_before, len(rows) - 1)
            self.rows = rows
            self.endInsertRows()

    def _make_rows(self) -> None:
        marks, defaults, before = self.shown.marks.trials, self.shown.defaults, self._made
        rows: dict[int, TrialRow] = {}
        for trial in self.shown.trials:
            number = trial.number
            own, row = marks.get(number, NOTHING), before.get(number)
            if row is None or row.trial is not trial or row.marks is not own or row.defaults is not defaults:
                row = TrialRow(trial, own, defaults)
                self._paths.update(trial.values)
                self._scores.update(trial.scores)
                self._has_hosts = self._has_hosts or bool(trial.hosts)
            rows[number] = row
        self._made = rows

    def _unfolded(self, groups: Sequence[Group]) -> list[Row]:
        rows: list[Row] = []
        for group in groups:
            rows.append(group)
            if group.key not in self._folded:
                rows += self._unfolded(group.parts) if group.parts else group.rows
        return rows

    def show_live(self, live: Mapping[int, Live], curves: Mapping[int, list[float]]) -> None:
        """Show how far running trials have come, and curves of trials."""
        self.live = dict(live)
        self.curves.update(curves)
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(self.columns) - 1))

    # ---- cells ----

    def text_of(self, row: Row, column: str) -> str:
        """Return the text of a cell."""
        if isinstance(row, Group):
            return self._group_text(row, column)
        trial = row.trial
        match column:
            case "trial":
                signs = BEST * (trial.number in self.shown.best) + BASELINE * (row is self.baseline)
                return f"{trial.number} {signs}".strip()
            case "state":
                share = self.live[trial.number].share if self._is_running(row) and trial.number in self.live else 0.0
                words = self.state_of(row)[0]
                return f"{words} {format_percent(share)}" if share else words
            case "curve":
                return ""
            case "started":
                return ago(trial.started)
            case "note" | "tags" | "reason" | "host":
                return " ".join(str(row.value(column) or "").split())
            case "runs":
                return str(len(trial.runs))
            case "seconds":
                seconds = self._seconds(row)
                return self._with_difference(row, column, "" if seconds is None else duration_text(seconds))
        if column.startswith(OPTION):
            path = column.removeprefix(OPTION)
            return value_in_words(path, trial.values[path] if path in trial.values else shown(row.options, path))
        if (now := self._value_now(row, column)) is not None:
            return format_score(column, now)
        spread = trial.spread(column)
        text = format_score(column, row.scores.get(column))
        return self._with_difference(row, column, f"{text} ± {spread[0]:.2g}" if spread else text)

    def _with_difference(self, row: TrialRow, column: str, text: str) -> str:
        baseline = self.baseline
        if baseline is None or row is baseline or (change := difference(row, baseline, column)) is None:
            return text
        return f"{text}  {difference_text(column, change)}"

    def _group_text(self, group: Group, column: str) -> str:
        if column == "trial":
            name = column_label(group.column)
            return f"{named(name, value_of_group(group))} ({len(group.rows):,})"
        if column == "seconds":
            return duration_text(sum(group.values(column))) if group.values(column) else ""
        if column in FACTS or not is_score(column):
            return ""
        mean, best = group.mean(column), group.best(column)
        if mean is None:
            return ""
        return tr("mean {mean}, best {best}", mean=format_score(column, mean), best=format_score(column, best))

    def _is_running(self, row: TrialRow) -> bool:
        return row.trial.state not in OVER and self.shown.is_alive

    def _value_now(self, row: TrialRow, column: str) -> float | None:
        """Return the last value of the curve of a trial under way, in the column of its objective."""
        is_followed = "." in column and column in self.shown.objectives[:1]
        if not is_followed or column in row.scores or not self._is_running(row):
            return None
        curve = self.curves.get(row.trial.number)
        return curve[-1] if curve else None

    def _seconds(self, row: TrialRow) -> float | None:
        trial = row.trial
        if self._is_running(row):
            return max(0.0, time.time() - trial.started)
        return trial.seconds if trial.runs else None

    def state_of(self, row: TrialRow) -> tuple[str, str]:
        """Return the state of a trial with its sign, and the name of its colour."""
        is_lost = row.trial.state not in OVER and not self.shown.is_alive
        return state_words("interrupted" if is_lost else row.trial.state)

    def is_number(self, column: str) -> bool:
        """Return whether the cells of a column are aligned as numbers."""
        is_value = type(self._paths.get(column.removeprefix(OPTION))) in (int, float)
        return is_value or column in ("seconds", "runs") or is_score(column)

    # ---- the interface of Qt ----

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of trials and groups that are unfolded."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def heading(self, section: int, role: int) -> object:
        """Return the names of the columns, aligned as their values."""
        if not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column_label(column)
            case Qt.ItemDataRole.ToolTipRole:
                return column.removeprefix(OPTION) if OPTION in column or is_score(column) else column_label(column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if self.is_number(column) else _LEFT
            case Qt.ItemDataRole.InitialSortOrderRole:
                is_down = is_score(column) and not is_low_better(column)
                return Qt.SortOrder.DescendingOrder if is_down else Qt.SortOrder.AscendingOrder
        return None

    def cell(self, index: Index, role: int) -> object:
        """Return texts, colours, and what the cells are painted from."""
        row, column = self.rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text_of(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _RIGHT if self.is_number(column) else _LEFT
            case Qt.ItemDataRole.FontRole:
                return self._font(row, column)
            case Qt.ItemDataRole.ForegroundRole:
                return self._colour(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(row, column)
        if isinstance(row, Group):
            return row.level if role == INDENT else None
        if role == INDENT:
            return len(self.group_columns)
        if role == CURVE:
            return self.curves.get(row.trial.number) if column == "curve" else None
        if role == SHARE:
            live = self.live.get(row.trial.number) if column == "state" and self._is_running(row) else None
            return live.share if live is not None else None
        if role == IS_NOTED:
            return column in row.marks.cells
        return QColor(COLOURS.get(row.marks.colour, row.marks.colour)) if role == TINT and row.marks.colour else None

    def _font(self, row: Row, column: str) -> QFont | None:
        is_strong = isinstance(row, Group) or (column.startswith(OPTION) and self._differs(row, column) is True)
        if not is_strong:
            return None if column in TEXTS else self.figures
        font = QFont(self.figures)
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _differs(self, row: TrialRow, column: str) -> bool | None:
        """Return whether a trial has another value than the baseline; None without a baseline."""
        baseline = self.baseline
        return None if baseline is None or row is baseline else row.value(column) != baseline.value(column)

    def _colour(self, row: Row, column: str) -> QColor | None:
        palette = theme.current()
        if isinstance(row, Group):
            return None if column == "trial" else palette.muted
        if column == "state":
            colour: QColor = getattr(palette, self.state_of(row)[1])
            return colour
        is_growing = self._is_running(row) and (column == "seconds" or is_score(column))
        if row.marks.is_hidden or column in ("started", "runs") or is_growing:
            return palette.muted
        if column.startswith(OPTION):
            return palette.muted if self._differs(row, column) is False else None
        baseline = self.baseline
        change = difference(row, baseline, column) if baseline is not None and row is not baseline else None
        if change is None or abs(change) < NO_CHANGE or column == "seconds":
            return None
        return palette.good if (change < 0) == is_low_better(column) else palette.error

    def _tip(self, row: Row, column: str) -> str:
        if isinstance(row, Group):
            return self._group_text(row, column)
        parts = [row.marks.cells.get(column, "")]
        match column:
            case "trial":
                best = tr("The best trial") if row.trial.number in self.shown.best else ""
                baseline = tr("The baseline") if row is self.baseline else ""
                parts += [trial_title(row.trial), best, baseline, row.notes.note]
            case "state":
                parts.append(message_text(row.trial.reason) or self.text_of(row, column))
            case "started":
                parts.append(when(row.trial.started))
            case "curve" if self.shown.objectives:
                parts.append(tr("{objective} while it trained", objective=column_label(self.shown.objectives[0])))
            case _:
                parts.append(self.text_of(row, column))
        return "\n".join(filter(None, parts))


def _is_same(before: Row, after: Row) -> bool:
    """Return whether two rows are of the same trial or group."""
    if before is after:
        return True
    if isinstance(before, Group) or isinstance(after, Group):
        return isinstance(before, Group) and isinstance(after, Group) and before.key == after.key
    return before.trial.number == after.trial.number
