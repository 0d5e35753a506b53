"""Metrics: sums over samples, and some that need all samples at once."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import torch

from engine.data.batches import Tensors
from engine.project.dataset_info import IGNORED

MOST_ON_CURVE = 300
"""A metric that takes more numbers than these is not computed at every step."""


class Metric(Protocol):
    """A figure that says how good a network is."""

    @property
    def name(self) -> str:
        """Its name in events and results."""

    @property
    def higher_is_better(self) -> bool:
        """Which way is up."""


@runtime_checkable
class Summed(Metric, Protocol):
    """A metric that is made of sums over samples: those of steps, workers and pieces add up to those of the whole, and
    all numbers of an addend are whole, or doubles."""

    @property
    def width(self) -> int:
        """How many numbers are summed."""

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """For each run of so many samples its sums: `len(counts)` × `width` in double precision."""

    def value(self, sums: Sequence[float]) -> float:
        """The figure; NaN where nothing was counted."""


@runtime_checkable
class Whole(Metric, Protocol):
    """A metric that sees outputs and targets of all samples."""

    def rows(self, outputs: Tensors, targets: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
        """Of some samples what the metric needs: numbers a row, and the target of each row. What does not count is left
        out."""

    def nothing(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows of no samples."""

    def value_of(self, rows: torch.Tensor, targets: torch.Tensor) -> float:
        """The figure; NaN where it has none."""


def summed(metrics: Iterable[Metric]) -> tuple[Summed, ...]:
    """Those that are made of sums."""
    return tuple(metric for metric in metrics if isinstance(metric, Summed))


def whole(metrics: Iterable[Metric]) -> tuple[Whole, ...]:
    """Those that see all samples."""
    return tuple(metric for metric in metrics if isinstance(metric, Whole))


def on_curve(metrics: Iterable[Metric]) -> tuple[Summed, ...]:
    """Those that are computed at every step of a training."""
    return tuple(metric for metric in summed(metrics) if metric.width <= MOST_ON_CURVE)


def sums_of_runs(each: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """The sums of runs of samples, given the numbers of each sample. What is no number or huge stays in its own run."""
    return torch.segment_reduce(each, "sum", lengths=counts, axis=0)


def channels_last(output: torch.Tensor) -> torch.Tensor:
    """The output with its channels as the last axis: they are the second one of features, images and volumes, and the
    last one of sequences."""
    return output.movedim(1, -1) if output.ndim > 3 else output


def numbers_last(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs and targets as samples × elements × responses, in double precision."""
    shape = (len(output), -1, channels_last(output).shape[-1])
    if len(output) == 0:  # nothing to tell the number of elements by
        nothing = torch.zeros(0, 1, shape[2], dtype=torch.double, device=output.device)
        return nothing, nothing
    return channels_last(output).reshape(shape).double(), channels_last(target).reshape(shape).double()


def run_of_each(counts: torch.Tensor) -> torch.Tensor:
    """For each sample the number of its run."""
    return torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)


@dataclass(frozen=True)
class TopK:
    """The share of samples, pixels or steps whose class is among the k largest outputs."""

    k: int = 1
    name: str = "top-k"
    higher_is_better: bool = True
    width: int = 2

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Those that are right, and all."""
        scores, target = channels_last(outputs[0]), targets[0]
        if self.k == 1:
            right = scores.argmax(dim=-1) == target
        else:
            best = scores.topk(min(self.k, scores.shape[-1]), dim=-1).indices
            right = (best == target[..., None]).any(dim=-1)
        return share(right, target != IGNORED, counts)

    def value(self, sums: Sequence[float]) -> float:
        """The share."""
        return ratio(*sums)


@dataclass(frozen=True)
class Accuracy(TopK):
    """The share of samples, pixels or steps whose largest output is the right class."""

    name: str = "accuracy"


@dataclass(frozen=True)
class LabelAccuracy:
    """The share of labels that are right: taken for true where the output, a logit, is above zero."""

    name: str = "accuracy"
    higher_is_better: bool = True
    width: int = 2

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Those that are right, and all."""
        right = (outputs[0] > 0) == (targets[0] > 0.5)
        return share(right, ~targets[0].isnan(), counts)

    def value(self, sums: Sequence[float]) -> float:
        """The share."""
        return ratio(*sums)


def share(right: torch.Tensor, counted: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """For each run how many of what counts are right, and how many count."""
    inside = tuple(range(1, counted.ndim))
    both = torch.stack([right & counted, counted], dim=1).double()
    each = both.sum(dim=[axis + 1 for axis in inside]) if inside else both
    return sums_of_runs(each, counts)


def ratio(part: float, whole: float) -> float:
    """The share; NaN of nothing."""
    return part / whole if whole else math.nan


SMALLEST = torch.finfo(torch.float64).eps
"""Errors are relative to targets of at least this size, as scikit-learn has it."""


class _Mean:
    """The mean of something over samples, elements and responses."""

    name: str
    higher_is_better = False
    width = 2

    def errors(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """What the mean is taken of."""
        raise NotImplementedError

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """The sum of it, and over how many."""
        output, target = numbers_last(outputs[0], targets[0])
        counted = ~target.isnan()
        errors = torch.where(counted, self.errors(output, target), 0.0)
        return sums_of_runs(torch.stack([errors, counted.double()], dim=1).sum(dim=(2, 3)), counts)

    def value(self, sums: Sequence[float]) -> float:
        """The mean."""
        return ratio(*sums)


class Rmse(_Mean):
    """Root of the squared error, mean over samples and responses."""

    name = "rmse"

    def errors(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Squared."""
        return (output - target).square()

    def value(self, sums: Sequence[float]) -> float:
        """The root of the mean."""
        mean = ratio(*sums)
        return math.sqrt(mean) if mean >= 0 else math.nan


class Mae(_Mean):
    """The absolute error, mean over samples and responses."""

    name = "mae"

    def errors(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Absolute."""
        return (output - target).abs()


class Mape(_Mean):
    """The absolute error as a share of the target, mean over samples and responses."""

    name = "mape"

    def errors(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Relative to the target."""
        return (output - target).abs() / target.abs().clamp(min=SMALLEST)


@dataclass(frozen=True)
class R2:
    """The coefficient of determination, mean over responses: 1 - squared error / squared distance from the mean.

    Targets are summed less a `centre` for each response, the same on all workers, such as the mean of the training
    part: far from zero, the squares of the targets themselves would leave no digits for their variance. A response
    whose targets are all the same has 1 where it is met exactly and else 0, as in scikit-learn.
    """

    centre: torch.Tensor
    name: str = "r2"
    higher_is_better: bool = True
    width: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", 4 * len(self.centre))

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """For each response how many targets there are, their sum, that of their squares, and of the squared error."""
        output, target = numbers_last(outputs[0], targets[0])
        counted = ~target.isnan()
        away = target - self.centre
        terms = torch.stack([torch.ones_like(away), away, away.square(), (output - target).square()], dim=1)
        each = torch.where(counted[:, None], terms, 0.0).sum(dim=2)
        return sums_of_runs(each.flatten(1), counts)

    def value(self, sums: Sequence[float]) -> float:
        """The mean over responses."""
        responses = len(self.centre)
        columns = [sums[start : start + responses] for start in range(0, 4 * responses, responses)]
        values = [self._of_response(*column) for column in zip(*columns, strict=True) if column[0]]
        return sum(values) / len(values) if values else math.nan

    @staticmethod
    def _of_response(count: float, total: float, squares: float, error: float) -> float:
        spread = squares - total * total / count
        if spread > 1e-14 * squares:
            return 1.0 - error / spread
        return math.nan if math.isnan(spread + error) else 1.0 if error == 0 else 0.0


def centre_of(targets: torch.Tensor) -> torch.Tensor:
    """The mean of each response over a part of the data, rounded so that all workers have the same."""
    _, numbers = numbers_last(targets, targets)
    return numbers.nanmean(dim=(0, 1)).nan_to_num().float().double()
