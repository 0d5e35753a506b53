"""The learn rate as a pure function of the step, so that a resumed run has the rate it would have had."""

import math

from engine.project.training import TrainingOptions


def rate_at(options: TrainingOptions, step: int, steps_per_epoch: int, total_steps: int) -> float:
    """The rate of the step with this number, from 0.

    | schedule  | rate, as a factor of the initial one                                                      |
    |-----------|-------------------------------------------------------------------------------------------|
    | none      | 1                                                                                         |
    | piecewise | drop factor, to the power of the drop periods that are complete                           |
    | warmup    | (step + 1) / warm-up, then 1                                                              |
    | cosine    | the same rise, then half a cosine from 1 down to zero, which it would reach one step late |
    """
    return options.initial_learn_rate * _factor(options, step, steps_per_epoch, total_steps)


def _factor(options: TrainingOptions, step: int, steps_per_epoch: int, total_steps: int) -> float:
    warmup = options.warmup_iterations
    match options.schedule:
        case "piecewise":
            drops = step // steps_per_epoch // options.learn_rate_drop_period
            return float(options.learn_rate_drop_factor**drops)
        case "warmup" | "cosine" if step < warmup:
            return (step + 1) / warmup
        case "cosine":
            share = min(1.0, (step - warmup) / max(1, total_steps - warmup))
            return 0.5 * (1.0 + math.cos(math.pi * share))
    return 1.0
