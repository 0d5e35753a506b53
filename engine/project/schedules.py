"""The learn rate as a pure function of the step: a resumed run continues with the same rate, and a form can plot it.

Only the plateau schedule depends on more: the number of drops by validations so far.
"""

import functools
import math

from netwright.engine.project.options.schedule import Phase, begins
from netwright.engine.project.training import TrainingOptions


def rate_at(options: TrainingOptions, step: int, steps_per_epoch: int, total_steps: int, drops: int = 0) -> float:
    """The rate of the step with this number, from 0.

    Over the warm-up of w steps the rate rises linearly to the one that the schedule begins with; then the schedule
    runs as if it began there, over the L steps that are left. With n = step - w, and e steps per epoch, it is the
    initial rate times

    | schedule     | factor                                                                                      |
    |--------------|---------------------------------------------------------------------------------------------|
    | none, warmup | 1                                                                                           |
    | piecewise    | drop factor ^ complete drop periods                                           (torch: StepLR) |
    | exponential  | decay ^ (n / e)                               (torch: ExponentialLR, stepped each iteration) |
    | cyclical     | 1 up to the top factor and back, along lines, each period          (torch: CyclicLR, triangular) |
    | polynomial   | (1 - n / L) ^ power                                                    (torch: PolynomialLR) |
    | cosine       | from 1 to the lowest along half a cosine over L steps             (torch: CosineAnnealingLR) |
    |              | or over each restart period                             (torch: CosineAnnealingWarmRestarts) |
    | one-cycle    | half a cosine up to 1, and one down                                      (torch: OneCycleLR) |
    | plateau      | drop factor ^ drops, and not below the lowest                     (torch: ReduceLROnPlateau) |

    In a chain each phase is such a schedule, as if the run began and ended with it, times the factor of the phase; what
    comes behind a last phase of limited length goes on with it.

    While stochastic weight averaging takes weights in, a constant rate takes the place of the schedule: over its anneal
    epochs the rate goes there along half a cosine, a step each epoch (torch: SWALR).
    """
    start = (options.swa_start_epoch - 1) * steps_per_epoch
    if options.weight_averaging != "swa" or step < start:
        return _scheduled(options, step, steps_per_epoch, total_steps, drops)
    scheduled = _scheduled(options, start, steps_per_epoch, total_steps, drops)
    epochs = (step - start) // steps_per_epoch
    share = epochs / options.swa_anneal_epochs if options.swa_anneal_epochs else 1.0
    return _between(scheduled, options.swa_learn_rate, min(1.0, share))


def _scheduled(options: TrainingOptions, step: int, steps_per_epoch: int, total_steps: int, drops: int) -> float:
    if options.solver == "lm":
        return options.initial_learn_rate  # it has no rate: damping takes its place
    if options.schedule == "chain" and options.schedule_chain:
        number, begin = _phase_at(options, step, steps_per_epoch)
        phase = options.schedule_chain[number]
        length = phase.steps(steps_per_epoch) or max(1, total_steps - begin)
        alone = of_phase(options, phase, length)
        return phase.factor * _scheduled(alone, step - begin, steps_per_epoch, length, drops)
    warmup = options.warmup_iterations if options.schedule != "none" else 0
    length = max(1, total_steps - warmup)
    if step < warmup:
        factor = (step + 1) / warmup * _factor(options, 0, steps_per_epoch, length, 0)
    else:
        factor = _factor(options, step - warmup, steps_per_epoch, length, drops)
    return options.initial_learn_rate * factor


def _phase_at(options: TrainingOptions, step: int, steps_per_epoch: int) -> tuple[int, int]:
    """Return the phase of the chain that contains the step, and the step at which the phase begins."""
    starts = [at for at in begins(options.schedule_chain, steps_per_epoch) if at <= step]
    return len(starts) - 1, int(starts[-1])


@functools.lru_cache(maxsize=64)
def of_phase(options: TrainingOptions, phase: Phase, length: int) -> TrainingOptions:
    """Return the options of a run that consists of this phase alone, with this number of steps."""
    own = {name: options.fields[name].parse(value) for name, value in phase.changes}
    warmup = length if phase.schedule == "warmup" else 0
    return options.replace(schedule=phase.schedule, schedule_chain=(), warmup_iterations=warmup, **own)


def plateau_begin(options: TrainingOptions, steps_per_epoch: int) -> int | None:
    """Return the step from which validations count for the plateau schedule; None without such a schedule."""
    if "plateau" not in options.schedules or not options.is_visible("schedule"):
        return None
    if options.schedule != "chain":
        return options.warmup_iterations
    at = begins(options.schedule_chain, steps_per_epoch)[-1]
    return int(at) if math.isfinite(at) else None


def plateau_options(options: TrainingOptions) -> TrainingOptions:
    """Return the options of the plateau schedule, which a phase may set for itself."""
    return of_phase(options, options.schedule_chain[-1], 1) if options.schedule == "chain" else options


def _factor(options: TrainingOptions, n: int, steps_per_epoch: int, length: int, drops: int) -> float:
    """Return the factor `n` steps after the warm-up, of `length` steps after it in all."""
    match options.schedule:
        case "piecewise":
            periods = n // steps_per_epoch // options.learn_rate_drop_period
            return float(options.learn_rate_drop_factor**periods)
        case "cyclical":
            period = options.cycle_period * steps_per_epoch
            share = n % period / period
            up = share / options.cycle_rise if share <= options.cycle_rise else (1 - share) / (1 - options.cycle_rise)
            return 1.0 + (options.cycle_top_factor - 1.0) * up
        case "exponential":
            return float(options.learn_rate_decay ** (n / steps_per_epoch))
        case "polynomial":
            return float((1.0 - min(1.0, n / length)) ** options.polynomial_power)
        case "cosine":
            return _cosine(options, n, steps_per_epoch, length)
        case "one-cycle":
            return _one_cycle(options, n, length)
        case "plateau":
            return max(options.lowest_rate_factor, float(options.learn_rate_drop_factor**drops))
    return 1.0


def _cosine(options: TrainingOptions, n: int, steps_per_epoch: int, length: int) -> float:
    """Return half a cosine over the rest of the run, or over each of the restart periods, which may grow."""
    period = options.restart_period * steps_per_epoch or length
    if options.restart_period == 0:
        n = min(n, length)
    elif options.restart_period_factor == 1:
        n %= period
    while options.restart_period and n >= period:
        n -= period
        period *= options.restart_period_factor
    return _between(1.0, options.lowest_rate_factor, n / period)


def _one_cycle(options: TrainingOptions, n: int, length: int) -> float:
    """Return the factor: up over the rising share, then down; the last step has the lowest rate."""
    start = 1.0 / options.one_cycle_start_divisor
    top, last = options.one_cycle_rise * length - 1.0, max(1.0, length - 1.0)
    if n <= top and top > 0:
        return _between(start, 1.0, n / top)
    return _between(1.0, start / options.one_cycle_end_divisor, min(1.0, (n - top) / (last - top)))


def _between(start: float, end: float, share: float) -> float:
    """Return the interpolation along half a cosine."""
    return end + (start - end) * (1.0 + math.cos(math.pi * share)) / 2.0
