"""Receiver operating characteristic and precision over recall of a class against all others, and points on them.

A point has the threshold from which a sample counts as the class, and the numbers of true and of false positives
there; all rates follow from them. The area and the average precision are those of all points, as scikit-learn defines
them (`roc_auc_score`, `average_precision_score`); the points that are told are thinned.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from netwright.engine.analysis.scores import SCORES
from netwright.engine.core.metrics import value_of
from netwright.engine.data.sources.source import Array

MOST_POINTS = 300
MOST_CLASSES = 100
"""Number of classes up to which curves are computed."""


def curve(scores: Array, is_true: Array) -> dict[str, Any] | None:
    """Return area, average precision and points of one class, of scores (N) and whether each sample is of the class
    (N); None where all samples are of the class, or none is."""
    positives, negatives = int(is_true.sum()), int((~is_true).sum())
    if not positives or not negatives:
        return None
    order = np.argsort(-scores, kind="stable")
    sorted_scores, sorted_true = scores[order], is_true[order]
    ends = np.append(np.flatnonzero(np.diff(sorted_scores)), len(scores) - 1)
    hits = np.cumsum(sorted_true)[ends]
    false = 1 + ends - hits
    recall, precision = hits / positives, hits / (hits + false)
    rate = np.concatenate([[0.0], false / negatives])
    area = np.trapezoid(np.concatenate([[0.0], recall]), rate)
    average = float((np.diff(recall, prepend=0.0) * precision).sum())
    places = _thinned(hits / positives, false / negatives)
    points = zip(sorted_scores[ends][places].tolist(), hits[places].tolist(), false[places].tolist(), strict=True)
    f1 = 2 * hits / (hits + false + positives)
    return {
        "auc": float(area),
        "average_precision": average,
        "positives": positives,
        "negatives": negatives,
        "best_f1": float(sorted_scores[ends][f1.argmax()]),
        "points": [[float(threshold), int(hit), int(wrong)] for threshold, hit, wrong in points],
    }


def _thinned(recall: Array, rate: Array, most: int = MOST_POINTS) -> Array:
    """Return the places of at most `most` points: even along the curve, and dense at its beginning, where precision
    changes most."""
    count = len(recall)
    if count <= most:
        return np.arange(count)
    along = recall + rate
    half = most // 2 - 1
    even = np.searchsorted(along, np.linspace(along[0], along[-1], half))
    early = np.geomspace(1, count, half).astype(np.int64) - 1
    return np.unique(np.clip(np.concatenate([even, early, [0, count - 1]]), 0, count - 1))


def probabilities(scores: Array, task: str, temperature: float = 1.0) -> Array:
    """Return probabilities (N, C) of logs or logits (N, C), which are divided by the temperature."""
    scaled = scores.astype(np.float64) / temperature
    if task == "labels":
        return np.asarray(0.5 * (1 + np.tanh(0.5 * scaled)))
    raised = np.exp(scaled - scaled.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def curves(
    scores: Array, target: Array, classes: Sequence[str], task: str, temperature: float = 1.0
) -> list[dict[str, Any]]:
    """Return the curve of each class or label that has one, of scores (N, C) and targets (N), or (N, K) of labels."""
    if len(classes) > MOST_CLASSES or not len(scores):
        return []
    chances = probabilities(scores, task, temperature)
    class_curves = []
    for place, name in enumerate(classes):
        if task == "labels":
            there = ~np.isnan(target[:, place])
            class_curve = curve(chances[there, place], target[there, place] > 0.5)
        else:
            class_curve = curve(chances[:, place], target == place)
        if class_curve is not None:
            class_curves.append({"class": name, **class_curve})
    return class_curves


def at_threshold(scores: Array, is_true: Array, threshold: float) -> dict[str, Any]:
    """Return counts and scores of one class where samples with at least this score (N) count as the class."""
    is_said = scores >= threshold
    hits, false = int((is_said & is_true).sum()), int((is_said & ~is_true).sum())
    missed, rejected = int((~is_said & is_true).sum()), int((~is_said & ~is_true).sum())
    return {
        "threshold": float(threshold),
        "true_positives": hits,
        "false_positives": false,
        "false_negatives": missed,
        "true_negatives": rejected,
        **{name: value_of(SCORES[name], hits, hits + false, hits + missed) for name in ("precision", "recall", "f1")},
        "accuracy": (hits + rejected) / max(1, len(scores)),
    }
