"""Columns of a table with one row per time step, read piece by piece: numbers, texts, times."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.source import Array, cut
from netwright.engine.data.tables.arrow_cells import COMMA_DECIMALS, by_distinct, plain_numbers, texts_of
from netwright.engine.data.tables.csv_table import CsvTable
from netwright.engine.data.tables.parquet_file import ParquetCells
from netwright.engine.project.dates import forms_of, read
from netwright.engine.project.sources.number_texts import (
    UnlikeNumbersError,
    is_missing,
    is_number,
    is_number_like,
    number_format,
)
from netwright.engine.project.sources.time_steps import likeliest

LOOKED_AT = 1000
"""Cells by which a column of texts is told from one with a wrong cell."""
TIMES = "numbers, or dates such as 2024-03-31 13:00"
LARGEST = float(np.finfo(np.float32).max)


class StepColumn:
    """One column while it is read, piece by piece."""

    holds = ""
    is_plain = True
    """Whether all values were finite numbers, written plainly."""

    def __init__(self, name: str, table: CsvTable | ParquetCells) -> None:
        self.name, self.table = name, table
        self.pieces: list[Array] = []
        self.names: dict[str, int] = {}
        self.notes: list[str] = []

    def take(self, cells: Any, start: int) -> None:
        """Add the cells, an array of pyarrow, of the rows from index `start` on. Raises `UserError`."""
        raise NotImplementedError

    def shorten_names(self) -> None:
        """Write texts that are numbers alike: `1` for `1.0` and `01`."""

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


class Numbers(StepColumn):
    """Numbers; missing ones are NaN."""

    holds = "numbers"

    def take(self, cells: Any, start: int) -> None:
        """Add numbers, however they are written."""
        numbers = plain_numbers(cells, self.table.decimal)
        if numbers is None:
            self.is_plain = False
            numbers = self._written(texts_of(cells), start)
        self.pieces.append(numbers)
        self.is_plain = self.is_plain and bool(np.isfinite(numbers).all())
        with np.errstate(invalid="ignore"):
            too_large = np.abs(numbers) > LARGEST
        if too_large.any():
            row = int(too_large.argmax())
            raise self._too_large(start + row, texts_of(cells[row : row + 1])[0])

    def _too_large(self, row: int, cell: str) -> UserError:
        expected = f"a number up to {LARGEST:.3g}, which single precision holds"
        return self.refuse(row, cell, expected, "Correct the cell, or use another unit.")

    def _written(self, cells: Sequence[str], start: int) -> Array:
        """Return numbers with thousands separators, signs or gaps. Raises `UserError` for anything else."""
        distinct = dict.fromkeys(cells, math.nan)
        filled = [cell for cell in distinct if not is_missing(cell) and cell.strip().lower() not in ("inf", "-inf")]
        try:
            how = number_format(filled, self.table.decimal)
        except UnlikeNumbersError as error:
            row = start + next(i for i, cell in enumerate(cells) if cell.strip() == error.unlike)
            way_out = "Write all numbers of the column alike, or say which is the decimal mark (data.decimal_mark)."
            expected = f"a thousands separator as in {quoted(error.grouped)}"
            raise self.refuse(row, error.unlike, expected, way_out) from None
        if how is None and filled:
            wrong = next((cell for cell in filled if not is_number_like(cell)), filled[0])
            way_out = "Correct the cell, or leave the column out (data.left_out)."
            raise self.refuse(start + cells.index(wrong), wrong, "a number", way_out)
        if how is not None:
            self.notes = self.notes or [
                f"Column '{cut(self.name)}': {words}, as in {quoted(how.example)}."
                for words in how.words
                if how.decimal != self.table.decimal or "decimal" not in words
            ]
            distinct |= {cell: how.number(cell) for cell in filled}
        return np.fromiter((distinct[cell] for cell in cells), np.float64, len(cells))


class Texts(StepColumn):
    """Texts, as indices of `names`."""

    holds = "texts"

    def take(self, cells: Any, start: int) -> None:
        """Add texts, which must not be empty."""
        names = self.names

        def numbered(texts: Sequence[str]) -> list[int]:
            return [names.setdefault(text.strip(), len(names)) for text in texts]

        codes = by_distinct(cells, numbered, np.int32)
        self.pieces.append(codes)
        if "" in names:
            raise self.refuse(
                start + int((codes == names[""]).argmax()), "", "a name", "Write one, or leave the row out."
            )

    @property
    def is_plain(self) -> bool:  # type: ignore[override]  # known once read
        return all(is_number(name) and math.isfinite(float(name)) for name in self.names)

    def shorten_names(self) -> None:
        """Write texts that are numbers alike: `1` for `1.0` and `01`."""
        names: dict[str, int] = {}
        codes = np.array([names.setdefault(_name(float(name)), len(names)) for name in self.names], np.int32)
        self.pieces, self.names = [codes[piece] for piece in self.pieces], names


def _name(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


class Either(StepColumn):
    """Numbers, unless the first piece of the column has a text."""

    def __init__(self, name: str, table: CsvTable | ParquetCells) -> None:
        super().__init__(name, table)
        self._as: StepColumn = Numbers(name, table)

    @property
    def holds(self) -> str:  # type: ignore[override]  # known once read
        return self._as.holds

    @property
    def is_plain(self) -> bool:  # type: ignore[override]
        return self._as.is_plain

    def shorten_names(self) -> None:
        """Write texts that are numbers alike."""
        self._as.shorten_names()

    def take(self, cells: Any, start: int) -> None:
        """Add numbers or texts."""
        if not start and plain_numbers(cells, self.table.decimal) is None:
            self._as = self._of_texts(texts_of(cells)) or self._as
        self._as.take(cells, start)

    def _of_texts(self, cells: Sequence[str]) -> StepColumn | None:
        """Return the column that takes these cells; None where they are numbers."""
        is_text = any(not is_missing(cell) and not is_number_like(cell) for cell in cells)
        return Texts(self.name, self.table) if is_text else None

    def values(self) -> Array:
        """Return one value per row."""
        self.names, self.notes = self._as.names, self._as.notes
        return self._as.values()


class Step(Either):
    """Numbers of a step; a column of texts, half of its first cells and more, is left out with a note."""

    def _of_texts(self, cells: Sequence[str]) -> StepColumn | None:
        first = [cell.strip() for cell in cells[:LOOKED_AT] if not is_missing(cell)]
        texts = [cell for cell in first if not is_number_like(cell)]
        return LeftOut(self.name, self.table, texts[0]) if len(texts) >= max(2, len(first) / 2) else None


class LeftOut(StepColumn):
    """A column that is not used."""

    holds = "nothing"
    is_plain = False

    def __init__(self, name: str, table: CsvTable | ParquetCells, example: str) -> None:
        super().__init__(name, table)
        self.notes = [
            f"Column '{cut(name)}' is left out: it holds texts, such as {quoted(cut(example))}, and steps are numbers. "
            "One column of 0 and 1 per category takes them; the column that tells several series apart is "
            "data.group_column, or data.id_column of sequences."
        ]

    def take(self, cells: Any, start: int) -> None:
        """Take no cells."""

    def values(self) -> Array:
        """Return no values."""
        return np.empty(0)


class Times(StepColumn):
    """Times: numbers, or dates of one form."""

    holds = "times"
    form = ""

    def __init__(self, name: str, table: CsvTable | ParquetCells, date_order: str) -> None:
        super().__init__(name, table)
        self._date_order = date_order

    def take(self, cells: Any, start: int) -> None:
        """Add times."""
        numbers = None if self.form else plain_numbers(cells, self.table.decimal)
        if numbers is not None and np.isfinite(numbers).all():
            self.pieces.append(numbers)
            return
        texts = texts_of(cells)
        if not self.pieces and not is_number(self._plain(texts[0])):
            forms = forms_of(dict.fromkeys(text.strip() for text in texts))
            first = forms or forms_of([texts[0].strip()])
            if not first:
                raise self._no_time(start, texts[0])
            is_day_first = self._date_order == "day-first" or (self._date_order, self.table.decimal) == ("auto", ",")
            self.form = likeliest(first, texts, is_day_first=is_day_first, is_open=self._date_order == "auto")
        if not self.form:
            numbers = np.array([float(text) if is_number(text) else math.nan for text in map(self._plain, texts)])
            if not np.isfinite(numbers).all():
                row = int((~np.isfinite(numbers)).argmax())
                expected = "a number as in the rows before"
                raise self.refuse(start + row, texts[row], expected, f"Write all times as {TIMES}.")
            self.pieces.append(numbers)
            return
        self.is_plain = False
        dates = [self._date(text, start + row) for row, text in enumerate(texts)]
        self.pieces.append(np.array(dates, "datetime64[us]"))

    def _plain(self, text: str) -> str:
        return text if self.table.decimal == "." else text.translate(COMMA_DECIMALS)

    def _date(self, cell: str, row: int) -> datetime:
        try:
            return read(cell.strip(), self.form)
        except ValueError:
            raise self._no_time(row, cell) from None

    def _no_time(self, row: int, cell: str) -> UserError:
        form = f", here as {self.form}" if self.form else ""
        way_out = f"Write times as {TIMES}{form}, or choose another time column (data.time_column)."
        return self.refuse(row, cell, "a time", way_out)
