"""Counts of values: every one is in a bin, none is taken for another."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.data.tables.histograms import MOST_BINS, MOST_NAMES, of_numbers, of_texts


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=60))
def test_every_number_is_counted_once(values):
    counted = json.loads(json.dumps(of_numbers(np.array(values)), allow_nan=False))
    known = [value for value in values if np.isfinite(value)]
    assert counted["missing"] == len(values) - len(known)
    assert sum(counted["counts"]) == len(known)
    assert len(counted["counts"]) <= MOST_BINS


@pytest.mark.parametrize(
    ("values", "low", "high", "counts"),
    [
        ([1, 1, 3], 0.5, 3.5, [2, 0, 1]),
        ([7, 7], 6.5, 7.5, [2]),
        ([2.5, 2.5], 2.0, 3.0, [2]),
        (list(range(48)), -0.5, 47.5, [2] * 24),
        ([True, False, True], -0.5, 1.5, [1, 2]),
    ],
)
def test_whole_numbers_fall_into_bins_of_equally_many(values, low, high, counts):
    counted = of_numbers(np.array(values))
    assert (counted["low"], counted["high"], counted["counts"]) == (low, high, counts)


def test_of_many_values_some_are_counted(monkeypatch):
    monkeypatch.setattr("netwright.engine.data.tables.histograms.MOST_COUNTED", 100)
    counted = of_numbers(np.arange(1000.0))
    assert (counted["sampled"], sum(counted["counts"])) == (91, 91)


def test_the_most_frequent_texts_are_named():
    texts = ["a"] * 5 + ["b"] * 3 + ["", ""] + [f"rare {n}" for n in range(20)]
    counted = of_texts(texts)
    assert counted["names"][:2] == ["a", "b"]
    assert len(counted["names"]) == MOST_NAMES
    assert (counted["others"], counted["different"], counted["missing"]) == (10, 22, 2)
