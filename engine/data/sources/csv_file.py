"""CSV file as columns of numbers, or of texts where not all cells are numbers. Read in pieces to save memory."""

import csv
import math
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from engine.core.errors import UserError, did_you_mean, plural
from engine.core.fields import quoted
from engine.core.progress import report
from engine.data.sources.cells import GatheredCells, as_number, is_missing, is_number
from engine.data.sources.source import Array, listed, refuse_too_large, unreadable

DELIMITERS = ",;\t"
PIECE_ROWS = 20_000
PIECE_CELLS = 2_000_000
MOST_COLUMNS = 100_000
ROW_LIMIT = 2**24
"""Limit of the characters per row: such a row has a hundred times the columns of the widest tables."""
CELL_BYTES = 16
"""Bytes per cell: a float64, twice while columns are concatenated from pieces."""
SAMPLE_ROWS = 50
SNIFFED_LINES = 1000
"""Number of lines in which the separator is looked for."""
BLANK = frozenset({"\n", "\r", "\r\n"})
LARGEST_EXACT = 2**53
"""Largest whole number up to which double precision holds all."""
WAYS_OUT = "Fill the gap, leave out or impute missing values (data.missing_values), or leave the column out."
EXPECTED = "a CSV table: UTF-8 text with a header line and the same number of cells in each line"


csv.field_size_limit(ROW_LIMIT)  # a header is one cell for each separator but its own
Gaps = Literal["refuse", "leave-out", "keep"]


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a table by name: arrays of float64, or tuples of texts. `notes` list the parts left out."""

    names: tuple[str, ...]
    numbers: dict[str, Array]
    texts: dict[str, tuple[str, ...]]
    first_rows: tuple[tuple[str, ...], ...]
    rows: int
    notes: tuple[str, ...] = ()

    def only(self, rows: Array, note: str) -> "Columns":
        """Return some of the rows, by a mask (N), with one more note."""
        places = np.flatnonzero(rows).tolist()
        return Columns(
            self.names,
            {name: numbers[rows] for name, numbers in self.numbers.items()},
            {name: tuple(cells[place] for place in places) for name, cells in self.texts.items()},
            tuple(self.first_rows[place] for place in places if place < len(self.first_rows)),
            len(places),
            (*self.notes, note),
        )

    @property
    def bytes(self) -> int:
        """Memory in bytes, about: equal texts share theirs."""
        return sum(numbers.nbytes for numbers in self.numbers.values()) + 8 * self.rows * len(self.texts)


def read_columns(path: Path, without: Sequence[str] = (), gaps: Gaps = "refuse") -> Columns:
    """Read the whole table except the columns `without`. `gaps` says what becomes of missing values: an error, rows
    left out, or (`keep`) NaN among numbers and empty texts.

    Raises `UserError`, which names the column and the line.
    """
    table = CsvTable(path, without, gaps)
    if (quick := table.all_numbers()) is not None:
        return quick
    gathered = {name: GatheredCells() for name in table.names}
    start = 0
    first_rows: list[tuple[str, ...]] = []
    for rows in table.pieces():
        first_rows += rows[: max(0, SAMPLE_ROWS - len(first_rows))]
        for name, cells in zip(table.names, zip(*rows, strict=True), strict=True):
            gathered[name].take(cells, start)
        start += len(rows)
    if not start:
        raise table.no_rows()
    texts = [name for name in table.names if table.is_text(name, gathered[name], start)]
    found = table.texts(texts)
    grouped = [name for name in texts if gathered[name].has_thousands]
    numbers = {name: np.concatenate(gathered[name].pieces) for name in table.names if name not in texts}
    numbers |= {name: np.array([as_number(cell) if cell else math.nan for cell in found.pop(name)]) for name in grouped}
    notes = [
        f"Column '{name}': commas are taken as thousands separators, as in {quoted(example[1].strip())}."
        for name in grouped
        if (example := gathered[name].first_thousands)
    ]
    return Columns(table.names, numbers, found, tuple(first_rows), start, (*table.notes(), *notes))


def read_cells(path: Path, names: Sequence[str]) -> tuple[dict[str, list[str]], list[int]]:
    """Return the cells of those columns that the table has, as they stand in the file, and the line of each row.

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
    return cells, lines


def header_of(path: Path) -> tuple[str, tuple[str, ...], int]:
    """Return the separator of a table, the names of all its columns, and the number of lines up to the first row.

    Columns may have no name. Raises `UserError`.
    """
    table = CsvTable(path, (), counts_lines=False)
    return table.delimiter, table.header, table.header_line


class CsvTable:
    """Table in a file, read once for numbers, and again where there are texts or errors."""

    def __init__(
        self,
        path: Path,
        without: Sequence[str],
        missing: Gaps = "refuse",
        *,
        least_columns: int = 2,
        counts_lines: bool = True,
    ) -> None:
        """Read the header, and count the lines unless told otherwise. `least_columns`: columns that must be left.

        Raises `UserError`.
        """
        self.path = path
        self.least_columns = least_columns
        self.missing = missing
        self.most_rows = lines = self._lines() if counts_lines else 0
        self._checks_lines = not counts_lines
        self.delimiter = self._sniff()
        self.header = header = self._header()
        self.width = len(header)
        self.places = self._kept(header, without)
        self.names = tuple(header[place] for place in self.places)
        self.without = tuple(name for name in header if name in without)
        self.nameless = tuple(place + 1 for place, name in enumerate(header) if not name)
        cells = f"The {lines * len(self.names):,} cells of {path}"
        refuse_too_large(lines * len(self.names) * CELL_BYTES, cells, "Use fewer rows or columns.")

    def _lines(self) -> int:
        """Return the number of lines of the file, at most. Raises `UserError` for a line too long for memory."""
        lines, length, is_empty = 1, 0, True
        with self._reading(), open(self.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            while block := file.read(2**20):
                report(file.tell(), size, "bytes")
                lines += max(block.count(b"\n"), block.count(b"\r"))
                is_empty = is_empty and not block.strip()
                block = block.replace(b"\r", b"\n")
                length = length + len(block) if b"\n" not in block else len(block) - block.rfind(b"\n")
                if length > ROW_LIMIT:
                    raise self._too_long()
        if is_empty:
            raise UserError(f"{self.path} is empty. Expected {EXPECTED}.")
        return lines

    def _too_long(self) -> UserError:
        return UserError(f"{self.path} has a row of more than {ROW_LIMIT:,} characters. Expected {EXPECTED}.")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Context that turns errors while reading into `UserError`."""
        try:
            yield
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise UserError(
                f"{self.path} is not UTF-8 text (byte {byte:#04x}). Expected {EXPECTED}. Save it as CSV with UTF-8."
            ) from None
        except csv.Error as error:
            raise UserError(f"{self.path} is no table: {error}. Expected {EXPECTED}.") from None
        except OSError as error:
            raise unreadable(self.path, error) from None

    def _rows(self, delimiter: str, most_lines: int | None = None) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number on which each row ends, and its cells, of the first `most_lines`.

        Blank lines are skipped before they are parsed, unless they are part of a quoted cell.
        """
        with self._reading(), open(self.path, encoding="utf-8-sig", newline="") as file:
            taken, number, quotes = 0, 0, 0

            def lines() -> Iterator[str]:
                nonlocal taken, number, quotes
                # A line of a file whose lines were not measured may be longer than memory.
                every = iter(partial(file.readline, ROW_LIMIT + 1), "") if self._checks_lines else file
                for line in islice(every, most_lines):
                    number += 1
                    if line in BLANK and quotes % 2 == 0:
                        continue
                    quotes += line.count('"')
                    taken += len(line)
                    if taken > ROW_LIMIT:  # quoted cells go on over lines
                        raise self._too_long()
                    yield line

            for row in csv.reader(lines(), delimiter=delimiter):
                taken = 0
                if row:
                    yield number, row

    def _sniff(self) -> str:
        """Return the delimiter that gives the first rows the same number of cells, and the most cells."""

        def cells(delimiter: str) -> tuple[bool, int]:
            widths = [len(row) for _, row in islice(self._rows(delimiter, SNIFFED_LINES), SAMPLE_ROWS)]
            return bool(widths) and len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0

        return max(DELIMITERS, key=cells)

    def _header(self) -> tuple[str, ...]:
        self.header_line, header = next(self._rows(self.delimiter), (0, []))
        if not header:
            raise UserError(f"{self.path} is empty. Expected {EXPECTED}.")
        names = tuple(cell.strip() for cell in header)
        if len(names) < self.least_columns:
            raise UserError(
                f"{self.path} has one column only, {quoted(names[0])}. Expected at least two, separated by comma, "
                "semicolon or tab: inputs and a response."
            )
        if all(is_number(name) for name in names):
            raise UserError(
                f"The first line of {self.path} holds numbers only. Expected the names of the columns. "
                "Put a header line before the numbers."
            )
        if len(names) > MOST_COLUMNS:
            raise UserError(f"{self.path} has {len(names):,} columns; at most {MOST_COLUMNS:,} are taken.")
        known: set[str] = set()
        for index, name in enumerate(names):
            if not name:
                continue
            if not name.isprintable():
                raise UserError(
                    f"Column {index + 1} of {self.path} has the name {quoted(name)}, which is not printable. Rename it."
                )
            if name in known:
                raise UserError(f"Two columns of {self.path} have the name {quoted(name)}. Rename one of them.")
            known.add(name)
        return names

    def _kept(self, header: Sequence[str], without: Sequence[str]) -> tuple[int, ...]:
        """Return the indices of the columns that are read.

        Columns without a name are skipped: row numbers that programs write, or a separator at the end of each line.
        """
        for name in without:
            if name not in header:
                hint = did_you_mean(name, header)
                names = listed([name for name in header if name], 20)
                raise UserError(
                    f"{self.path} has no column {quoted(name)} to leave out.{hint} Its columns are: {names}."
                )
        kept = tuple(place for place, name in enumerate(header) if name and name not in without)
        if len(kept) < self.least_columns:
            expected = "two: inputs and a response" if self.least_columns == 2 else "one"
            raise UserError(
                f"{plural(len(kept), 'column')} of {self.path} would be left. Expected at least {expected}. Leave out "
                "fewer columns, and give those without a name one in the header line."
            )
        return kept

    def pieces(self) -> Iterator[list[tuple[str, ...]]]:
        """Yield rows in pieces, as tuples of the cells that are read."""
        rows, done = self.rows(), 0
        while piece := list(islice(rows, max(1, min(PIECE_ROWS, PIECE_CELLS // self.width)))):
            done += len(piece)
            report(done, self.most_rows, "rows")
            yield [row for _, row in piece]

    def rows(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the line number on which each row ends, and its cells that are read.

        Raises `UserError` for rows without as many cells as the header.
        """
        rows = self._rows(self.delimiter)
        next(rows)
        takes_all = len(self.places) == self.width
        self.gaps = 0
        for line, row in rows:
            if len(row) != self.width:
                raise UserError(
                    f"Line {line:,} of {self.path} has {len(row):,} cells; the header has {self.width:,}. "
                    "Correct the line. Cells that hold the separator stand in double quotes."
                )
            cells = tuple(row) if takes_all else tuple(row[place] for place in self.places)
            if self.missing == "leave-out" and any(is_missing(cell) for cell in cells):
                self.gaps += 1
            elif self.missing == "keep":
                yield line, tuple("" if is_missing(cell) else cell for cell in cells)
            else:
                yield line, cells

    def notes(self) -> tuple[str, ...]:
        """Return notes on the parts left out, known once all rows have been read."""
        numbers = ", ".join(str(number) for number in self.nameless[:5]) + ("…" if len(self.nameless) > 5 else "")
        notes = [
            (self.without, f"Left out as you chose: {listed(list(self.without))}."),
            (self.nameless, f"Left out because it has no name: column {numbers}."),
            (self.gaps, f"Left out because a value is missing: {plural(self.gaps, 'row')}."),
        ]
        return tuple(note for is_told, note in notes if is_told)

    def no_rows(self) -> UserError:
        """Return the error of a table without rows, or with gaps in all, naming the column with the most gaps."""
        if not self.gaps:
            return UserError(f"{self.path} has a header and no rows. Expected {EXPECTED}.")
        missing = [0] * len(self.names)
        for _, row in islice(self._rows(self.delimiter), 1, None):
            for index, place in enumerate(self.places):
                missing[index] += is_missing(row[place])
        most = max(missing)
        return UserError(
            f"Each row of {self.path} has a missing value. Column '{self.names[missing.index(most)]}' has "
            f"{most:,} of them: leave that column out."
        )

    def all_numbers(self) -> Columns | None:
        """Return a table of only finite numbers, all read, in a third of the time; None for other tables."""
        if len(self.places) < self.width:
            return None  # rows of another width would pass
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # "input contained no data"
                numbers = np.loadtxt(
                    self.path,
                    delimiter=self.delimiter,
                    comments=None,
                    quotechar='"',
                    skiprows=self.header_line,
                    encoding="utf-8",
                    ndmin=2,
                )
        except (ValueError, OSError, Warning, MemoryError):
            return None  # the slow way says in words what is wrong, if anything is
        if numbers.shape[1:] != (len(self.names),) or not np.isfinite(numbers).all():
            return None
        columns = {name: numbers[:, i] for i, name in enumerate(self.names)}
        rows = tuple(row for _, row in islice(self.rows(), SAMPLE_ROWS))
        return Columns(self.names, columns, {}, rows, len(numbers), self.notes())

    def is_text(self, name: str, found: GatheredCells, rows: int) -> bool:
        """Return whether a column holds texts. Raises `UserError` for gaps, and for a few texts among numbers."""
        if self.missing == "keep":
            rows -= found.empties
            if not rows:
                raise UserError(f"Column '{name}' of {self.path} has no value in any row. Leave the column out.")
            if found.first_infinite and found.texts * 2 < rows:
                raise self._gap(name, replace(found, first_gap=found.first_infinite))
        elif found.empties and (found.texts == 0 or not found.first_gap[1]):
            raise self._gap(name, found)
        if found.has_thousands:
            self._refuse_unlike(name, found)
            return True
        if found.texts * 2 < rows and found.texts:
            row, cell = found.first_text
            more = f" It has {found.texts:,} such cells." if found.texts > 1 else ""
            comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", cell)
            way_out = "Write decimals with a point." if comma else "Correct the cell, or leave the column out."
            way_out = WAYS_OUT if is_missing(cell) else way_out
            raise UserError(
                f"Column '{name}' of {self.path}, line {self.line(row):,}: expected a number, received "
                f"{quoted(cell)}.{more} {way_out}"
            )
        return found.texts > 0

    def _refuse_unlike(self, name: str, found: GatheredCells) -> None:
        """Raise `UserError` where numbers disagree about thousands separators: `1,000` could be 1 or 1000."""
        assert found.first_thousands is not None
        if found.first_unlike is not None:
            row, cell = found.first_unlike
            raise UserError(
                f"Column '{name}' of {self.path}, line {self.line(row):,}: expected a thousands separator as in "
                f"{quoted(found.first_thousands[1].strip())}, received {quoted(cell.strip())}. Write all numbers "
                "of the column alike, best without separators and with a decimal point."
            )

    def _gap(self, name: str, found: GatheredCells) -> UserError:
        row, cell = found.first_gap
        received = f"received {quoted(cell)}" if cell else "the cell is empty"
        more = f" It has {found.empties:,} such cells." if found.empties > 1 else ""
        expected = "a value" if found.texts else "a finite number"
        return UserError(
            f"Column '{name}' of {self.path}, line {self.line(row):,}: expected {expected}, {received}.{more} "
            f"{WAYS_OUT}"
        )

    def line(self, row: int) -> int:
        """Return the line number of a row in the file."""
        return next(islice(self.rows(), row, None))[0]

    def place(self, row: int) -> str:
        """Return where a row stands, for messages: `line 12`."""
        return f"line {self.line(row):,}"

    def texts(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the cells of some columns as texts, stripped of blanks; equal texts share memory."""
        distinct: dict[str, str] = {}
        columns: dict[str, list[str]] = {name: [] for name in names}
        places = [self.names.index(name) for name in names]
        for rows in self.pieces() if names else ():
            for name, place in zip(names, places, strict=True):
                columns[name] += [distinct.setdefault(cell, cell) for cell in (row[place].strip() for row in rows)]
        return {name: tuple(cells) for name, cells in columns.items()}
