"""Long table: a CSV or Parquet file with one row per time step, of one series or of several that a column tells apart.

Columns hold numbers, except those whose role says otherwise: the time (numbers or dates), the columns that tell series
apart, and labels. Other columns of texts are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.source import MOST_ROUNDED, Array, cut, listed
from netwright.engine.data.tables.arrow_cells import texts_of
from netwright.engine.data.tables.csv_table import CsvTable
from netwright.engine.data.tables.parquet_file import ParquetCells
from netwright.engine.data.tables.step_columns import Either, Step, StepColumn, Texts, Times
from netwright.engine.project.sources.csv_dialect import SAMPLE_ROWS, Written
from netwright.engine.project.sources.table import PARQUET


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Meaning of the columns that are no plain numbers. An empty name: there is no such column. `group` are one or
    several names, separated by commas."""

    time: str = ""
    group: str = ""
    date_order: str = "auto"
    written: Written | None = None
    labels: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    """Columns of numbers or of texts, by what their first rows hold."""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Labels:
    """Texts of a column: the index of each row's text (N, int32) in `names`, which are in order of appearance."""

    codes: Array
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LongTable:
    """Rows of a long table, sorted by series; within each they are in the order of time, or of the file without times.

    numbers: columns (N) of float64, NaN where a value is missing. times: (N), float64 or datetime64, None without such
    a column. bounds: first row of each series, and the number of rows (series + 1). places: row of the file of each
    row (N), None where both are the same.
    """

    table: CsvTable | ParquetCells
    numbers: Mapping[str, Array]
    labels: Mapping[str, Labels]
    times: Array | None
    groups: tuple[str, ...]
    bounds: Array
    places: Array | None
    first_rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return int(self.bounds[-1])

    @property
    def path(self) -> Path:
        """The file."""
        return self.table.path

    def place(self, row: int) -> str:
        """Return the place of a row in the file, for messages: `line 12`, or `row 12` of a Parquet file."""
        return self.table.place(row if self.places is None else int(self.places[row]))

    def said(self, group: int) -> str:
        """Return ` of 'name'` for a series that has a name, else nothing."""
        return f" of {quoted(self.groups[group])}" if self.groups else ""

    @cached_property
    def group_of(self) -> Array:
        """Index of the series of each row (N)."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))


def open_table(path: Path, left_out: Sequence[str] = (), written: Written | None = None) -> CsvTable | ParquetCells:
    """Return the cells of a CSV or Parquet file, by its suffix. Raises `UserError`."""
    if path.suffix.lower() in PARQUET:
        return ParquetCells(path, left_out)
    return CsvTable(path, left_out, written=written, least_columns=1)


def read_long_table(path: Path, roles: Roles) -> LongTable:
    """Read a long table. Raises `UserError`, which names the column and the line, and for times out of order."""
    import pyarrow

    table = open_table(path, roles.left_out, roles.written)
    groups, times_of = (_named(text, table.names) for text in (roles.group, roles.time))
    for name in (*times_of, *groups, *roles.labels, *roles.either):
        if name and name not in table.names:
            hint = did_you_mean(name, table.names)
            raise UserError(
                f"{path} has no column {quoted(name)}.{hint} Its columns are: {listed(list(table.names), 20)}."
            )
    clock = Times(roles.time, table, roles.date_order)
    columns = {name: _column_for(name, roles, (*groups, *times_of), table) for name in table.names}
    first_rows: list[tuple[str, ...]] = []
    rows = 0
    for batch in table.batches():
        first_rows += table.first_cells(batch, SAMPLE_ROWS - len(first_rows))
        for name, column in columns.items():
            if name not in times_of:
                column.take(batch.column(name), rows)
        if len(times_of) > 1:
            parts = zip(*(texts_of(batch.column(name)) for name in times_of), strict=True)
            clock.take(pyarrow.array([" ".join(cells) for cells in parts]), rows)
        elif times_of:
            clock.take(batch.column(times_of[0]), rows)
        rows += batch.num_rows
    if not rows:
        raise table.no_rows()
    read = [clock if name in times_of else column for name, column in columns.items()]
    if table.is_whole and all(column.is_plain for column in read):
        for column in columns.values():
            column.shorten_names()
    codes, series = _series_of([columns[name] for name in groups])
    times = clock.values() if times_of else None
    order, bounds, notes = _order(codes, times, rows, roles.time)

    def in_order(values: Array) -> Array:
        return values if order is None else values[order]

    values = {name: column.values() for name, column in columns.items() if name not in (*groups, *times_of)}
    long_table = LongTable(
        table,
        {name: in_order(values[name]) for name, c in columns.items() if c.holds == "numbers" and name in values},
        {
            name: Labels(in_order(values[name]), tuple(c.names))
            for name, c in columns.items()
            if c.holds == "texts" and name not in (*groups, *times_of)
        },
        None if times is None else in_order(times),
        series,
        bounds,
        order,
        tuple(first_rows),
        (*table.notes(), *notes, *(note for column in columns.values() for note in column.notes)),
    )
    if times_of:
        _refuse_doubles(long_table, roles.time)
    return long_table


def _named(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that an option names, separated by commas; a single name may contain commas."""
    return (text,) if text in names else tuple(name.strip() for name in text.split(",") if name.strip())


def _column_for(name: str, roles: Roles, keys: Sequence[str], table: CsvTable | ParquetCells) -> StepColumn:
    if name in roles.either:
        return Either(name, table)
    return Texts(name, table) if name in keys or name in roles.labels else Step(name, table)


def _series_of(columns: Sequence[StepColumn]) -> tuple[Array | None, tuple[str, ...]]:
    """Return the index of the series of each row (N), in order of appearance, and their names; None for one series."""
    if not columns:
        return None, ()
    codes, names = columns[0].values(), tuple(columns[0].names)
    for column in columns[1:]:
        pairs, first, inverse = np.unique(
            codes.astype(np.int64) * len(column.names) + column.values(), return_index=True, return_inverse=True
        )
        order = np.argsort(first)
        codes = np.argsort(order)[inverse.reshape(-1)]
        others = tuple(column.names)
        names = tuple(f"{names[pair // len(others)]}, {others[pair % len(others)]}" for pair in pairs[order].tolist())
    return codes, names


def _order(codes: Array | None, times: Array | None, rows: int, time: str) -> tuple[Array | None, Array, list[str]]:
    """Return the order that sorts rows by series and, where they are not, by time, None where they are sorted; the
    bounds of the series; and a note on sorting by time."""
    groups = np.zeros(rows, np.int64) if codes is None else codes
    bounds = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    order = np.argsort(groups, kind="stable") if (np.diff(groups) < 0).any() else None
    if times is None or rows < 2:
        return order, bounds, []
    steps = np.diff(times if order is None else times[order])
    steps[bounds[1:-1] - 1] = steps.dtype.type(1)
    if not (steps < steps.dtype.type(0)).any():
        return order, bounds, []
    note = f"The rows were sorted by '{cut(time)}': they do not stand in the order of time."
    return np.lexsort((times, groups)), bounds, [note]


def _refuse_doubles(table: LongTable, time: str) -> None:
    """Raise `UserError` for the first time that a series has twice."""
    assert table.times is not None
    steps = np.diff(table.times)
    wrong = np.concatenate([[False], steps == steps.dtype.type(0)])
    wrong[table.bounds[:-1]] = False
    if not wrong.any():
        return
    row = int(wrong.argmax())
    count = int(wrong.sum())
    subject = f"Column '{cut(time)}' of {table.path}, {table.place(row)}"
    more = f" {plural(count, 'row')} of the file {'is' if count == 1 else 'are'} like that." if count > 1 else ""
    raise UserError(
        f"{subject}: the time {shown(table.times[row])}{table.said(int(table.group_of[row]))} stands on "
        f"{table.place(row - 1)}, too.{more} Leave one of the rows out, or name the column that tells series apart "
        "(data.group_column, or data.id_column of sequences)."
    )


def fill_missing(
    table: LongTable, names: Sequence[str], *, fills: bool, backwards: bool = False
) -> tuple[Array, list[str]]:
    """Fill missing values with the last one of their series where `fills`, and `backwards` with the next one where
    there is none before; return the rows where there is none (N), and notes. Raises `UserError` for missing values that
    are not to be filled."""
    unfilled, notes = np.zeros(len(table), bool), []
    first = table.bounds[:-1][table.group_of]
    for name in names:
        values = table.numbers[name]
        missing = np.isnan(values)
        count = int(missing.sum())
        if not count:
            continue
        if not fills:
            row = int(missing.argmax())
            more = f" It has {count:,} such cells." if count > 1 else ""
            raise UserError(
                f"Column '{cut(name)}' of {table.path}, {table.place(row)}: the value is missing"
                f"{table.said(int(table.group_of[row]))}.{more} Write it, fill gaps with the last value "
                "(data.missing_cells=last-value), or leave the column out (data.left_out)."
            )
        last = np.maximum.accumulate(np.where(missing, 0, np.arange(len(values))))
        has_none = missing & ((last < first) | np.isnan(values[last]))
        values[missing] = values[last[missing]]
        values[has_none] = np.nan
        if backwards and has_none.any():
            after = np.minimum.accumulate(np.where(has_none, len(values), np.arange(len(values)))[::-1])[::-1]
            follows = has_none & (after < table.bounds[1:][table.group_of])
            values[follows] = values[after[follows]]
            has_none &= ~follows
        values[has_none] = 0.0
        unfilled |= has_none
        if filled := count - int(has_none.sum()):
            notes.append(
                f"Column '{cut(name)}': {plural(filled, 'missing value')} filled with the last one before "
                "(data.missing_cells)."
            )
    return unfilled, notes


def side_by_side(numbers: Mapping[str, Array], names: Sequence[str]) -> Array:
    """Return columns as an array (T, C): in single precision unless one would lose digits that training minds."""
    is_wide = any(
        float(np.abs(numbers[name] - numbers[name].astype(np.float32)).max()) > MOST_ROUNDED * np.ptp(numbers[name])
        for name in names
    )
    rows = np.empty((len(numbers[names[0]]), len(names)), np.float64 if is_wide else np.float32)
    for place, name in enumerate(names):
        rows[:, place] = numbers[name]
    rows.flags.writeable = False
    return rows


def shown(time: object) -> str:
    """Return a time as text: a number, or `2024-03-31 13:00`."""
    if isinstance(time, np.datetime64):
        text = str(time.astype("datetime64[s]")).replace("T", " ")
        return text.removesuffix(":00")
    return f"{time:.10g}"
