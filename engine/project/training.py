"""Training options: MATLAB's names in snake_case, its defaults where it has them, torch's names for the rest.

Each group has a file of its own in `netwright.engine.project.options`; this file holds the checks across groups.
"""

import math
from dataclasses import dataclass

from netwright.engine.core.errors import FieldError, plural
from netwright.engine.project.options.augmentation_options import AugmentationOptions
from netwright.engine.project.options.batch_options import BatchOptions
from netwright.engine.project.options.distillation_options import DistillationOptions
from netwright.engine.project.options.execution import (
    CheckpointOptions,
    CodeOptions,
    PrecisionOptions,
    ReproducibilityOptions,
    WatchingOptions,
)
from netwright.engine.project.options.loss import SQUARED_LOSSES, LossOptions
from netwright.engine.project.options.metric_options import METRICS, MetricOptions, not_chosen
from netwright.engine.project.options.regularisation import RegularisationOptions
from netwright.engine.project.options.schedule import ScheduleOptions
from netwright.engine.project.options.solver import SolverOptions
from netwright.engine.project.options.validation_options import EndingOptions, ValidationOptions

COMPLETED = "completed"
"""How the reason ends for which a run has ended that did all that was planned."""


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
    DistillationOptions,
    PrecisionOptions,
    CheckpointOptions,
    ReproducibilityOptions,
    WatchingOptions,
    CodeOptions,
):
    """How the network is trained, the section `training` of the project file. Groups come in the order of the bases."""

    @property
    def planned_option(self) -> str:
        """The option that says how long a run is: `max_epochs`, or `max_iterations` of full batches."""
        return "max_iterations" if self.is_full_batch else "max_epochs"

    @property
    def planned_epochs(self) -> int:
        """The number of epochs, or of iterations of full batches."""
        return int(getattr(self, self.planned_option))

    def problems(self) -> list[FieldError]:
        """Return the errors of options that contradict each other, within each group and across groups."""
        errors = super().problems()
        if self.is_full_batch and math.isfinite(self.gradient_threshold):
            message = f"the solver {self.solver} needs gradients as they are. Set it to Inf, or choose another solver."
            errors.append(FieldError("gradient_threshold", message))
        if self.solver == "lm" and self.loss not in ("auto", *SQUARED_LOSSES):
            message = (
                f"the solver lm minimises squared errors. Use {' or '.join(SQUARED_LOSSES)}, or choose another solver."
            )
            errors.append(FieldError("loss", message))
        if self.solver == "lm" and self.step_function:
            message = "lm takes the error of each sample apart, and no training step. Choose another solver."
            errors.append(FieldError("step_function", message))
        if self.distil_from and (self.solver == "lm" or self.step_function):
            method = "the solver lm" if self.solver == "lm" else "a custom training step"
            message = f"{method} computes a loss of its own. Leave out the teacher, or choose another."
            errors.append(FieldError("distil_from", message))
        if self.solver == "lm" and self.normalize_targets:
            message = "lm minimises the errors of the responses as they are. Switch it off, or choose another solver."
            errors.append(FieldError("normalize_targets", message))
        for field in ("objective_metric", "target_metric"):
            name = getattr(self, field)
            if name in METRICS and name not in self.possible_metrics:
                errors.append(FieldError(field, not_chosen(name, self.metrics)))
        return errors


COMMON = (
    "cluster",
    "num_workers",
    "devices",
    "solver",
    "initial_learn_rate",
    "max_iterations",
    "max_epochs",
    "mini_batch_size",
    "shuffle",
    "validation_frequency",
    "validation_frequency_unit",
    "validation_patience",
)
"""Options of training and environment that most runs set: the first page of the Training Options."""


@dataclass(frozen=True)
class TrainingLength:
    """Batch size over all workers, steps per epoch, epochs; an epoch of a full-batch solver is one iteration."""

    batch: int
    steps_per_epoch: int
    epochs: int
    is_full_batch: bool = False

    @property
    def total_steps(self) -> int:
        """Return the number of iterations of the whole run, unless it ends early."""
        return self.steps_per_epoch * self.epochs

    @property
    def all_done(self) -> str:
        """Return the reason for the end of a run that was not stopped early."""
        amount = plural(self.epochs, "iteration" if self.is_full_batch else "epoch")
        return f"{'all ' if self.epochs > 1 else ''}{amount} {COMPLETED}"


def batch_size(options: TrainingOptions, samples: int | None) -> int:
    """Return the batch size over all workers: the mini-batch size, or all training samples where they are fewer, and
    for full-batch solvers. `samples` is None or 0 where their number is not known."""
    if not samples:
        return options.mini_batch_size
    return samples if options.is_full_batch else min(options.mini_batch_size, samples)


def whole_batch_note(options: TrainingOptions, samples: int) -> str:
    """Return a note where the mini-batch size is larger than the training split, else an empty text."""
    if options.is_full_batch or not 0 < samples < options.mini_batch_size:
        return ""
    return (
        f"The training split has {plural(samples, 'sample')}, fewer than the mini-batch size of "
        f"{options.mini_batch_size:,}: each iteration takes all of them."
    )


def training_length(options: TrainingOptions, samples: int) -> TrainingLength:
    """Return the training length for this number of training samples, at least one."""
    if options.is_full_batch:
        return TrainingLength(samples, 1, options.max_iterations, is_full_batch=True)
    batch = batch_size(options, samples)
    whole, rest = divmod(samples, batch)
    steps = whole + (1 if rest and options.last_batch == "keep" else 0)
    return TrainingLength(batch, max(1, steps), options.max_epochs)
