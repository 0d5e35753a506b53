"""Evaluation: the metrics of a run from its options, gathered over batches and workers."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.data.batches import Tensors
from engine.parallel.process_group import ProcessGroup, all_gather_rows
from engine.project import user_code
from engine.project.dataset_info import DatasetInfo
from engine.project.training import TrainingOptions
from engine.training.classwise_metrics import Auc, ClassFigure, Confusion, OfCounts, f_score, precision, recall
from engine.training.metrics import (
    R2,
    Accuracy,
    LabelAccuracy,
    Mae,
    Mape,
    Metric,
    Rmse,
    Summed,
    TopK,
    Whole,
    centre_of,
    summed,
    whole,
)
from engine.training.user_code import UserMetric

MOST_IN_TABLE = 100
"""With more classes the table of which is taken for which is not kept."""


def metrics_for(options: TrainingOptions, facts: DatasetInfo, targets: Tensors) -> tuple[Metric, ...]:
    """The metrics that the options ask for, the main one first. They look at the first output, which gives logits, and
    its target. `targets` are those of the whole training split. Raises `UserError` where a library is missing."""
    return tuple(_metric(name, options, facts, targets) for name in options.metrics_for(facts.task))


@dataclass(frozen=True)
class _Loss:
    """Stands for the loss where there is no metric."""

    name: str = "loss"
    higher_is_better: bool = False


def named(choice: str, metrics: Sequence[Metric]) -> Metric:
    """The metric that an option goes by: the one of this name, else the main one, which is the first."""
    by_name = {metric.name: metric for metric in metrics}
    return by_name.get(choice) or next(iter(metrics), _Loss())


def confusion_for(facts: DatasetInfo) -> Confusion | None:
    """The table of which class is taken for which, for data of classes, if they are not too many."""
    count = len(facts.classes)
    return Confusion(count) if facts.task == "classes" and 0 < count <= MOST_IN_TABLE else None


def _metric(name: str, options: TrainingOptions, facts: DatasetInfo, targets: Tensors) -> Metric:
    is_labels = facts.task == "labels"
    match name:
        case "accuracy":
            return LabelAccuracy() if is_labels else Accuracy()
        case "top-k":
            return TopK(options.top_k)
        case "auc":
            return Auc(facts.outputs, options.metric_average, is_labels)
        case "rmse":
            return Rmse()
        case "mae":
            return Mae()
        case "mape":
            return Mape()
        case "custom":
            target = user_code.target(options, "metric_function")
            return UserMetric(target, higher_is_better=options.metric_higher_is_better)
        case "r2":
            return R2(centre_of(targets[0]))
    of_counts: dict[str, OfCounts] = {
        "precision": precision,
        "recall": recall,
        "f-score": f_score(options.f_score_beta),
    }
    return ClassFigure(name, of_counts[name], facts.outputs, options.metric_average, is_labels)


Rows = tuple[torch.Tensor, torch.Tensor]


class MetricAccumulator:
    """Looks at this worker's share, piece by piece, and then says what all workers saw."""

    def __init__(
        self, metrics: Sequence[Metric], group: ProcessGroup, device: torch.device, confusion: Confusion | None = None
    ) -> None:
        self._metrics = metrics
        self._group = group
        self._confusion = confusion
        self._summed: tuple[Summed, ...] = summed(metrics)
        self._whole: dict[str, Whole] = {m.name: m for m in whole(metrics)}
        self._rows: dict[str, list[Rows]] = {name: [metric.nothing(device)] for name, metric in self._whole.items()}
        self._loss = torch.zeros(1, dtype=torch.double, device=device)
        self._sums = [torch.zeros(metric.width, dtype=torch.double, device=device) for metric in self._summed]
        classes = confusion.classes if confusion is not None else 0
        self._table = torch.zeros(classes, classes, dtype=torch.double, device=device)

    def see(self, loss: torch.Tensor, outputs: Tensors, targets: Tensors) -> None:
        """Some samples, and their loss."""
        self._loss += loss
        count = torch.tensor([len(outputs[0])], device=self._loss.device)
        for metric, sums in zip(self._summed, self._sums, strict=True):
            sums += metric.sums(outputs, targets, count)[0]
        for name, rows in self._rows.items():
            rows.append(self._whole[name].rows(outputs, targets))
        if self._confusion is not None:
            self._table += self._confusion.of(outputs, targets)

    def verdict(self) -> tuple[float, dict[str, float], list[list[int]]]:
        """The loss, a sum over samples; each metric by its name; and which class was taken for which. A collective."""
        parts = [self._loss, *self._sums, self._table.flatten()]
        pieces = torch.split(self._group.all_reduce(torch.cat(parts)), [len(part) for part in parts])
        values = {m.name: m.value(sums.tolist()) for m, sums in zip(self._summed, pieces[1:-1], strict=True)}
        for name, rows in self._rows.items():
            values[name] = self._value_of(self._whole[name], rows)
        table = pieces[-1].reshape(self._table.shape).long().tolist()
        return float(pieces[0]), {metric.name: values[metric.name] for metric in self._metrics}, table

    def _value_of(self, metric: Whole, rows: list[Rows]) -> float:
        """From the rows of all workers; the first one computes it, so that all have the same to the last bit."""
        found, targets = (all_gather_rows(self._group, torch.cat(column)) for column in zip(*rows, strict=True))
        value = metric.value_of(found, targets) if self._group.rank == 0 else 0.0
        return float(self._group.all_reduce(torch.tensor([value], dtype=torch.double, device=found.device)))
