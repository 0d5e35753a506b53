"""CSV file as columns of numbers, or of texts where not all cells are numbers. Read in pieces to save memory."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.source import Array
from netwright.engine.data.tables.arrow_cells import COMMA_DECIMALS, by_distinct, plain_numbers
from netwright.engine.data.tables.csv_table import CsvTable, Gaps
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


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a table by name: arrays of float64, or texts. `notes` list the parts left out. `decimal` is
    the mark of its numbers."""

    names: tuple[str, ...]
    numbers: dict[str, Array]
    texts: Mapping[str, Sequence[str]]
    first_rows: tuple[tuple[str, ...], ...]
    rows: int
    notes: tuple[str, ...] = ()
    decimal: str = "."

    def only(self, rows: Array, note: str = "") -> "Columns":
        """Return some of the rows, by a mask (N), with one more note."""
        places = np.flatnonzero(rows).tolist()
        return replace(
            self,
            numbers={name: numbers[rows] for name, numbers in self.numbers.items()},
            texts={name: tuple(cells[place] for place in places) for name, cells in self.texts.items()},
            first_rows=tuple(self.first_rows[place] for place in places if place < len(self.first_rows)),
            rows=len(places),
            notes=(*self.notes, *filter(None, [note])),
        )

    def with_texts(self, name: str, cells: tuple[str, ...]) -> "Columns":
        """Return the columns with other cells in one of them."""
        numbers = {other: values for other, values in self.numbers.items() if other != name}
        return replace(self, numbers=numbers, texts={**self.texts, name: cells})

    def without(self, name: str) -> "Columns":
        """Return the columns without one of them."""
        place = self.names.index(name)
        return replace(
            self,
            names=self.names[:place] + self.names[place + 1 :],
            numbers={other: values for other, values in self.numbers.items() if other != name},
            texts={other: cells for other, cells in self.texts.items() if other != name},
            first_rows=tuple(row[:place] + row[place + 1 :] for row in self.first_rows),
        )

    @property
    def bytes(self) -> int:
        """Memory in bytes, about: equal texts share theirs."""
        return sum(numbers.nbytes for numbers in self.numbers.values()) + 8 * self.rows * len(self.texts)


INFINITE, EMPTY, TEXT = 1, 2, 3
"""Kinds of cells beside finite numbers; NaN is of the first."""
Cell = tuple[int, str]
"""A row's index, and the text of a cell in it."""


@dataclass
class GatheredCells:
    """Contents of a column found in one pass. `texts` counts cells that are neither plain numbers with the `decimal`
    mark nor empty; `empties` those without a value, NaN and infinity. `keeps`: marks of missing values are empty."""

    decimal: str = "."
    pieces: list[Array] = field(default_factory=list)
    texts: int = 0
    empties: int = 0
    keeps: bool = False
    firsts: dict[int, Cell] = field(default_factory=dict)

    @property
    def first_gap(self) -> Cell:
        """First empty cell, which is a gap among texts, too; else the first NaN or infinity."""
        row, _ = self.firsts.get(EMPTY, (0, ""))
        return (row, "") if EMPTY in self.firsts else self.firsts.get(INFINITE, (0, ""))

    def take(self, cells: Any, start: int) -> None:
        """Add the cells of rows from index `start` on."""
        numbers = plain_numbers(cells, self.decimal)
        places = np.empty(0, np.int64) if numbers is None else np.flatnonzero(~np.isfinite(numbers))
        if numbers is None or (len(places) and any(cells.take(places).unique().to_pylist())):
            numbers = self._mixed(cells, start)
        else:
            self._count(EMPTY, places, cells, start)
        self.pieces.append(numbers)

    def _count(self, kind: int, places: Array, cells: Any, start: int) -> None:
        """Count gaps of a kind at some places, and note the first of them."""
        self.empties += len(places)
        if len(places):
            first = int(places[0])
            self.firsts.setdefault(kind, (start + first, (cells[first].as_py() or "").strip()))

    def _mixed(self, cells: Any, start: int) -> Array:
        """Return the numbers among cells (N), NaN elsewhere, and count texts and gaps, NaN and infinity among them."""
        kinds: list[int] = []

        def value(cell: str) -> float:
            cell = cell.strip()
            plain = cell if self.decimal == "." else cell.translate(COMMA_DECIMALS)
            cell = "" if self.keeps and is_missing(cell) else cell
            number = float(plain) if cell and is_number(plain) else math.nan
            kinds.append(EMPTY if not cell else TEXT if not is_number(plain) else int(not math.isfinite(number)))
            return number

        codes = by_distinct(cells, lambda texts: range(len(texts)), np.int32)
        numbers = by_distinct(cells, lambda texts: [value(text) for text in texts], np.float64)
        kind = np.array(kinds)[codes]
        self.texts += int((kind == TEXT).sum())
        for which in (INFINITE, EMPTY):
            self._count(which, np.flatnonzero(kind == which), cells, start)
        return numbers


def read_columns(
    path: Path, without: Sequence[str] = (), gaps: Gaps = "refuse", written: Written | None = None
) -> Columns:
    """Read the whole table except the columns `without`. `gaps` says what becomes of missing values: an error, rows
    left out, or (`keep`) NaN among numbers and empty texts. `written`: what the options say about the file.

    Raises `UserError`, which names the column and the line.
    """
    table = CsvTable(path, without, gaps, written=written)
    gathered = {name: GatheredCells(table.decimal, keeps=gaps == "keep") for name in table.names}
    start = 0
    first_rows: list[tuple[str, ...]] = []
    for batch in table.batches(texts=()):
        first_rows += table.first_cells(batch, SAMPLE_ROWS - len(first_rows))
        for name, cells in gathered.items():
            cells.take(batch.column(name), start)
        start += batch.num_rows
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
        if INFINITE in gathered.firsts and gathered.texts * 2 < rows:
            raise _gap(table, name, gathered, gathered.firsts[INFINITE])
    elif gathered.empties and (gathered.texts == 0 or not gathered.first_gap[1]):
        raise _gap(table, name, gathered, gathered.first_gap)
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


def _gap(table: CsvTable, name: str, gathered: GatheredCells, first: Cell) -> UserError:
    row, cell = first
    received = f"received {quoted(cell)}" if cell else "the cell is empty"
    more = f" It has {gathered.empties:,} such cells." if gathered.empties > 1 else ""
    expected = "a value" if gathered.texts else "a finite number"
    return UserError(
        f"Column '{name}' of {table.path}, line {table.line(row):,}: expected {expected}, {received}.{more} {WAYS_OUT}"
    )
