"""Time series for forecasting: windows of a long table, of one series or of several.

A sample is a window of `lags` steps and what follows: the input `history` (lags, columns) holds the targets first, then
the other columns, those known in advance last; the input `future` (horizon, columns), if any column is known in
advance, those columns at the steps to predict; the target is one vector of all numbers to predict, step by step:
`load` and `price` two steps ahead are load +1, price +1, load +2, price +2.

The rows are held once, however many windows share them. No window crosses the end of a series, a gap in time, or a row
without an earlier value to fill it with.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.fields import quoted
from netwright.engine.core.types import features, sequence
from netwright.engine.data.sources.seasons import guessed_season
from netwright.engine.data.sources.source import (
    Array,
    Column,
    Outline,
    Readers,
    Samples,
    Source,
    cut,
    file_stamp,
    listed,
    refuse_too_large,
)
from netwright.engine.data.sources.windows import TimeSplit, Windows, WindowSet
from netwright.engine.data.tables.csv_table import EXPECTED
from netwright.engine.data.tables.histograms import of_numbers
from netwright.engine.data.tables.long_table import LongTable, Roles, fill_missing, read_long_table, shown, side_by_side
from netwright.engine.project.data import DataOptions
from netwright.engine.project.dataset_info import Forecast, InputInfo, TargetInfo

MOST_GAPS, FEW_GAPS, LONGEST = 0.05, 5, 7.0
"""Fraction of longer steps above which they are no gaps unless the options say so, if there are more than a few, and
half of them are at most so many times the usual step."""
LONGER = 1.5
"""A step in time this many times the usual one is a gap."""


@dataclass(frozen=True, eq=False)
class _Part:
    """The windows of one file: all columns (T, C), bounds of its series (S + 1) and of the stretches without a gap,
    (G, 2), first row of each window (N), and notes."""

    table: LongTable
    columns: "_Columns"
    rows: Array
    stretches: Array
    starts: Array
    notes: tuple[str, ...]

    @classmethod
    def read(cls, path: Path, options: DataOptions, like: "_Columns | None" = None) -> "_Part":
        """Read a file, with the columns of the training data if they are given. Raises `UserError`."""
        table = read_long_table(path, _roles(options))
        columns = _Columns.of(table, options)
        if like is not None and columns != like:
            raise UserError(
                f"{path} has the columns {listed(list(columns.names), 10)}; the training data has "
                f"{listed(list(like.names), 10)}. Expected the same columns in the same order."
            )
        missing, notes = fill_missing(table, columns.names, fills=options.missing_cells == "last-value")
        if count := int(missing.sum()):
            notes.append(f"Left out since there is no earlier value to fill them with: {plural(count, 'row')}.")
        gaps, gap_notes = _gaps(table, options.time_column, options.time_gaps)
        stretches = _segments(table, missing | gaps, missing)
        empty = [name for name in table.numbers if name not in columns.names]
        if empty:
            notes.append(f"Left out because they have no value: {listed([quoted(name) for name in empty])}.")
        starts, short_notes = _starts(table, stretches, columns.forecast(options))
        rows = side_by_side(table.numbers, columns.names)
        return cls(table, columns, rows, stretches, starts, (*table.notes, *notes, *gap_notes, *short_notes))


class Series(Source):
    """Windows of time series. `validation_path`, `test_path`: files of these splits, which follow as further series."""

    def __init__(self, validation_path: Path | None = None, test_path: Path | None = None) -> None:
        own = {"validation": validation_path, "test": test_path}
        self._own = {name: path for name, path in own.items() if path is not None}

    def stamp(self, path: Path) -> Hashable:
        """Return time, size and inode of the files. Raises `UserError`."""
        return tuple((str(each), file_stamp(each, EXPECTED)) for each in (path, *self._own.values()))

    def outline(self, options: DataOptions, path: Path) -> Outline:
        """Return the outline, and with it readers of the windows, since the files are read once."""
        main = _Part.read(path, options)
        others = [_Part.read(each, options, main.columns) for each in self._own.values()]
        parts, columns, table = (main, *others), main.columns, main.table
        forecast = replace(columns.forecast(options), period=_period(main, options))
        ends = np.cumsum([len(part.rows) for part in parts])
        offsets = (ends - [len(part.rows) for part in parts]).tolist()
        rows = main.rows if not others else np.concatenate([part.rows for part in parts])
        rows.flags.writeable = False
        starts = np.concatenate([part.starts + offset for part, offset in zip(parts, offsets, strict=True)])
        first = np.concatenate([part.stretches[:, 0] + offset for part, offset in zip(parts, offsets, strict=True)])
        bounds = [part.table.bounds[:-1] + offset for part, offset in zip(parts, offsets, strict=True)]
        target = _targets(rows, starts, forecast)
        windows = [Windows(rows, starts, forecast.lags, str(path), bounds=first)]
        inputs = [InputInfo("history", sequence(forecast.lags, len(columns.names)), columns.names)]
        if columns.known:
            ahead = rows[:, len(columns.names) - len(columns.known) :]
            windows.append(Windows(ahead, starts + forecast.lags, forecast.horizon, str(path), bounds=first))
            inputs.append(InputInfo("future", sequence(forecast.horizon, len(columns.known)), columns.known))
        notes = [f"{part.table.path.name}: {note}" for part in others for note in part.notes]
        return Outline(
            inputs=tuple(inputs),
            targets=(target,),
            wanted=(TargetInfo(", ".join(columns.targets), features(target.shape[1]), "numbers"),),
            notes=(*main.notes, *notes),
            columns=columns.described(table, options),
            rows=tuple(table.first_rows),
            resident_because="the windows of a series share their steps, which are held once",
            raw=WindowSet(tuple(windows)),
            gathers=True,
            forecast=forecast,
            in_time=TimeSplit(
                starts,
                np.concatenate([*bounds, ends[-1:]]),
                forecast.lags,
                forecast.horizon,
                overlap=options.split_overlap,
                own=dict(zip(self._own, offsets[1:], strict=True)),
            ),
        )

    def samples(self, options: DataOptions, path: Path, outline: Outline, indices: Array | None = None) -> Samples:
        """Return the windows as arrays. Raises `UserError` where memory is short."""
        assert isinstance(outline.raw, WindowSet)
        return outline.raw.samples(np.arange(len(outline)) if indices is None else indices)

    def readers(self, options: DataOptions, path: Path, outline: Outline) -> Readers:
        """Return readers that gather windows of the rows in memory."""
        assert isinstance(outline.raw, WindowSet)
        return Readers(outline.raw.windows)


@dataclass(frozen=True)
class _Columns:
    """Columns of numbers by role, all in the order of the history's channels."""

    targets: tuple[str, ...]
    past: tuple[str, ...]
    known: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.targets, *self.past, *self.known)

    def forecast(self, options: DataOptions) -> Forecast:
        """Return the forecast that windows of these columns predict."""
        return Forecast(self.targets, options.lags, options.horizon, options.stride, options.season)

    @classmethod
    def of(cls, table: LongTable, options: DataOptions) -> "_Columns":
        """Return the roles that the options give. Raises `UserError` for a column that cannot have one."""
        numbers = [name for name, values in table.numbers.items() if not np.isnan(values).all()]
        if not numbers:
            raise UserError(f"{table.path} has no column of numbers to forecast besides time and group.")
        targets = _named(options.response, numbers, table, "to predict") or tuple(numbers[-1:])
        in_advance = _named(options.known_columns, numbers, table, "that is known in advance")
        for name in in_advance:
            if name in targets:
                raise UserError(
                    f"Column '{cut(name)}' is to be predicted and known in advance (data.known_columns). Choose one."
                )
        past = tuple(name for name in numbers if name not in (*targets, *in_advance))
        return cls(targets, past, in_advance)

    def described(self, table: LongTable, options: DataOptions) -> tuple[Column, ...]:
        """Return the columns for display, in the order of the file."""
        described = []
        for name in table.table.names:
            if name not in self.names:
                is_time, is_group = (
                    name == text or name in map(str.strip, text.split(","))
                    for text in (options.time_column, options.group_column)
                )
                column_role = "time" if is_time else "group" if is_group else "left out"
                is_empty = name in table.numbers
                kind = {"time": "time", "group": f"{len(table.groups):,} series"}.get(
                    column_role, "empty" if is_empty else "text"
                )
                described.append(Column(name, column_role, kind))
                continue
            values = table.numbers[name]
            role = "response" if name in self.targets else "input"
            kind = "number, known in advance" if name in self.known else "number"
            spans = float(values.min()), float(values.mean()), float(values.max())
            described.append(Column(name, role, kind, *spans, of_numbers(values)))
        return tuple(described)


def _roles(options: DataOptions) -> Roles:
    return Roles(
        time=options.time_column,
        group=options.group_column,
        date_order=options.date_order,
        written=options.written,
        left_out=options.columns_left_out,
    )


def _named(text: str, numbers: list[str], table: LongTable, role: str) -> tuple[str, ...]:
    """Return the columns of numbers that an option names, separated by commas. Raises `UserError` for others."""
    names = (text,) if text in numbers else tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in (names := tuple(filter(None, names))):
        if name not in numbers:
            because = "is no column of numbers" if name in table.table.names else "is not there"
            raise UserError(
                f"{table.path}: the column {quoted(name)} {role} {because}. Its columns of numbers are: "
                f"{listed(numbers, 20)}."
            )
    return names


def _gaps(table: LongTable, time: str, how: str) -> tuple[Array, list[str]]:
    """Return the rows before which steps in time are left out (N), and a note that names the first. `how` is the option
    `time_gaps`."""
    gaps = np.zeros(len(table), bool)
    if table.times is None or len(table) < 2 or how == "ignore":
        return gaps, []
    steps = np.diff(table.times).astype(np.float64)
    inside = np.ones(len(steps), bool)
    inside[table.bounds[1:-1] - 1] = False
    if not inside.any():
        return gaps, []
    usual = float(np.median(steps[inside]))
    gaps[1:] = inside & (steps > LONGER * usual)
    count = int(gaps.sum())
    if not count:
        return gaps, []
    is_regular = float(np.median(steps[gaps[1:]])) <= LONGEST * usual
    if how == "auto" and count > max(FEW_GAPS, MOST_GAPS * inside.sum()) and is_regular:
        note = (
            f"{count:,} of {int(inside.sum()):,} steps in '{cut(time)}' are longer than the usual one, as without "
            "weekends: rows are taken to follow each other evenly (data.time_gaps=break has no window cross them)."
        )
        return np.zeros(len(table), bool), [note]
    row = int(gaps.argmax())
    series = table.said(int(table.group_of[row]))
    return gaps, [
        f"{plural(count, 'gap')} in '{cut(time)}', the first{series} before {table.place(row)}: "
        f"{shown(table.times[row])} follows {shown(table.times[row - 1])}. No window crosses a gap."
    ]


def _segments(table: LongTable, breaks: Array, left_out: Array) -> Array:
    """Return first row and end of each stretch of rows that windows may lie in (S, 2)."""
    is_first = breaks.copy()
    is_first[table.bounds[:-1]] = True
    is_first[1:] |= left_out[:-1]
    first = np.flatnonzero(is_first)
    ends = np.append(first[1:], len(is_first))
    return np.stack([first, ends], axis=1)[~left_out[first]]


def _starts(table: LongTable, segments: Array, forecast: Forecast) -> tuple[Array, list[str]]:
    """Return the first row of each window, ascending, and a note on series that are too short for one.

    Raises `UserError` where no series is long enough.
    """
    span = forecast.lags + forecast.horizon
    sizes = segments[:, 1] - segments[:, 0]
    counts = np.maximum(0, (sizes - span) // forecast.stride + 1)
    needed = f"lags + horizon = {forecast.lags:,} + {forecast.horizon:,} = {span:,} steps"
    if not counts.sum():
        longest = int(sizes.max(initial=0))
        raise UserError(
            f"{table.path}: the longest stretch without a gap has {plural(longest, 'step')}; a window takes {needed}. "
            "Choose fewer lags or a shorter horizon."
        )
    refuse_too_large(int(counts.sum()) * (8 + 8 * forecast.horizon * len(forecast.targets)), *_too_many(table))
    total = np.cumsum(counts)
    number = np.arange(int(total[-1])) - np.repeat(total - counts, counts)
    starts = np.repeat(segments[:, 0], counts) + number * forecast.stride
    short = np.flatnonzero(np.bincount(table.group_of[segments[:, 0]], counts, len(table.bounds) - 1) == 0)
    if not len(short) or not table.groups:
        return starts, []
    names = listed([quoted(table.groups[place]) for place in short[:5].tolist()])
    more = f" and {len(short) - 5:,} more" if len(short) > 5 else ""
    return starts, [f"Left out because no stretch of them has {needed}: {plural(len(short), 'series')}, {names}{more}."]


def _too_many(table: LongTable) -> tuple[str, str]:
    return f"The numbers to predict of all windows of {table.path}", "Use a larger stride or a shorter horizon."


def _period(part: _Part, options: DataOptions) -> int:
    """Return the period that the oldest rows of the longest series show, those of the training split."""
    longest = int(np.diff(part.table.bounds).argmax())
    begin, end = part.table.bounds[longest : longest + 2].tolist()
    share = 1.0 - options.validation_share - options.test_share
    values = part.rows[begin : begin + max(1, round(share * (end - begin))), 0]
    return guessed_season(values[np.isfinite(values)])


def _targets(rows: Array, starts: Array, forecast: Forecast) -> Array:
    """Return the numbers to predict (N, horizon · targets), step by step."""
    count, horizon = len(forecast.targets), forecast.horizon
    ahead = np.lib.stride_tricks.sliding_window_view(rows[:, :count], horizon, axis=0)[starts + forecast.lags]
    return np.ascontiguousarray(ahead.transpose(0, 2, 1), np.float32).reshape(len(starts), horizon * count)
