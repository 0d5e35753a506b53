"""What ends a run before its epochs are done, besides requests and patience: its time, and a target that is reached."""

import math
from dataclasses import dataclass

from engine.project.training import TrainingOptions
from engine.training.metrics.metric import Metric
from engine.training.steps.results import Scores

UNIT_S = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0}


@dataclass(frozen=True)
class Target:
    """A value of the loss or the metric on the validation part that is good enough."""

    name: str
    value: float
    higher_is_better: bool

    def reached(self, scores: Scores) -> str:
        """Why the run ends with these scores, or nothing."""
        found = scores.named[self.name]
        if not (found >= self.value if self.higher_is_better else found <= self.value):
            return ""
        sign = "at least" if self.higher_is_better else "at most"
        return f"target reached: validation {self.name} {found:.6g}, {sign} {self.value:g} was asked for"


@dataclass(frozen=True)
class Limits:
    """How long a run may take, and what is good enough."""

    time_s: float = math.inf
    time_is_up: str = ""
    """The reason, in words."""
    target: Target | None = None

    def reached(self, step: int, scores: Scores) -> str:
        """Why the run ends after a validation, or nothing. What a network can before its first step ends no run."""
        return self.target.reached(scores) if self.target is not None and step > 0 else ""


NO_LIMITS = Limits()


def limits_for(options: TrainingOptions, metric: Metric) -> Limits:
    """The limits that the options set."""
    target = None
    if options.target_metric != "none":
        is_loss = options.target_metric == "loss"
        up = metric.higher_is_better and not is_loss
        target = Target("loss" if is_loss else metric.name, options.target_value, up)
    unit = options.max_time_unit
    number = f"{options.max_time:g}"
    words = f"time limit of {number} {unit.removesuffix('s') if number == '1' else unit} reached"
    return Limits(options.max_time * UNIT_S[unit], words, target)


def validation_steps(options: TrainingOptions, steps_per_epoch: int) -> int:
    """Iterations between two validations."""
    return options.validation_frequency * (steps_per_epoch if options.validation_frequency_unit == "epochs" else 1)
