"""How many threads a CPU worker should compute with, found by trying; and threads that do not wait by spinning.

The threads of OpenMP spin at the end of every parallel region. On small networks, and beside any other busy program,
two threads are then many times slower than one, so the number of cores alone cannot decide.
"""

import contextlib
import os
import time
from collections.abc import Callable, Sequence

_SPIN_VARIABLE = "GOMP_SPINCOUNT"
SPINS = "2000"
LEAST_GAIN = 1.05
"""What is not faster by so much is not chosen: the choice is then never slower than 0.95 of the best."""
ROUNDS = 3
LONG_S = 0.3


def calm_threads() -> None:
    """Let idle threads sleep soon. Has an effect only before torch is imported, also in workers forked later."""
    os.environ.setdefault(_SPIN_VARIABLE, SPINS)


def keep_to(cores: Sequence[int]) -> None:
    """Let this thread, and those it starts, run on these cores alone; none means all. Cores that have gone meanwhile
    are no reason to fail: they decide about speed alone."""
    if cores and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, cores)


def fastest(
    counts: Sequence[int],
    set_count: Callable[[int], None],
    work: Callable[[], object],
    *,
    now: Callable[[], float] = time.perf_counter,
) -> tuple[int, dict[int, float]]:
    """Which of these numbers of threads does the work fastest, and the seconds of each. It is set in the end.

    The numbers are tried from the lowest; a higher one must be worth it.
    """
    seconds: dict[int, float] = {}
    best = counts[0]
    for count in sorted(counts):
        set_count(count)
        seconds[count] = _shortest(work, now)
        if count != best and seconds[count] * LEAST_GAIN < seconds[best]:
            best = count
    set_count(best)
    return best, seconds


def _shortest(work: Callable[[], object], now: Callable[[], float]) -> float:
    """The shortest of a few rounds after one to warm up; of long work the one round counts."""
    times = []
    for _ in range(ROUNDS + 1):
        began = now()
        work()
        times.append(now() - began)
        if times[-1] > LONG_S:
            break
    return min(times[1:] or times)
