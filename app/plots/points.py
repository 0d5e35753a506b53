"""Curves of fewer points, each at a step of its own: validation, and what is told with each report."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netwright.app.plots.series import Floats, Series

LEAST_CAPACITY = 64
MOST_POINTS = 2**15
"""Of more, the older half is thinned."""


def thinned(steps: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The older half of a curve with few of each eight points: the lowest, the highest, and the first that is no
    number. The newer half as it is."""
    count = len(steps) // 16 * 8
    groups = values[:count].reshape(-1, 8)
    is_nan = np.isnan(groups)
    is_kept = np.zeros_like(is_nan)
    rows = np.arange(len(groups))
    is_kept[rows, np.where(is_nan, np.inf, groups).argmin(axis=1)] = True
    is_kept[rows, np.where(is_nan, -np.inf, groups).argmax(axis=1)] = True
    is_kept[rows, is_nan.argmax(axis=1)] |= is_nan.any(axis=1)
    keep = np.concatenate([np.flatnonzero(is_kept), np.arange(count, len(steps))])
    return steps[keep], values[keep]


class Growing:
    """A sequence of numbers that grows at its end, as an array at any time. Copied only when it doubles."""

    def __init__(self, *values: float) -> None:
        self._buffer = np.empty(LEAST_CAPACITY, np.float64)
        self._length = 0
        self.extend(np.array(values, np.float64))

    def __len__(self) -> int:
        return self._length

    @property
    def last(self) -> float:
        """The newest number."""
        return float(self._buffer[self._length - 1])

    def append(self, value: float) -> None:
        """One more."""
        self.extend(np.array([value], np.float64))

    def extend(self, values: Floats) -> None:
        """More."""
        end = self._length + len(values)
        if end > len(self._buffer):
            grown = np.empty(max(end, 2 * len(self._buffer)), np.float64)
            grown[: self._length] = self.view()
            self._buffer = grown
        self._buffer[self._length : end] = values
        self._length = end

    def truncate(self, length: int) -> None:
        """Forget all but the first so many."""
        self._length = min(self._length, length)

    def view(self) -> Floats:
        """All of them; until the next change."""
        return self._buffer[: self._length]


class Points:
    """A few values at steps of their own: validation, test."""

    def __init__(self) -> None:
        self._steps, self._values = Growing(), Growing()

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def num_nonfinite(self) -> int:
        """Number of values that are NaN or infinite."""
        return int(np.count_nonzero(~np.isfinite(self._values.view())))

    @property
    def last_step(self) -> float:
        """The step of the newest value; 0 before there is one."""
        return self._steps.last if len(self) else 0.0

    def append(self, steps: Sequence[float], values: Sequence[float]) -> None:
        """Adds points; those at or after the first new step are replaced."""
        if len(steps) != len(values):
            raise ValueError(f"{len(steps)} steps cannot place {len(values)} values.")
        if steps:
            self._cut(bisect_left(self._steps.view(), steps[0]))
            self._steps.extend(np.array(steps, np.float64))
            self._values.extend(np.array(values, np.float64))
        if len(self) > MOST_POINTS:
            sparse = thinned(self._steps.view().copy(), self._values.view().copy())
            self._steps, self._values = (Growing(*numbers) for numbers in sparse)

    def _cut(self, length: int) -> None:
        self._steps.truncate(length)
        self._values.truncate(length)

    def truncate(self, step: float) -> None:
        """Forgets what comes after a step."""
        self._cut(bisect_right(self._steps.view(), step))

    def arrays(self) -> tuple[Floats, Floats]:
        """All steps and values; non-finite values are gaps (NaN)."""
        values = self._values.view()
        return self._steps.view().copy(), np.where(np.isfinite(values), values, np.nan)

    def between(self, low: float, high: float) -> tuple[Floats, Floats]:
        """Those between two steps, with a neighbour on each side so that lines reach the edges; gaps are NaN."""
        steps = self._steps.view()
        part = slice(max(0, bisect_left(steps, low) - 1), bisect_right(steps, high) + 1)
        values = self._values.view()[part]
        return steps[part].copy(), np.where(np.isfinite(values), values, np.nan)

    def pairs(self) -> list[tuple[float, float]]:
        """Step and value as they came."""
        return list(zip(self._steps.view().tolist(), self._values.view().tolist(), strict=True))

    @property
    def last(self) -> tuple[float, float]:
        """The newest step and value."""
        return self._steps.last, self._values.last

    def nearest(self, step: float) -> tuple[float, float] | None:
        """The point nearest to a step."""
        if not len(self):
            return None
        steps = self._steps.view()
        right = min(bisect_left(steps, step), len(self) - 1)
        before = max(0, right - 1)
        best = before if abs(steps[before] - step) <= abs(steps[right] - step) else right
        return float(steps[best]), float(self._values.view()[best])


class Track(Series):
    """A curve with a step of its own for each value, in rising order: sixteen bytes a value."""

    def __init__(self) -> None:
        super().__init__()
        self._at = Growing()

    def append(self, values: ArrayLike, first_step: float | None = None, steps_apart: float = 1) -> None:
        """Adds values; those at or after `first_step` that were there already are replaced."""
        super().append(values, first_step, steps_apart)
        if len(self) > MOST_POINTS:
            steps, sparse = thinned(self._at.view().copy(), self.values())
            self.truncate(0)
            self._at.extend(steps)
            self._add(sparse)

    def truncate(self, length: int) -> None:
        """Forgets all but the first `length` values."""
        super().truncate(length)
        self._at.truncate(length)

    def steps(self, indices: NDArray[np.int_]) -> Floats:
        """The steps of values by their index."""
        return np.asarray(self._at.view()[indices], np.float64)

    def index(self, step: float) -> int:
        """The index of the first value at or after a step; the length if there is none."""
        return int(np.searchsorted(self._at.view(), step, side="left"))

    def _place(self, count: int, first_step: float | None, apart: float) -> None:
        """Keeps the steps of values that come next."""
        if first_step is None:
            first_step = self._at.last + 1 if len(self._at) else 1.0
        if apart <= 0:
            raise ValueError(f"Steps must be apart by more than 0, not {apart}.")
        self.truncate(self.index(first_step))
        self._at.extend(first_step + apart * np.arange(count, dtype=np.float64))
