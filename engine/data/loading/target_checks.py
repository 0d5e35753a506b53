"""Checks of targets: columns that give them away, and labels that similar samples contradict."""

from dataclasses import dataclass

import numpy as np

from netwright.engine.core.progress import report
from netwright.engine.data.sources.source import Array

MOST_SAMPLES = 50_000
"""Number of samples that are looked at; of more, as many at random."""
NEIGHBOURS = 15
AGREEMENT = 0.9
"""Share of the nearest others that have one other class, from which on a label is doubtful."""
DIMENSIONS = 32
BLOCK = 1024
SEED = 20_260_102
LEAST_REPEATS = 5
"""Number of samples per distinct value of a column from which on it can be told that the value determines the class."""
MOST_MIXED = 0.02
"""Largest number of samples whose class a column does not tell, of those that are not of the most frequent class."""
LEAST_VALUES = 10
"""Number of distinct values from which on a correlation is no accident."""
SAME = 1.0 - 1e-9
"""Correlation from which on two columns are functions of each other, to rounding."""


@dataclass(frozen=True)
class Doubt:
    """A doubtful label: the row of the sample, the class that similar samples have, and how many of those asked."""

    row: int
    other: int
    agreeing: int
    asked: int


def doubtful_labels(features: Array, labels: Array, num_classes: int) -> list[Doubt]:
    """Return the samples of which none of the nearest others has the label, and almost all have one other class; the
    most doubtful first. Each sample is judged by others alone, never by itself.

    features: (N, D) float32. labels: (N) class numbers; negative ones are ignored. A class of fewer samples than
    there are neighbours cannot be told.
    """
    rows = np.flatnonzero(labels >= 0)
    if len(rows) > MOST_SAMPLES:
        rows = np.sort(np.random.default_rng(SEED).choice(rows, MOST_SAMPLES, replace=False))
    own = labels[rows]
    points = _reduced(features[rows])
    count = min(NEIGHBOURS, len(rows) - 1)
    if count < 3:
        return []
    is_large = np.bincount(own, minlength=num_classes) > count
    squares = (points**2).sum(1)
    doubts = []
    for start in range(0, len(rows), BLOCK):
        report(start, len(rows), "labels")
        some = points[start : start + BLOCK]
        distances = squares - 2.0 * (some @ points.T)
        distances[np.arange(len(some)), np.arange(start, start + len(some))] = np.inf
        nearest = own[np.argpartition(distances, count - 1, axis=1)[:, :count]]
        votes = np.stack([(nearest == number).sum(1) for number in range(num_classes)], 1)
        best = votes.argmax(1)
        mine = own[start : start + len(some)]
        top = votes[np.arange(len(some)), best]
        is_doubtful = (top >= AGREEMENT * count) & (votes[np.arange(len(some)), mine] == 0) & is_large[mine]
        doubts += [Doubt(int(rows[start + i]), int(best[i]), int(top[i]), count) for i in np.flatnonzero(is_doubtful)]
    return sorted(doubts, key=lambda doubt: (-doubt.agreeing, doubt.row))


def _reduced(features: Array) -> Array:
    """Return the features (N, D), each with mean 0 and deviation 1, in their first `DIMENSIONS` principal axes."""
    centred = features - features.mean(0)
    deviation = centred.std(0)
    centred = centred[:, deviation > 0] / deviation[deviation > 0]
    if centred.shape[1] <= DIMENSIONS:
        return np.ascontiguousarray(centred, np.float32)
    _, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    return np.ascontiguousarray(centred @ axes[:, -DIMENSIONS:], np.float32)


def tells_class(block: Array, labels: Array) -> str:
    """Return how a column determines the class, or an empty text; `{target}` in it stands for the target's name.

    block: (N, numbers of the column). labels: (N) class numbers; negative ones are ignored.
    """
    is_known = labels >= 0
    block, labels = block[is_known], labels[is_known]
    _, labels = np.unique(labels, return_inverse=True)
    sizes = np.bincount(labels)
    if len(sizes) < 2:
        return ""
    is_one = block.shape[1] == 1
    _, values = np.unique(block[:, 0] if is_one else block, axis=0, return_inverse=True)
    values = values.reshape(-1)
    distinct = int(values.max()) + 1
    if distinct * LEAST_REPEATS <= len(values):
        table = np.bincount(values * len(sizes) + labels, minlength=distinct * len(sizes))
        mixed = len(values) - int(table.reshape(distinct, -1).max(1).sum())
        if mixed <= MOST_MIXED * (len(values) - int(sizes.max())):
            return "each of its values has one class of {target}" if not mixed else "it tells {target} almost always"
        return ""
    ordered = labels[np.lexsort((labels, values))]
    is_apart = int((np.diff(ordered) != 0).sum()) == len(sizes) - 1 and len(values) >= LEAST_VALUES * len(sizes)
    return "its values of each class of {target} lie apart" if is_one and is_apart else ""


def tells_number(block: Array, target: Array) -> str:
    """Return how a column determines a number, or an empty text."""
    if block.shape[1] != 1 or len(block) < LEAST_VALUES:
        return ""
    column, target = block[:, 0].astype(np.float64), target.astype(np.float64)
    is_known = np.isfinite(target)
    column, target = column[is_known], target[is_known]
    if len(np.unique(column)) < LEAST_VALUES or len(np.unique(target)) < LEAST_VALUES:
        return ""
    if _correlation(column, target) > SAME:
        return "correlation 1.0 with {target}"
    ranks = [np.unique(numbers, return_inverse=True)[1].astype(np.float64) for numbers in (column, target)]
    return "rank correlation 1.0 with {target}" if _correlation(*ranks) > SAME else ""


def _correlation(a: Array, b: Array) -> float:
    """Return the absolute correlation of two arrays that are not constant."""
    a, b = a - a.mean(), b - b.mean()
    return abs(float(a @ b)) / float(np.sqrt((a @ a) * (b @ b)))
