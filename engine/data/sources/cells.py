"""Cells of a column of a CSV table, gathered in one pass."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from netwright.engine.data.sources.csv_table import COMMA_DECIMALS
from netwright.engine.data.sources.source import Array
from netwright.engine.project.sources.number_texts import is_number

Cell = tuple[int, str]
"""A row's index, and the text of a cell in it."""


@dataclass
class GatheredCells:
    """Contents of a column found in one pass. `texts` counts cells that are neither plain numbers with the `decimal`
    mark nor empty; `empties` those without a value, NaN and infinity."""

    decimal: str = "."
    pieces: list[Array] = field(default_factory=list)
    texts: int = 0
    empties: int = 0
    first_gap: Cell = (0, "")
    first_infinite: Cell | None = None

    def take(self, cells: Sequence[str], start: int) -> None:
        """Add the cells of rows from index `start` on."""
        plain = cells if self.decimal == "." else [cell.translate(COMMA_DECIMALS) for cell in cells]
        try:
            numbers = np.array(plain, dtype=np.float64)
        except ValueError:
            numbers = np.array([self._number(cell) for cell in plain])
        finite = np.isfinite(numbers)
        if not finite.all():
            self._note_gaps(plain, finite, start)
        self.pieces.append(numbers)

    def _number(self, cell: str) -> float:
        try:
            return float(cell)
        except ValueError:
            self.texts += bool(cell.strip())
            return math.nan

    def _note_gaps(self, cells: Sequence[str], finite: Array, start: int) -> None:
        """Count empty cells, and the numbers NaN and infinity."""
        for i in np.flatnonzero(~finite).tolist():
            cell = cells[i].strip()
            if not cell or is_number(cell):
                if not self.empties or (self.first_gap[1] and not cell):  # an empty cell is a gap among texts, too
                    self.first_gap = start + i, cell
                self.empties += 1
            if cell and self.first_infinite is None and is_number(cell):
                self.first_infinite = start + i, cell
