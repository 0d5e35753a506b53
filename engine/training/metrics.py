"""Metrics: sums over samples, and some that need all samples at once."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import torch

from netwright.engine.data.loading.batches import Tensors
from netwright.engine.project.dataset_info import IGNORED

MAX_CURVE_WIDTH = 300
"""A metric that sums more numbers than this is not computed at every step."""
MIN_TARGET = torch.finfo(torch.float64).eps
"""Relative errors are relative to targets of at least this size, as in scikit-learn."""


class Metric(Protocol):
    """A number that says how good a network is."""

    @property
    def name(self) -> str:
        """Return its name in events and results."""

    @property
    def higher_is_better(self) -> bool:
        """Return whether higher values are better."""


@runtime_checkable
class SumMetric(Metric, Protocol):
    """A metric computed from sums over samples: those of micro-batches, workers and steps add up.

    All sums are whole numbers, or doubles.
    """

    @property
    def width(self) -> int:
        """Return the number of sums."""

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Return the sums of each run of samples, `(len(counts), width)` in double precision."""

    def value(self, sums: Sequence[float]) -> float:
        """Return the metric; NaN where nothing was counted."""


@runtime_checkable
class DatasetMetric(Metric, Protocol):
    """A metric computed from outputs and targets of all samples together."""

    def rows(self, outputs: Tensors, targets: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the rows of some samples that count for the metric, `(rows, ...)`, and the target of each row."""

    def nothing(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the rows of no samples."""

    def value_of(self, rows: torch.Tensor, targets: torch.Tensor) -> float:
        """Return the metric; NaN where it is undefined."""


def sum_metrics(metrics: Iterable[Metric]) -> tuple[SumMetric, ...]:
    """Return the metrics computed from sums."""
    return tuple(metric for metric in metrics if isinstance(metric, SumMetric))


def dataset_metrics(metrics: Iterable[Metric]) -> tuple[DatasetMetric, ...]:
    """Return the metrics computed from all samples together."""
    return tuple(metric for metric in metrics if isinstance(metric, DatasetMetric))


def on_curve(metrics: Iterable[Metric]) -> tuple[SumMetric, ...]:
    """Return the metrics that are computed at every training step."""
    return tuple(metric for metric in sum_metrics(metrics) if metric.width <= MAX_CURVE_WIDTH)


def sums_of_runs(each: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Return the sums of runs of samples, given the numbers of each sample. NaN and infinity stay in their own run."""
    # Not checked, which a GPU would be waited for: the runs hold all samples.
    return torch.segment_reduce(each, "sum", lengths=counts, axis=0, unsafe=True)


def channels_last(output: torch.Tensor) -> torch.Tensor:
    """Move channels to the last axis: they are the second of features, images, volumes, the last of sequences."""
    return output.movedim(1, -1) if output.ndim > 3 else output


def numbers_last(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return outputs and targets as `(samples, elements, responses)` in double precision."""
    shape = (len(output), -1, channels_last(output).shape[-1])
    if len(output) == 0:  # nothing to tell the number of elements by
        nothing = torch.zeros(0, 1, shape[2], dtype=torch.double, device=output.device)
        return nothing, nothing
    return channels_last(output).reshape(shape).double(), channels_last(target).reshape(shape).double()


def run_of_each(counts: torch.Tensor, samples: int) -> torch.Tensor:
    """Return the index of the run of each of so many samples."""
    return torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts, output_size=samples)


@dataclass(frozen=True)
class TopK:
    """Share of samples, pixels or steps whose class is among the k largest outputs."""

    k: int = 1
    name: str = "top-k"
    higher_is_better: bool = True
    width: int = 2

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Return the number of correct ones, and of all."""
        scores, target = channels_last(outputs[0]), targets[0]
        if self.k == 1:
            right = scores.argmax(dim=-1) == target
        else:
            best = scores.topk(min(self.k, scores.shape[-1]), dim=-1).indices
            right = (best == target[..., None]).any(dim=-1)
        return share(right, target != IGNORED, counts)

    def value(self, sums: Sequence[float]) -> float:
        """Return the share."""
        return ratio(*sums)


@dataclass(frozen=True)
class Accuracy(TopK):
    """Share of samples, pixels or steps whose largest output is the true class."""

    name: str = "accuracy"


@dataclass(frozen=True)
class LabelAccuracy:
    """Share of correct labels, predicted true where the logit is above zero."""

    name: str = "accuracy"
    higher_is_better: bool = True
    width: int = 2

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Return the number of correct ones, and of all."""
        right = (outputs[0] > 0) == (targets[0] > 0.5)
        return share(right, ~targets[0].isnan(), counts)

    def value(self, sums: Sequence[float]) -> float:
        """Return the share."""
        return ratio(*sums)


def _are_equal(counts: torch.Tensor) -> bool:
    """Return whether all runs have as many samples. On a GPU that is not asked: the answer would be waited for."""
    return counts.device.type == "cpu" and len(counts) > 0 and bool((counts == counts[0]).all())


def share(right: torch.Tensor, counted: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Return the numbers of correct and of all predictions that count, for each run of samples."""
    if _are_equal(counts) and len(counted):  # sums of rows take a tenth of the time, and are the same
        rows = len(counts)
        sums = [(right & counted).reshape(rows, -1).sum(dim=1), counted.reshape(rows, -1).sum(dim=1)]
        return torch.stack(sums, dim=1).double()
    inside = tuple(range(1, counted.ndim))
    both = torch.stack([right & counted, counted], dim=1).double()
    each = both.sum(dim=[axis + 1 for axis in inside]) if inside else both
    return sums_of_runs(each, counts)


def ratio(part: float, whole: float) -> float:
    """Return the share; NaN of nothing."""
    return part / whole if whole else math.nan


class _MeanError:
    """Mean of an error over samples, elements and responses."""

    name: str
    higher_is_better = False
    width = 2

    def errors(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Return the error of each number."""
        raise NotImplementedError

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Return the sum of errors, and their number."""
        output, target = numbers_last(outputs[0], targets[0])
        counted = ~target.isnan()
        errors = torch.where(counted, self.errors(output, target), 0.0)
        return sums_of_runs(torch.stack([errors, counted.double()], dim=1).sum(dim=(2, 3)), counts)

    def value(self, sums: Sequence[float]) -> float:
        """Return the mean."""
        return ratio(*sums)


class Rmse(_MeanError):
    """Root of the mean squared error over samples and responses."""

    name = "rmse"

    def errors(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Return the squared error."""
        return (output - target).square()

    def value(self, sums: Sequence[float]) -> float:
        """Return the root of the mean."""
        mean = ratio(*sums)
        return math.sqrt(mean) if mean >= 0 else math.nan


class Mae(_MeanError):
    """Mean absolute error over samples and responses."""

    name = "mae"

    def errors(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Return the absolute error."""
        return (output - target).abs()


class Mape(_MeanError):
    """Mean absolute error relative to the target, over samples and responses."""

    name = "mape"

    def errors(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Return the relative error."""
        return (output - target).abs() / target.abs().clamp(min=MIN_TARGET)


@dataclass(frozen=True)
class R2:
    """Coefficient of determination, mean over responses: 1 - squared error / squared distance from the mean.

    Targets are summed relative to a `centre` of each response, the same on all workers, such as the mean of the
    training split: far from zero, the squares of the targets would leave no digits for their variance. A response with
    equal targets has 1 where all are predicted exactly and else 0, as in scikit-learn.
    """

    centre: torch.Tensor
    name: str = "r2"
    higher_is_better: bool = True
    width: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", 4 * len(self.centre))

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Return for each response: number and sum of targets, sum of their squares, and of the squared error."""
        output, target = numbers_last(outputs[0], targets[0])
        counted = ~target.isnan()
        away = target - self.centre
        terms = torch.stack([torch.ones_like(away), away, away.square(), (output - target).square()], dim=1)
        each = torch.where(counted[:, None], terms, 0.0).sum(dim=2)
        return sums_of_runs(each.flatten(1), counts)

    def value(self, sums: Sequence[float]) -> float:
        """Return the mean over responses."""
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
    """Return the mean of each response over a split, rounded so that all workers have the same."""
    _, numbers = numbers_last(targets, targets)
    return numbers.nanmean(dim=(0, 1)).nan_to_num().float().double()
