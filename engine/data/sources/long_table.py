"""Long table: a CSV or Parquet file with one row per time step, of one series or of several that a column tells apart.

Columns hold numbers, except those whose role says otherwise: the time (numbers, or dates in ISO form), the column that
tells series apart, and labels.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np

from engine.core.errors import UserError, did_you_mean, plural
from engine.core.fields import quoted
from engine.data.sources.csv_table import CsvTable
from engine.data.sources.parquet_file import ParquetCells
from engine.data.sources.source import Array, cut, listed
from engine.data.sources.targets import MOST_ROUNDED
from engine.project.sources.csv_dialect import SAMPLE_ROWS
from engine.project.sources.number_texts import is_missing, is_number
from engine.project.sources.table import PARQUET

LOOKED_AT = 1000
"""Cells by which a column of texts is told from one with a wrong cell."""
TIMES = "numbers, or dates in ISO form such as 2024-03-31 13:00"
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Meaning of the columns that are no plain numbers. An empty name: there is no such column."""

    time: str = ""
    group: str = ""
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
    """Rows of a long table, sorted by series; within each they keep the order of the file.

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
        """Return where a row stands in the file, for messages: `line 12`, or `row 12` of a Parquet file."""
        return self.table.place(row if self.places is None else int(self.places[row]))

    def said(self, group: int) -> str:
        """Return ` of 'name'` for a series that has a name, else nothing."""
        return f" of {quoted(self.groups[group])}" if self.groups else ""

    @cached_property
    def group_of(self) -> Array:
        """Index of the series of each row (N)."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))


def open_table(path: Path, left_out: Sequence[str] = ()) -> CsvTable | ParquetCells:
    """Return the cells of a CSV or Parquet file, by its suffix. Raises `UserError`."""
    if path.suffix.lower() in PARQUET:
        return ParquetCells(path, left_out)
    return CsvTable(path, left_out, least_columns=1)


def numbered_rows(table: CsvTable | ParquetCells) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the number of each line of a CSV file, or of each row of a Parquet file from 1 on, and its cells. Raises
    `UserError`."""
    if isinstance(table, CsvTable):
        yield from table.rows()
    else:
        yield from enumerate((row for piece in table.pieces() for row in piece), 1)


def row_unit(table: CsvTable | ParquetCells) -> str:
    """Return what `numbered_rows` counts: `line` or `row`."""
    return "line" if isinstance(table, CsvTable) else "row"


def read_long_table(path: Path, roles: Roles) -> LongTable:
    """Read a long table. Raises `UserError`, which names the column and the line, and for times out of order."""
    table = open_table(path, roles.left_out)
    for name in (roles.time, roles.group, *roles.labels, *roles.either):
        if name and name not in table.names:
            hint = did_you_mean(name, table.names)
            raise UserError(
                f"{path} has no column {quoted(name)}.{hint} Its columns are: {listed(list(table.names), 20)}."
            )
    columns = {name: _column_for(name, roles, table) for name in table.names}
    first_rows: list[tuple[str, ...]] = []
    quick = table.all_numbers()
    if quick is not None:
        for name, column in columns.items():
            column.take_numbers(quick.numbers[name])
        first_rows, rows = list(quick.first_rows), quick.rows
    else:
        rows = 0
        for piece in table.pieces():
            first_rows += piece[: max(0, SAMPLE_ROWS - len(first_rows))]
            for column, cells in zip(columns.values(), zip(*piece, strict=True), strict=True):
                column.take(cells, rows)
            rows += len(piece)
    if not rows:
        raise table.no_rows()
    order, bounds, groups = _grouped(columns[roles.group] if roles.group else None, rows)

    def sorted_by_series(values: Array) -> Array:
        return values if order is None else values[order]

    found = LongTable(
        table,
        {name: sorted_by_series(c.values()) for name, c in columns.items() if c.holds == "numbers"},
        {
            name: Labels(sorted_by_series(c.values()), tuple(c.names))
            for name, c in columns.items()
            if c.holds == "texts" and name != roles.group
        },
        sorted_by_series(columns[roles.time].values()) if roles.time else None,
        groups,
        bounds,
        order,
        tuple(first_rows),
        table.notes(),
    )
    if roles.time:
        _refuse_disorder(found, roles.time)
    return found


def _column_for(name: str, roles: Roles, table: CsvTable | ParquetCells) -> "_Column":
    if name == roles.time:
        return _Times(name, table)
    if name in roles.either:
        return _Either(name, table)
    return _Texts(name, table) if name == roles.group or name in roles.labels else _Numbers(name, table)


class _Column:
    """One column while it is read, piece by piece."""

    holds = ""

    def __init__(self, name: str, table: CsvTable | ParquetCells) -> None:
        self.name, self.table = name, table
        self.pieces: list[Array] = []
        self.names: dict[str, int] = {}

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add the cells of the rows from index `start` on. Raises `UserError`."""
        raise NotImplementedError

    def take_numbers(self, numbers: Array) -> None:
        """Add a whole column of numbers."""
        self.pieces.append(numbers)

    def values(self) -> Array:
        """Return one value per row, and release the pieces."""
        pieces, self.pieces = self.pieces, []
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def refuse(self, row: int, cell: str, expected: str, way_out: str) -> UserError:
        """Return the error for a cell."""
        received = f"received {quoted(cell)}" if cell.strip() else "the cell is empty"
        return UserError(
            f"Column '{cut(self.name)}' of {self.table.path}, {self.table.place(row)}: expected {expected}, "
            f"{received}. {way_out}"
        )


class _Numbers(_Column):
    holds = "numbers"

    def take(self, cells: Sequence[str], start: int) -> None:
        try:
            numbers = np.array(cells, np.float64)
        except ValueError:
            self._refuse_texts(cells, start)
            numbers = np.fromiter((self._number(cell, start + i) for i, cell in enumerate(cells)), np.float64)
        self.pieces.append(numbers)
        with np.errstate(invalid="ignore"):
            too_large = np.abs(numbers) > LARGEST
        if too_large.any():
            at = int(too_large.argmax())
            expected = f"a number up to {LARGEST:.3g}, which single precision holds"
            raise self.refuse(start + at, cells[at], expected, "Correct the cell, or use another unit.")

    def take_numbers(self, numbers: Array) -> None:
        if float(np.abs(numbers).max()) > LARGEST:
            at = int(np.abs(numbers).argmax())
            expected = f"a number up to {LARGEST:.3g}, which single precision holds"
            raise self.refuse(at, f"{numbers[at]:.3g}", expected, "Correct the cell, or use another unit.")
        super().take_numbers(numbers)

    def _refuse_texts(self, cells: Sequence[str], start: int) -> None:
        """Raise `UserError` for a column of categories: half of its first cells and more are texts."""
        first = [(row, cell) for row, cell in enumerate(cells[:LOOKED_AT]) if not is_missing(cell)]
        texts = [(row, cell) for row, cell in first if not is_number(cell) and "," not in cell]
        if len(texts) < max(2, len(first) / 2):
            return
        row, cell = texts[0]
        raise UserError(
            f"Column '{cut(self.name)}' of {self.table.path} holds texts, such as {quoted(cell)} in "
            f"{self.table.place(start + row)}; the steps of a series are numbers. Write one column of 0 and 1 per "
            f"category instead, or leave it out (data.left_out={cut(self.name)}). A column that tells several series "
            "apart is the group column (data.group_column), or the sequence column of sequences (data.id_column)."
        )

    def _number(self, cell: str, row: int) -> float:
        try:
            return float(cell)
        except ValueError:
            if is_missing(cell):
                return math.nan
        way_out = "Correct the cell, or leave the column out (data.left_out)."
        if "," in cell:
            way_out = "Write decimals with a point and thousands without a separator."
        raise self.refuse(row, cell, "a number", way_out)


class _Texts(_Column):
    holds = "texts"

    def take(self, cells: Sequence[str], start: int) -> None:
        known = self.names
        codes = np.fromiter((known.setdefault(cell.strip(), len(known)) for cell in cells), np.int32, len(cells))
        self.pieces.append(codes)
        if "" in known:
            at = next(i for i, cell in enumerate(cells) if not cell.strip())
            raise self.refuse(start + at, "", "a name", "Write one, or leave the row out.")

    def take_numbers(self, numbers: Array) -> None:
        values, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        self.names = {_name(value): number for number, value in enumerate(values[order].tolist())}
        self.pieces.append(place[codes.reshape(-1)])


def _name(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


class _Either(_Column):
    """Numbers, unless the first piece of the column has a text."""

    def __init__(self, name: str, table: CsvTable | ParquetCells) -> None:
        super().__init__(name, table)
        self._as: _Column = _Numbers(name, table)

    @property
    def holds(self) -> str:  # type: ignore[override]  # known once read
        return self._as.holds

    def take(self, cells: Sequence[str], start: int) -> None:
        if not start and any(not is_missing(cell) and not is_number(cell) for cell in cells):
            self._as = _Texts(self.name, self.table)
        self._as.take(cells, start)

    def take_numbers(self, numbers: Array) -> None:
        self._as.take_numbers(numbers)

    def values(self) -> Array:
        self.names = self._as.names
        return self._as.values()


class _Times(_Column):
    holds = "times"

    def take(self, cells: Sequence[str], start: int) -> None:
        has_numbers = self.pieces[0].dtype.kind == "f" if self.pieces else is_number(cells[0])
        if not has_numbers:
            self.pieces.append(np.array(list(self._dates(cells, start)), "datetime64[us]"))
            return
        for i, cell in enumerate(cells):
            if not is_number(cell) or not math.isfinite(float(cell)):
                raise self.refuse(start + i, cell, "a number as in the rows before", f"Write all times as {TIMES}.")
        self.pieces.append(np.array(cells, np.float64))

    def _dates(self, cells: Sequence[str], start: int) -> Iterator[datetime]:
        for i, cell in enumerate(cells):
            try:
                moment = datetime.fromisoformat(cell.strip())
                moment = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
            except (ValueError, OverflowError):
                way_out = f"Write times as {TIMES}, or choose another time column (data.time_column)."
                raise self.refuse(start + i, cell, "a time", way_out) from None
            yield moment


def _grouped(column: "_Column | None", rows: int) -> tuple[Array | None, Array, tuple[str, ...]]:
    """Return the order that sorts rows by series, None where they are sorted; the bounds; and the names."""
    if column is None:
        return None, np.array([0, rows]), ()
    codes = column.values()
    order = None
    if (np.diff(codes) < 0).any():
        order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=len(column.names))
    return order, np.concatenate([[0], np.cumsum(counts)]), tuple(column.names)


def _refuse_disorder(table: LongTable, time: str) -> None:
    """Raise `UserError` for the first time that does not come after the one before it in its series."""
    assert table.times is not None
    steps = np.diff(table.times)
    wrong = np.concatenate([[False], steps <= steps.dtype.type(0)])
    wrong[table.bounds[:-1]] = False
    if not wrong.any():
        return
    row = int(wrong.argmax())
    count = int(wrong.sum())
    before, now = (shown(table.times[at]) for at in (row - 1, row))
    what = f"Column '{cut(time)}' of {table.path}, {table.place(row)}"
    more = f" {plural(count, 'row')} of the file {'is' if count == 1 else 'are'} like that." if count > 1 else ""
    which = table.said(int(table.group_of[row]))
    if before == now:
        raise UserError(
            f"{what}: the time {now}{which} stands on {table.place(row - 1)}, too.{more} Leave one of the rows "
            "out, or name the column that tells series apart."
        )
    raise UserError(
        f"{what}: the time {now}{which} comes after {before}, which is later.{more} Sort the rows by time, or name the "
        "column that tells series apart."
    )


def fill_missing(table: LongTable, names: Sequence[str], *, fills: bool) -> tuple[Array, list[str]]:
    """Fill missing values with the last one of their series where `fills`; return the rows where there is none (N),
    and notes. Raises `UserError` for missing values that are not to be filled."""
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
        values[has_none] = 0.0
        unfilled |= has_none
        if filled := count - int(has_none.sum()):
            notes.append(f"Column '{cut(name)}': {plural(filled, 'missing value')} filled with the last one before.")
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
