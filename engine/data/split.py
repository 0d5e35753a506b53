"""Split samples into training, validation and test splits: seeded, and stratified for classes.

A split gets its share of all samples, rounded half up. Of each class it gets its share rounded down; what is left
over goes one by one to classes, first to those that have nothing in the split yet, then by the largest fraction lost.
So every class is within one sample of its share, and a class whose share comes to one sample is in the split. Each
class keeps at least one sample for training, whatever the shares.
"""

import math
from collections.abc import Sequence

import numpy as np

from engine.data.sources.source import Array
from engine.project.dataset_info import SPLITS

Counts = tuple[int, int, int]


def counts(group_sizes: Sequence[int], validation_share: float, test_share: float) -> list[Counts]:
    """Return, per class, the number of samples for training, validation and test."""
    rest = [max(0, size - 1) for size in group_sizes]
    validation, test = _whole(group_sizes, validation_share), _whole(group_sizes, test_share)
    for index, (a, b) in enumerate(zip(validation, test, strict=True)):
        validation[index] = min(a, rest[index])
        test[index] = min(b, rest[index] - validation[index])
        rest[index] -= validation[index] + test[index]
    _hand_out(validation, rest, group_sizes, validation_share)
    _hand_out(test, rest, group_sizes, test_share)
    return [(size - a - b, a, b) for size, a, b in zip(group_sizes, validation, test, strict=True)]


def _exact(size: int, share: float) -> float:
    """Return the share of a size, rounded to 9 digits to remove rounding errors (100 × 0.29 is 28.999999999999996)."""
    return round(size * share, 9)


def _whole(sizes: Sequence[int], share: float) -> list[int]:
    return [math.floor(_exact(size, share)) for size in sizes]


def _hand_out(given: list[int], rest: list[int], sizes: Sequence[int], share: float) -> None:
    """Add one sample per class until the split has its share of all samples, where classes have samples to spare."""
    missing = math.floor(_exact(sum(sizes), share) + 0.5) - sum(given)
    lost = [_exact(size, share) - count for size, count in zip(sizes, given, strict=True)]
    order = sorted(range(len(sizes)), key=lambda i: (given[i] > 0, -lost[i], i))
    for index in [i for i in order if rest[i] > 0 and lost[i] > 0][: max(0, missing)]:
        given[index] += 1
        rest[index] -= 1


def split(groups: Array, shares: Sequence[Counts], seed: int) -> dict[str, Array]:
    """Return the sample indices of each split, ascending.

    `groups` (N) holds the class of each sample; `shares` is the result of `counts`.
    """
    # The raw stream of the bit generator is the same in every version of NumPy; that of `permutation` may change.
    shuffled = np.argsort(np.random.PCG64(seed).random_raw(len(groups)), kind="stable")
    by_class = shuffled[np.argsort(groups[shuffled], kind="stable")]
    parts: dict[str, list[Array]] = {name: [] for name in SPLITS}
    start = 0
    for training, validation, test in shares:
        for name, count in (("validation", validation), ("test", test), ("training", training)):
            parts[name].append(by_class[start : start + count])
            start += count
    empty = np.empty(0, dtype=np.int64)
    return {name: np.sort(np.concatenate([empty, *pieces])) for name, pieces in parts.items()}
