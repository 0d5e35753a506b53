"""From the options to the metrics of a run."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.data.facts import DataFacts
from engine.project import own_code
from engine.project.training import TrainingOptions
from engine.training.batching.batches import Tensors
from engine.training.metrics.classwise import ClassFigure, Confusion, OfCounts, f_score, precision, recall
from engine.training.metrics.errors import R2, Mae, Mape, Rmse, centre_of
from engine.training.metrics.hits import Accuracy, LabelAccuracy, TopK
from engine.training.metrics.metric import Metric
from engine.training.metrics.own import OwnMetric
from engine.training.metrics.ranking import Auc

MOST_IN_TABLE = 100
"""With more classes the table of which is taken for which is not kept."""


def metrics_for(options: TrainingOptions, facts: DataFacts, targets: Tensors) -> tuple[Metric, ...]:
    """The metrics that the options ask for, the main one first. They look at the first output, which gives logits, and
    its target. `targets` are those of the whole training part. Raises `UserError` where a library is missing."""
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


def confusion_for(facts: DataFacts) -> Confusion | None:
    """The table of which class is taken for which, for data of classes, if they are not too many."""
    count = len(facts.classes)
    return Confusion(count) if facts.task == "classes" and 0 < count <= MOST_IN_TABLE else None


def _metric(name: str, options: TrainingOptions, facts: DataFacts, targets: Tensors) -> Metric:
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
            target = own_code.target(options, "metric_function")
            return OwnMetric(target, higher_is_better=options.metric_higher_is_better)
        case "r2":
            return R2(centre_of(targets[0]))
    of_counts: dict[str, OfCounts] = {
        "precision": precision,
        "recall": recall,
        "f-score": f_score(options.f_score_beta),
    }
    return ClassFigure(name, of_counts[name], facts.outputs, options.metric_average, is_labels)
