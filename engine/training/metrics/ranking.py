"""Metrics of the order that outputs put samples into: by torchmetrics, which is imported only for them."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from engine.data.facts import IGNORED
from engine.errors import UserError
from engine.training.batching.batches import Tensors
from engine.training.metrics.elements import channels_last


@dataclass(frozen=True)
class Auc:
    """The area under the receiver operating curve of each class against the rest, averaged over the classes that have
    samples on both sides: `macro` alike, `weighted` by their samples; `micro` is the area of all decisions together.

    From all outputs of a part of the data; NaN where there is one class alone. `is_labels`: each class is true or not
    for itself. Else the outputs, which are logits, become probabilities, since samples are compared with each other.
    """

    classes: int
    average: str = "macro"
    is_labels: bool = False
    name: str = "auc"
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        load_torchmetrics()  # so that what is missing is said before any training

    def rows(self, outputs: Tensors, targets: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
        """The outputs of each sample, pixel or step, and its class or labels."""
        output, target = channels_last(outputs[0]).reshape(-1, self.classes), targets[0]
        if self.is_labels:
            labels = channels_last(target).reshape(-1, self.classes)
            kept = ~labels.isnan().any(dim=1)
            return output[kept].double(), labels[kept].double()
        flat = target.reshape(-1)
        kept = flat != IGNORED
        return output[kept].double(), flat[kept, None].double()

    def nothing(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows of no samples."""
        wide = self.classes if self.is_labels else 1
        none = torch.zeros(0, self.classes + wide, dtype=torch.double, device=device)
        return none[:, : self.classes], none[:, self.classes :]

    def value_of(self, rows: torch.Tensor, targets: torch.Tensor) -> float:
        """The area, averaged."""
        if not bool(rows.isfinite().all()):
            return math.nan
        there = targets.long() if self.is_labels else functional.one_hot(targets[:, 0].long(), self.classes)
        scores = functional.softmax(rows, dim=1) if not self.is_labels else _between_0_and_1(rows)
        if self.average == "micro":
            scores, there = scores.reshape(-1, 1), there.reshape(-1, 1)
        count = there.sum(dim=0)
        known = (count > 0) & (count < len(there))
        if not bool(known.any()):
            return math.nan
        area_of = load_torchmetrics().binary_auroc
        columns = zip(scores[:, known].unbind(dim=1), there[:, known].unbind(dim=1), strict=True)
        areas = torch.stack([area_of(column, truth) for column, truth in columns]).double()
        weights = count[known].double() if self.average == "weighted" else torch.ones_like(areas)
        return float((areas * weights).sum() / weights.sum())


def _between_0_and_1(scores: torch.Tensor) -> torch.Tensor:
    """The same order without numbers that torchmetrics would take for logits."""
    order: torch.Tensor = torch.unique(scores, return_inverse=True)[1]
    return order.double() / max(1, scores.numel())


def load_torchmetrics() -> Any:
    """torchmetrics' functions for classes. Raises `UserError` where it is not there, or cannot be loaded."""
    try:
        from torchmetrics.functional import classification
    except ModuleNotFoundError as error:
        raise UserError(
            f"The metric auc needs {error.name}, which is not installed. Leave auc out of the metrics, or install the "
            'extra: pip install "netwright[metrics]".'
        ) from error
    except Exception as error:  # a broken torchvision beside it raises what it likes
        words = str(error).strip().partition("\n")[0][:200]
        raise UserError(
            f"The metric auc needs torchmetrics, which cannot be loaded here: {type(error).__name__}: {words}. A "
            "broken torchvision beside it does that: remove torchvision, or install the one that goes with this torch. "
            "Or leave auc out of the metrics."
        ) from error
    return classification
