"""Histograms of columns, lengths and sizes for the Data tab, as JSON objects."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from netwright.engine.data.sources.source import Array

MOST_BINS = 24
MOST_NAMES = 12
LARGEST_WHOLE, LARGEST = 2**40, float(np.finfo(np.float64).max)
MOST_COUNTED = 1_000_000
"""Values that are counted: of more, evenly spaced ones."""


def of_numbers(values: Array) -> dict[str, Any]:
    """Return the counts of numbers (N) in bins of equal width: twice the cube root of their number, as Rice's rule has
    it, and at most `MOST_BINS`.

    `low`, `high`  ends of the bins, which hold equally many whole numbers each where all are whole
    `counts`       values per bin; empty where there is none
    `missing`      values that are NaN or infinite
    `sampled`      values that were counted, where that is not all
    """
    sampled = values[:: 1 + len(values) // MOST_COUNTED] if len(values) > MOST_COUNTED else values
    finite = sampled[np.isfinite(sampled)]
    gaps: dict[str, Any] = {"missing": int(len(sampled) - len(finite))}
    if len(sampled) < len(values):
        gaps["sampled"] = len(sampled)
    if not len(finite):
        return {"low": 0.0, "high": 0.0, "counts": [], **gaps}
    low, high = float(finite.min()), float(finite.max())
    span, bins = high - low, min(MOST_BINS, math.ceil(2 * len(finite) ** (1 / 3)))
    largest = max(abs(low), abs(high))
    if largest < LARGEST_WHOLE and bool((finite == np.round(finite)).all()):
        width = -(-(int(span) + 1) // MOST_BINS)
        bins = -(-(int(span) + 1) // width)
        low, high = low - 0.5, low - 0.5 + bins * width
    elif not span > 1e-12 * largest:
        pad = max(0.5, 1e-6 * largest)
        low, high, bins = max(low - pad, -LARGEST), min(high + pad, LARGEST), 1
    scaled = (finite.astype(np.float64) / 2 - low / 2) / (high / 2 - low / 2)  # halves: the span may overflow
    places = np.clip((scaled * bins).astype(np.int64), 0, bins - 1)
    return {"low": low, "high": high, "counts": np.bincount(places, minlength=bins).tolist(), **gaps}


def of_texts(texts: Sequence[str]) -> dict[str, Any]:
    """Return the counts of texts: the most frequent ones, and the others together. Empty texts are missing values.

    `names`, `counts`  the most frequent texts, at most `MOST_NAMES`, and how often each occurs
    `others`           how often all others occur together, and `different`, how many different texts there are
    `missing`          number of empty texts
    """
    counted = Counter(texts)
    missing = counted.pop("", 0)
    most = counted.most_common(MOST_NAMES)
    total = sum(count for _, count in most)
    return {
        "names": [name for name, _ in most],
        "counts": [count for _, count in most],
        "others": len(texts) - missing - total,
        "different": len(counted),
        "missing": missing,
    }
