"""A CSV file as batches of pyarrow, in constant memory, for tables that are too large to be held."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.extras import import_extra
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.csv_table import CsvTable, Gaps
from netwright.engine.project.sources.csv_dialect import Written, codec_of
from netwright.engine.project.sources.number_texts import (
    MISSING,
    NumberFormat,
    UnlikeNumbersError,
    is_missing,
    number_format,
)

BLOCK_BYTES, LARGEST_BLOCK, FIRST_BLOCK = 2**20, 2**25, 2**22
"""Bytes that pyarrow reads at once, of which it holds some seventy times as much; where rows are longer; and those by
which the kinds of columns are found."""
NULLS = sorted({*MISSING, *map(str.upper, MISSING), *map(str.capitalize, MISSING), "NaN", "k.A.", "k. A."})
"""Markers of missing values as pyarrow takes them: it compares the case, too."""
NO_NUMBER = re.compile(r"In CSV column #(\d+): .*? to \w+: invalid value '(.*)'")


@dataclass(frozen=True)
class Reading:
    """Options of reading a table: columns left out, missing values, and those of a CSV file."""

    left_out: tuple[str, ...] = ()
    missing: Gaps = "refuse"
    written: Written = field(default_factory=Written)


class NotNumbersError(Exception):
    """A column that began with numbers holds a text."""

    def __init__(self, column: str, words: str) -> None:
        super().__init__(words)
        self.column = column


class LongRowError(Exception):
    """A row that is longer than a block."""


class NotUtf8Error(Exception):
    """A file whose beginning is UTF-8 text, and whose rest is not."""


class CsvBatches:
    """A CSV file, in batches of rows. The first block tells which columns hold numbers, unless they are in
    `as_texts`."""

    kind = np.dtype(np.float64)

    def __init__(self, path: Path, reading: Reading, as_texts: set[str], block: int) -> None:
        self._arrow = import_extra("pyarrow", "tables", "CSV tables of this size")
        self._csv = import_extra("pyarrow.csv", "tables", "CSV tables of this size")
        self.path, self._block = path, block
        self._table = table = CsvTable(path, reading.left_out, written=reading.written, counts_lines=False)
        self.names, self.decimal = table.names, table.dialect.decimal
        self._is_open = not reading.written.encoding
        self._header = [name or f"column {place + 1}" for place, name in enumerate(table.header)]
        text, number = self._arrow.string(), self._arrow.float64()
        with path.open("rb") as file:
            head = file.read(FIRST_BLOCK)
        self._has_quotes = b'"' in head  # lines may end in a cell
        begin = head.decode(codec_of(table.encoding), errors="ignore")
        begin = begin[: begin.rfind("\n") + 1] if len(head) == FIRST_BLOCK and "\n" in begin else begin
        first = next(self._read({}, LARGEST_BLOCK, begin), None)
        types = {} if first is None else {name: first.schema.field(name).type for name in self.names}
        is_text = self._arrow.types.is_string
        others = {name for name, type in types.items() if self._arrow.types.is_temporal(type) or is_text(type)}
        self.formats = {
            name: how
            for name in self.names
            if name in others - as_texts and first is not None and (how := self._format(name, first)) is not None
        }
        self.texts = [name for name in self.names if (name in others or name in as_texts) and name not in self.formats]
        written = {*self.texts, *self.formats}
        self._types = {name: text if name in written else number for name in self.names}
        bytes_per_row = len(head) / max(1, first.num_rows) if first is not None else 1.0
        self.most_rows = int(1.1 * path.stat().st_size / min(bytes_per_row, path.stat().st_size)) + 1

    def _format(self, name: str, first: Any) -> NumberFormat | None:
        """Return the number format of a column that holds more than plain numbers."""
        cells = (str(cell) for cell in first.column(name).unique().to_pylist() if cell is not None)
        try:
            return number_format((cell for cell in cells if not is_missing(cell)), self.decimal)
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

    def _read(self, types: Mapping[str, Any], block: int, begin: str = "") -> Iterator[Any]:
        """Yield batches of the file, or of its beginning, of which the last row may be cut."""
        csv, table = self._csv, self._table
        codec = "utf8" if begin or table.encoding == "utf-8" else codec_of(table.encoding)
        try:
            yield from csv.open_csv(
                self._arrow.BufferReader(begin.encode()) if begin else self.path,
                csv.ReadOptions(
                    block_size=block,
                    skip_rows=table.dialect.first_line,
                    column_names=self._header,
                    use_threads=True,
                    encoding=codec,
                ),
                csv.ParseOptions(
                    delimiter=table.delimiter,
                    newlines_in_values=self._has_quotes,
                    invalid_row_handler=(lambda _: "skip") if begin else None,
                ),
                csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(self.names),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                    null_values=NULLS,
                    decimal_point=self.decimal,
                ),
            )
        except self._arrow.ArrowInvalid as error:
            words = str(error).strip().partition("\n")[0][:300]
            if (cell := NO_NUMBER.match(words)) and types:
                raise NotNumbersError(self._header[int(cell[1])], words) from None
            if "straddl" in words and block < LARGEST_BLOCK:
                raise LongRowError from None
            if "UTF8" in words and self._is_open:
                raise NotUtf8Error from None
            raise UserError(
                f"{self.path} is no table: {words}. Expected lines with the same number of cells."
            ) from None

    def batches(self) -> Iterator[Any]:
        """Yield batches of rows, and give the memory of pyarrow back at the end."""
        yield from self._read(self._types, self._block)
        self._arrow.default_memory_pool().release_unused()
