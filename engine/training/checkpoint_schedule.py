"""When checkpoints are due by time: those of the units `auto` and `seconds`."""

from collections.abc import Callable

from netwright.engine.project.training import TrainingOptions

TIME_SHARE = 0.01
"""Share of the run time for checkpoints by time."""
FIRST_INTERVAL_S = 2.0
"""Seconds from the start to the first automatic checkpoint, and from a resumption to the next one. Intervals grow from
there, so that a run that is killed early, or again and again, repeats no more than half of what it did."""
AUTO_INTERVAL_S = 10.0
"""Interval of automatic checkpoints that are cheap."""
MAX_LOSS_SHARE = 0.05
"""Share of the run time that a restart may repeat with automatic checkpoints."""
MAX_TIME_SHARE = 0.05
"""Share of the run time for automatic checkpoints, while they are needed to repeat no more than `MAX_LOSS_SHARE`."""
BYTES_PER_S = 200e6
"""Speed that is assumed of a checkpoint before the first one was timed: writing, flushing and its SHA-256."""
BYTES_PER_PARAMETER = 16
"""Of a checkpoint: a weight, two moments and the weight of the best network."""


def expected_cost_s(num_parameters: int) -> float:
    """Return the seconds that a checkpoint of a network is expected to take before one was timed."""
    return num_parameters * BYTES_PER_PARAMETER / BYTES_PER_S


def automatic_interval(cost_s: float, elapsed_s: float, since_s: float) -> float:
    """Return the seconds until the next automatic checkpoint.

    cost_s: seconds that the last one took. elapsed_s: run time so far. since_s: the part of it since the run was
    started or resumed. Cheap checkpoints are saved every `AUTO_INTERVAL_S`, and more often at first. More expensive
    ones take `TIME_SHARE` of the run time, or up to `MAX_TIME_SHARE` where a restart would otherwise repeat more than
    `MAX_LOSS_SHARE` of it.
    """
    cheap_s = min(AUTO_INTERVAL_S, max(FIRST_INTERVAL_S, since_s))
    return max(cheap_s, min(cost_s / TIME_SHARE, MAX_LOSS_SHARE * elapsed_s), cost_s / MAX_TIME_SHARE)


class CheckpointSchedule:
    """The run time at which the next checkpoint by time is due; never for other units."""

    def __init__(self, options: TrainingOptions, now: Callable[[], float], cost_s: float) -> None:
        """`now` returns the run time in seconds. `cost_s`: expected of a checkpoint."""
        self._unit = options.checkpoint_unit
        self._every_s = float(options.checkpoint_frequency)
        self._now = now
        self._expected_s = cost_s
        self.begin()

    def begin(self) -> None:
        """Begin at the run time of now, which is that of a checkpoint where the run resumes."""
        self._begin_s = self._now()
        first_s = min(AUTO_INTERVAL_S, automatic_interval(self._expected_s, 0.0, 0.0))
        self._next_s = self._begin_s + (first_s if self._unit == "auto" else self._every_s)

    @property
    def is_due(self) -> bool:
        """Return whether one is due."""
        return self._unit in ("auto", "seconds") and self._now() >= self._next_s

    def save(self, cost_s: float) -> None:
        """Take note of a checkpoint, which took `cost_s`."""
        now_s = self._now()
        if self._unit == "auto":
            self._next_s = now_s + automatic_interval(cost_s, now_s, now_s - self._begin_s)
        else:
            self._next_s = now_s + max(self._every_s, cost_s / TIME_SHARE)
