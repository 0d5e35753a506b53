"""Curves whose steps come as they like: one value at each report of a run, however many steps lie between."""

import numpy as np
from numpy.typing import NDArray

from app.plots.series import Floats, Series

LEAST = 64


class Growing:
    """A sequence of numbers that grows at its end, as an array at any time. Copied only when it doubles."""

    def __init__(self, *values: float) -> None:
        self._buffer = np.empty(LEAST, np.float64)
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


class Track(Series):
    """A curve with a step of its own for each value, in rising order: sixteen bytes a value."""

    def __init__(self) -> None:
        super().__init__()
        self._at = Growing()

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
