"""Number of threads of a CPU worker, chosen by timing, and the settings that keep idle threads from spinning.

The threads of OpenMP spin at the end of every parallel region. On small networks, and beside any other busy program,
two threads are then many times slower than one, so the number of cores alone cannot decide.
"""

import os
import time
from collections.abc import Callable, Sequence

from netwright.engine.core.platform import CALM_THREADS

LEAST_GAIN = 1.05
"""Least speed-up for which more threads are chosen: the choice is never slower than 0.95 of the best."""
ROUNDS = 3
LONG_S = 0.3


def calm_threads() -> None:
    """Let idle threads sleep soon. Has an effect only before torch is imported, also in workers forked later."""
    for name, value in CALM_THREADS.items():
        os.environ.setdefault(name, value)


def fastest(
    counts: Sequence[int],
    set_count: Callable[[int], None],
    work: Callable[[], object],
    *,
    now: Callable[[], float] = time.perf_counter,
) -> tuple[int, dict[int, float]]:
    """Set and return the number of threads that does the work fastest, with the seconds of each number.

    The numbers are tried from the lowest; a higher one must be faster by the factor `LEAST_GAIN`.
    """
    seconds: dict[int, float] = {}
    best = counts[0]
    for count in sorted(counts):
        set_count(count)
        times = []
        for _ in range(ROUNDS + 1):
            start = now()
            work()
            times.append(now() - start)
            if times[-1] > LONG_S:
                break
        seconds[count] = min(times[1:] or times)
        if count != best and seconds[count] * LEAST_GAIN < seconds[best]:
            best = count
    set_count(best)
    return best, seconds
