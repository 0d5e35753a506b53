"""Precision, recall, F-score and AUC, per class and averaged; and the confusion matrix."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch.nn import functional

from netwright.engine.core.metrics import Fraction, value_of
from netwright.engine.data.loading.batches import Tensors
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.training.metrics import channels_last, run_of_each, sums_of_runs


@dataclass(frozen=True)
class ClassMetric:
    """A metric per class, averaged: `macro` is the mean over classes that occur in targets or predictions, `weighted`
    weights each by its frequency in targets, `micro` computes it from the counts of all classes together.

    `is_labels`: each class is a label of its own, predicted true where its logit is above zero.
    """

    name: str
    fraction: Fraction
    classes: int
    average: str = "macro"
    is_labels: bool = False
    higher_is_better: bool = True
    width: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", 3 * self.classes)

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Return for each class the numbers of correct, predicted and actual ones, `(runs, 3 · classes)`."""
        if self.is_labels:
            return self._sums_of_labels(outputs[0], targets[0], counts)
        scores, target = channels_last(outputs[0]), targets[0]
        predicted, counted = scores.argmax(dim=-1), target != IGNORED
        runs = run_of_each(counts, len(target)).reshape(-1, *[1] * (target.ndim - 1)).expand_as(target)
        several = [counted & (predicted == target), counted, counted]
        classes = [target, predicted, target]
        places = zip(several, classes, strict=True)
        size = len(counts) * self.classes
        columns = [_counted(runs * self.classes + of, mask, size).reshape(-1, self.classes) for mask, of in places]
        return torch.cat(columns, dim=1)

    def _sums_of_labels(self, output: torch.Tensor, target: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        output, target = (channels_last(x).reshape(len(x), -1, self.classes) for x in (output, target))
        counted, predicted, actual = ~target.isnan(), output > 0, target > 0.5
        each = torch.cat([(counted & x).sum(dim=1) for x in (predicted & actual, predicted, actual)], dim=1)
        return sums_of_runs(each.double(), counts)

    def value(self, sums: Sequence[float]) -> float:
        """Return the average."""
        counts = [sums[start : start + self.classes] for start in range(0, 3 * self.classes, self.classes)]
        if self.average == "micro":
            totals = [sum(column) for column in counts]
            return value_of(self.fraction, *totals) if totals[1] or totals[2] else math.nan
        each = [(value_of(self.fraction, *of), of[1] + of[2] > 0, of[2]) for of in zip(*counts, strict=True)]
        weights = [actual if self.average == "weighted" else float(occurs) for _, occurs, actual in each]
        total = sum(weights)
        if not total:
            return math.nan
        return sum(figure * weight for (figure, _, _), weight in zip(each, weights, strict=True)) / total


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix."""

    classes: int

    def of(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """Count samples by true class (rows) and predicted class (columns), `(C, C)` in double precision."""
        scores, target = channels_last(outputs[0]), targets[0]
        places = target * self.classes + scores.argmax(dim=-1)
        return _counted(places, target != IGNORED, self.classes**2).reshape(self.classes, self.classes)


def _counted(places: torch.Tensor, counts: torch.Tensor, size: int) -> torch.Tensor:
    """Return the number of occurrences of each index below `size`, of those that count. Never waits for the device, as
    `bincount` does."""
    numbers = torch.zeros(size, dtype=torch.double, device=places.device)
    return numbers.scatter_add_(0, torch.where(counts, places, 0).flatten(), counts.flatten().double())


@dataclass(frozen=True)
class Auc:
    """The area under the receiver operating curve of each class against the rest, averaged over the classes that have
    samples on both sides: `macro` alike, `weighted` by their samples; `micro` is the area of all decisions together.

    From all outputs of a split; NaN where only one class occurs. `is_labels`: each class is true or not
    for itself. Else the outputs, which are logits, become probabilities, since samples are compared with each other.
    """

    classes: int
    average: str = "macro"
    is_labels: bool = False
    name: str = "auc"
    higher_is_better: bool = True

    def rows(self, outputs: Tensors, targets: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the outputs of each sample, pixel or step `(rows, C)`, and its class or labels."""
        output, target = channels_last(outputs[0]).reshape(-1, self.classes), targets[0]
        if self.is_labels:
            labels = channels_last(target).reshape(-1, self.classes)
            is_counted = ~labels.isnan().any(dim=1)
            return output[is_counted].double(), labels[is_counted].double()
        flat = target.reshape(-1)
        is_counted = flat != IGNORED
        return output[is_counted].double(), flat[is_counted, None].double()

    def nothing(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the rows of no samples."""
        wide = self.classes if self.is_labels else 1
        none = torch.zeros(0, self.classes + wide, dtype=torch.double, device=device)
        return none[:, : self.classes], none[:, self.classes :]

    def value_of(self, rows: torch.Tensor, targets: torch.Tensor) -> float:
        """Return the area, averaged."""
        if not bool(rows.isfinite().all()):
            return math.nan
        actual = targets.long() if self.is_labels else functional.one_hot(targets[:, 0].long(), self.classes)
        scores = functional.softmax(rows, dim=1) if not self.is_labels else rows
        if self.average == "micro":
            scores, actual = scores.reshape(-1, 1), actual.reshape(-1, 1)
        count = actual.sum(dim=0)
        is_defined = (count > 0) & (count < len(actual))
        if not bool(is_defined.any()):
            return math.nan
        columns = zip(scores[:, is_defined].unbind(dim=1), actual[:, is_defined].unbind(dim=1), strict=True)
        areas = torch.stack([_area(column, truth) for column, truth in columns])
        weights = count[is_defined].double() if self.average == "weighted" else torch.ones_like(areas)
        return float((areas * weights).sum() / weights.sum())


def _area(scores: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Return the area under the receiver operating curve of scores (N) and whether each sample is of the class (N).

    It is the probability that a sample of the class has a higher score than another one, where equal scores count one
    half (Mann and Whitney 1947): the sum of the ranks of the class, less that of the lowest ranks there are, per pair.
    """
    _, places, counts = torch.unique(scores, return_inverse=True, return_counts=True)
    ranks = counts.cumsum(dim=0).double() - (counts.double() - 1) / 2
    ours = truth.sum().double()
    pairs = ours * (len(truth) - ours)
    area: torch.Tensor = (ranks[places[truth.bool()]].sum() - ours * (ours + 1) / 2) / pairs
    return area
