"""The split: a partition, close to the shares, the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.data.split import counts, split

SHARES = st.floats(0.0, 0.45)
SIZES = st.lists(st.integers(1, 60), min_size=1, max_size=12)


def groups_of(sizes: list[int], seed: int = 0) -> np.ndarray:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(seed).permutation(groups)


@given(SIZES, SHARES, SHARES, st.integers(0, 2**40))
def test_every_sample_is_in_one_part_and_parts_have_their_counts(sizes, validation, test, seed):
    groups, shares = groups_of(sizes), counts(sizes, validation, test)
    parts = split(groups, shares, seed)
    together = np.concatenate([parts["training"], parts["validation"], parts["test"]])
    assert sorted(together.tolist()) == list(range(len(groups)))
    for number, name in enumerate(("training", "validation", "test")):
        found = np.bincount(groups[parts[name]], minlength=len(sizes)).tolist()
        assert found == [share[number] for share in shares]
        assert parts[name].tolist() == sorted(parts[name].tolist())


@given(SIZES, SHARES, SHARES)
def test_each_class_is_within_one_sample_of_its_share_and_kept_for_training(sizes, validation, test):
    for size, (training, a, b) in zip(sizes, counts(sizes, validation, test), strict=True):
        assert training >= 1
        assert abs(a - size * validation) <= 1 + 1e-6
        assert abs(b - size * test) <= 1 + 1e-6
        if size * validation >= 1:
            assert a >= 1
        if size * test >= 1:
            assert b >= 1


@given(st.lists(st.integers(2, 40), min_size=2, max_size=6), st.floats(0.05, 0.3))
def test_the_part_has_its_share_of_all(sizes, share):
    found = sum(a for _, a, _ in counts(sizes, share, 0.0))
    assert abs(found - sum(sizes) * share) <= 0.5 + 1e-6


def test_rounding_is_half_up_and_free_of_noise():
    assert counts([1797], 0.15, 0.15) == [(1257, 270, 270)]
    assert counts([100], 0.29, 0.0) == [(71, 29, 0)]
    assert counts([10], 0.05, 0.0) == [(9, 1, 0)]


def test_classes_that_would_have_nothing_come_first():
    assert counts([3, 3, 30], 0.15, 0.0) == [(2, 1, 0), (3, 0, 0), (26, 4, 0)]
    assert counts([5, 5, 5], 0.2, 0.2) == [(3, 1, 1)] * 3


@pytest.mark.parametrize(("sizes", "wanted"), [([1], [(1, 0, 0)]), ([1, 1], [(1, 0, 0), (1, 0, 0)]), ([], [])])
def test_small_classes_stay_in_training(sizes, wanted):
    assert counts(sizes, 0.4, 0.4) == wanted


def test_the_largest_shares_leave_something_to_train_on():
    assert all(training >= 1 for training, _, _ in counts([1, 2, 3, 20, 100], 0.9, 0.05))


def test_no_share_is_an_empty_part():
    parts = split(np.zeros(10, dtype=np.int64), counts([10], 0.0, 0.0), 0)
    assert len(parts["training"]) == 10
    assert len(parts["validation"]) == len(parts["test"]) == 0


def test_the_seed_decides():
    groups, shares = groups_of([50, 50]), counts([50, 50], 0.2, 0.2)
    first, again, other = (split(groups, shares, seed)["test"].tolist() for seed in (3, 3, 4))
    assert first == again != other


def test_the_split_is_the_same_on_every_machine():
    parts = split(np.array([0, 1] * 6), counts([6, 6], 0.2, 0.2), 7)
    found = {name: part.tolist() for name, part in parts.items()}
    assert found == {"training": [0, 1, 2, 5, 7, 8, 9, 10], "validation": [3, 6], "test": [4, 11]}
