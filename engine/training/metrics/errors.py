"""Metrics of how far off predicted numbers are. NaN in a target: that number does not count."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from engine.training.batching.batches import Tensors
from engine.training.metrics.elements import numbers_last
from engine.training.metrics.hits import ratio
from engine.training.metrics.metric import sums_of_runs

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
