"""The values of a curve: all its points, and a pyramid that finds any stretch of them at any zoom.

Each level of the pyramid holds smallest, largest and mean of four bins of the level below, so a plot of
any length costs as much as its pixels, and no spike is lost. Points are only appended, except that a run
which goes back to a checkpoint replaces what came after it.

Memory has a limit: of the values and of each level the newest are kept, and the levels above stand for the rest.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netwright.engine.runs.events import ThinnedPoints

Floats = NDArray[np.float64]

FACTOR = 4
# Rows a block. Blocks are never copied when the curve grows, so no update takes longer than the others.
BLOCK = 1024
# Places of non-finite values that are kept for marking; all of them are counted.
MAX_MARKS = 256
# Up to so many steps in view, smoothing is by the step; beyond, by the share of the view.
SMOOTHED_STEPS = 600
# So many of the newest values, and of the newest rows of a level, are kept at least.
KEPT_VALUES, KEPT_ROWS = 2**18, 2**17
# A bucket of a thinned log stands for at most so many values.
MAX_BUCKET_VALUES = 4096
ROWS_AT_ONCE = 4096
_FLOAT32_MAX = float(np.finfo(np.float32).max)
_LOW, _HIGH, _MEAN = 0, 1, 2


class _Blocks:
    """A growing table of rows, in blocks of fixed size. Rows before `first` may have been forgotten: they are NaN."""

    def __init__(self, width: int, dtype: type[np.floating]) -> None:
        self._width = width
        self._dtype = dtype
        self._empty = np.full((BLOCK, width), np.nan, dtype)
        self._blocks: list[NDArray[np.floating]] = []
        self.length = self.first = 0

    @property
    def num_bytes(self) -> int:
        return sum(block.nbytes for block in self._blocks if block is not self._empty)

    def append(self, rows: NDArray[np.floating]) -> None:
        position = 0
        while position < len(rows):
            number, offset = divmod(self.length, BLOCK)
            if number == len(self._blocks):
                self._blocks.append(np.empty((BLOCK, self._width), self._dtype))
            elif self._blocks[number] is self._empty:
                self._blocks[number] = self._empty.copy()
            count = min(BLOCK - offset, len(rows) - position)
            self._blocks[number][offset : offset + count] = rows[position : position + count]
            self.length += count
            position += count

    def rows(self, start: int, stop: int) -> NDArray[np.floating]:
        stop = min(stop, self.length)
        if stop <= start:
            return np.empty((0, self._width), self._dtype)
        first, last = start // BLOCK, (stop - 1) // BLOCK
        offset = first * BLOCK
        if first == last:
            return self._blocks[first][start - offset : stop - offset]
        return np.concatenate(self._blocks[first : last + 1])[start - offset : stop - offset]

    def truncate(self, length: int) -> None:
        self.length = min(self.length, length)
        self.first = min(self.first, self.length)
        del self._blocks[-(-self.length // BLOCK) :]

    def keep(self, count: int) -> None:
        """Forget all but the newest so many, and what shares a block with them."""
        first = max(0, self.length - count) // BLOCK
        for number in range(self.first // BLOCK, first):
            self._blocks[number] = self._empty
        self.first = max(self.first, first * BLOCK)


class Series:
    """A curve with one value every so many steps, for millions of them."""

    def __init__(self) -> None:
        self._data = _Blocks(1, np.float64)
        self._levels: list[_Blocks] = []
        # Stretches of evenly spaced steps: index of the first value, its step, the distance.
        self._starts: list[int] = []
        self._firsts: list[float] = []
        self._aparts: list[float] = []
        self._marks: list[int] = []
        self.num_nonfinite = 0

    def __len__(self) -> int:
        return self._data.length

    @property
    def num_bytes(self) -> int:
        """Memory of the values."""
        return self._data.num_bytes

    @property
    def overhead_bytes(self) -> int:
        """Memory beside eight bytes a value: the pyramid, and what is reserved for growing."""
        return self.num_bytes - 8 * len(self) + sum(level.num_bytes for level in self._levels)

    @property
    def last_step(self) -> float:
        """The step of the newest value; 0 before there is one."""
        return float(self.steps(np.array([len(self) - 1]))[0]) if len(self) else 0.0

    def append(self, values: ArrayLike, first_step: float | None = None, steps_apart: float = 1) -> None:
        """Adds values; those at or after `first_step` that were there already are replaced."""
        added = np.asarray(values, np.float64).reshape(-1)
        if not len(added):
            return
        self._place(len(added), first_step, steps_apart)
        self._add(added)

    def append_thinned(self, points: ThinnedPoints, name: str) -> None:
        """Adds a curve of a thinned log: values with the same extremes and means at the same steps."""
        curve = points.curves[name]
        for i, (first, last, count) in enumerate(
            zip(points.first_steps, points.last_steps, points.counts, strict=True)
        ):
            size = min(count, MAX_BUCKET_VALUES)
            apart = (last - first) / (size - 1) if size > 1 else 1.0
            extremes: dict[int, float] = {}
            for value, step in (
                (curve["lowest"][i], curve["lowest_steps"][i]),
                (curve["highest"][i], curve["highest_steps"][i]),
                *([(np.nan, curve["nonfinite_steps"][i])] if curve["nonfinite"][i] else []),
            ):
                at = min(max(round((step - first) / apart), 0), size - 1)
                while at in extremes and extremes[at] != value and len(extremes) < size:
                    at = (at + 1) % size
                extremes[at] = value
            others = size - len(extremes)
            finite = sum(value for value in extremes.values() if np.isfinite(value))
            num_finite = others + sum(bool(np.isfinite(value)) for value in extremes.values())
            rest = (curve["mean"][i] * num_finite - finite) / others if others else 0.0
            values = np.full(size, min(max(rest, curve["lowest"][i]), curve["highest"][i]))
            values[list(extremes)] = list(extremes.values())
            self.append(values, first, apart)

    def _add(self, added: Floats) -> None:
        self._mark_nonfinite(added)
        self._data.append(added[:, None])
        self._grow()
        self._data.keep(KEPT_VALUES)
        for level in self._levels:
            level.keep(KEPT_ROWS)

    def truncate(self, length: int) -> None:
        """Forgets all but the first `length` values."""
        if length >= len(self):
            return
        removed = self._data.rows(max(length, self._data.first), len(self))
        self.num_nonfinite -= int(np.count_nonzero(~np.isfinite(removed)))
        del self._marks[bisect_left(self._marks, length) :]
        if length < self._data.first:  # of values that are forgotten it is only known where stretches of them began
            self.num_nonfinite = len(self._marks)
        self._data.truncate(length)
        for number, level in enumerate(self._levels, 1):
            level.truncate(length // FACTOR**number)
        below = [self._data, *self._levels]
        is_needed = [under.length >= BLOCK or under.first > 0 for under in below]
        self._levels = self._levels[: [*is_needed, False].index(False)]
        keep = bisect_left(self._starts, length)
        del self._starts[keep:], self._firsts[keep:], self._aparts[keep:]

    def steps(self, indices: NDArray[np.int_]) -> Floats:
        """The steps of values by their index."""
        if len(self._starts) == 1:
            return np.asarray(self._firsts[0] + indices * self._aparts[0], np.float64)
        part = np.searchsorted(self._starts, indices, side="right") - 1
        starts, firsts, aparts = (np.array(x, np.float64) for x in (self._starts, self._firsts, self._aparts))
        return np.asarray(firsts[part] + (indices - starts[part]) * aparts[part], np.float64)

    def index(self, step: float) -> int:
        """The index of the first value at or after a step; the length if there is none."""
        part = bisect_right(self._firsts, step) - 1
        if part < 0:
            return 0
        end = self._starts[part + 1] if part + 1 < len(self._starts) else len(self)
        return min(end, self._starts[part] + int(np.ceil((step - self._firsts[part]) / self._aparts[part])))

    def values(self, start: int = 0, stop: int | None = None) -> Floats:
        """The values as they came, by index; NaN where they are kept no more."""
        return np.asarray(self._data.rows(start, len(self) if stop is None else stop)[:, 0], np.float64)

    def value(self, index: int) -> float:
        """One value; of old ones the mean around it."""
        level = self._finest(index)
        column = _MEAN if level else 0
        rows = self._levels[level - 1] if level else self._data
        return float(rows.rows(index // FACTOR**level, index // FACTOR**level + 1)[0, column])

    def chunks(self) -> Iterator[tuple[Floats, Floats]]:
        """Steps and values, some thousand at a time: values as they came, and before them the lowest and the highest of
        each bin that is left, and where stretches of non-finite values begin."""
        position = 0
        while position < len(self):
            level = self._finest(position)
            size = FACTOR**level
            finer = [b.first * FACTOR**n for n, b in enumerate([self._data, *self._levels][:level])]
            stop = min([len(self), position + ROWS_AT_ONCE * size, *(f for f in finer if f > position)])
            steps, values = self.steps(np.arange(position, stop)), self.values(position, stop)
            if level:
                rows = self._bins(level, position // size, -(-stop // size))
                indices = position // size * size + size * np.arange(len(rows))
                at = np.stack([indices + size // 4, indices + 3 * size // 4], axis=1).reshape(-1)
                steps, values = self.steps(np.minimum(at, stop - 1)), rows[:, (_LOW, _HIGH)].reshape(-1).astype(float)
                marks = np.array([mark for mark in self._marks if position <= mark < stop], np.int_)
                is_there = np.isfinite(values)
                steps = np.concatenate([steps[is_there], self.steps(marks)])
                values = np.concatenate([values[is_there], np.full(len(marks), np.nan)])
                order = np.argsort(steps, kind="stable")
                steps, values = steps[order], values[order]
            yield steps, values
            position = stop

    def nonfinite_steps(self) -> Floats:
        """Where each stretch of non-finite values begins (the first 256 of them)."""
        return self.steps(np.array(self._marks, np.int_)) if self._marks else np.empty(0)

    def window(self, x0: float, x1: float, pixels: int) -> tuple[Floats, Floats]:
        """Points to draw between two steps, at most two a pixel column; non-finite values are gaps (NaN)."""
        start, stop = self._span(x0, x1)
        if stop - start <= 2 * pixels and start >= self._data.first:
            values = self.values(start, stop)
            return self.steps(np.arange(start, stop)), np.where(np.isfinite(values), values, np.nan)
        begin, width, columns = self._columns(start, stop, pixels)
        indices = begin + width * np.arange(len(columns))
        spread = np.stack([indices + width // 4, indices + (3 * width) // 4], axis=1).reshape(-1)
        low_high = columns[:, (_LOW, _HIGH)].astype(np.float64).reshape(-1)
        return self.steps(np.minimum(spread, len(self) - 1)), low_high

    def smoothed(self, x0: float, x1: float, factor: float, points: int = 600) -> tuple[Floats, Floats]:
        """The exponentially smoothed curve, at most `points` long, at the cost of `points`.

        `factor` is the share of the previous value that is kept, a step, while no more than 600 steps
        are looked at; a longer stretch keeps it for the same share of its length, so that the slider means
        the same to the eye at any history.
        """
        start, stop = self._span(x0, x1)
        if stop <= start:
            return np.empty(0), np.empty(0)
        # What came before the window counts too: as many columns as the window has itself.
        count = stop - start
        before = max(0, start - count)
        begin, width, columns = self._columns(before, stop, points * (stop - before) // count)
        decay = factor ** (width * min(1.0, SMOOTHED_STEPS / count))
        indices = begin + width * np.arange(len(columns))
        middle = np.minimum(indices + width // 2, len(self) - 1)
        middle[-1] = len(self) - 1 if stop == len(self) else middle[-1]
        y = _exponential(columns[:, _MEAN].astype(np.float64), decay)
        in_view = indices + width > start
        return self.steps(middle[in_view])[-points:], y[in_view][-points:]

    def _place(self, count: int, first_step: float | None, apart: float) -> None:
        """Decides on the steps of values that come next."""
        if not self._starts:
            self._open(1.0 if first_step is None else first_step, apart)
            return
        if first_step is None:
            return
        self.truncate(self.index(first_step))
        if (
            not self._starts
            or first_step != self.last_step + self._aparts[-1]
            or (count > 1 and apart != self._aparts[-1])
        ):
            self._open(first_step, apart)

    def _open(self, first_step: float, apart: float) -> None:
        if apart <= 0:
            raise ValueError(f"Steps must be apart by more than 0, not {apart}.")
        self._starts.append(len(self))
        self._firsts.append(float(first_step))
        self._aparts.append(float(apart))

    def _mark_nonfinite(self, added: Floats) -> None:
        bad = ~np.isfinite(added)
        count = int(np.count_nonzero(bad))
        if not count:
            return
        self.num_nonfinite += count
        was_bad = len(self) > 0 and not np.isfinite(self._data.rows(len(self) - 1, len(self))[0, 0])
        begins = np.flatnonzero(bad & ~np.concatenate([[was_bad], bad[:-1]])) + len(self)
        self._marks.extend(int(i) for i in begins[: MAX_MARKS - len(self._marks)])

    def _grow(self) -> None:
        """Completes the bins that became full. A level is begun when the one below fills a block."""
        number, below = 1, self._data
        while below.length >= BLOCK or number <= len(self._levels):
            if number > len(self._levels):
                self._levels.append(_Blocks(3, np.float32))
            level = self._levels[number - 1]
            full = below.length // FACTOR
            if full > level.length:
                rows = self._bins(number - 1, FACTOR * level.length, FACTOR * full)
                level.append(_joined_bins(rows))
            number, below = number + 1, level

    def _bins(self, level: int, start: int, stop: int) -> NDArray[np.floating]:
        """Smallest, largest and mean of the bins of a level; level 0 are the values."""
        if level:
            return self._levels[level - 1].rows(start, stop)
        values = self._data.rows(start, stop)
        clipped = np.where(np.isfinite(values), np.clip(values, -_FLOAT32_MAX, _FLOAT32_MAX), np.nan)
        return np.repeat(clipped, 3, axis=1)

    def _span(self, x0: float, x1: float) -> tuple[int, int]:
        """Indices of a window, with one neighbour on each side so that lines reach its edges."""
        return max(0, self.index(x0) - 1), min(len(self), self.index(x1) + 2)

    def _columns(self, start: int, stop: int, count: int) -> tuple[int, int, NDArray[np.floating]]:
        """At most `count` columns over a stretch: index of the first, values per column, the columns.

        Columns begin at multiples of their width, so they stay where they are while the curve grows.
        """
        least_width = max(1, -(-(stop - start) // max(1, count - 1)))
        level = 0
        while level < len(self._levels) and FACTOR ** (level + 1) <= least_width:
            level += 1
        while True:
            size = FACTOR**level
            group = -(-least_width // size)
            width = group * size
            begin = start // width * width
            if (finest := self._finest(begin)) <= level:
                break
            level = finest
        rows = self._bins(level, begin // size, -(-stop // size))
        covered = begin + size * len(rows)
        if level and covered < stop:
            rows = np.concatenate([rows, self._tail(level, covered)])
        return begin, width, _reduced(rows, np.arange(0, len(rows), group))

    def _finest(self, index: int) -> int:
        """The first level that still knows what is from here on; 0 for the values."""
        levels = [self._data, *self._levels]
        return next((n for n, rows in enumerate(levels) if index >= rows.first * FACTOR**n), len(self._levels))

    def _tail(self, level: int, position: int) -> NDArray[np.floating]:
        """One row for the newest values, which do not fill a bin of this level yet."""
        parts = []
        for lower in range(level - 1, -1, -1):
            rows = self._bins(lower, position // FACTOR**lower, len(self) // FACTOR**lower)
            parts.append(rows)
            position += FACTOR**lower * len(rows)
        return _reduced(np.concatenate(parts), np.array([0]))


def _joined_bins(rows: NDArray[np.floating]) -> NDArray[np.floating]:
    """Rows joined by `FACTOR`; as `_reduced`, and three times as fast where all values are finite."""
    if not np.isfinite(rows[:, _MEAN]).all():
        return _reduced(rows, np.arange(0, len(rows), FACTOR))
    groups = rows.reshape(-1, FACTOR, 3)
    result = np.asarray(groups.mean(axis=1, dtype=np.float64))
    result[:, _LOW], result[:, _HIGH] = groups[:, :, _LOW].min(axis=1), groups[:, :, _HIGH].max(axis=1)
    return result


def _reduced(rows: NDArray[np.floating], begins: NDArray[np.int_]) -> NDArray[np.floating]:
    """Rows joined in groups; NaN only where a group holds nothing else."""
    finite = np.isfinite(rows[:, _MEAN])
    if finite.all():
        means = np.add.reduceat(rows[:, _MEAN], begins, dtype=np.float64) / np.diff(begins, append=len(rows))
    else:
        counts = np.add.reduceat(finite, begins, dtype=np.float64)
        sums = np.add.reduceat(np.where(finite, rows[:, _MEAN], 0), begins, dtype=np.float64)
        means = np.divide(sums, counts, out=np.full(len(begins), np.nan), where=counts > 0)
    low, high = np.fmin.reduceat(rows[:, _LOW], begins), np.fmax.reduceat(rows[:, _HIGH], begins)
    return np.stack([low, high, means], axis=1)


def _exponential(values: Floats, decay: float) -> Floats:
    """Exponential smoothing that starts at the first value instead of at zero; gaps are bridged."""
    if np.isfinite(values).all():
        sums = np.array(list(accumulate((values * (1 - decay)).tolist(), lambda total, value: decay * total + value)))
        weights = 1 - decay ** np.arange(1, len(sums) + 1)
        return np.asarray(sums / weights, np.float64)
    result: list[float] = []
    total = weight = 0.0
    for value in values.tolist():
        if value == value:
            total = decay * total + (1 - decay) * value
            weight = decay * weight + (1 - decay)
        result.append(total / weight if weight else np.nan)
    return np.array(result)
