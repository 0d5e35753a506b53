"""A CSV file as columns: of numbers where all cells are, else of texts. Read in pieces, so that memory stays small."""

import csv
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from engine.data.sources.places import refuse_too_large, unreadable
from engine.data.sources.source import Array
from engine.errors import UserError
from engine.fields import quoted

DELIMITERS = ",;\t"
PIECE_ROWS = 20_000
PIECE_CELLS = 2_000_000
MOST_COLUMNS = 100_000
ROW_LIMIT = 2**24
"""Characters of a row: such a one has a hundred times the columns of the widest tables."""
CELL_BYTES = 16
"""A number in double precision, twice: while columns are put together from pieces."""
SAMPLE_ROWS = 50
EXPECTED = "a CSV table: UTF-8 text with a header line and the same number of cells in each line"


@dataclass
class _Gathered:
    """What one pass finds in one column. `texts` counts cells that are neither number nor empty."""

    pieces: list[Array] = field(default_factory=list)
    texts: int = 0
    empties: int = 0
    first_text: tuple[int, str] = (0, "")
    first_gap: tuple[int, str] = (0, "")

    def take(self, cells: Sequence[str], start: int) -> None:
        """Take the cells of some rows, the first of which is row number `start`."""
        try:
            numbers = np.array(cells, dtype=np.float64)
        except ValueError:
            numbers = np.array([self._number(cell, start + i) for i, cell in enumerate(cells)])
        finite = np.isfinite(numbers)
        if not finite.all():
            self._note_gaps(cells, finite, start)
        self.pieces.append(numbers)

    def _number(self, cell: str, row: int) -> float:
        try:
            return float(cell)
        except ValueError:
            if cell.strip():
                if not self.texts:
                    self.first_text = row, cell
                self.texts += 1
            return math.nan

    def _note_gaps(self, cells: Sequence[str], finite: Array, start: int) -> None:
        """Empty cells, and the numbers NaN and infinity."""
        for i in np.flatnonzero(~finite).tolist():
            cell = cells[i].strip()
            if not cell or _is_number(cell):
                if not self.empties or (self.first_gap[1] and not cell):  # an empty cell is a gap among texts, too
                    self.first_gap = start + i, cell
                self.empties += 1


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table by name: arrays of float64, or tuples of texts."""

    names: tuple[str, ...]
    numbers: dict[str, Array]
    texts: dict[str, tuple[str, ...]]
    first_rows: tuple[tuple[str, ...], ...]
    rows: int


def read_columns(path: Path) -> Columns:
    """Read the whole table. Raises `UserError`, which names the column and the line."""
    table = _Table(path)
    if (quick := table.all_numbers()) is not None:
        return quick
    gathered = {name: _Gathered() for name in table.names}
    start = 0
    first_rows: list[tuple[str, ...]] = []
    for rows in table.pieces():
        first_rows += rows[: max(0, SAMPLE_ROWS - len(first_rows))]
        for name, cells in zip(table.names, zip(*rows, strict=True), strict=True):
            gathered[name].take(cells, start)
        start += len(rows)
    if not start:
        raise UserError(f"{path} has a header and no rows. Expected {EXPECTED}.")
    texts = [name for name in table.names if table.is_text(name, gathered[name], start)]
    numbers = {name: np.concatenate(gathered[name].pieces) for name in table.names if name not in texts}
    return Columns(table.names, numbers, table.texts(texts), tuple(first_rows), start)


class _Table:
    """The file, read again as often as needed: once for numbers, again where there are texts or something is wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = self._lines()
        self.delimiter = self._sniff()
        self.names = self._header()
        cells = f"The {lines * len(self.names):,} cells of {path}"
        refuse_too_large(lines * len(self.names) * CELL_BYTES, cells, "Use fewer rows or columns.")

    def _lines(self) -> int:
        """How many lines the file has, at most. Raises `UserError` for one that would not fit into memory with ease."""
        lines, length = 1, 0
        with self._reading(), open(self.path, "rb") as file:
            while block := file.read(2**20):
                lines += max(block.count(b"\n"), block.count(b"\r"))
                block = block.replace(b"\r", b"\n")
                length = length + len(block) if b"\n" not in block else len(block) - block.rfind(b"\n")
                if length > ROW_LIMIT:
                    raise self._too_long()
        return lines

    def _too_long(self) -> UserError:
        return UserError(f"{self.path} has a row of more than {ROW_LIMIT:,} characters. Expected {EXPECTED}.")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turns what can go wrong while reading into words."""
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

    def _rows(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """The line each row ends on, and its cells; blank lines are no rows."""
        with self._reading(), open(self.path, encoding="utf-8-sig", newline="") as file:
            taken = 0

            def lines() -> Iterator[str]:
                nonlocal taken
                for line in file:
                    taken += len(line)
                    if taken > ROW_LIMIT:  # quoted cells go on over lines
                        raise self._too_long()
                    yield line

            reader = csv.reader(lines(), delimiter=delimiter)
            for row in reader:
                taken = 0
                if row:
                    yield reader.line_num, row

    def _sniff(self) -> str:
        """The delimiter that gives the first rows the same number of cells, and most of them."""

        def cells(delimiter: str) -> tuple[bool, int]:
            widths = [len(row) for _, row in islice(self._rows(delimiter), SAMPLE_ROWS)]
            return bool(widths) and len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0

        return max(DELIMITERS, key=cells)

    def _header(self) -> tuple[str, ...]:
        self.header_line, header = next(self._rows(self.delimiter), (0, []))
        if not header:
            raise UserError(f"{self.path} is empty. Expected {EXPECTED}.")
        names = tuple(cell.strip() for cell in header)
        if len(names) == 1:
            raise UserError(
                f"{self.path} has one column only, {quoted(names[0])}. Expected at least two, separated by comma, "
                "semicolon or tab: inputs and a response."
            )
        if all(_is_number(name) for name in names):
            raise UserError(
                f"The first line of {self.path} holds numbers only. Expected the names of the columns. "
                "Put a header line before the numbers."
            )
        if len(names) > MOST_COLUMNS:
            raise UserError(f"{self.path} has {len(names):,} columns; at most {MOST_COLUMNS:,} are taken.")
        known: set[str] = set()
        for index, name in enumerate(names):
            if not name:
                raise UserError(f"Column {index + 1} of {self.path} has no name. Give it one in the header line.")
            if not name.isprintable():
                raise UserError(
                    f"Column {index + 1} of {self.path} has the name {quoted(name)}, which is not printable. Rename it."
                )
            known.add(name)
            if len(known) <= index:
                raise UserError(f"Two columns of {self.path} have the name {quoted(name)}. Rename one of them.")
        return names

    def pieces(self) -> Iterator[list[tuple[str, ...]]]:
        """Rows as tuples, many at a time, all of the header's width."""
        rows = self._rows(self.delimiter)
        next(rows)
        width = len(self.names)
        while piece := list(islice(rows, max(1, min(PIECE_ROWS, PIECE_CELLS // width)))):
            for line, row in piece:
                if len(row) != width:
                    raise UserError(
                        f"Line {line:,} of {self.path} has {len(row):,} cells; the header has {width:,}. "
                        "Correct the line. Cells that hold the separator stand in double quotes."
                    )
            yield [tuple(row) for _, row in piece]

    def all_numbers(self) -> Columns | None:
        """The table if it is nothing but finite numbers, in a third of the time; None for all other files."""
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
        rows = (row for piece in self.pieces() for row in piece)
        return Columns(self.names, columns, {}, tuple(islice(rows, SAMPLE_ROWS)), len(numbers))

    def is_text(self, name: str, found: _Gathered, rows: int) -> bool:
        """Whether a column holds texts. Raises `UserError` for gaps, and for a few texts among numbers."""
        if found.empties and (found.texts == 0 or not found.first_gap[1]):
            raise self._gap(name, found)
        if found.texts * 2 < rows and found.texts:
            row, cell = found.first_text
            more = f" It has {found.texts:,} such cells." if found.texts > 1 else ""
            comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", cell)
            way_out = "Write decimals with a point." if comma else "Correct the cell, or remove the row or the column."
            raise UserError(
                f"Column '{name}' of {self.path}, line {self._line(row):,}: expected a number, received "
                f"{quoted(cell)}.{more} {way_out}"
            )
        return found.texts > 0

    def _gap(self, name: str, found: _Gathered) -> UserError:
        row, cell = found.first_gap
        received = f"received {quoted(cell)}" if cell else "the cell is empty"
        more = f" It has {found.empties:,} such cells." if found.empties > 1 else ""
        expected = "a value" if found.texts else "a finite number"
        return UserError(
            f"Column '{name}' of {self.path}, line {self._line(row):,}: expected {expected}, {received}.{more} "
            "Fill the gap, or remove the row or the column."
        )

    def _line(self, row: int) -> int:
        """The line of the file on which a row stands."""
        return next(islice(self._rows(self.delimiter), row + 1, None))[0]

    def texts(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The cells of some columns as they stand, without blanks around them; equal ones share their memory."""
        known: dict[str, str] = {}
        found: dict[str, list[str]] = {name: [] for name in names}
        places = [self.names.index(name) for name in names]
        for rows in self.pieces() if names else ():
            for name, place in zip(names, places, strict=True):
                found[name] += [known.setdefault(cell, cell) for cell in (row[place].strip() for row in rows)]
        return {name: tuple(cells) for name, cells in found.items()}
