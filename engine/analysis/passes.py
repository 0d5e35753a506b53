"""Statistics of a pass over samples for one output of a network: of classes, labels, numbers, or transcripts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from netwright.engine.analysis.scores import (
    Calibration,
    ClassCounts,
    Ranking,
    drawn_of_table,
    draws,
    interval,
    per_class,
    residuals,
    table_of,
    wilson,
)
from netwright.engine.analysis.transcript_scores import TranscriptPass
from netwright.engine.data.sources.source import Array
from netwright.engine.data.tables.histograms import of_numbers
from netwright.engine.project.dataset_info import IGNORED, TargetInfo

MOST_CLASSES_SHOWN = 100
"""Number of classes up to which the confusion matrix is told."""
MOST_TABLE = 1000
"""Number of classes up to which confusions are counted."""
MOST_HELD = 50_000_000
"""Numbers that are held for intervals over samples; beyond them there are no intervals."""
MOST_POINTS = 1000
"""Pairs of true and predicted numbers that are told, evenly spaced."""
DRAWN_PLACES = 64
"""Steps, pixels or voxels per sample whose scores are kept, drawn with a fixed seed."""

Describe = Callable[[int], dict[str, Any]]


class Pass(Protocol):
    """Takes batches of outputs and targets, then tells what they show."""

    def update(self, output: Array, target: Array, first: int) -> None:
        """Add samples: output (n, ..., C) with channels last, target as in `TargetInfo` but channels last, and the
        number of the first sample."""

    def result(self) -> Mapping[str, Any]:
        """Return the scores as JSON."""

    def each(self) -> dict[str, Array]:
        """Return arrays with a row per sample; see `netwright.engine.analysis.per_sample`."""


def log_softmax(scores: Array) -> Array:
    """Return the logarithms of probabilities, over the last axis."""
    moved = scores - scores.max(-1, keepdims=True)
    return np.asarray(moved - np.log(np.exp(moved).sum(-1, keepdims=True)))


@dataclass
class Kept:
    """Arrays of single samples, by name, as batches bring them; those that grow too large are left out."""

    _parts: dict[str, list[Array]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    def add(self, **arrays: Array) -> None:
        """Add arrays, samples first."""
        for name, array in arrays.items():
            self._sizes[name] = self._sizes.get(name, 0) + array.size
            parts = self._parts.setdefault(name, [])
            if self._sizes[name] > MOST_HELD:
                parts.clear()
            else:
                parts.append(array)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that are whole."""
        return {name: np.concatenate(parts) for name, parts in self._parts.items() if parts}


def drawn_places(logs: Array, target: Array, is_counted: Array) -> dict[str, Array]:
    """Return `scores` and `target` of some places that count, of logs (n, P, C) and classes (n, P)."""
    rows = np.arange(len(logs))[:, None]
    places = np.random.default_rng(0).integers(logs.shape[1], size=(len(logs), min(DRAWN_PLACES, logs.shape[1])))
    there = is_counted[rows, places]
    return {"scores": logs[rows, places][there].astype(np.float32), "target": target[rows, places][there]}


@dataclass
class ClassPass:
    """One class per sample, step, pixel or voxel; outputs are logits."""

    info: TargetInfo
    most_ranked: int
    _table: Array = field(init=False)
    _counts: Array = field(init=False)
    _each: list[Array] = field(default_factory=list)
    _held: int = 0
    _loss: float = 0.0
    _answers: int = 0
    _kept: Kept = field(default_factory=Kept)

    def __post_init__(self) -> None:
        count = len(self.info.classes)
        self._has_table = count <= MOST_TABLE
        self._table = np.zeros((count, count) if self._has_table else (0, 0), np.int64)
        self._counts = np.zeros((3, count), np.int64)
        self._calibration = Calibration()
        self._worst, self._unsure = Ranking(self.most_ranked), Ranking(self.most_ranked)

    def update(self, output: Array, target: Array, first: int) -> None:
        """Add samples: logits (n, ..., C), classes (n, ...)."""
        count, classes = len(output), output.shape[-1]
        logs = log_softmax(output.astype(np.float64)).reshape(count, -1, classes)
        target = target.reshape(count, -1)
        is_counted = target != IGNORED
        predicted = logs.argmax(-1)
        confidence = np.exp(np.take_along_axis(logs, predicted[..., None], -1)[..., 0])
        true = np.where(is_counted, target, 0)
        losses = np.where(is_counted, -np.take_along_axis(logs, true[..., None], -1)[..., 0], 0.0)
        there = is_counted.sum(1)
        each = losses.sum(1) / np.maximum(there, 1)
        self._loss, self._answers = self._loss + float(losses.sum()), self._answers + int(there.sum())
        flat_true, flat_predicted = target[is_counted], predicted[is_counted]
        is_right = flat_true == flat_predicted
        self._calibration.update(confidence[is_counted], is_right)
        if self._has_table:
            self._table += table_of(flat_true, flat_predicted, classes)
        labels = flat_true[is_right], flat_predicted, flat_true
        self._counts += np.stack([np.bincount(values, minlength=classes) for values in labels])
        self._hold(predicted, target, is_counted, classes)
        sure = np.where(is_counted, confidence, 0.0).sum(1) / np.maximum(there, 1)
        if self.info.per == "sample":
            self._kept.add(scores=logs[:, 0].astype(np.float32), target=target[:, 0], predicted=predicted[:, 0])
        else:
            self._kept.add(**drawn_places(logs, target, is_counted))
        self._kept.add(loss=each, confidence=sure, answers=there)

        def describe(place: int) -> dict[str, Any]:
            entry: dict[str, Any] = {"loss": float(each[place]), "confidence": float(sure[place])}
            if self.info.per == "sample":
                names = self.info.classes
                entry |= {"label": names[int(target[place, 0])], "prediction": names[int(predicted[place, 0])]}
            else:
                right = (predicted[place] == target[place]) & is_counted[place]
                entry["accuracy"] = float(right.sum() / max(1, there[place]))
            return entry

        has_any = there > 0
        self._worst.update(np.where(has_any, each, -np.inf), first, describe)
        self._unsure.update(np.where(has_any, 1.0 - sure, -np.inf), first, describe)

    def _hold(self, predicted: Array, target: Array, is_counted: Array, classes: int) -> None:
        """Keep the counts of each sample that has several answers, which the bootstrap draws as a whole."""
        if self.info.per == "sample" or self._held > MOST_HELD:
            return
        self._held += 3 * len(predicted) * classes
        if self._held > MOST_HELD:
            self._each.clear()
            return
        rows = np.arange(len(predicted))[:, None]
        for_right = is_counted & (predicted == target)
        for labels, where in ((target, for_right), (predicted, is_counted), (target, is_counted)):
            places = (rows * classes + labels)[where]
            counts = np.bincount(places, minlength=len(predicted) * classes).reshape(len(predicted), classes)
            self._each.append(counts.astype(np.int32))

    def result(self) -> Mapping[str, Any]:
        """Return table, scores per class, calibration and ranked samples."""
        counts = ClassCounts(*self._counts)
        replicates, accuracies = self._drawn()
        total = max(1, self._answers)
        shows_table = len(self.info.classes) <= MOST_CLASSES_SHOWN
        return {
            "answers": self._answers,
            "accuracy": float(self._counts[0].sum() / total),
            "accuracy_interval": self._accuracy_interval(accuracies),
            "cross_entropy": self._loss / total,
            "mean_iou": float(counts.mean("iou")),
            "confusion": self._table.tolist() if shows_table else None,
            "per_class": per_class(counts, self.info.classes, replicates, is_sample=self.info.per == "sample"),
            "most_confused": self._confused(),
            "calibration": self._calibration.write(),
            "worst": self._worst.write(),
            "most_uncertain": self._unsure.write(),
        }

    def _accuracy_interval(self, replicates: Array | None) -> list[float] | None:
        """Return Wilson's interval of one answer per sample; steps and pixels of a sample are not independent, so that
        theirs is that of the accuracies `replicates` (B), where there are draws."""
        if self.info.per == "sample" and self._answers:
            ends: list[float] = wilson(self._counts[0].sum(), np.asarray(self._answers)).tolist()
            return ends
        return interval(replicates) if replicates is not None else None

    def each(self) -> dict[str, Array]:
        """Return `scores`, `target`, `predicted`, `loss`, `confidence`, `answers`; of steps and pixels `counts`."""
        counts = [np.concatenate(self._each[number::3]) for number in range(3)] if self._each else []
        return {**self._kept.arrays(), **({"counts": np.stack(counts, axis=1)} if counts else {})}

    def _drawn(self) -> tuple[ClassCounts | None, Array | None]:
        if not self._answers:
            return None, None
        if self.info.per == "sample":
            return drawn_of_table(self._table) if self._has_table else (None, None)
        if not self._each:
            return None, None
        each = np.stack([np.concatenate(self._each[number::3]) for number in range(3)], axis=1)
        replicates = draws(each)
        counts = ClassCounts(replicates[:, 0], replicates[:, 1], replicates[:, 2])
        return counts, counts.correct.sum(1) / np.maximum(1, counts.actual.sum(1))

    def _confused(self, most: int = 10) -> list[dict[str, Any]]:
        """Return the pairs of classes that are mistaken for each other most often."""
        if not self._has_table:
            return []
        table = self._table * (1 - np.eye(len(self._table), dtype=np.int64))
        order = np.argsort(-table, axis=None, kind="stable")[:most]
        pairs = zip(*np.unravel_index(order, table.shape), strict=True)
        names = self.info.classes
        return [
            {"label": names[int(row)], "prediction": names[int(column)], "count": int(table[row, column])}
            for row, column in pairs
            if table[row, column]
        ]


@dataclass
class LabelPass:
    """Labels of which several may be true; outputs are logits, targets 0, 1 or NaN."""

    info: TargetInfo
    most_ranked: int
    _each: list[Array] = field(default_factory=list)
    _answers: int = 0
    _loss: float = 0.0
    _right: int = 0
    _kept: Kept = field(default_factory=Kept)

    def __post_init__(self) -> None:
        self._calibration = Calibration()
        self._counts = np.zeros((3, len(self.info.classes)), np.int64)
        self._worst, self._unsure = Ranking(self.most_ranked), Ranking(self.most_ranked)
        self._held = 0

    def update(self, output: Array, target: Array, first: int) -> None:
        """Add samples: logits and targets (n, ..., K)."""
        count, labels = len(output), output.shape[-1]
        scores = output.astype(np.float64).reshape(count, -1, labels)
        target = target.reshape(count, -1, labels)
        is_counted = ~np.isnan(target)
        true = np.where(is_counted, target, 0.0) > 0.5
        probability = 0.5 * (1 + np.tanh(0.5 * scores))
        predicted = scores > 0
        losses = np.where(is_counted, np.logaddexp(0.0, np.where(true, -scores, scores)), 0.0)
        there = is_counted.sum((1, 2))
        each = losses.sum((1, 2)) / np.maximum(there, 1)
        is_right = (predicted == true) & is_counted
        self._loss, self._answers = self._loss + float(losses.sum()), self._answers + int(there.sum())
        self._right += int(is_right.sum())
        sure = np.maximum(probability, 1 - probability)
        self._calibration.update(sure[is_counted], is_right[is_counted])
        counts = np.stack([(is_counted & x).sum(1) for x in (true & predicted, predicted, true)], axis=1)
        self._counts += counts.sum(0)
        self._held += counts.size
        if self._held <= MOST_HELD:
            self._each.append(counts)
        mean_sure = np.where(is_counted, sure, 0.0).sum((1, 2)) / np.maximum(there, 1)
        self._kept.add(loss=each, confidence=mean_sure, answers=there, counts=counts.astype(np.int32))
        if self.info.per == "sample":
            self._kept.add(scores=scores[:, 0].astype(np.float32), target=target[:, 0].astype(np.float32))

        def describe(place: int) -> dict[str, Any]:
            entry: dict[str, Any] = {"loss": float(each[place]), "confidence": float(mean_sure[place])}
            if self.info.per == "sample":
                names = zip(self.info.classes, true[place, 0], predicted[place, 0], strict=True)
                rows = list(names)
                entry["label"] = [name for name, is_true, _ in rows if is_true]
                entry["prediction"] = [name for name, _, is_said in rows if is_said]
            return entry

        self._worst.update(each, first, describe)
        self._unsure.update(1.0 - mean_sure, first, describe)

    def result(self) -> Mapping[str, Any]:
        """Return scores per label, calibration and ranked samples."""
        total = max(1, self._answers)
        replicates = None
        if self._each and self._held <= MOST_HELD:
            sums = draws(np.concatenate(self._each))
            replicates = ClassCounts(sums[:, 0], sums[:, 1], sums[:, 2])
        return {
            "answers": self._answers,
            "accuracy": self._right / total,
            "cross_entropy": self._loss / total,
            "per_class": per_class(
                ClassCounts(*self._counts), self.info.classes, replicates, is_sample=self.info.per == "sample"
            ),
            "calibration": self._calibration.write(),
            "worst": self._worst.write(),
            "most_uncertain": self._unsure.write(),
        }

    def each(self) -> dict[str, Array]:
        """Return `loss`, `confidence`, `answers`, `counts`, and per sample also `scores` and `target`."""
        return self._kept.arrays()


@dataclass
class NumberPass:
    """Numbers in their own units; NaN in targets does not count."""

    info: TargetInfo
    most_ranked: int
    names: Sequence[str] = ()
    _true: list[Array] = field(default_factory=list)
    _said: list[Array] = field(default_factory=list)
    _sums: list[Array] = field(default_factory=list)
    _held: int = 0
    _is_cut: bool = False

    def __post_init__(self) -> None:
        self._worst = Ranking(self.most_ranked)

    def update(self, output: Array, target: Array, first: int) -> None:
        """Add samples: numbers (n, ..., R) both."""
        count, width = len(output), output.shape[-1]
        predicted = output.astype(np.float64).reshape(count, -1, width)
        true = target.astype(np.float64).reshape(count, -1, width)
        errors = predicted - true
        there = (~np.isnan(errors)).sum((1, 2))
        squares = np.nansum(np.square(errors), (1, 2))
        self._sums.append(np.stack([squares, np.nansum(np.abs(errors), (1, 2)), there], axis=1))
        each = np.sqrt(squares / np.maximum(there, 1))
        self._held += errors.size
        if self._held <= MOST_HELD:
            self._true.append(true.reshape(-1, width).astype(np.float32))
            self._said.append(predicted.reshape(-1, width).astype(np.float32))
        else:
            self._is_cut = True

        def describe(place: int) -> dict[str, Any]:
            entry: dict[str, Any] = {"error": float(each[place])}
            if self.info.per == "sample":
                entry |= {"label": true[place, 0].tolist(), "prediction": predicted[place, 0].tolist()}
            return entry

        self._worst.update(np.where(there > 0, each, -np.inf), first, describe)

    def result(self) -> Mapping[str, Any]:
        """Return errors with intervals, residuals per number, and ranked samples."""
        sums = np.concatenate(self._sums)
        whole = sums.sum(0)
        count = max(1.0, float(whole[2]))
        replicates = draws(sums) if len(sums) else np.ones((1, 3))
        counts = np.maximum(replicates[:, 2], 1)
        return {
            "answers": int(whole[2]),
            "rmse": float(np.sqrt(whole[0] / count)),
            "rmse_interval": interval(np.sqrt(replicates[:, 0] / counts)),
            "mae": float(whole[1] / count),
            "mae_interval": interval(replicates[:, 1] / counts),
            "residuals": self._residuals(),
            "residuals_are_cut": self._is_cut,
            "worst": self._worst.write(),
        }

    def each(self) -> dict[str, Array]:
        """Return `loss` (root of the mean squared error), `sums` of squares, of absolute errors and of numbers, and
        per sample also `scores`, the predicted numbers, and `target`."""
        sums = np.concatenate(self._sums)
        arrays = {"sums": sums, "loss": np.sqrt(sums[:, 0] / np.maximum(sums[:, 2], 1))}
        if self.info.per == "sample" and not self._is_cut:
            arrays |= {"scores": np.concatenate(self._said), "target": np.concatenate(self._true)}
        return arrays

    def _residuals(self) -> list[dict[str, Any]]:
        """Return, per number, the summary of its errors, their histogram, and pairs of true and predicted ones."""
        if not self._true:
            return []
        true, predicted = np.concatenate(self._true), np.concatenate(self._said)
        rows = []
        for place in range(true.shape[1]):
            is_there = ~np.isnan(true[:, place])
            actual, other = true[is_there, place].astype(np.float64), predicted[is_there, place].astype(np.float64)
            name = self.names[place] if place < len(self.names) else f"{self.info.name} {place + 1}"
            if not len(actual):
                continue
            total = float(np.square(actual - actual.mean()).sum())
            step = 1 + (len(actual) - 1) // MOST_POINTS
            rows.append(
                {
                    "name": name,
                    **residuals(other - actual),
                    "r2": 1 - float(np.square(other - actual).sum()) / total if total else None,
                    "histogram": of_numbers(other - actual),
                    "points": np.stack([actual, other], axis=1)[::step].tolist(),
                }
            )
        return rows


def pass_for(info: TargetInfo, most_ranked: int, names: Sequence[str] = (), *, is_blank_first: bool = True) -> Pass:
    """Return the pass for a target. Raises `UserError` for transcripts where jiwer is not installed."""
    match info.task:
        case "classes":
            return ClassPass(info, most_ranked)
        case "labels":
            return LabelPass(info, most_ranked)
        case "transcripts":
            return TranscriptPass(info, most_ranked, is_blank_first)
    return NumberPass(info, most_ranked, names)
