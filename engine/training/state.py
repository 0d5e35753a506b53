"""Progress and limits of a training, and what its steps and evaluations give."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from netwright.engine.data.loading.batches import ResidentDataset, Tensors
from netwright.engine.project.training import TrainingLength, TrainingOptions
from netwright.engine.training.metrics import Metric

UNIT_S = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0}


@dataclass(frozen=True)
class StepResult:
    """Result of one step, on the device: this worker's part of the loss of the whole batch, and its outputs.

    `count` of the samples are this worker's, `total` those of all workers.
    """

    loss: torch.Tensor
    outputs: Tensors
    targets: Tensors
    count: int
    total: int
    squared_gradient: torch.Tensor | None = None
    """This worker's part of the squared norm of the gradients, before clipping, where that is recorded."""


def concatenated(results: Sequence[StepResult]) -> StepResult:
    """Return the result of a batch from those of its micro-batches."""
    if len(results) == 1:
        return results[0]
    return StepResult(
        torch.stack([result.loss for result in results]).sum(),
        tuple(torch.cat(column) for column in zip(*(result.outputs for result in results), strict=True)),
        tuple(torch.cat(column) for column in zip(*(result.targets for result in results), strict=True)),
        sum(result.count for result in results),
        results[0].total,
    )


@dataclass(frozen=True)
class Evaluation:
    """Loss, metrics and confusion over all samples of a split.

    `confusion` counts samples by true class (rows) and predicted class (columns); empty for too many classes.
    """

    loss: float
    metrics: Mapping[str, float]
    confusion: Sequence[Sequence[int]] = ()

    @property
    def values(self) -> dict[str, float]:
        """Return loss and metrics by name."""
        return {"loss": self.loss, **self.metrics}


def evaluation_from(saved: Mapping[str, Any]) -> Evaluation:
    """Return an evaluation from its fields. Raises `TypeError` for other kinds of values."""
    evaluation = Evaluation(**saved)
    rows = evaluation.confusion
    is_table = isinstance(rows, (list, tuple)) and all(
        isinstance(row, (list, tuple)) and len(row) == len(rows) for row in rows
    )
    if not (isinstance(evaluation.metrics, dict) and is_table):
        raise TypeError("an evaluation holds a loss, metrics by name and a table")
    names, values = evaluation.metrics.keys(), [evaluation.loss, *evaluation.metrics.values()]
    counts = [count for row in rows for count in row]
    if not ({*map(type, names)} <= {str} and {*map(type, values)} <= {int, float} and {*map(type, counts)} <= {int}):
        raise TypeError("the values of an evaluation are numbers")
    return evaluation


@dataclass(frozen=True)
class Target:
    """A value of the loss or of a metric on the validation split at which the run ends."""

    name: str
    value: float
    higher_is_better: bool

    def reached(self, evaluation: Evaluation) -> str:
        """Return the reason why the run ends with this evaluation; empty where it goes on."""
        value = evaluation.values[self.name]
        if not (value >= self.value if self.higher_is_better else value <= self.value):
            return ""
        bound = "at least" if self.higher_is_better else "at most"
        return f"target reached: validation {self.name} {value:.6g}, {bound} {self.value:g} was asked for"


@dataclass(frozen=True)
class Limits:
    """Time limit and target of a run."""

    time_s: float = math.inf
    time_is_up: str = ""
    """The reason in words."""
    target: Target | None = None

    def reached(self, step: int, evaluation: Evaluation) -> str:
        """Return why the run ends after a validation, or an empty text. One before the first step ends none."""
        return self.target.reached(evaluation) if self.target is not None and step > 0 else ""


def limits_for(options: TrainingOptions, metric: Metric) -> Limits:
    """Return the limits that the options set."""
    target = None
    if options.target_metric != "none":
        is_loss = options.target_metric == "loss"
        higher_is_better = metric.higher_is_better and not is_loss
        target = Target("loss" if is_loss else metric.name, options.target_value, higher_is_better)
    number, unit = f"{options.max_time:g}", options.max_time_unit
    reason = f"time limit of {number} {unit.removesuffix('s') if number == '1' else unit} reached"
    return Limits(options.max_time * UNIT_S[unit], reason, target)


def validation_steps(options: TrainingOptions, steps_per_epoch: int) -> int:
    """Return the steps between two validations."""
    return options.validation_frequency * (steps_per_epoch if options.validation_frequency_unit == "epochs" else 1)


@dataclass
class TrainingState:
    """Progress of the run and its requests; changed by the trainer and by requests."""

    length: TrainingLength
    steps_per_epoch: int
    step: int = 0
    """Steps done."""
    epochs_done: int = 0
    end_reason: str = ""
    """Why the run ends after this step; empty while it continues."""
    is_stopped: bool = False
    """Whether it ends on request."""
    is_last_epoch: bool = False
    """Whether it ends with this epoch."""
    is_paused: bool = False
    is_offloading: bool = False
    """Whether it will be paused without its workers, once a checkpoint is saved."""
    save_now: bool = False
    """Whether a checkpoint is due as soon as the workers are synchronized."""

    @property
    def epoch(self) -> int:
        """Return the epoch of the last step, from 1; 0 before the first."""
        return -(-self.step // self.steps_per_epoch)

    @property
    def is_at_epoch_end(self) -> bool:
        """Return whether the last step was the last of its epoch."""
        return self.step % self.steps_per_epoch == 0

    @property
    def is_complete(self) -> bool:
        """Return whether all epochs are done."""
        return self.epochs_done >= self.length.epochs

    def is_waiting(self) -> bool:
        """Return whether no step is made before a request."""
        return self.is_paused and not self.end_reason

    def pause(self, *, release: bool) -> None:
        """Pause until a request. To release all memory a checkpoint comes first, for which workers synchronize."""
        self.is_offloading = release
        self.save_now |= release
        self.is_paused |= not release

    def resume(self) -> None:
        """Continue with the steps."""
        self.is_paused = self.is_offloading = False

    def end(self, reason: str) -> None:
        """End the run after this step. The first reason stands."""
        self.end_reason = self.end_reason or reason

    def stop(self, reason: str) -> None:
        """End the run on request, which stands before other reasons."""
        self.end_reason, self.is_stopped = reason, True


class LearnRateSchedule(Protocol):
    """Events that change the learn rate beside the step."""

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """Take note of the objective after this many steps."""

    def multiply(self, factor: float) -> None:
        """Multiply every later rate by a factor."""

    def change_length(self, total_steps: int) -> None:
        """Change the number of steps of the run."""


class ConstantSchedule:
    """A schedule that nothing changes."""

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """Do nothing."""

    def multiply(self, factor: float) -> None:
        """Do nothing."""

    def change_length(self, total_steps: int) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class TrainingPlan:
    """How long a run takes, when it validates, and on which splits; each split may be missing.

    `release_memory` is called when the run is paused.
    """

    length: TrainingLength
    validation_frequency: int
    patience: int
    validation: ResidentDataset | None
    test: ResidentDataset | None
    schedule: LearnRateSchedule = field(default_factory=ConstantSchedule)
    release_memory: Callable[[], None] = lambda: None
    limits: Limits = field(default_factory=Limits)
