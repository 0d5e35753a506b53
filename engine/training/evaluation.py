"""Evaluation of a model on a split of the data: loss, metrics and confusion, over all batches and workers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch

from netwright.engine.core.metrics import f_score, precision, recall
from netwright.engine.data.loading.batches import Batch, ResidentDataset, Tensors, as_tuple, shard_range
from netwright.engine.parallel.process_group import ProcessGroup, all_gather_rows
from netwright.engine.project import user_code
from netwright.engine.project.bindings import Wanted
from netwright.engine.project.dataset_info import DatasetInfo
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.answer_recorder import AnswerRecorder
from netwright.engine.training.classwise_metrics import Auc, ClassMetric, Confusion
from netwright.engine.training.losses import Loss, OutputAdapters
from netwright.engine.training.metrics import (
    R2,
    Accuracy,
    DatasetMetric,
    LabelAccuracy,
    Mae,
    Mape,
    Metric,
    Rmse,
    SumMetric,
    TopK,
    centre_of,
    dataset_metrics,
    sum_metrics,
)
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.state import Evaluation
from netwright.engine.training.user_hooks import UserMetric

MAX_CONFUSION_CLASSES = 100
"""With more classes no confusion matrix is kept."""

Rows = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class EvaluationOptions:
    """Options of an evaluation beside loss and metrics."""

    confusion: Confusion | None = None
    adapters: OutputAdapters | None = None
    """Bring outputs and targets into the form that metrics take."""
    shard_weights: Sequence[float] = ()
    """How large the workers' shards are in proportion to each other; empty: equal."""
    batch_size: int = 256
    """Samples of a worker that are evaluated together."""


class Evaluator:
    """Evaluates a model on splits of the data; every worker computes its shard and gets the whole result."""

    def __init__(
        self, model: TrainedModel, loss: Loss, metrics: Sequence[Metric], options: EvaluationOptions | None = None
    ) -> None:
        self.metrics = tuple(metrics)
        self._model = model
        self._loss = loss
        self._options = options or EvaluationOptions()
        self._adapters = self._options.adapters or OutputAdapters(())

    @torch.no_grad()
    def evaluate(self, split: ResidentDataset, watched: AnswerRecorder | None = None) -> Evaluation:
        """Compute loss, metrics and confusion over all samples of a split. A collective. `watched` keeps some answers
        of this worker."""
        model, options = self._model, self._options
        first, end = shard_range(0, len(split), model.group.rank, model.group.size, options.shard_weights)
        if watched is not None:
            watched.begin(first, end)
        model.synchronize()
        with model.averaged(fresh=True):
            model.network.eval()
            accumulator = MetricAccumulator(self.metrics, model.group, split.device, options.confusion)
            for batch, outputs in self._outputs(split):
                if batch.count:
                    loss = self._loss(outputs, batch.targets)
                    fitted, targets = self._adapters(outputs, batch.targets)
                    accumulator.update(loss, fitted, targets)
                    if watched is not None:
                        watched.take(first, fitted, targets)
                    first += batch.count
            if watched is not None:
                watched.attend(model, split)
            model.network.train()
            loss_sum, values, confusion = accumulator.compute()
            return Evaluation(loss_sum / len(split), values, confusion)

    def _outputs(self, split: ResidentDataset) -> Iterator[tuple[Batch, Tensors]]:
        """Yield the batches of this worker's shard with the outputs of the network."""
        model, options = self._model, self._options
        group = model.group
        for batch in split.shard_batches(group.rank, group.size, options.batch_size, options.shard_weights):
            yield batch, as_tuple(model.precision.call(model.network, *batch.inputs))


class MetricAccumulator:
    """Accumulates loss and metrics over the batches of this worker, and computes them over all workers."""

    def __init__(
        self,
        metrics: Sequence[Metric],
        group: ProcessGroup,
        device: torch.device,
        confusion: Confusion | None = None,
    ) -> None:
        self._metrics = metrics
        self._group = group
        self._confusion = confusion
        self._sum_metrics: tuple[SumMetric, ...] = sum_metrics(metrics)
        self._dataset_metrics: dict[str, DatasetMetric] = {m.name: m for m in dataset_metrics(metrics)}
        self._rows: dict[str, list[Rows]] = {
            name: [metric.nothing(device)] for name, metric in self._dataset_metrics.items()
        }
        self._loss = torch.zeros(1, dtype=torch.double, device=device)
        self._sums = [torch.zeros(metric.width, dtype=torch.double, device=device) for metric in self._sum_metrics]
        classes = confusion.classes if confusion is not None else 0
        self._table = torch.zeros(classes, classes, dtype=torch.double, device=device)

    def update(self, loss: torch.Tensor, outputs: Tensors, targets: Tensors) -> None:
        """Add a batch: its loss, summed over samples, its outputs and targets."""
        self._loss += loss
        count = torch.full((1,), len(outputs[0]), device=self._loss.device)  # without a copy, which would be waited for
        for metric, sums in zip(self._sum_metrics, self._sums, strict=True):
            sums += metric.sums(outputs, targets, count)[0]
        for name, rows in self._rows.items():
            rows.append(self._dataset_metrics[name].rows(outputs, targets))
        if self._confusion is not None:
            self._table += self._confusion.of(outputs, targets)

    def compute(self) -> tuple[float, dict[str, float], list[list[int]]]:
        """Return the loss summed over samples, each metric by name, and the confusion matrix. A collective.

        Waits for the device once, and once more for each metric of all samples together.
        """
        totals = iter(self._group.all_reduce(torch.cat([self._loss, *self._sums, self._table.flatten()])).tolist())
        loss = next(totals)
        values = {metric.name: metric.value(list(islice(totals, metric.width))) for metric in self._sum_metrics}
        for name, rows in self._rows.items():
            values[name] = self._value_of(self._dataset_metrics[name], rows)
        table = [[int(next(totals)) for _ in row] for row in self._table]
        return loss, {metric.name: values[metric.name] for metric in self._metrics}, table

    def _value_of(self, metric: DatasetMetric, rows: list[Rows]) -> float:
        """Compute a metric from the rows of all workers: on the first one, so that all have it to the last bit."""
        values, targets = (all_gather_rows(self._group, torch.cat(column)) for column in zip(*rows, strict=True))
        value = metric.value_of(values, targets) if self._group.rank == 0 else 0.0
        return float(self._group.all_reduce(torch.tensor([value], dtype=torch.double, device=values.device)))


def metrics_for(
    options: TrainingOptions, dataset: DatasetInfo, targets: Tensors, outputs: Sequence[Wanted] = ()
) -> tuple[Metric, ...]:
    """Return the metrics that the options ask for, the main one first.

    They compare the first output, logits, with its target. `targets` are those of the whole training split, `outputs`
    the outputs. Raises `UserError` where a library is missing.
    """
    return tuple(_metric(name, options, dataset, targets, outputs) for name in options.metrics_for(dataset.task))


def _metric(
    name: str, options: TrainingOptions, dataset: DatasetInfo, targets: Tensors, outputs: Sequence[Wanted]
) -> Metric:
    is_labels = dataset.task == "labels"
    match name:
        case "accuracy":
            return LabelAccuracy() if is_labels else Accuracy()
        case "top-k":
            return TopK(options.top_k)
        case "auc":
            return Auc(dataset.outputs, options.metric_average, is_labels)
        case "rmse":
            return Rmse()
        case "mae":
            return Mae()
        case "mape":
            return Mape()
        case "custom":
            target = user_code.target(options, "metric_function")
            single = {number: output.type.dim("C") for number, output in enumerate(outputs) if output.is_binary}
            return UserMetric(target, higher_is_better=options.metric_higher_is_better, single=single)
        case "r2":
            return R2(centre_of(targets[0]))
    fractions = {"precision": precision, "recall": recall, "f-score": f_score(options.f_score_beta)}
    return ClassMetric(name, fractions[name], dataset.outputs, options.metric_average, is_labels)


@dataclass(frozen=True)
class _Loss:
    """Stands for the loss where there is no metric."""

    name: str = "loss"
    higher_is_better: bool = False


def named(choice: str, metrics: Sequence[Metric]) -> Metric:
    """Return the metric of this name, else the main one, which is the first."""
    by_name = {metric.name: metric for metric in metrics}
    return by_name.get(choice) or next(iter(metrics), _Loss())


def confusion_for(dataset: DatasetInfo) -> Confusion | None:
    """Return the confusion matrix of data with classes, if there are not too many."""
    count = len(dataset.classes)
    return Confusion(count) if dataset.task == "classes" and 0 < count <= MAX_CONFUSION_CLASSES else None
