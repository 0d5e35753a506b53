"""Parquet file: batches of its rows, and its rows as cells, as those of a CSV table."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.data.sources.source import listed, refuse_too_large
from netwright.engine.data.tables.arrow_cells import texts_of
from netwright.engine.data.tables.csv_table import CELL_BYTES
from netwright.engine.project.sources.number_texts import NumberFormat

BATCH_ROWS = 2**16
MOST_COLUMNS = 100_000


def kept_columns(path: Path, header: Sequence[str], left_out: Sequence[str], least_columns: int = 2) -> tuple[str, ...]:
    """Return the names of the columns that are read. Raises `UserError`."""
    for name in left_out:
        if name not in header:
            hint = did_you_mean(name, header)
            raise UserError(
                f"{path} has no column {quoted(name)} to leave out.{hint} Its columns: {listed(list(header))}."
            )
    names = tuple(name for name in header if name and name not in left_out)
    if len(names) < least_columns:
        expected = "two: inputs and a response" if least_columns == 2 else "one"
        raise UserError(f"{len(names)} columns of {path} are left. Expected at least {expected}.")
    if len(names) > MOST_COLUMNS:
        raise UserError(f"{path} has {len(names):,} columns; at most {MOST_COLUMNS:,} are taken.")
    if twice := next((name for name in names if header.count(name) > 1), None):
        raise UserError(f"Two columns of {path} have the name {quoted(twice)}. Rename one of them.")
    return names


class ParquetFile:
    """A Parquet file, in batches of rows."""

    decimal = "."
    formats: Mapping[str, NumberFormat] = MappingProxyType({})
    """How numbers are written in columns of texts, as a CSV file has them."""

    def __init__(self, path: Path, left_out: Sequence[str], least_columns: int = 2) -> None:
        """Read the schema. Raises `UserError` for a damaged file, or columns that cannot be read."""
        import pyarrow
        from pyarrow import parquet

        self._arrow = pyarrow
        self.path = path
        try:
            self._file = parquet.ParquetFile(path, memory_map=True)
            schema = self._file.schema_arrow
            self.most_rows = self._file.metadata.num_rows
        except (self._arrow.ArrowException, ValueError, OSError) as error:
            raise self._damaged(error) from None
        self.names = kept_columns(path, schema.names, left_out, least_columns)
        self.texts = [name for name in self.names if self._is_text(name, schema.field(name).type)]
        numbers = [schema.field(name).type for name in self.names if name not in self.texts]
        self.kind = np.dtype(np.float32 if all(map(self._is_narrow, numbers)) else np.float64)

    def _is_narrow(self, type: Any) -> bool:
        """Return whether single precision holds all numbers of a type."""
        types = self._arrow.types
        is_small = (types.is_integer(type) or types.is_boolean(type)) and type.bit_width <= 16
        return bool(is_small or types.is_float32(type) or types.is_float16(type))

    def _damaged(self, error: Exception) -> UserError:
        words = str(error).strip().partition("\n")[0][:200]
        return UserError(f"{self.path} is no Parquet file, or a damaged one: {words}. Expected a whole Parquet file.")

    def _is_text(self, name: str, type: Any) -> bool:
        """Return whether a column holds texts or dates, not numbers. Raises `UserError` for nested and binary ones."""
        types = self._arrow.types
        of = type.value_type if types.is_dictionary(type) else type
        if types.is_string(of) or types.is_large_string(of) or types.is_string_view(of) or types.is_temporal(of):
            return True
        is_number = types.is_integer(of) or types.is_floating(of) or types.is_boolean(of) or types.is_decimal(of)
        if is_number or types.is_null(of):
            return False
        raise UserError(
            f"Column '{name}' of {self.path} holds {type}. Expected numbers, texts or dates. Leave the column out "
            "(data.left_out), or store it as plain columns."
        )

    def notes(self) -> tuple[str, ...]:
        """Return notes on how the file is written, as a CSV file has them."""
        return ()

    def batches(self) -> Iterator[Any]:
        """Yield batches of rows."""
        try:
            yield from self._file.iter_batches(BATCH_ROWS, columns=list(self.names))
        except (self._arrow.ArrowException, ValueError, OSError) as error:
            raise self._damaged(error) from None


class ParquetCells:
    """Rows of a Parquet file, read as `CsvTable` reads those of a CSV file; a missing value is empty."""

    decimal = shown_decimal = "."
    unit = "row"
    is_whole = True

    def __init__(self, path: Path, left_out: Sequence[str]) -> None:
        """Read the schema. Raises `UserError`, also for a table too large for memory."""
        self.path = path
        self._file = ParquetFile(path, left_out, least_columns=1)
        self._left_out = tuple(left_out)
        self.names = self._file.names
        rows = self._file.most_rows
        cells = f"The {rows * len(self.names):,} cells of {path}"
        refuse_too_large(rows * len(self.names) * CELL_BYTES, cells, "Use fewer rows or columns.")

    def batches(self) -> Iterator[Any]:
        """Yield batches of rows."""
        count = 0
        for batch in self._file.batches():
            count += batch.num_rows
            report(count, self._file.most_rows, "rows")
            if batch.num_rows:
                yield batch

    def rows(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the number of each row, from 1 on, and its cells as texts."""
        rows = (row for batch in self._file.batches() for row in self.first_cells(batch, batch.num_rows))
        yield from enumerate(rows, 1)

    def first_cells(self, batch: Any, count: int) -> list[tuple[str, ...]]:
        """Return the first rows of a batch as texts."""
        return list(zip(*map(texts_of, batch.slice(0, count).columns), strict=True))

    def notes(self) -> tuple[str, ...]:
        """Return a note on the columns left out."""
        return (f"Left out: {listed(list(self._left_out))} (data.left_out).",) if self._left_out else ()

    def no_rows(self) -> UserError:
        """Return the error of a table without rows."""
        return UserError(f"{self.path} has columns and no rows. Expected a Parquet file with rows.")

    def place(self, row: int) -> str:
        """Return the place of a row, for messages: `row 12`."""
        return f"row {row + 1:,}"
