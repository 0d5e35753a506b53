"""Micro-batches: requests that come while a network computes are computed together, next."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.source import Array, Arrays

QUICK_S = 0.003
"""Batches that take less are computed by the event loop itself."""
SMOOTHING = 0.2
Compute = Callable[[Arrays], list[Array]]
Finish = Callable[[list[Array]], Any]


@dataclass(eq=False)
class Job:
    """Samples of one request: what prepares them, and what makes an answer of the outputs of the network. Both are
    called in the thread that computes."""

    prepare: Callable[[], Arrays]
    finish: Finish
    count: int
    answer: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Batcher:
    """Computes jobs in one thread, as many samples at once as `most`, for which the first waits at most `wait_s`.

    A job that is cancelled before its turn is left out. It belongs to one event loop.
    """

    def __init__(self, compute: Compute, most: int, wait_s: float) -> None:
        self._compute, self._most, self._wait_s = compute, most, wait_s
        self._waiting: deque[Job] = deque()
        self._thread = ThreadPoolExecutor(1, "network")
        self._work: asyncio.Task[None] | None = None
        self._is_full = asyncio.Event()
        self._sample_s = 1.0
        """Seconds per sample that the batches of late have taken."""
        self.batches = self.samples = 0

    async def answer(self, prepare: Callable[[], Arrays], finish: Finish, count: int) -> Any:
        """Compute `count` samples, and return the answer that `finish` makes. Raises what both functions raise, and
        `UserError` where the network cannot compute them."""
        job = Job(prepare, finish, count)
        self._waiting.append(job)
        if sum(one.count for one in self._waiting) >= self._most:
            self._is_full.set()
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._run())
        return await job.answer

    def close(self) -> None:
        """Let go of the thread, once it has computed what it is at."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            if self._wait_s and not self._is_full.is_set():
                loop.call_later(self._wait_s, self._is_full.set)
                await self._is_full.wait()
            jobs = self._next_jobs()
            self._is_full.clear()
            count = sum(job.count for job in jobs)
            started = time.perf_counter()
            if self._sample_s * count < QUICK_S:  # the way to a thread and back takes longer
                outcomes = self._computed(jobs)
                await asyncio.sleep(0)
            else:
                outcomes = await loop.run_in_executor(self._thread, self._computed, jobs)
            if count:
                self._sample_s += SMOOTHING * ((time.perf_counter() - started) / count - self._sample_s)
            for job, outcome in zip(jobs, outcomes, strict=True):
                if job.answer.done():
                    continue
                if isinstance(outcome, Exception):
                    job.answer.set_exception(outcome)
                else:
                    job.answer.set_result(outcome)

    def _next_jobs(self) -> list[Job]:
        jobs: list[Job] = []
        room = self._most
        while self._waiting and (not jobs or self._waiting[0].count <= room):
            job = self._waiting.popleft()
            if not job.answer.done():
                jobs.append(job)
                room -= job.count
        return jobs

    # ---- in the thread ----

    def _computed(self, jobs: Sequence[Job]) -> list[Any]:
        """Return the answer of each job, or the exception that there is instead."""
        outcomes: list[Any] = [_tried(job.prepare) for job in jobs]
        ready = [place for place, outcome in enumerate(outcomes) if not isinstance(outcome, Exception)]
        shapes = {place: tuple((array.shape[1:], array.dtype.str) for array in outcomes[place]) for place in ready}
        for _, group in groupby(sorted(ready, key=lambda place: str(shapes[place])), key=shapes.__getitem__):
            places = list(group)
            outputs = _tried(partial(self._outputs, [outcomes[place] for place in places]))
            if isinstance(outputs, Exception) and len(places) > 1:  # one of them may be the cause
                outputs = [_tried(partial(self._single, outcomes[place])) for place in places]
            elif isinstance(outputs, Exception):
                outputs = [outputs]
            for place, output in zip(places, outputs, strict=True):
                is_failure = isinstance(output, Exception)
                outcomes[place] = output if is_failure else _tried(partial(jobs[place].finish, output))
        return outcomes

    def _single(self, inputs: Arrays) -> list[Array]:
        return self._outputs([inputs])[0]

    def _outputs(self, parts: Sequence[Arrays]) -> list[list[Array]]:
        """Return the outputs for each of several prepared inputs of equal shapes, computed together. Raises
        `UserError`."""
        inputs = parts[0] if len(parts) == 1 else tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        pieces = []
        for start in range(0, max(1, len(inputs[0])), self._most):
            pieces.append(self._compute(tuple(array[start : start + self._most] for array in inputs)))
            self.batches += 1
        self.samples += len(inputs[0])
        outputs = pieces[0] if len(pieces) == 1 else [np.concatenate(some) for some in zip(*pieces, strict=True)]
        ends = np.cumsum([len(arrays[0]) for arrays in parts]).tolist()
        if any(len(output) != ends[-1] for output in outputs):
            raise UserError("The network gives outputs of another number of samples than it takes.")
        return [[output[start:end] for output in outputs] for start, end in zip([0, *ends], ends, strict=False)]


def _tried(work: Callable[[], Any]) -> Any:
    """Call `work`, and return its result, or the exception that it raises."""
    try:
        return work()
    except Exception as error:
        return error
