"""Windows of rows of one array in memory: samples that share their steps, so that none is stored twice."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError, plural
from netwright.engine.data.sources.source import Array, Samples, refuse_too_large

TASK_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class Windows:
    """Reader of windows of `steps` rows each: an array (N, steps, C) of which only the rows (T, C) are held.

    starts: first row of each window (N). With `lengths` (N) a window has only so many rows, and zeros behind them.
    bounds: first row of each series, ascending; no window crosses one.
    """

    rows: Array
    starts: Array
    steps: int
    where: str
    lengths: Array | None = None
    bounds: Array | None = None
    largest: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole array, samples first."""
        return (len(self.starts), self.steps, self.rows.shape[1])

    @property
    def kind(self) -> np.dtype[Any]:
        """Dtype of the rows."""
        return self.rows.dtype

    @property
    def at_once(self) -> int:
        """Number of samples per task of a reader thread."""
        return max(1, TASK_BYTES // (4 * prod(self.shape[1:])))

    def read(self, indices: Array, out: Array) -> None:
        """Copy the windows with these indices into `out` (n, steps, C)."""
        starts = self.starts[indices]
        if self.lengths is None:
            out[...] = self._view[starts]
            return
        lengths = self.lengths[indices]
        for sample, start, length in zip(out, starts.tolist(), lengths.tolist(), strict=True):
            sample[:length] = self.rows[start : start + length]
            sample[length:] = 0

    def held(self, indices: Array) -> Array:
        """Return whether each row (T) is in one of the windows with these indices."""
        starts = self.starts[indices]
        ends = starts + (self.steps if self.lengths is None else self.lengths[indices])
        counts = (np.bincount(places, minlength=len(self.rows) + 1) for places in (starts, ends))
        begins, ended = (np.cumsum(count[:-1]) for count in counts)
        return np.asarray(begins > ended)

    def compact(self, indices: Array) -> tuple[Array, Array]:
        """Return the rows (n, C) that the windows with these indices hold, each once, and where these windows begin in
        them."""
        is_row = self.held(indices)
        return self.rows[is_row], np.cumsum(is_row)[self.starts[indices]] - 1

    @cached_property
    def _view(self) -> Array:
        """All windows of the rows, (T - steps + 1, steps, C), without a copy."""
        return np.lib.stride_tricks.sliding_window_view(self.rows, self.steps, axis=0).transpose(0, 2, 1)


@dataclass(frozen=True, eq=False)
class WindowSet:
    """Windows of each input, over the rows that a source read for its outline."""

    windows: tuple[Windows, ...]

    @property
    def bytes(self) -> int:
        """Memory in bytes; rows that several inputs share count once."""
        own = {id(w.rows.base if w.rows.base is not None else w.rows): w.rows.nbytes for w in self.windows}
        return sum(own.values()) + sum(w.starts.nbytes for w in self.windows)

    def samples(self, indices: Array) -> Samples:
        """Return the windows with these indices as arrays. Raises `UserError` where memory is short."""
        arrays = []
        for windows in self.windows:
            shape = (len(indices), *windows.shape[1:])
            subject = f"{len(indices):,} samples of {windows.where}"
            refuse_too_large(prod(shape) * windows.kind.itemsize, subject, "Use fewer samples, or shorter ones.")
            arrays.append(np.empty(shape, windows.kind))
            windows.read(indices, arrays[-1])
        return Samples(tuple(arrays))


@dataclass(frozen=True, eq=False)
class TimeSplit:
    """Split of windows in the order of time, each series by itself: the oldest rows train, the newest test.

    starts: first row of each window (N), ascending. bounds: first row of each series, and the number of rows (S + 1).
    A window is in a split if all its rows are; with the overlap `inputs` if the steps it predicts are, so that its lags
    may lie in the split before; with `auto` so where a split would have no window otherwise. Windows across a border
    are in no split: no two splits share a step that is predicted.
    own: first row of each split with series of its own, ascending, which follow those that are divided.
    """

    starts: Array
    bounds: Array
    lags: int
    horizon: int
    overlap: str = "none"
    own: Mapping[str, int] = field(default_factory=dict)

    @property
    def span(self) -> int:
        """Number of rows of a window and of the steps that it predicts."""
        return self.lags + self.horizon

    def numbers(self, validation_share: float, test_share: float) -> dict[str, Array]:
        """Return the indices of the windows of each split, ascending. Raises `UserError` without any to train."""
        return self._divided(validation_share, test_share)[0]

    def _divided(self, validation_share: float, test_share: float) -> tuple[dict[str, Array], list[str]]:
        """Return the indices of the windows of each split, and the splits whose lags reach into the one before only
        because they would have no window otherwise. Raises `UserError` without any to train."""
        series = np.searchsorted(self.bounds, self.starts, side="right") - 1
        first, sizes = self.bounds[:-1], np.diff(self.bounds)
        validation_share, test_share = self._shares(validation_share, test_share)
        divided = self.starts < min(self.own.values(), default=int(self.bounds[-1]))
        training_ends = np.rint(sizes * (1.0 - validation_share - test_share)).astype(np.int64)
        validation_ends = np.maximum(training_ends, np.rint(sizes * (1.0 - test_share)).astype(np.int64))
        end = self.starts + self.span
        border, second = (first + training_ends)[series], (first + validation_ends)[series]

        def split(name: str, begin: Array) -> Array:
            if name == "test":
                return np.flatnonzero(divided & (begin >= second)) if test_share else np.empty(0, np.int64)
            return np.flatnonzero(divided & (begin >= border) & (end <= second) & (second > border))

        parts = {"training": np.flatnonzero(divided & (end <= border))}
        reaching = []
        for name in ("validation", "test"):
            parts[name] = split(name, self.starts + (self.lags if self.overlap == "inputs" else 0))
            if self.overlap == "auto" and not len(parts[name]):
                parts[name] = split(name, self.starts + self.lags)
                reaching += [name] if len(parts[name]) else []
        for name, start in self.own.items():
            stop = min((other for other in self.own.values() if other > start), default=int(self.bounds[-1]))
            parts[name] = np.flatnonzero((self.starts >= start) & (self.starts < stop))
        if not len(parts["training"]):
            raise UserError(
                f"No window fits into the training split: each takes lags + horizon = {self.span:,} steps, and the "
                f"longest series has {int(training_ends.max()):,} to train on. Choose fewer lags, a shorter horizon, "
                "or smaller splits for validation and test."
            )
        return parts, [name for name in reaching if name not in self.own]

    def _shares(self, validation: float, test: float) -> tuple[float, float]:
        """Return the shares of the series that are divided; 0 for a split with series of its own."""
        return 0.0 if "validation" in self.own else validation, 0.0 if "test" in self.own else test

    def notes(self, validation_share: float, test_share: float) -> list[str]:
        """Return notes on windows across a border, and on splits without windows."""
        parts, reaching = self._divided(validation_share, test_share)
        validation_share, test_share = self._shares(validation_share, test_share)
        notes = []
        if between := len(self.starts) - sum(map(len, parts.values())):
            verbs = ("spans", "is") if between == 1 else ("span", "are")
            notes.append(f"{plural(between, 'window')} {verbs[0]} two splits and {verbs[1]} unused.")
        if reaching:
            subject = f"{' and '.join(reaching)} {'split has' if len(reaching) == 1 else 'splits have'}"
            notes.append(
                f"The {subject} no window of {self.span:,} steps of their own: their lags reach back into the split "
                "before, predicted steps do not (data.split_overlap=none leaves such windows out)."
            )
        for name, share in (("validation", validation_share), ("test", test_share)):
            if share and not len(parts[name]):
                way_out = ", or let lags reach back into the split before (data.split_overlap=inputs)"
                notes.append(
                    f"The {name} split has no window: each takes lags + horizon = {self.span:,} steps. Choose a larger "
                    f"share or fewer lags{way_out if self.overlap == 'none' else ''}."
                )
        return notes
