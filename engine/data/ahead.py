"""Reads what is wanted next in threads while the last of it is used: in order, a bounded amount ahead."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

from engine.errors import UserError
from engine.words import format_duration

R = TypeVar("R")
MOST_THREADS = 8
AHEAD_BYTES = 2**28
"""So much is read ahead at most, and one job more."""
PATIENCE_S = 10.0
"""So long what has begun is waited for where the rest is called off."""
SILENCE_S = 300.0
"""So long a disk may need for a few samples."""
LEAST_AHEAD, MOST_AHEAD = 2, 32
"""So many jobs."""


@dataclass(frozen=True)
class Job(Generic[R]):
    """What several threads read together: `result` is complete when all tasks are done."""

    result: R
    tasks: Sequence[Callable[[], object]]
    bytes: int
    where: str = ""
    """What is read, in words."""


def num_threads() -> int:
    """As many as this process may use cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(MOST_THREADS, cores))


def ahead(jobs: Iterator[Job[R]], *, threads: int = 0, most_bytes: int = AHEAD_BYTES) -> Iterator[R]:
    """The results in the order of the jobs. Raises what the first task raised that failed.

    While one result is used the next ones are read: two at first, one more each time that one was waited for. When
    this ends, is closed or fails, what has not begun is called off and what has is waited for, so that no thread is
    left; unless it hangs, as in a file system that does not answer.
    """
    waiting: deque[tuple[Job[R], list[Future[object]]]] = deque()
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
        begun = [future for _, futures in waiting for future in futures if not future.cancelled()]
        pool.shutdown(wait=not wait(begun, timeout=PATIENCE_S).not_done)


def _wait(job: Job[R], futures: Sequence[Future[object]]) -> None:
    """Until all is read, or something failed. Raises `UserError` where nothing at all comes for long."""
    left = len(futures)
    while left:
        found = wait(futures, timeout=SILENCE_S, return_when=FIRST_EXCEPTION)
        if not found.not_done or any(future.exception() for future in found.done):
            return
        if len(found.not_done) == left:
            raise UserError(
                f"Nothing was read from {job.where} for {format_duration(SILENCE_S)}. Check that the disk or network "
                "drive it lies on answers, and resume the run."
            )
        left = len(found.not_done)
