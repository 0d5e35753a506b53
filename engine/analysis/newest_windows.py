"""The newest window of each series of a table of time steps: what a forecast is made from."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, did_you_mean, plural
from netwright.engine.core.fields import quoted
from netwright.engine.data.loading.apply_preparation import prepare
from netwright.engine.data.sources.source import Array, Arrays, listed
from netwright.engine.data.tables.columns import parse
from netwright.engine.data.tables.long_table import open_table
from netwright.engine.project.preparation import ColumnPreparation, Preparation

Row = tuple[int, Sequence[str]]
"""Number of a line or row of a file, and its cells."""


@dataclass(frozen=True)
class Window:
    """The newest rows of one series: `past`, and `ahead` the steps to predict where columns are known in advance."""

    name: str
    """The file, and the number of the first step that is predicted."""
    group: str
    """Name of the series; empty where the file has one alone."""
    past: Sequence[Row]
    ahead: Sequence[Row]
    truth: Sequence[float]
    """The numbers to predict where the rows have all of them, step by step."""
    refusal: str
    """Why there is no forecast; empty where there is one."""


class NewestWindows:
    """Reads a table, oldest rows first, for a network whose inputs name their columns.

    Where the network takes columns that are known in advance, the last rows of a series are the steps to predict, and
    the columns to predict may be empty there; without such columns the forecast begins behind its last row. An input of
    any length takes all rows. A table without the column that told series apart in training is one series. Sequences
    that are no forecasts begin with the first row; to a fixed length they are cut at the end, or padded with zeros.
    """

    def __init__(self, record: Preparation, source: Path) -> None:
        """Read the header of the table. Raises `UserError` for columns that are not there."""
        self._record, self._source = record, source
        history, *others = record.inputs
        self._ahead = others[0].sizes[0] or 0 if others else 0
        self._steps = history.sizes[0]
        self._is_whole = record.kind == "sequences"
        self._table = open_table(source)
        self._columns = list(self._table.names)
        names = [name for preparation in record.inputs for name in preparation.column_names]
        if missing := [name for name in names if name not in self._columns]:
            expected = f"one row per time step with the columns {listed(list(history.column_names), 8)}"
            hint = did_you_mean(missing[0], self._columns)
            raise UserError(f"{source} has no column {quoted(missing[0])}.{hint} Expected {expected}.")

    def windows(self) -> Iterator[Window]:
        """Yield the window of each series, in the order in which they appear. Raises `UserError` for rows that cannot
        be read, and for a series that is alone and too short."""
        length = None if self._steps is None or self._is_whole else self._steps + self._ahead
        group, is_grouped = self._record.group_column, self._record.group_column in self._columns
        place = self._columns.index(group) if is_grouped else 0
        series: dict[str, deque[Row]] = {}
        for line, row in self._table.rows():
            name = row[place] if is_grouped else ""
            if name not in series:
                series[name] = deque(maxlen=length)
            series[name].append((line, row))
        for name, rows in (series or {"": deque[Row]()}).items():
            window = self._window(name, list(rows))
            if window.refusal and len(series) < 2:
                raise UserError(window.refusal)
            yield window

    def _window(self, group: str, rows: Sequence[Row]) -> Window:
        if self._is_whole and rows:
            name = f"{self._source}:{rows[0][0]}" if group else f"{self._source}"
            return Window(name, group, rows[: self._steps], (), (), "")
        ahead, refusal = self._ahead, ""
        if len(rows) <= ahead or (self._steps is not None and len(rows) < self._steps + ahead):
            series = f"{self._source}: the series {quoted(group)}" if group else str(self._source)
            follow = f", of which the last {ahead:,} are to be predicted" if ahead else ""
            expected = f"{(self._steps or 1) + ahead:,} time steps{follow}"
            refusal = f"{series} has {plural(len(rows), 'row')}. Expected at least {expected}."
        past, after = rows[: len(rows) - ahead], rows[len(rows) - ahead :]
        first = after[0][0] if after else rows[-1][0] + 1 if rows else 1
        return Window(f"{self._source}:{first}", group, past, after, self._truth(after), refusal)

    def _truth(self, rows: Sequence[Row]) -> Sequence[float]:
        names = [name for target in self._record.targets for name in target.source.split(", ")]
        try:
            return [float(row[self._columns.index(name)]) for _, row in rows for name in names]
        except ValueError:  # a column or a number is not there
            return ()

    def arrays(self, windows: Sequence[Window]) -> Arrays:
        """Return windows of the same length as inputs, samples first. Raises `UserError`."""
        if refusal := next((window.refusal for window in windows if window.refusal), ""):
            raise UserError(refusal)
        arrays = []
        for preparation, is_past in zip(self._record.inputs, (True, False), strict=False):
            samples = [
                self._sample(preparation.columns, window.past if is_past else window.ahead) for window in windows
            ]
            arrays.append(np.stack(samples))
        return prepare(self._record, arrays)

    def _sample(self, columns: Sequence[ColumnPreparation], rows: Sequence[Row]) -> Array:
        """Return the columns of rows (T, C)."""
        places = [f"{self._table.unit} {line:,} of {self._source}" for line, _ in rows]
        cells = []
        for column in columns:
            at = self._columns.index(column.name)
            cells.append(
                np.asarray(parse(column, [row[at] for _, row in rows], places, self._table.shown_decimal), np.float64)
            )
        sample = np.stack(cells, axis=1)
        missing = (self._steps or 0) - len(rows) if self._is_whole else 0
        return np.pad(sample, ((0, missing), (0, 0))) if missing > 0 else sample
