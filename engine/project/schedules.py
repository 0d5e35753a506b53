"""The learn rate as a pure function of the step: a resumed run has the rate it would have had, and a form can draw it.

Only the plateau schedule depends on more, on how often the validations have lowered the rate so far.
"""

import math

from engine.project.training import TrainingOptions


def rate_at(options: TrainingOptions, step: int, steps_per_epoch: int, total_steps: int, drops: int = 0) -> float:
    """The rate of the step with this number, from 0.

    Over the warm-up of w steps the rate rises linearly to the one that the schedule begins with; then the schedule
    runs as if it began there, over the L steps that are left. With n = step - w, and e steps an epoch, it is the
    initial rate times

    | schedule     | factor                                                                                      |
    |--------------|---------------------------------------------------------------------------------------------|
    | none, warmup | 1                                                                                           |
    | piecewise    | drop factor ^ complete drop periods                                           (torch: StepLR) |
    | exponential  | decay ^ (n / e)                               (torch: ExponentialLR, stepped each iteration) |
    | polynomial   | (1 - n / L) ^ power                                                    (torch: PolynomialLR) |
    | cosine       | from 1 to the lowest along half a cosine over L steps             (torch: CosineAnnealingLR) |
    |              | or over each restart period                             (torch: CosineAnnealingWarmRestarts) |
    | one-cycle    | half a cosine up to 1, and one down                                      (torch: OneCycleLR) |
    | plateau      | drop factor ^ drops, and not below the lowest                     (torch: ReduceLROnPlateau) |
    """
    warmup = options.warmup_iterations if options.schedule != "none" else 0
    length = max(1, total_steps - warmup)
    if step < warmup:
        factor = (step + 1) / warmup * _factor(options, 0, steps_per_epoch, length, 0)
    else:
        factor = _factor(options, step - warmup, steps_per_epoch, length, drops)
    return options.initial_learn_rate * factor


def _factor(options: TrainingOptions, n: int, steps_per_epoch: int, length: int, drops: int) -> float:
    """`n` steps after the warm-up, `length` steps in all after it."""
    match options.schedule:
        case "piecewise":
            periods = n // steps_per_epoch // options.learn_rate_drop_period
            return float(options.learn_rate_drop_factor**periods)
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
    """Half a cosine, over the rest of the run or over each of the periods, which may grow."""
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
    """Up over the rising share, then down; the last step has the lowest rate."""
    start = 1.0 / options.one_cycle_start_divisor
    top, last = options.one_cycle_rise * length - 1.0, max(1.0, length - 1.0)
    if n <= top and top > 0:
        return _between(start, 1.0, n / top)
    return _between(1.0, start / options.one_cycle_end_divisor, min(1.0, (n - top) / (last - top)))


def _between(start: float, end: float, share: float) -> float:
    """Along half a cosine."""
    return end + (start - end) * (1.0 + math.cos(math.pi * share)) / 2.0
