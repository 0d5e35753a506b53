"""The state of a training: epoch, step, length, time limit and target. Needs no torch."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

from engine.data.batches import ResidentDataset, Tensors
from engine.project.training import TrainingLength, TrainingOptions
from engine.training.metrics import Metric


@dataclass(frozen=True)
class StepResult:
    """What one step gave, left on the device: this worker's part of the loss of the whole batch, and its outputs.
    `count` of the samples are this worker's, `total` those of all."""

    loss: torch.Tensor
    outputs: Tensors
    targets: Tensors
    count: int
    total: int
    squared_gradient: torch.Tensor | None = None
    """This worker's part of the square of the gradients' norm, before they are limited, where that is watched."""


@dataclass(frozen=True)
class Evaluation:
    """How good the network is on a part of the data, all of its samples: the loss, and each metric by its name.

    `confusion` counts how often each class (rows) was taken for each (columns), where the data has not too many.
    """

    loss: float
    metrics: Mapping[str, float]
    confusion: Sequence[Sequence[int]] = ()

    @property
    def named(self) -> dict[str, float]:
        """All figures by their names."""
        return {"loss": self.loss, **self.metrics}


def concatenated(pieces: Sequence[StepResult]) -> StepResult:
    """What a step gave that was computed in pieces."""
    if len(pieces) == 1:
        return pieces[0]
    return StepResult(
        torch.stack([done.loss for done in pieces]).sum(),
        tuple(torch.cat(parts) for parts in zip(*(done.outputs for done in pieces), strict=True)),
        tuple(torch.cat(parts) for parts in zip(*(done.targets for done in pieces), strict=True)),
        sum(done.count for done in pieces),
        pieces[0].total,
    )


UNIT_S = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0}


@dataclass(frozen=True)
class Target:
    """A value of the loss or the metric on the validation split that is good enough."""

    name: str
    value: float
    higher_is_better: bool

    def reached(self, scores: Evaluation) -> str:
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

    def reached(self, step: int, scores: Evaluation) -> str:
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


@dataclass
class TrainingState:
    """What the trainer does and what is asked of it both change."""

    length: TrainingLength
    steps_per_epoch: int
    step: int = 0
    """So many steps are done."""
    epochs_done: int = 0
    ends_because: str = ""
    """Why the run ends after this step; empty while it goes on."""
    is_stopped: bool = False
    """Whether it ends because somebody asked for it."""
    is_last_epoch: bool = False
    """Whether it ends with the epoch that is under way."""
    is_paused: bool = False
    gives_way: bool = False
    """Whether it is to wait without its workers, as soon as a checkpoint is made."""
    save_now: bool = False
    """Whether a checkpoint is due as soon as the workers agree."""

    @property
    def epoch(self) -> int:
        """The epoch of the last step, from 1; 0 before it."""
        return -(-self.step // self.steps_per_epoch)

    @property
    def is_at_epoch_end(self) -> bool:
        """Whether the last step was the last of its epoch."""
        return self.step % self.steps_per_epoch == 0

    @property
    def is_complete(self) -> bool:
        """Whether every epoch is done."""
        return self.epochs_done >= self.length.epochs

    def pause(self, *, release: bool) -> None:
        """No step is done until somebody asks for it. To give back all memory takes a checkpoint first, for which the
        workers have to agree."""
        self.gives_way = release
        self.save_now |= release
        self.is_paused |= not release

    def go_on(self) -> None:
        """Steps are done again."""
        self.is_paused = self.gives_way = False

    def waits(self) -> bool:
        """Whether no step is to be done until somebody asks for it."""
        return self.is_paused and not self.ends_because

    def end(self, because: str) -> None:
        """The run ends here. The first reason stands."""
        self.ends_because = self.ends_because or because

    def stop(self, because: str) -> None:
        """The run ends here, because somebody asked for it: that stands before other reasons."""
        self.ends_because, self.is_stopped = because, True


class LearnRateSchedule(Protocol):
    """What the learn rate follows beside the step."""

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """After so many steps the objective is this."""

    def multiply(self, factor: float) -> None:
        """From now on every rate is so many times what it would be."""

    def change_length(self, total_steps: int) -> None:
        """The run will have so many steps."""


class ConstantSchedule:
    """A rate that nothing changes."""

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """Takes note of nothing."""

    def multiply(self, factor: float) -> None:
        """Takes note of nothing."""

    def change_length(self, total_steps: int) -> None:
        """Takes note of nothing."""


def _release_nothing() -> None:
    """Memory stays where it is."""


@dataclass(frozen=True)
class TrainingPlan:
    """How long it goes on, and when it validates. Parts of the data may be missing.

    `pace` is told of each validation and of what is asked for; `release` gives back memory while the run is paused.
    """

    length: TrainingLength
    validation_frequency: int
    patience: int
    validation: ResidentDataset | None
    test: ResidentDataset | None
    pace: LearnRateSchedule = field(default_factory=ConstantSchedule)
    release: Callable[[], None] = _release_nothing
    limits: Limits = NO_LIMITS
