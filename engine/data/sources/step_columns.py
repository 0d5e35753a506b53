"""Columns of a table with one row per time step, read piece by piece: numbers, texts, times."""

import math
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.data.sources.csv_table import COMMA_DECIMALS, CsvTable
from netwright.engine.data.sources.parquet_file import ParquetCells
from netwright.engine.data.sources.source import Array, cut
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

    def __init__(self, name: str, table: CsvTable | ParquetCells) -> None:
        self.name, self.table = name, table
        self.pieces: list[Array] = []
        self.names: dict[str, int] = {}
        self.notes: list[str] = []

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add the cells of the rows from index `start` on. Raises `UserError`."""
        raise NotImplementedError

    def take_numbers(self, numbers: Array) -> None:
        """Add a whole column of numbers."""
        self.pieces.append(numbers)

    def values(self) -> Array:
        """Return one value per row, and release the pieces."""
        pieces, self.pieces = self.pieces, []
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def plain(self, cells: Sequence[str]) -> Sequence[str]:
        """Return cells with a decimal point, whatever the mark of the table is."""
        return cells if self.table.decimal == "." else [cell.translate(COMMA_DECIMALS) for cell in cells]

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

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add numbers, however they are written."""
        try:
            numbers = np.array(self.plain(cells), np.float64)
        except ValueError:
            numbers = self._written(cells, start)
        self.pieces.append(numbers)
        with np.errstate(invalid="ignore"):
            too_large = np.abs(numbers) > LARGEST
        if too_large.any():
            raise self._too_large(start + int(too_large.argmax()), cells[int(too_large.argmax())])

    def take_numbers(self, numbers: Array) -> None:
        """Add a whole column of numbers."""
        if float(np.abs(numbers).max()) > LARGEST:
            at = int(np.abs(numbers).argmax())
            raise self._too_large(at, f"{numbers[at]:.3g}")
        super().take_numbers(numbers)

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

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add texts, which must not be empty."""
        names = self.names
        codes = np.fromiter((names.setdefault(cell.strip(), len(names)) for cell in cells), np.int32, len(cells))
        self.pieces.append(codes)
        if "" in names:
            at = next(i for i, cell in enumerate(cells) if not cell.strip())
            raise self.refuse(start + at, "", "a name", "Write one, or leave the row out.")

    def take_numbers(self, numbers: Array) -> None:
        """Add a whole column of numbers, as their texts."""
        values, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        self.names = {_name(value): number for number, value in enumerate(values[order].tolist())}
        self.pieces.append(place[codes.reshape(-1)])


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

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add numbers or texts."""
        if not start and (other := self._of_texts(cells)) is not None:
            self._as = other
        self._as.take(cells, start)

    def _of_texts(self, cells: Sequence[str]) -> StepColumn | None:
        """Return the column that takes these cells; None where they are numbers."""
        is_text = any(not is_missing(cell) and not is_number_like(cell) for cell in cells)
        return Texts(self.name, self.table) if is_text else None

    def take_numbers(self, numbers: Array) -> None:
        """Add a whole column of numbers."""
        self._as.take_numbers(numbers)

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

    def __init__(self, name: str, table: CsvTable | ParquetCells, example: str) -> None:
        super().__init__(name, table)
        self.notes = [
            f"Column '{cut(name)}' is left out: it holds texts, such as {quoted(cut(example))}, and steps are numbers. "
            "One column of 0 and 1 per category takes them; the column that tells several series apart is "
            "data.group_column, or data.id_column of sequences."
        ]

    def take(self, cells: Sequence[str], start: int) -> None:
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

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add times."""
        if not self.pieces and not is_number(self.plain(cells)[0]):
            forms = forms_of(dict.fromkeys(cell.strip() for cell in cells))
            first = forms or forms_of([cells[0].strip()])
            if not first:
                raise self._no_time(start, cells[0])
            is_day_first = self._date_order == "day-first" or (self._date_order, self.table.decimal) == ("auto", ",")
            self.form = likeliest(first, cells, is_day_first=is_day_first, is_open=self._date_order == "auto")
        if self.form:
            dates = [self._date(cell, start + i) for i, cell in enumerate(cells)]
            self.pieces.append(np.array(dates, "datetime64[us]"))
            return
        plain = self.plain(cells)
        for i, cell in enumerate(plain):
            if not is_number(cell) or not math.isfinite(float(cell)):
                raise self.refuse(start + i, cells[i], "a number as in the rows before", f"Write all times as {TIMES}.")
        self.pieces.append(np.array(plain, np.float64))

    def _date(self, cell: str, row: int) -> datetime:
        try:
            return read(cell.strip(), self.form)
        except ValueError:
            raise self._no_time(row, cell) from None

    def _no_time(self, row: int, cell: str) -> UserError:
        form = f", here as {self.form}" if self.form else ""
        way_out = f"Write times as {TIMES}{form}, or choose another time column (data.time_column)."
        return self.refuse(row, cell, "a time", way_out)
