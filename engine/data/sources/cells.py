"""Cells of tables of text: numbers, also with thousands separators, and markers of missing values."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.data.sources.source import Array

COMMAS = re.compile(r"[-+]?\d*(,\d+)+(\.\d*)?")
THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
"""Numbers with commas, and those of them in which each comma stands before three digits."""
MISSING = frozenset({"", "na", "n/a", "nan", "null", "<na>", "#n/a", "#na", "?"})
"""Markers of missing values, in lower case."""
Cell = tuple[int, str]
"""A row's index, and the text of a cell in it."""


@dataclass
class GatheredCells:
    """Contents of a column found in one pass. `texts` counts cells that are neither number nor empty, `commas` those
    of them that are numbers with commas."""

    pieces: list[Array] = field(default_factory=list)
    texts: int = 0
    commas: int = 0
    empties: int = 0
    first_text: Cell = (0, "")
    first_gap: Cell = (0, "")
    first_thousands: Cell | None = None
    first_infinite: Cell | None = None
    first_unlike: Cell | None = None
    """First number that has commas elsewhere than before three digits, or none although it is 1,000 or more."""

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add the cells of rows from index `start` on."""
        try:
            numbers = np.array(cells, dtype=np.float64)
        except ValueError:
            numbers = np.array([self._number(cell, start + i) for i, cell in enumerate(cells)])
        finite = np.isfinite(numbers)
        if not finite.all():
            self._note_gaps(cells, finite, start)
        if self.first_unlike is None and len(large := np.flatnonzero(finite & (np.abs(numbers) >= 1000))):
            self.first_unlike = start + int(large[0]), cells[large[0]]
        self.pieces.append(numbers)

    @property
    def has_thousands(self) -> bool:
        """Return whether all cells are numbers, some with commas as thousands separators."""
        return self.texts == self.commas and self.first_thousands is not None

    def _number(self, cell: str, row: int) -> float:
        try:
            return float(cell)
        except ValueError:
            if cell.strip():
                if not self.texts:
                    self.first_text = row, cell
                self.texts += 1
                self._note_commas(row, cell)
            return math.nan

    def _note_commas(self, row: int, cell: str) -> None:
        if COMMAS.fullmatch(cell.strip()):
            self.commas += 1
            if THOUSANDS.fullmatch(cell.strip()):
                self.first_thousands = self.first_thousands or (row, cell)
            elif self.first_unlike is None or row < self.first_unlike[0]:
                self.first_unlike = row, cell

    def _note_gaps(self, cells: Sequence[str], finite: Array, start: int) -> None:
        """Empty cells, and the numbers NaN and infinity."""
        for i in np.flatnonzero(~finite).tolist():
            cell = cells[i].strip()
            if not cell or is_number(cell):
                if not self.empties or (self.first_gap[1] and not cell):  # an empty cell is a gap among texts, too
                    self.first_gap = start + i, cell
                self.empties += 1
            if cell and self.first_infinite is None and is_number(cell):
                self.first_infinite = start + i, cell


def is_missing(cell: str) -> bool:
    """Return whether a cell marks a missing value."""
    return cell.strip().lower() in MISSING


def as_number(cell: str) -> float:
    """Return the number in a cell, without its thousands separators."""
    return float(cell.replace(",", ""))


def is_number(cell: str) -> bool:
    """Return whether a cell holds a number, NaN or infinity."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
