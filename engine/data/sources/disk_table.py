"""A Parquet file, or a CSV table too large to be held in memory.

Columns are taken as in `netwright.engine.data.sources.table_reader`, but rows are read from disk when they are needed
(`netwright.engine.data.tables.stored_table`); only the responses are held in memory.
"""

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.text import format_bytes
from netwright.engine.data.sources.source import (
    Array,
    Column,
    Outline,
    Readers,
    Samples,
    Source,
    file_stamp,
    index_type,
    refuse_too_large,
)
from netwright.engine.data.sources.table_reader import (
    GAPS,
    keys_by,
    responses_of,
    targets_of,
    with_inputs,
    without,
    without_value,
)
from netwright.engine.data.sources.targets import rounding_note
from netwright.engine.data.tables import histograms
from netwright.engine.data.tables.columns import CodedTexts, LeftOutColumn, encode, fit_column, notes_on
from netwright.engine.data.tables.csv_file import Columns
from netwright.engine.data.tables.parquet_file import BATCH_ROWS
from netwright.engine.data.tables.stored_table import RESPONSE_BYTES, Reading, StoredTable, store
from netwright.engine.project.data import DataOptions
from netwright.engine.project.preparation import ColumnPreparation

EXPECTED = "a Parquet file or a CSV table"
SHOWN_ROWS = 50
COUNTED_CELLS = 2_000_000
"""Cells of all columns that histograms count."""
TASK_BYTES = 2**20


class DiskTable(Source):
    """Table of any length."""

    def stamp(self, path: Path) -> Hashable:
        """Return time, size and inode of the file. Raises `UserError`."""
        return file_stamp(path, EXPECTED)

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline with the responses; all rows are converted first, unless they were before."""
        if options.response and options.response in options.columns_left_out:
            raise UserError(f"Column '{options.response}' is the response and is left out, too. Choose one of them.")
        reading = Reading(options.columns_left_out, GAPS[options.missing_values], options.written)
        table = store(path, self.stamp(path), reading)
        dividing = options.dividing_column
        responses = _responses(options, table, path)
        needed = RESPONSE_BYTES * table.rows * (len(responses) + bool(dividing))
        refuse_too_large(needed, f"The responses of {path}", "Use fewer rows or responses.")
        notes = list(table.notes)
        columns = _columns(table, responses)
        has_all = np.logical_and.reduce([~_gaps(columns, name) for name in responses])
        if not has_all.all():
            table = table.only(np.flatnonzero(has_all).astype(index_type(len(has_all))))
            columns = _columns(table, responses)
            notes.append(without_value(has_all, path))
        targets, infos = targets_of(options.task, responses, columns, path)
        are_numbers = any(info.task == "numbers" for info in infos)
        notes += [note for name, cells in columns.numbers.items() if are_numbers for note in rounding_note(name, cells)]
        if table.skipped:
            notes.append(f"Rows with missing values left out: {table.skipped:,}.")
        size = format_bytes(table.disk_bytes)
        notes.append(
            f"{table.rows:,} rows were converted once, to {size} in the cache folder, and are read from there."
        )
        return Outline(
            inputs=(),
            targets=targets,
            wanted=infos,
            notes=tuple(notes),
            columns=tuple(_shown(table, responses, dividing)),
            rows=tuple(table.first_rows(SHOWN_ROWS)),
            raw=table,
            split_keys=keys_by(options, _columns(table, (dividing,)), dividing, path) if dividing else None,
        )

    def fit(self, options: DataOptions, path: Path, outline: Outline, training: Array) -> Outline:
        """Return the outline with the inputs, fitted on the training rows, one column in memory at a time."""
        table = outline.raw
        assert isinstance(table, StoredTable)
        others = (*_responses(options, table, path), options.dividing_column)
        fitted: list[ColumnPreparation | LeftOutColumn] = []
        notes: list[str] = []
        for name in table.columns:
            if name in others:
                continue
            cells = table.cells(name, table.column(name))
            subject = f"Column '{name}' of {path}"
            fitted.append(fit_column(name, cells, training, options, subject, table.decimal))
            notes += notes_on(fitted[-1], cells, options)
        return with_inputs(outline, fitted, notes, path)

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the inputs, one row per sample."""
        arrays = []
        for reader in self.readers(options, path, outline).inputs:
            rows = np.arange(reader.shape[0]) if indices is None else indices
            needed = len(rows) * reader.shape[1] * reader.kind.itemsize
            refuse_too_large(needed, f"{len(rows):,} rows of {path}", "Stream them: data.loading=stream.")
            out = np.empty((len(rows), *reader.shape[1:]), reader.kind)
            for start in range(0, len(rows), BATCH_ROWS):
                reader.read(rows[start : start + BATCH_ROWS], out[start : start + BATCH_ROWS])
            arrays.append(out)
        return Samples(tuple(arrays))

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return a reader of the rows on disk for each input."""
        table = outline.raw
        assert isinstance(table, StoredTable)
        return Readers(tuple(RowReader.of(table, input.prepared) for input in outline.inputs))


@dataclass(frozen=True, eq=False)
class RowReader:
    """Reader of the rows of a table on disk, as the numbers that an input takes."""

    table: StoredTable
    prepared: tuple[ColumnPreparation, ...]
    shape: tuple[int, ...]
    kind: np.dtype[Any]
    largest: int
    is_plain: bool
    """Whether all columns are numbers, as stored."""

    @classmethod
    def of(cls, table: StoredTable, prepared: tuple[ColumnPreparation, ...]) -> "RowReader":
        """Return the reader of one input."""
        rows, places = table.take(slice(0, 1)), [table.columns[column.name].place for column in prepared]
        cells = {
            column.name: table.cells(column.name, rows[:, place])
            for column, place in zip(prepared, places, strict=True)
        }
        first = encode(prepared, cells)
        is_plain = all(column.kind == "number" and column.missing is None for column in prepared)
        kind = table.kind if is_plain else first.dtype
        largest = len(prepared[0].categories) if kind == np.int64 else 0
        return cls(table, prepared, (table.rows, first.shape[1]), kind, largest, is_plain)

    @property
    def at_once(self) -> int:
        """Number of rows per task of a reader thread."""
        return max(1, TASK_BYTES // (8 * self.shape[1]))

    @property
    def where(self) -> str:
        """File of the table."""
        return str(self.table.path)

    def read(self, indices: Array, out: Array) -> None:
        """Read the chosen rows into `out`."""
        rows = self.table.take(indices)
        places = [self.table.columns[column.name].place for column in self.prepared]
        if not self.is_plain:
            names = [column.name for column in self.prepared]
            cells = {name: self.table.cells(name, rows[:, place]) for name, place in zip(names, places, strict=True)}
            out[...] = encode(self.prepared, cells)
        elif places == list(range(places[0], places[0] + len(places))):
            out[...] = rows[:, places[0] : places[0] + len(places)]
        else:
            out[...] = rows[:, places]


def _responses(options: DataOptions, table: StoredTable, path: Path) -> tuple[str, ...]:
    columns = _columns(table, ())
    dividing = options.dividing_column
    return responses_of(options.response, without(columns, dividing, path) if dividing else columns, path)


def _gaps(columns: Columns, name: str) -> Array:
    """Return whether each cell of a column is missing (N)."""
    numbers = columns.numbers.get(name)
    if numbers is not None:
        return np.isnan(numbers)
    texts = columns.texts[name]
    assert isinstance(texts, CodedTexts)
    return texts.codes < 0


def _columns(table: StoredTable, names: Collection[str]) -> Columns:
    """Return some columns in memory, as those of a table that is read whole."""
    cells = {name: table.cells(name, table.column(name)) for name in names}
    numbers = {name: values for name, values in cells.items() if isinstance(values, np.ndarray)}
    texts = {name: values for name, values in cells.items() if not isinstance(values, np.ndarray)}
    return Columns(tuple(table.columns), numbers, texts, (), table.rows, decimal=table.decimal)


def _shown(table: StoredTable, responses: Sequence[str], dividing: str) -> Iterator[Column]:
    """Yield the descriptions of the columns, with counts of evenly spaced rows."""
    step = -(-table.rows * len(table.columns) // COUNTED_CELLS)
    rows = table.take(np.arange(0, table.rows, max(1, step)))
    for name, column in table.columns.items():
        role = "response" if name in responses else "split" if name == dividing else "input"
        cells = table.cells(name, rows[:, column.place])
        counted = histograms.of_numbers(cells) if isinstance(cells, np.ndarray) else histograms.of_texts(cells)
        if step > 1:
            counted["sampled"] = len(rows)
        if column.texts is None:
            yield Column(name, role, "number", column.low, column.mean, column.high, counted)
        else:
            different = len(column.texts)
            kind = "text" if different == 1 else f"text, {different:,} different"
            yield Column(name, role, kind, histogram=counted)
