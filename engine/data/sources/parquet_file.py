"""Parquet file: batches of its rows, and its rows as cells, as those of a CSV table."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean
from netwright.engine.core.extras import import_extra
from netwright.engine.core.fields import quoted
from netwright.engine.core.progress import report
from netwright.engine.data.sources.csv_table import CELL_BYTES, Columns
from netwright.engine.data.sources.source import Array, listed, refuse_too_large
from netwright.engine.project.sources.csv_dialect import SAMPLE_ROWS
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
        parquet = import_extra("pyarrow.parquet", "tables", "Parquet files")
        self._arrow = import_extra("pyarrow", "tables", "Parquet files")
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
    """Rows of a Parquet file as texts, read as `CsvTable` reads those of a CSV file; a missing value is empty."""

    decimal = shown_decimal = "."

    def __init__(self, path: Path, left_out: Sequence[str]) -> None:
        """Read the schema. Raises `UserError`, also for a table too large for memory."""
        self.path = path
        self._file = ParquetFile(path, left_out, least_columns=1)
        self._left_out = tuple(left_out)
        self.names = self._file.names
        rows = self._file.most_rows
        cells = f"The {rows * len(self.names):,} cells of {path}"
        refuse_too_large(rows * len(self.names) * CELL_BYTES, cells, "Use fewer rows or columns.")

    def all_numbers(self) -> Columns | None:
        """Return a table of only finite numbers; None for other tables."""
        if self._file.texts:
            return None
        numbers: dict[str, list[Array]] = {name: [] for name in self.names}
        first_rows: list[tuple[str, ...]] = []
        rows = 0
        for batch in self._file.batches():
            for name in self.names:
                column = batch.column(name)
                try:
                    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
                except (TypeError, ValueError):  # objects, such as truth values with gaps
                    return None
                if column.null_count or not np.isfinite(values).all():
                    return None
                numbers[name].append(values)
            rows += batch.num_rows
            report(rows, self._file.most_rows, "rows")
            if len(first_rows) < SAMPLE_ROWS:
                first_rows += self._cells(batch.slice(0, SAMPLE_ROWS - len(first_rows)))
        if not rows:
            return None
        columns = {name: np.concatenate(pieces) for name, pieces in numbers.items()}
        return Columns(self.names, columns, {}, tuple(first_rows), rows, self.notes())

    def pieces(self) -> Iterator[list[tuple[str, ...]]]:
        """Yield rows in pieces."""
        count = 0
        for batch in self._file.batches():
            count += batch.num_rows
            report(count, self._file.most_rows, "rows")
            if batch.num_rows:
                yield self._cells(batch)

    def _cells(self, batch: Any) -> list[tuple[str, ...]]:
        columns = []
        for name in self.names:
            values = batch.column(name).to_pylist()
            columns.append(["" if value is None else _text(value) for value in values])
        return list(zip(*columns, strict=True))

    def notes(self) -> tuple[str, ...]:
        """Return a note on the columns left out."""
        return (f"Left out as you chose: {listed(list(self._left_out))}.",) if self._left_out else ()

    def no_rows(self) -> UserError:
        """Return the error of a table without rows."""
        return UserError(f"{self.path} has columns and no rows. Expected a Parquet file with rows.")

    def place(self, row: int) -> str:
        """Return the place of a row, for messages: `row 12`."""
        return f"row {row + 1:,}"


def _text(value: object) -> str:
    """Return a cell as a CSV table has it: dates in ISO form, truth values as 0 and 1."""
    if isinstance(value, bool):
        return str(int(value))
    iso = getattr(value, "isoformat", None)
    return str(iso() if iso is not None else value)
