"""Training options: MATLAB's names in snake_case, its defaults where it has them, torch's words for the rest.

Each group has a file of its own in `engine.project.options`; what goes across groups is said here.
"""

import math

from engine.errors import FieldError
from engine.project.options.augmentation import AugmentationOptions
from engine.project.options.batches import BatchOptions
from engine.project.options.checkpoints import CheckpointOptions
from engine.project.options.code import CodeOptions
from engine.project.options.ending import EndingOptions
from engine.project.options.loss import SQUARED_LOSSES, LossOptions
from engine.project.options.metrics import METRICS, MetricOptions, not_chosen
from engine.project.options.precision import PrecisionOptions
from engine.project.options.regularisation import RegularisationOptions
from engine.project.options.reproducibility import ReproducibilityOptions
from engine.project.options.schedule import ScheduleOptions
from engine.project.options.solver import SolverOptions
from engine.project.options.validation import ValidationOptions
from engine.project.options.watching import WatchingOptions


class TrainingOptions(
    SolverOptions,
    LossOptions,
    MetricOptions,
    ScheduleOptions,
    BatchOptions,
    AugmentationOptions,
    ValidationOptions,
    EndingOptions,
    RegularisationOptions,
    PrecisionOptions,
    CheckpointOptions,
    ReproducibilityOptions,
    WatchingOptions,
    CodeOptions,
):
    """How the network is trained, the section `training` of the project file. Groups come in the order of the bases."""

    def problems(self) -> list[FieldError]:
        """Combinations that cannot be meant: those within each group, and those across groups."""
        found = super().problems()
        if self.is_full_batch and math.isfinite(self.gradient_threshold):
            message = f"the solver {self.solver} needs gradients as they are. Set it to Inf, or choose another solver."
            found.append(FieldError("gradient_threshold", message))
        if self.solver == "lm" and self.loss not in ("auto", *SQUARED_LOSSES):
            message = (
                f"the solver lm minimises squared errors. Use {' or '.join(SQUARED_LOSSES)}, or choose another solver."
            )
            found.append(FieldError("loss", message))
        if self.solver == "lm" and self.step_function:
            message = "lm takes the error of each sample apart, and no training step. Choose another solver."
            found.append(FieldError("step_function", message))
        if self.solver == "lm" and self.normalize_targets:
            message = "lm minimises the errors of the responses as they are. Switch it off, or choose another solver."
            found.append(FieldError("normalize_targets", message))
        for field in ("objective_metric", "target_metric"):
            name = getattr(self, field)
            if name in METRICS and name not in self.possible_metrics:
                found.append(FieldError(field, not_chosen(name, self.metrics)))
        return found
