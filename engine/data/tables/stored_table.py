"""A large table as rows of numbers on disk, made once from a Parquet or CSV file by pyarrow in constant memory.

A training reads rows in another order every epoch, which neither format allows. So all rows are written once, one
after another, as float64 or float32, into the user's cache folder; texts as indices into the distinct texts of their
column. The rows are mapped into memory and given back to the system, so that memory stays flat however many there are.
"""

import json
import math
import mmap
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.cache import Cache
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import write_json
from netwright.engine.core.progress import report
from netwright.engine.data.sources.source import Array, refuse_too_large, unreadable
from netwright.engine.data.tables.arrow_cells import are_missing, plain_numbers
from netwright.engine.data.tables.columns import Cells, CodedTexts
from netwright.engine.data.tables.csv_table import CsvTable, Gaps
from netwright.engine.data.tables.parquet_file import BATCH_ROWS, ParquetFile
from netwright.engine.project.sources.csv_dialect import Written
from netwright.engine.project.sources.number_texts import (
    MISSING,
    NumberFormat,
    UnlikeNumbersError,
    is_missing,
    number_format,
)
from netwright.engine.project.sources.table import PARQUET

FORMAT = 3
TABLES = Cache("tables", "A large table is converted once, into", most_entries=8)
FIRST_BATCHES = 4
"""Batches of a CSV file by which the kinds of columns are found."""
MOST_TEXTS = 1_000_000
"""Largest number of distinct texts in a column."""
MOST_TOUCHED = 2**30
"""Bytes of mapped pages after which they are given back to the system, where the table is larger than this. They stay
in the system's cache; mapping them again costs about 0.5 µs per row."""
RESPONSE_BYTES = 24
"""Memory per row for a response: as read, as trained with, and its place in a split."""
MISSING_TEXT = ""

WAYS_OUT = (
    "Fill the gap, leave out the rows with missing values (data.missing_values), or leave the column out "
    "(data.left_out)."
)


@dataclass(frozen=True)
class Reading:
    """Options of reading a table: columns left out, missing values, and those of a CSV file."""

    left_out: tuple[str, ...] = ()
    missing: Gaps = "refuse"
    written: Written = field(default_factory=Written)


@dataclass(frozen=True)
class StoredColumn:
    """A column: its place in a row, its distinct texts where it holds texts, the range of its numbers, and how many
    values are missing."""

    name: str
    place: int
    texts: tuple[str, ...] | None = None
    low: float | None = None
    mean: float | None = None
    high: float | None = None
    gaps: int = 0


@dataclass(frozen=True, eq=False)
class StoredTable:
    """The rows of a table on disk. Several threads may read at once."""

    path: Path
    """The file that was converted, for messages."""
    folder: Path
    stored_rows: int
    columns: Mapping[str, StoredColumn]
    kind: np.dtype[Any]
    """float64, or float32 where no column has more digits."""
    skipped: int = 0
    """Number of rows that were left out because of missing values."""
    decimal: str = "."
    notes: tuple[str, ...] = ()
    """How the file is written, in words."""
    chosen: Array | None = None
    """Places of the rows that are used; None for all."""
    _touched: list[int] = field(default_factory=lambda: [0])

    @property
    def rows(self) -> int:
        """Number of rows that are used."""
        return self.stored_rows if self.chosen is None else len(self.chosen)

    @property
    def bytes(self) -> int:
        """Memory in bytes, about: the distinct texts, and the places of rows."""
        texts = sum(100 * len(column.texts) for column in self.columns.values() if column.texts)
        return texts + (self.chosen.nbytes if self.chosen is not None else 0)

    @property
    def disk_bytes(self) -> int:
        """Size of the rows on disk, in bytes."""
        return self.kind.itemsize * self.stored_rows * len(self.columns)

    @cached_property
    def _map(self) -> mmap.mmap:
        with open(self.folder / "rows", "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    @cached_property
    def _numbers(self) -> Array:
        return np.frombuffer(self._map, self.kind).reshape(self.stored_rows, len(self.columns))

    def take(self, indices: Array | slice) -> Array:
        """Return rows as numbers (N, columns), texts as the indices of `StoredColumn.texts`."""
        if self.chosen is not None:
            indices = self.chosen[indices]
        if isinstance(indices, slice):
            rows: Array = self._numbers[indices].copy()
            self._touched[0] += rows.nbytes
        else:
            rows = self._numbers.take(indices, axis=0)  # brackets take four times as long
            span = int(np.ptp(indices)) + 1 if len(indices) else 0
            self._touched[0] += min(mmap.PAGESIZE * len(rows), mmap.PAGESIZE + span * self._numbers[:1].nbytes)
        if self._touched[0] > MOST_TOUCHED < self.disk_bytes:  # several threads: it need not be exact
            self._touched[0] = 0
            if sys.platform != "win32":
                self._map.madvise(mmap.MADV_DONTNEED)
        return rows

    def only(self, indices: Array) -> "StoredTable":
        """Return the table with some of its rows, by their places (N)."""
        return replace(self, chosen=indices)

    def cells(self, name: str, numbers: Array) -> Cells:
        """Return the cells of a column from its numbers in some rows: the same, or the texts at these indices."""
        column = self.columns[name]
        return numbers if column.texts is None else CodedTexts(numbers.astype(np.int32), column.texts)

    def column(self, name: str) -> Array:
        """Return all numbers of one column (N)."""
        place = self.columns[name].place
        out = np.empty(self.rows, self.kind)
        for start in range(0, self.rows, BATCH_ROWS):
            out[start : start + BATCH_ROWS] = self.take(slice(start, start + BATCH_ROWS))[:, place]
        return out

    def first_rows(self, count: int) -> Iterator[tuple[str | float, ...]]:
        """Yield the first rows, with texts as texts."""
        for row in self.take(slice(0, count)).tolist():
            yield tuple(
                row[column.place] if column.texts is None else (*column.texts, MISSING_TEXT)[int(row[column.place])]
                for column in self.columns.values()
            )


def store(path: Path, stamp: Hashable, reading: Reading) -> StoredTable:
    """Return the rows of a table on disk, converted now unless they were before.

    Rows with a gap are an error that names it, left out, or kept: a gap is NaN among numbers, and an empty text.
    Raises `UserError` for files that cannot be read, and where the disk is too full.
    """
    entry = TABLES.entry(FORMAT, str(path), repr(stamp), repr(reading))
    return TABLES.obtain(entry, partial(_opened, path), partial(_convert, path, reading), str(path))


def _opened(path: Path, folder: Path) -> StoredTable:
    """Return a table that was converted before. Raises `FileNotFoundError`, or another error where it is damaged."""
    facts = json.loads((folder / "table.json").read_bytes())
    columns = {
        name: StoredColumn(name, place, None if texts is None else tuple(texts), low, mean, high, gaps)
        for place, (name, texts, low, mean, high, gaps) in enumerate(facts["columns"])
    }
    kind, skipped, notes = np.dtype(facts["kind"]), facts["skipped"], tuple(facts["notes"])
    table = StoredTable(path, folder, facts["rows"], columns, kind, skipped, facts["decimal"], notes)
    if (folder / "rows").stat().st_size != table.disk_bytes:
        raise ValueError("The rows are cut.")
    return table


class _NotNumbersError(Exception):
    """A column that began with numbers holds a text."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


class CsvRows:
    """A CSV file, in batches of rows. The first of them tells which columns hold numbers, unless they are in
    `as_texts`."""

    kind = np.dtype(np.float64)

    def __init__(self, path: Path, reading: Reading, as_texts: set[str]) -> None:
        """Read the header and the first rows. Raises `UserError`."""
        import pyarrow

        self._table = table = CsvTable(path, reading.left_out, "keep", written=reading.written, is_held=False)
        self.names, self.decimal, self.most_rows = table.names, table.decimal, table.most_rows
        first: Mapping[str, Any] = {}
        if batches := list(islice(table.batches(), FIRST_BATCHES)):
            first = dict(zip(self.names, pyarrow.concat_batches(batches).columns, strict=True))
        others = {name: cells for name, cells in first.items() if _numbers(cells, self.decimal) is None}
        formats = {name: self._format(cells) for name, cells in others.items() if name not in as_texts}
        self.formats = {name: how for name, how in formats.items() if how is not None}
        self.texts = [name for name in self.names if (name in others or name in as_texts) and name not in self.formats]

    def _format(self, cells: Any) -> NumberFormat | None:
        """Return the number format of a column that holds more than plain numbers."""
        distinct = cells.unique().to_pylist()
        try:
            return number_format((cell for cell in distinct if not is_missing(cell)), self.decimal)
        except UnlikeNumbersError:
            return None

    def notes(self) -> tuple[str, ...]:
        """Return notes on how the file is written."""
        notes = [
            f"Column '{name}': {words}, as in {quoted(how.example)}."
            for name, how in self.formats.items()
            for words in how.words
        ]
        return (*self._table.notes(), *notes)

    def batches(self) -> Iterator[Any]:
        """Yield batches of rows, and give the memory of pyarrow back at the end."""
        import pyarrow

        yield from self._table.batches({*self.texts, *self.formats})
        pyarrow.default_memory_pool().release_unused()


def _numbers(cells: Any, decimal: str) -> Array | None:
    """Return the numbers of cells (N), NaN for one that marks a missing value; None where there are others."""
    from pyarrow import compute, scalar, types

    numbers = plain_numbers(cells, decimal)
    if numbers is None and types.is_string(cells.type):
        numbers = plain_numbers(compute.if_else(are_missing(cells), scalar(None, cells.type), cells), decimal)
    return numbers


def _convert(path: Path, reading: Reading, folder: Path) -> None:
    """Write the rows of a table into a folder. Raises `UserError`, and `OSError` of the folder."""
    folder.mkdir()
    is_parquet = path.suffix.lower() in PARQUET
    as_texts: set[str] = set()
    while True:
        source = ParquetFile(path, reading.left_out) if is_parquet else CsvRows(path, reading, as_texts)
        try:
            _write(path, folder, source, reading.missing)
            return
        except _NotNumbersError as error:
            as_texts.add(error.column)
        except OSError as error:
            if error.filename == str(path):
                raise unreadable(path, error) from None
            raise


@dataclass
class _Gathered:
    """Content of a column: its distinct texts with their indices, or the range of its numbers."""

    name: str
    what: str
    """The column and its file, for messages."""
    texts: dict[str, int] | None
    how: NumberFormat | None = None
    """How numbers are written that are no plain ones."""
    decimal: str = "."
    low: float = math.inf
    high: float = -math.inf
    mean: float = 0.0
    count: int = 0
    missing: int = 0

    def gaps(self, numbers: Array) -> Array | None:
        """Return whether each cell of a batch is missing (N); None for none. A minimum is NaN where any number is."""
        least = numbers.min() if len(numbers) else 0.0
        if self.texts is not None:
            return numbers < 0 if least < 0 else None
        return np.isnan(numbers) if np.isnan(least) else None

    def add(self, numbers: Array) -> None:
        """Count the known numbers of a batch."""
        if len(numbers):
            self.low, self.high = min(self.low, float(numbers.min())), max(self.high, float(numbers.max()))
            self.count += len(numbers)
            share = len(numbers) / self.count  # means, not sums, which overflow
            with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers, which `column` refuses
                mean = float((numbers.astype(np.float64) / len(numbers)).sum())
            self.mean = self.mean * (1 - share) + mean * share

    def column(self, place: int) -> StoredColumn:
        """Return the description of the column. Raises `UserError` where its numbers cannot be used."""
        if self.texts is not None:
            return StoredColumn(self.name, place, tuple(self.texts), gaps=self.missing)
        if not self.count:
            return StoredColumn(self.name, place, gaps=self.missing)
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise UserError(
                f"{self.what} holds numbers that are not finite. Expected finite numbers. Replace them, or leave the "
                "column out (data.left_out)."
            )
        return StoredColumn(self.name, place, None, self.low, self.mean, self.high, self.missing)


def _write(path: Path, folder: Path, source: ParquetFile | CsvRows, missing: Gaps) -> None:
    """Write all rows and then the description of the table. Raises `UserError` and `OSError`."""
    needed = source.kind.itemsize * len(source.names) * source.most_rows
    TABLES.make_room(str(path), needed, "Make room, leave columns out (data.left_out), or set XDG_CACHE_HOME.")
    # Said before minutes of conversion; the responses themselves are held.
    refuse_too_large(RESPONSE_BYTES * source.most_rows, f"The responses of {path}", "Use fewer rows or responses.")
    gathered = [
        _Gathered(
            name,
            f"Column '{name}' of {path}",
            {} if name in source.texts else None,
            source.formats.get(name),
            source.decimal,
        )
        for name in source.names
    ]
    rows = count = 0
    with open(folder / "rows", "wb") as out:
        for batch in source.batches():
            block = _block(batch, gathered, source.kind, missing, count)
            out.write(block.data)
            rows += len(block)
            count += batch.num_rows
            report(count, source.most_rows, "rows")
    if not rows:
        why = "each row has a missing value" if count else "it has no rows"
        raise UserError(f"{path} cannot be used: {why}. Expected a table with rows of inputs and a response.")
    columns = [item.column(place) for place, item in enumerate(gathered)]
    facts = {
        "columns": [[item.name, item.texts, item.low, item.mean, item.high, item.gaps] for item in columns],
        "rows": rows,
        "skipped": count - rows,
        "kind": source.kind.name,
        "decimal": source.decimal,
        "notes": list(source.notes()),
    }
    write_json(folder / "table.json", facts)


def _block(batch: Any, gathered: Sequence[_Gathered], kind: np.dtype[Any], missing: Gaps, before: int) -> Array:
    """Return the rows of a batch (N, columns). `before`: rows before it. Raises `UserError` for a gap if asked to."""
    columns = [_column(batch.column(item.name), item) for item in gathered]
    gaps = {place: is_gap for place, item in enumerate(gathered) if (is_gap := item.gaps(columns[place])) is not None}
    if gaps and missing != "keep":
        has_gap = np.any(list(gaps.values()), axis=0)
        if missing == "refuse":
            row = int(np.flatnonzero(has_gap)[0])
            place = next(place for place, is_gap in gaps.items() if is_gap[row])
            raise UserError(
                f"{gathered[place].what}, row {before + row + 1:,}: expected a value, the cell is empty or marks a "
                f"missing value. {WAYS_OUT}"
            )
        columns, gaps = [numbers[~has_gap] for numbers in columns], {}
    block = np.empty((len(columns[0]), len(columns)), kind)
    for place, (item, numbers) in enumerate(zip(gathered, columns, strict=True)):
        block[:, place] = numbers
        item.missing += int(gaps[place].sum()) if place in gaps else 0
        item.add(numbers[~gaps[place]] if place in gaps else numbers)
    return block


def _column(cells: Any, item: _Gathered) -> Array:
    """Return the cells of a batch as numbers: NaN for a gap; of texts their indices in `texts`, -1 for a gap, unless
    they are numbers that are written as `how` says. Raises `_NotNumbersError`."""
    import pyarrow
    from pyarrow import compute

    texts, how, subject = item.texts, item.how, item.what
    if texts is None and how is None:
        if pyarrow.types.is_float32(cells.type):
            narrow: Array = cells.to_numpy(zero_copy_only=False)
            return narrow
        if (numbers := _numbers(cells, item.decimal)) is None:
            raise _NotNumbersError(item.name)
        return numbers
    if not pyarrow.types.is_dictionary(cells.type):
        cells = compute.dictionary_encode(compute.cast(cells, pyarrow.string()))
    names = [None if name is None else str(name).strip() for name in cells.dictionary.to_pylist()]
    if texts is None:
        values = [math.nan if name is None or is_missing(name) else _number(name, how, subject) for name in names]
        return _spread(values, math.nan, cells)
    places = [-1 if name is None or name.lower() in MISSING else texts.setdefault(name, len(texts)) for name in names]
    if len(texts) > MOST_TEXTS:
        raise UserError(
            f"{subject} holds more than {MOST_TEXTS:,} different texts. Leave the column out (data.left_out)."
        )
    return _spread(places, -1, cells)


def _spread(values: Sequence[float], gap: float, cells: Any) -> Array:
    """Return the value of each cell from those of its distinct texts."""
    indices = cells.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    numbers: Array = np.array([*values, gap], np.float64)[indices]
    return numbers


def _number(text: str, how: NumberFormat | None, subject: str) -> float:
    try:
        return (how or NumberFormat()).number(text)
    except ValueError:
        like = f", as in {quoted(how.example)}" if how and how.example else ""
        raise UserError(
            f"{subject}: expected a number{like}, received {quoted(text)}. Correct the cell, or leave the column out "
            "(data.left_out)."
        ) from None
