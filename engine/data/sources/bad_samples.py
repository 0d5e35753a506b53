"""Samples that cannot be read while a network trains: counted, reported, and replaced by others of their split.

Which sample stands in is a function of the order of the split and of what can be read, never of batches or workers, so
that resuming a run and dividing its work otherwise give the same numbers.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from netwright.engine.data.sources.source import Array, BadSampleError, SampleReader

MOST_TRIED = 100
"""Number of samples that are tried in the place of a bad one; where all are bad, something else is wrong."""

OnSkipped = Callable[[str, str], object]
"""Takes the file or number of a skipped sample, and the reason, once for each."""


def _ignore(sample: str, reason: str) -> None:
    """Report to nobody."""


_on_skipped: OnSkipped = _ignore
_skipped: set[str] = set()


def on_skipped(listener: OnSkipped) -> None:
    """Report each sample that is skipped in this process to the listener, once."""
    global _on_skipped
    _on_skipped = listener
    _skipped.clear()


class BadSamples:
    """The samples of one split that cannot be read, and those that stand in for them. Not for several threads.

    A stand-in has targets and lengths of its own, of which the lengths are at least those of the bad sample.
    """

    def __init__(self, stored: Sequence[SampleReader], numbers: Array, lengths: Sequence[Array | None] = ()) -> None:
        """stored: the reader of each input. numbers (N): the indices of the split's samples, by place. lengths: the
        number of steps of each sample (N) per input, or None; empty where no input has any."""
        self._stored, self._numbers = stored, numbers
        self._lengths = [steps for steps in lengths if steps is not None]
        self._stand_ins: dict[int, int] = {}

    def used(self, places: Array) -> Array:
        """Return the places whose samples are used for those at `places` (n), as far as is known."""
        readable = np.array(places, np.int64)
        for place, stand_in in self._stand_ins.items():
            readable[places == place] = stand_in
        return readable

    def replace(self, place: int, error: BadSampleError) -> int:
        """Return the place of the sample that stands in for a bad one, the next that can be read. Raises the error
        where there is none."""
        if place not in self._stand_ins:
            stand_in = next(self._readable(place), None)
            if stand_in is None:
                raise error
            self._stand_ins[place] = stand_in
        if error.sample not in _skipped:
            _skipped.add(error.sample)
            _on_skipped(error.sample, error.reason)
        return self._stand_ins[place]

    def _readable(self, place: int) -> Iterator[int]:
        """Yield places behind this one whose samples can be read and are as long."""
        count, tries = len(self._numbers), 0
        for step in range(1, count):
            other = (place + step) % count
            if any(steps[other] < steps[place] for steps in self._lengths):
                continue
            tries += 1
            if tries > MOST_TRIED:
                return
            try:
                for stored in self._stored:
                    stored.read(self._numbers[other : other + 1], np.empty((1, *stored.shape[1:]), stored.kind))
            except BadSampleError:
                continue
            yield other


def read_or_note(
    stored: SampleReader, indices: Array, out: Array, first: int, bad: Callable[[int, BadSampleError], object]
) -> None:
    """Read the chosen samples into `out`; call `bad` with the row, counted from `first`, and the error of each that
    cannot be read. Raises `UserError` where it is not a matter of single samples."""
    try:
        stored.read(indices, out)
        return
    except BadSampleError as error:
        if len(indices) == 1:
            bad(first, error)
            return
    for row in range(len(indices)):
        read_or_note(stored, indices[row : row + 1], out[row : row + 1], first + row, bad)
