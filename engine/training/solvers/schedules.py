"""The learn rate of a run. It follows the step, and for the plateau schedule what the validations say."""

import math
from typing import Any

from engine.project.schedules import plateau_begin, plateau_options, rate_at
from engine.project.training import TrainingOptions


class Schedule:
    """Gives the rate of a step, from 0. Every worker has its own; all see the same validations, so all agree.

    The plateau schedule lowers the rate as torch's ReduceLROnPlateau does: once more than so many validations in a row
    are not better than the best by a share of it. What comes during the warm-up, or
    the phases before it in a chain, only sets what is best.
    """

    def __init__(self, options: TrainingOptions, steps_per_epoch: int, total_steps: int, scale: float = 1.0) -> None:
        """All rates are `scale` times what the options say."""
        self._options = options
        self._scale = scale
        self._steps_per_epoch = steps_per_epoch
        self._total_steps = total_steps
        self._begin = plateau_begin(options, steps_per_epoch)
        self._plateau = plateau_options(options) if self._begin is not None else options
        self._best = math.nan
        self._worse_in_a_row = 0
        self._drops = 0
        self._factor = 1.0

    def __call__(self, step: int) -> float:
        """The rate of this step."""
        rate = rate_at(self._options, step, self._steps_per_epoch, self._total_steps, self._drops)
        return self._scale * self._factor * rate

    def multiply(self, factor: float) -> None:
        """From now on every rate is so many times what it would be."""
        self._factor *= factor

    def change_length(self, total_steps: int) -> None:
        """The run will have so many steps."""
        self._total_steps = total_steps

    def state_dict(self) -> dict[str, Any]:
        """What the validations and requests have made of it."""
        return {"best": self._best, "worse": self._worse_in_a_row, "drops": self._drops, "factor": self._factor}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self._best, self._worse_in_a_row = float(state["best"]), int(state["worse"])
        self._drops, self._factor = int(state["drops"]), float(state["factor"])

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """After so many steps the objective is this."""
        if self._begin is None:
            return
        if self._is_better(value, higher_is_better):
            self._best, self._worse_in_a_row = value, 0
        elif step > self._begin:
            self._worse_in_a_row += 1
        if self._worse_in_a_row > self._plateau.plateau_patience:
            self._drops, self._worse_in_a_row = self._drops + 1, 0

    def _is_better(self, value: float, higher_is_better: bool) -> bool:
        if math.isnan(self._best):
            return not math.isnan(value)
        margin = self._plateau.plateau_threshold
        if higher_is_better:
            return value > self._best * (1.0 + margin)
        return value < self._best * (1.0 - margin)
