"""Lazy samples: read from disk by threads ahead of their use; decoded ones may be cached in memory."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Generic, TypeVar

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import num_cores
from netwright.engine.core.text import format_duration
from netwright.engine.data.sources.bad_samples import BadSamples, read_or_note
from netwright.engine.data.sources.source import Array, BadSampleError, SampleReader

R = TypeVar("R")
FLOAT32: np.dtype[Any] = np.dtype(np.float32)
MOST_THREADS = 8
AHEAD_BYTES = 2**28
"""Limit of the bytes read ahead; exceeded by at most one job."""
PATIENCE_S = 10.0
"""Time limit for running jobs to end when reading is stopped, in seconds."""
SILENCE_S = 300.0
"""Time limit for a disk to read a few samples, in seconds."""
LEAST_AHEAD, MOST_AHEAD = 2, 32
"""Limits of the number of jobs read ahead."""
ALIGNMENT = 64
"""Alignment of tensors in torch, in bytes: sums over memory aligned otherwise may round differently."""


@dataclass(frozen=True)
class ReadJob(Generic[R]):
    """Tasks for several threads that fill one `result`."""

    result: R
    tasks: Sequence[Callable[[], object]]
    bytes: int
    where: str = ""
    """File or folder, for messages."""


def num_threads() -> int:
    """Return the number of reader threads: one per core of this process, at most `MOST_THREADS`."""
    return max(1, min(MOST_THREADS, num_cores()))


def prefetch(jobs: Iterator[ReadJob[R]], *, threads: int = 0, most_bytes: int = AHEAD_BYTES) -> Iterator[R]:
    """Yield the results in the order of the jobs, reading the next ones meanwhile. Raises the error of a failing task.

    Two jobs are read ahead at first, one more each time the consumer had to wait. When the generator ends, is closed or
    fails, pending tasks are cancelled and running ones are waited for, for `PATIENCE_S` at most, so that no thread is
    left unless it hangs in a file system that does not answer.
    """
    waiting: deque[tuple[ReadJob[R], list[Future[object]]]] = deque()
    depth = LEAST_AHEAD
    pool = ThreadPoolExecutor(threads or num_threads(), thread_name_prefix="reader")
    try:
        while True:
            while len(waiting) < depth and sum(job.bytes for job, _ in waiting) < most_bytes:
                if (job := next(jobs, None)) is None:
                    break
                waiting.append((job, [pool.submit(task) for task in job.tasks]))
            if not waiting:
                return
            if not all(future.done() for future in waiting[0][1]):
                depth = min(depth + 1, MOST_AHEAD)
                _wait(*waiting[0])
            for future in waiting[0][1]:
                if future.done():  # else one has failed
                    future.result()
            yield waiting.popleft()[0].result
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        active = [future for _, futures in waiting for future in futures if not future.cancelled()]
        pool.shutdown(wait=not wait(active, timeout=PATIENCE_S).not_done)


def _wait(job: ReadJob[R], futures: Sequence[Future[object]]) -> None:
    """Wait until all tasks are done or one fails. Raises `UserError` after `SILENCE_S` without any progress."""
    pending = len(futures)
    while pending:
        state = wait(futures, timeout=SILENCE_S, return_when=FIRST_EXCEPTION)
        if not state.not_done or any(future.exception() for future in state.done):
            return
        if len(state.not_done) == pending:
            raise UserError(
                f"Nothing was read from {job.where} for {format_duration(SILENCE_S)}. Check that the disk or network "
                "drive it lies on answers, and resume the run."
            )
        pending = len(state.not_done)


def aligned_array(shape: tuple[int, ...], kind: np.dtype[np.generic]) -> Array:
    """Return an uninitialised array, aligned like a tensor of torch."""
    size = prod(shape) * kind.itemsize
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + size].view(kind).reshape(shape)


def read_tasks(
    stored: SampleReader, indices: Array, out: Array, bad: Callable[[int, BadSampleError], object] | None = None
) -> Iterator[Callable[[], None]]:
    """Yield the tasks that read the chosen samples into `out`, `stored.at_once` samples each. With `bad`, samples that
    cannot be read are no error: it is called with the row and the reason of each."""
    for start in range(0, len(indices), stored.at_once):
        part = slice(start, start + stored.at_once)
        if bad is None:
            yield partial(stored.read, indices[part], out[part])
        else:
            yield partial(read_or_note, stored, indices[part], out[part], start, bad)


@dataclass(frozen=True, eq=False)
class LazyArray:
    """Chosen samples of one input, in this order, in this dtype; read when they are indexed."""

    stored: SampleReader
    numbers: Array
    dtype: np.dtype[Any] = FLOAT32
    skips_bad: bool = False
    """Whether another sample stands in for one that cannot be read, see `netwright.engine.data.sources.bad_samples`."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, samples first."""
        return (len(self.numbers), *self.stored.shape[1:])

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.stored.shape)

    def __getitem__(self, places: slice) -> Array:
        """Read a slice of the samples now. Raises `UserError`."""
        (samples,) = self._read(iter([self.numbers[places]]))
        return samples

    def chunks(self, step: int) -> Iterator[Array]:
        """Yield all samples, `step` at a time, reading the next ones meanwhile. Raises `UserError`."""
        return self._read(self.numbers[start : start + step] for start in range(0, len(self.numbers), step))

    def _read(self, pieces: Iterator[Array]) -> Iterator[Array]:
        """Yield the samples with the indices of each piece; a bad one is replaced by the next that can be read."""
        stand_ins = BadSamples([self.stored], self.numbers)
        for indices, out, bad in prefetch(map(self._job, pieces)):
            for row, error in sorted(bad.items()):
                place = int(np.flatnonzero(self.numbers == indices[row])[0])
                other = stand_ins.replace(place, error)
                self.stored.read(self.numbers[other : other + 1], out[row : row + 1])
            yield out

    def _job(self, indices: Array) -> ReadJob[tuple[Array, Array, dict[int, BadSampleError]]]:
        out = aligned_array((len(indices), *self.stored.shape[1:]), self.dtype)
        bad: dict[int, BadSampleError] = {}
        tasks = read_tasks(self.stored, indices, out, bad.__setitem__ if self.skips_bad else None)
        return ReadJob((indices, out, bad), list(tasks), out.nbytes, self.stored.where)


@dataclass(frozen=True, eq=False)
class LazySteps:
    """All real steps of the chosen sequences, one per row."""

    chosen: LazyArray
    lengths: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, steps first."""
        return (int(self.lengths.sum()), *self.chosen.shape[2:])

    def chunks(self, step: int) -> Iterator[Array]:
        """Yield all steps, `step` at a time. Raises `UserError`."""
        at_once = max(1, step // max(1, self.chosen.shape[1]))
        rest = np.empty((0, *self.shape[1:]), self.chosen.dtype)
        start = 0
        for block in self.chosen.chunks(at_once):
            lengths = self.lengths[start : start + len(block)]
            start += len(block)
            rest = np.concatenate((rest, block[np.arange(block.shape[1]) < lengths[:, np.newaxis]]))
            while len(rest) >= step:
                yield rest[:step]
                rest = rest[step:]
        if len(rest):
            yield rest


class SampleCache:
    """Caches decoded samples of a reader in their own type, as many as fit into `most_bytes`.

    The samples read first stay cached: the order changes every epoch, so evicting old samples for new ones has no
    advantage.
    """

    def __init__(self, stored: SampleReader, most_bytes: int) -> None:
        self.shape, self.kind, self.largest = stored.shape, stored.kind, stored.largest
        self.at_once, self.where = stored.at_once, stored.where
        self._stored = stored
        room = min(stored.shape[0], most_bytes // max(1, prod(stored.shape[1:]) * stored.kind.itemsize))
        self._rows = np.empty(
            (room, *stored.shape[1:]), stored.kind
        )  # the system allocates its pages as they are filled
        self._places = np.full(stored.shape[0], -1, np.int64)
        self._used = 0
        self._filling = threading.Lock()

    def read(self, indices: Array, out: Array) -> None:
        """Read the samples into `out`, from the cache or the underlying reader."""
        places = self._places[indices]
        is_kept = places >= 0
        out[is_kept] = self._rows[places[is_kept]]
        missing = np.flatnonzero(~is_kept)
        if not len(missing):
            return
        samples = np.empty((len(missing), *self.shape[1:]), self.kind)
        self._stored.read(indices[missing], samples)
        out[missing] = samples
        self._keep(indices[missing], samples)

    def _keep(self, numbers: Array, samples: Array) -> None:
        with self._filling:
            first = self._used
            count = min(len(numbers), len(self._rows) - first)
            self._used += count
        self._rows[first : first + count] = samples[:count]
        self._places[numbers[:count]] = np.arange(first, first + count)  # last, so that readers only see filled places
