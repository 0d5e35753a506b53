"""The interval of checkpoints that loses the least time to checkpoints and failures.

M: mean time between failures of the run, C: time that a checkpoint takes, both in seconds. Failures come at random and
independently (exponentially distributed), so that a run of n workers fails n times as often as one.
"""

import math
from dataclasses import dataclass

from netwright.engine.core.text import format_bytes, format_duration, format_percent

WORKER_HOURS = 50_000.0
"""Mean time between failures of a worker in hours, where the user gives none: 419 unexpected interruptions in 54 days
of 16,384 GPUs (Grattafiori et al., The Llama 3 Herd of Models, 2024, section 3.3.4)."""
RESTART_S = 30.0
"""Seconds from a failure to the next step: the aim of `make faults`, which most recoveries keep."""
HOUR_S = 3600.0


def best_interval_s(checkpoint_s: float, mtbf_s: float) -> float:
    """Return the seconds of training between two checkpoints that lose the least time.

    J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, Future Generation Computer
    Systems 22 (2006); its first term is that of J. W. Young, A first order approximation to the optimum
    checkpoint interval, Communications of the ACM 17 (1974).
    """
    if checkpoint_s >= 2 * mtbf_s:
        return mtbf_s
    ratio = math.sqrt(checkpoint_s / (2 * mtbf_s))
    return math.sqrt(2 * checkpoint_s * mtbf_s) * (1 + ratio / 3 + ratio**2 / 9) - checkpoint_s


def lost_share(interval_s: float, checkpoint_s: float, mtbf_s: float, restart_s: float = RESTART_S) -> float:
    """Return the share of the run time that goes into checkpoints, restarts and repeated steps (Daly, 2006)."""
    try:
        growth = math.exp(restart_s / mtbf_s) * math.expm1((interval_s + checkpoint_s) / mtbf_s)
    except OverflowError:
        return 1.0
    return 1 - interval_s / (mtbf_s * growth)


@dataclass(frozen=True)
class CheckpointAdvice:
    """Recommended interval between checkpoints. `worker_hours`: mean time between failures of one worker."""

    workers: int
    worker_hours: float
    checkpoint_bytes: int
    checkpoint_s: float
    interval_s: int
    lost_share: float

    @property
    def text(self) -> str:
        """Return the advice as sentences."""
        hours = f"{self.worker_hours:,.0f} hours"
        fails = format_duration(self.worker_hours * HOUR_S / self.workers)
        return (
            f"A checkpoint has {format_bytes(self.checkpoint_bytes)} and takes {self.checkpoint_s:.2g} s on the disk "
            f"of the project. {self.workers:,} workers that each fail once in {hours} stop the run "
            f"about once in {fails}: a checkpoint every {format_duration(self.interval_s)} loses least, "
            f"{format_percent(self.lost_share, 2)} of the time."
        )

    @property
    def settings(self) -> tuple[str, ...]:
        """Return the `--set` assignments that follow it."""
        return ("training.checkpoint_unit=seconds", f"training.checkpoint_frequency={self.interval_s}")


def checkpoint_advice(
    workers: int, checkpoint_bytes: int, checkpoint_s: float, worker_hours: float = WORKER_HOURS
) -> CheckpointAdvice:
    """Return the interval for a run of so many workers, whose checkpoint takes so long."""
    mtbf_s = worker_hours * HOUR_S / workers
    interval_s = max(1, round(best_interval_s(checkpoint_s, mtbf_s)))
    lost = lost_share(interval_s, checkpoint_s, mtbf_s)
    return CheckpointAdvice(workers, worker_hours, checkpoint_bytes, checkpoint_s, interval_s, lost)
