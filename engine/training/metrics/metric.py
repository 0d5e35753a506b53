"""What a metric is. Most are made of sums over samples; some have to see all samples at once."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

import torch

from engine.training.batching.batches import Tensors

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
