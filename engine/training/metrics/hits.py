"""Metrics that count what is right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.data.facts import IGNORED
from engine.training.batching.batches import Tensors
from engine.training.metrics.elements import channels_last
from engine.training.metrics.metric import sums_of_runs


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
