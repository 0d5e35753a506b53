"""Metrics as functions of sums over samples, so that groups of samples and bootstrap draws cost one addition each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from netwright.engine.data.sources.source import Array
from netwright.engine.evaluation.scores import ClassCounts, ratio

MOST_COUNTED = 30
"""Number of classes up to which scores of classes are among the metrics."""
LOWER_IS_BETTER = frozenset({"loss", "rmse", "mae"})


@dataclass(frozen=True, eq=False)
class Measures:
    """What each sample adds to the metrics of an output.

    `rows` (N, K) are added up over samples; `of` returns the metrics by name of sums (..., K). `answers` returns the
    number of samples that the accuracy is a proportion of; None where it is no proportion of samples.
    """

    rows: Array
    of: Callable[[Array], dict[str, Array]]
    answers: Callable[[Array], Array] | None = None


def measures_of(task: str, classes: Sequence[str], arrays: Mapping[str, Array]) -> Measures | None:
    """Return the measures of an output from what is kept of its samples (`netwright.engine.evaluation.per_sample`);
    None where that does not suffice."""
    if task == "numbers" and "sums" in arrays:
        return Measures(arrays["sums"], _errors)
    if task == "labels" and "counts" in arrays:
        return _counted(arrays["counts"], arrays)
    if task == "classes" and "predicted" in arrays and "target" in arrays:
        return _of_classes(arrays, len(classes))
    if task == "classes" and "counts" in arrays:
        return _counted(arrays["counts"], arrays)
    return None


def _errors(sums: Array) -> dict[str, Array]:
    return {"rmse": np.sqrt(ratio(sums[..., 0], sums[..., 2])), "mae": ratio(sums[..., 1], sums[..., 2])}


def _of_classes(arrays: Mapping[str, Array], count: int) -> Measures:
    """Return accuracy and loss of samples with one class each, with the F-score where there are few classes."""
    target, predicted = arrays["target"], arrays["predicted"]
    there = target >= 0
    if count <= MOST_COUNTED:
        said = np.eye(count)[predicted] * there[:, None]
        true = np.eye(count)[np.where(there, target, 0)] * there[:, None]
        return _counted(np.stack([said * true, said, true], axis=1), arrays)
    is_right = (predicted == target) & there
    rows = np.stack([arrays["loss"] * there, is_right, there], axis=1).astype(np.float64)
    return Measures(
        rows,
        lambda sums: {"accuracy": ratio(sums[..., 1], sums[..., 2]), "loss": ratio(sums[..., 0], sums[..., 2])},
        lambda sums: sums[..., 2],
    )


def _counted(counts: Array, arrays: Mapping[str, Array]) -> Measures:
    """Return the measures of counts (N, 3, C) of correct, predicted and actual ones per class."""
    classes = counts.shape[2]
    is_labels = "predicted" not in arrays and "target" in arrays and arrays["target"].ndim == 2
    is_sample = "predicted" in arrays
    answers = arrays["answers"]
    rows = np.concatenate(
        [(arrays["loss"] * answers)[:, None], answers[:, None], counts.reshape(len(counts), -1)], axis=1
    ).astype(np.float64)

    def of(sums: Array) -> dict[str, Array]:
        correct, predicted, actual = np.moveaxis(sums[..., 2:].reshape(*sums.shape[:-1], 3, classes), -2, 0)
        scores = ClassCounts(correct, predicted, actual).scores()
        is_there = predicted + actual > 0
        mean = {name: ratio((scores[name] * is_there).sum(-1), is_there.sum(-1)) for name in ("f1", "iou")}
        found = {"loss": ratio(sums[..., 0], sums[..., 1])}
        if is_labels:
            wrong = predicted.sum(-1) + actual.sum(-1) - 2 * correct.sum(-1)
            return {"accuracy": 1 - ratio(wrong, sums[..., 1]), "f-score": mean["f1"], **found}
        accuracy = {"accuracy": ratio(correct.sum(-1), actual.sum(-1))}
        return {**accuracy, **({"f-score": mean["f1"]} if is_sample else {"mean_iou": mean["iou"]}), **found}

    return Measures(rows, of, (lambda sums: sums[..., -classes:].sum(-1)) if is_sample else None)
