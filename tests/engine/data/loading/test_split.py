"""The split: a partition, close to the shares, the same for the same seed."""

import hashlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.load import load
from netwright.engine.data.loading.split import Division, Rule, counts, split
from netwright.engine.project.data import DataOptions

GOLDEN = {"training": "3fc1d1d4949b698f", "validation": "9bfbefdc7b420303", "test": "cb2041abc6d2b9ad"}
"""First digits of the SHA-256 of the sample indices, as 64-bit integers."""
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


@pytest.mark.parametrize("largest", [2**64 - 1, 2**13, 40])
@pytest.mark.parametrize("sizes", [[1000], [700, 300]])
def test_samples_are_in_the_order_of_random_numbers_of_which_equal_ones_stay_in_place(monkeypatch, largest, sizes):
    numbers = np.random.default_rng(0).integers(0, largest, 1000, np.uint64, endpoint=True)
    monkeypatch.setattr(np.random, "PCG64", lambda seed: SimpleNamespace(random_raw=lambda count: numbers.copy()))
    groups, order = groups_of(sizes), np.argsort(numbers, kind="stable")
    for count in range(0, 300, 7):
        validation = split(groups, [(size - count, count, 0) for size in sizes], 0)["validation"]
        expected = [order[groups[order] == group][:count] for group in range(len(sizes))]
        np.testing.assert_array_equal(validation, np.sort(np.concatenate(expected)))


def test_the_default_division_of_the_digits_is_the_one_of_the_first_version(tmp_path):
    numbers = load(DataOptions(source="digits"), tmp_path).numbers
    found = {name: hashlib.sha256(part.astype("<i8").tobytes()).hexdigest()[:16] for name, part in numbers.items()}
    assert found == GOLDEN
    assert {part.dtype for part in numbers.values()} == {np.dtype(np.int32)}


RULES = st.builds(
    Rule,
    kind=st.sampled_from(["random", "k-fold", "ordered"]),
    validation_share=st.floats(0.0, 0.3),
    test_share=st.floats(0.0, 0.3),
    seed=st.integers(0, 2**40),
    folds=st.integers(2, 6),
    gap=st.integers(0, 1),
)


@given(st.lists(st.integers(12, 40), min_size=1, max_size=5), RULES)
def test_every_sample_is_in_one_split_or_in_a_gap(sizes, rule):
    division = Division(rule, groups_of(sizes), tuple(map(str, range(len(sizes)))))
    together = np.concatenate(list(division.numbers.values()))
    assert len(np.unique(together)) == len(together)
    assert len(together) == sum(sizes) if rule.kind != "ordered" else len(together) >= sum(sizes) - 2 * rule.gap
    assert all(np.all(np.diff(part) > 0) for part in division.numbers.values())
    assert division.samples == {name: len(part) for name, part in division.numbers.items()}


@given(st.lists(st.integers(1, 30), min_size=2, max_size=5), st.integers(2, 6), SHARES, st.integers(0, 99))
def test_folds_are_disjoint_and_cover_and_have_equal_sizes_per_class(sizes, folds, test_share, seed):
    classes = groups_of(sizes)
    rule = Rule("k-fold", test_share=test_share, seed=seed, folds=folds)
    divisions = [Division(replace(rule, fold=fold), classes) for fold in range(1, folds + 1)]
    if len(classes) - sum(b for _, _, b in counts(sizes, 0.0, test_share)) < folds:
        with pytest.raises(UserError, match="Choose fewer folds"):
            _ = divisions[0].numbers
        return
    test = divisions[0].numbers["test"]
    validation = [division.numbers["validation"] for division in divisions]
    assert sorted(np.concatenate([*validation, test]).tolist()) == list(range(len(classes)))
    for division in divisions:
        assert division.numbers["test"].tolist() == test.tolist()
        assert sum(division.samples.values()) == len(classes)
    per_class = [[int(np.sum(classes[fold] == c)) for fold in validation] for c in range(len(sizes))]
    assert all(max(spread) - min(spread) <= 1 for spread in [[len(fold) for fold in validation], *per_class])


@given(
    st.lists(st.integers(0, 12), min_size=30, max_size=120),
    st.integers(1, 4),
    st.integers(0, 99),
    st.booleans(),
)
def test_no_group_is_in_two_splits(groups, num_classes, seed, has_folds):
    keys = np.array([f"patient {number}" for number in groups])
    classes = np.random.default_rng(seed).integers(0, num_classes, len(groups))
    rule = Rule("k-fold" if has_folds else "grouped", 0.25, 0.25, seed=seed, folds=2, fold=2)
    if len(set(groups)) < 3:
        with pytest.raises(UserError, match="too few for 3 parts"):
            _ = Division(rule, classes, keys=keys).numbers
        return
    numbers = Division(rule, classes, keys=keys).numbers
    assert sorted(np.concatenate(list(numbers.values())).tolist()) == list(range(len(groups)))
    held = [set(keys[part].tolist()) for part in numbers.values()]
    assert all(held)
    assert sum(map(len, held)) == len(set(groups))
    assert numbers["test"].tolist() == Division(rule, classes, keys=keys).numbers["test"].tolist()


def test_groups_are_placed_so_that_classes_keep_their_shares():
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 300, 6000)
    classes = (groups % 3 == 0).astype(np.int64)  # whole groups of one class
    division = Division(Rule("grouped", 0.2, 0.1), classes, keys=groups)
    for number, count in enumerate(np.bincount(classes).tolist()):
        for split_count, share in zip(division.counts[number], (0.7, 0.2, 0.1), strict=True):
            assert split_count == pytest.approx(count * share, abs=0.03 * count)


@pytest.mark.parametrize("keys", [None, np.array([9, 8, 7, 6, 5, 4, 3, 2, 1, 0])])
def test_in_order_the_last_samples_are_the_test_with_gaps_before(keys):
    numbers = Division(Rule("ordered", 0.2, 0.2, gap=1), np.zeros(10, np.int64), keys=keys).numbers
    found = {name: (part if keys is None else keys[part][::-1]).tolist() for name, part in numbers.items()}
    assert found == {"training": [0, 1, 2, 3], "validation": [5, 6], "test": [8, 9]}


def test_samples_of_the_same_time_are_in_the_same_split():
    days = np.repeat(np.arange(10), 7)
    numbers = Division(Rule("ordered", 0.15, 0.15), np.zeros(70, np.int64), keys=days).numbers
    held = [set(days[part].tolist()) for part in numbers.values()]
    assert [max(part) for part in held] == [5, 7, 9]
    assert sum(map(len, held)) == 10


def test_an_order_that_leaves_nothing_to_train_on_is_refused():
    with pytest.raises(UserError, match=r"10 samples in order.*the gaps 9 each.*data.split_gap"):
        _ = Division(Rule("ordered", 0.2, 0.2, gap=9), np.zeros(10, np.int64)).numbers


def test_a_column_names_the_splits():
    keys = np.array(["train", "Training ", "val", "validation", "test", "TEST", "valid"])
    numbers = Division(Rule("column"), np.zeros(7, np.int64), keys=keys).numbers
    assert {name: part.tolist() for name, part in numbers.items()} == {
        "training": [0, 1],
        "validation": [2, 3, 6],
        "test": [4, 5],
    }


def test_unknown_names_of_splits_are_listed():
    keys = np.array(["train", "holdout", "dev", "holdout"])
    with pytest.raises(
        UserError, match=r'2 names of splits are not known: "dev" \(1 sample\), "holdout" \(2 samples\)\. Expected'
    ):
        _ = Division(Rule("column"), np.zeros(4, np.int64), keys=keys).numbers


def test_a_split_that_the_column_lacks_is_taken_from_training_and_said():
    keys = np.array(["train"] * 20 + ["test"] * 5)
    division = Division(Rule("column", 0.2, 0.3), np.zeros(25, np.int64), keys=keys)
    assert division.samples == {"training": 16, "validation": 4, "test": 5}
    assert set(division.numbers["test"].tolist()) == set(range(20, 25))
    assert division.notes == ("The data names no validation split: 20 % of its training split, at random, are taken.",)
    assert Division(Rule("column", 0.0, 0.3), np.zeros(25, np.int64), keys=keys).samples["validation"] == 0


def test_a_split_with_data_of_its_own_gets_nothing_of_the_rest():
    given = {"test": 3, "validation": 1}
    division = Division(Rule("random", 0.2, 0.2), np.zeros(14, np.int64), given=given)
    assert division.numbers["training"].tolist() == list(range(10))
    assert division.numbers["test"].tolist() == [10, 11, 12]
    assert division.numbers["validation"].tolist() == [13]
    only_test = Division(Rule("random", 0.2, 0.2), np.zeros(13, np.int64), given={"test": 3})
    assert only_test.samples == {"training": 8, "validation": 2, "test": 3}
    keys = np.array(["train", "test"])
    with pytest.raises(UserError, match=r"1 sample of the data is named test, and data\.test_path names other"):
        _ = Division(Rule("column"), np.zeros(3, np.int64), keys=keys, given={"test": 1}).numbers


def test_classes_that_cannot_be_divided_are_named():
    classes = np.array([0] * 10 + [1] + [2] * 10)
    (note,) = Division(Rule(), classes, ("a", "b", "c")).notes
    assert note == '1 class has one sample, which is in training since it cannot be divided: "b".'
    assert Division(Rule("random", 0.0, 0.0), classes, ("a", "b", "c")).notes == ()


def test_codes_hold_the_split_of_each_sample():
    assert Division(Rule("ordered", 0.2, 0.2, gap=1), np.zeros(10, np.int64)).codes == bytes(
        [0] * 4 + [3, 1, 1, 3, 2, 2]
    )
