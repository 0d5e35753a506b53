"""How good a network is, in the words of its task. A metric is a sum over samples and what is made of it in the end."""

import math
from dataclasses import dataclass
from typing import Protocol

import torch

from engine.training.batches import Tensors


class Metric(Protocol):
    """`per_sample` may be summed over samples, steps and workers; `value` makes the figure of sum and count."""

    @property
    def name(self) -> str:
        """Its name in events and results."""

    @property
    def higher_is_better(self) -> bool:
        """Which way is up."""

    def per_sample(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """One number a sample."""

    def value(self, total: float, count: int) -> float:
        """The figure for so many samples with this sum."""


@dataclass(frozen=True)
class Accuracy:
    """The share of samples whose largest output is the right class."""

    name: str = "accuracy"
    higher_is_better: bool = True

    def per_sample(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """One where it is right."""
        return (outputs[0].argmax(dim=1) == targets[0]).double()

    def value(self, total: float, count: int) -> float:
        """The share."""
        return total / count


@dataclass(frozen=True)
class Rmse:
    """Root of the squared error, mean over samples and responses."""

    name: str = "rmse"
    higher_is_better: bool = False

    def per_sample(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """The squared error, mean over responses."""
        return (outputs[0] - targets[0]).square().double().mean(dim=1)

    def value(self, total: float, count: int) -> float:
        """The root of the mean."""
        return math.sqrt(total / count) if total >= 0 else math.nan


@dataclass(frozen=True)
class Mae:
    """The absolute error, mean over samples and responses."""

    name: str = "mae"
    higher_is_better: bool = False

    def per_sample(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """The absolute error, mean over responses."""
        return (outputs[0] - targets[0]).abs().double().mean(dim=1)

    def value(self, total: float, count: int) -> float:
        """The mean."""
        return total / count


METRICS: dict[str, Metric] = {metric.name: metric for metric in (Accuracy(), Rmse(), Mae())}
