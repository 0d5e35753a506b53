"""CSV file as columns of numbers, or of texts where not all cells are numbers. Read in pieces to save memory."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.csv_table import COMMA_DECIMALS, Columns, CsvTable, Gaps
from netwright.engine.data.sources.source import Array
from netwright.engine.project.sources.csv_dialect import SAMPLE_ROWS, Written
from netwright.engine.project.sources.number_texts import (
    NumberFormat,
    UnlikeNumbersError,
    is_missing,
    is_number,
    is_number_like,
    number_format,
)

LARGEST_EXACT = 2**53
"""Largest whole number up to which double precision holds all."""
WAYS_OUT = "Fill the gap, leave out or impute missing values (data.missing_values), or leave the column out."


Cell = tuple[int, str]
"""A row's index, and the text of a cell in it."""


@dataclass
class GatheredCells:
    """Contents of a column found in one pass. `texts` counts cells that are neither plain numbers with the `decimal`
    mark nor empty; `empties` those without a value, NaN and infinity."""

    decimal: str = "."
    pieces: list[Array] = field(default_factory=list)
    texts: int = 0
    empties: int = 0
    first_gap: Cell = (0, "")
    first_infinite: Cell | None = None

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add the cells of rows from index `start` on."""
        plain = cells if self.decimal == "." else [cell.translate(COMMA_DECIMALS) for cell in cells]
        try:
            numbers = np.array(plain, dtype=np.float64)
        except ValueError:
            numbers = np.array([self._number(cell) for cell in plain])
        finite = np.isfinite(numbers)
        if not finite.all():
            self._note_gaps(plain, finite, start)
        self.pieces.append(numbers)

    def _number(self, cell: str) -> float:
        try:
            return float(cell)
        except ValueError:
            self.texts += bool(cell.strip())
            return math.nan

    def _note_gaps(self, cells: Sequence[str], finite: Array, start: int) -> None:
        """Count empty cells, and the numbers NaN and infinity."""
        for i in np.flatnonzero(~finite).tolist():
            cell = cells[i].strip()
            if not cell or is_number(cell):
                if not self.empties or (self.first_gap[1] and not cell):  # an empty cell is a gap among texts, too
                    self.first_gap = start + i, cell
                self.empties += 1
            if cell and self.first_infinite is None and is_number(cell):
                self.first_infinite = start + i, cell


def read_columns(
    path: Path, without: Sequence[str] = (), gaps: Gaps = "refuse", written: Written | None = None
) -> Columns:
    """Read the whole table except the columns `without`. `gaps` says what becomes of missing values: an error, rows
    left out, or (`keep`) NaN among numbers and empty texts. `written`: what the options say about the file.

    Raises `UserError`, which names the column and the line.
    """
    table = CsvTable(path, without, gaps, written=written)
    if (quick := table.all_numbers()) is not None:
        return quick
    gathered = {name: GatheredCells(table.dialect.decimal) for name in table.names}
    start = 0
    first_rows: list[tuple[str, ...]] = []
    for rows in table.pieces():
        first_rows += rows[: max(0, SAMPLE_ROWS - len(first_rows))]
        for name, cells in zip(table.names, zip(*rows, strict=True), strict=True):
            gathered[name].take(cells, start)
        start += len(rows)
    if not start:
        raise table.no_rows()
    texts = table.texts([name for name in table.names if gathered[name].texts])
    numbers, notes = {}, []
    for name in table.names:
        how = _format_of(table, name, gathered[name], texts.get(name, ()), start)
        if how is None:
            continue
        numbers[name] = np.concatenate(gathered[name].pieces) if name not in texts else _numbers(texts.pop(name), how)
        notes += [f"Column '{name}': {words}, as in {quoted(how.example)}." for words in _words(how, table)]
    return Columns(
        table.names, numbers, texts, tuple(first_rows), start, (*table.notes(), *notes), table.dialect.decimal
    )


def read_cells(path: Path, names: Sequence[str]) -> tuple[dict[str, list[str]], list[int], str]:
    """Return the cells of those columns that the table has, as they stand in the file, the line of each row, and the
    decimal mark; empty where the rows do not show it.

    Raises `UserError`.
    """
    table = CsvTable(path, (), least_columns=1)
    places = [(name, place) for place, name in enumerate(table.names) if name in names]
    cells: dict[str, list[str]] = {name: [] for name, _ in places}
    lines = []
    for line, row in table.rows():
        lines.append(line)
        for name, place in places:
            cells[name].append(row[place])
    if not lines:
        raise table.no_rows()
    return cells, lines, table.shown_decimal


def _words(how: NumberFormat, table: CsvTable) -> list[str]:
    """Return the words of a note on numbers; the decimal mark of the whole table stands in its own note."""
    return [words for words in how.words if how.decimal != table.dialect.decimal or "decimal" not in words]


def _numbers(cells: Sequence[str], how: NumberFormat) -> Array:
    values = {cell: how.number(cell) if cell else math.nan for cell in set(cells)}
    return np.fromiter((values[cell] for cell in cells), np.float64, len(cells))


def _format_of(
    table: CsvTable, name: str, gathered: GatheredCells, cells: Sequence[str], rows: int
) -> NumberFormat | None:
    """Return the number format of a column; None for one of texts. `cells` are those of a column that holds more
    than plain numbers. Raises `UserError` for gaps that are not kept, and for a few texts among numbers."""
    if table.missing == "keep":
        rows -= gathered.empties
        if not rows:
            return NumberFormat()  # all gaps: what becomes of such a column is decided with the training rows
        if gathered.first_infinite and gathered.texts * 2 < rows:
            raise _gap(table, name, replace(gathered, first_gap=gathered.first_infinite))
    elif gathered.empties and (gathered.texts == 0 or not gathered.first_gap[1]):
        raise _gap(table, name, gathered)
    if not gathered.texts:
        return NumberFormat()
    distinct = dict.fromkeys(filter(None, cells))
    try:
        how = number_format(distinct, table.dialect.decimal)
    except UnlikeNumbersError as error:
        row = cells.index(error.unlike)
        raise UserError(
            f"Column '{name}' of {table.path}, line {table.line(row):,}: expected a thousands separator as in "
            f"{quoted(error.grouped)}, received {quoted(error.unlike)}. Write all numbers of the column alike, best "
            "without separators and with a decimal point, or say which is the decimal mark (data.decimal_mark)."
        ) from None
    if how is not None:
        return how
    strange = {cell for cell in distinct if not is_number_like(cell)}
    count = sum(cell in strange for cell in cells)
    if 2 * count < rows:
        raise _not_numbers(table, name, cells, strange, count)
    return None


def _not_numbers(table: CsvTable, name: str, cells: Sequence[str], strange: set[str], count: int) -> UserError:
    """Return the error for a few texts among numbers, or for numbers that are written in several ways."""
    if not strange:
        first, other = _unlike(dict.fromkeys(filter(None, cells)), table.dialect.decimal)
        return UserError(
            f"Column '{name}' of {table.path} holds numbers that are written in several ways, such as "
            f"{quoted(first)} and {quoted(other)}. Write all of them alike, or leave the column out (data.left_out)."
        )
    row = next(place for place, cell in enumerate(cells) if cell in strange)
    more = f" It has {count:,} such cells." if count > 1 else ""
    way_out = WAYS_OUT if is_missing(cells[row]) else "Correct the cell, or leave the column out (data.left_out)."
    return UserError(
        f"Column '{name}' of {table.path}, line {table.line(row):,}: expected a number, received "
        f"{quoted(cells[row])}.{more} {way_out}"
    )


def _unlike(cells: Iterable[str], decimal: str) -> tuple[str, str]:
    """Return two numbers that are not written alike."""
    examples: dict[NumberFormat | None, str] = {}
    for cell in cells:
        examples.setdefault(number_format((cell,), decimal), cell)

    def is_alike(pair: tuple[str, str]) -> bool:
        try:
            return number_format(pair, decimal) is not None
        except UnlikeNumbersError:
            return False

    pairs = list(itertools.combinations(examples.values(), 2))
    return next(itertools.filterfalse(is_alike, pairs), pairs[0])


def _gap(table: CsvTable, name: str, gathered: GatheredCells) -> UserError:
    row, cell = gathered.first_gap
    received = f"received {quoted(cell)}" if cell else "the cell is empty"
    more = f" It has {gathered.empties:,} such cells." if gathered.empties > 1 else ""
    expected = "a value" if gathered.texts else "a finite number"
    return UserError(
        f"Column '{name}' of {table.path}, line {table.line(row):,}: expected {expected}, {received}.{more} {WAYS_OUT}"
    )
