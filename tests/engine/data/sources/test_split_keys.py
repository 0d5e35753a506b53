"""Keys of splits: groups in names of files, times in texts."""

import numpy as np
import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.data.sources.split_keys import groups_of_names, keys_of


@pytest.mark.parametrize(
    ("pattern", "name", "group"),
    [
        ("{group}_*", "cat/p7_003.png", "p7"),
        ("patient{group}-*", "cat/patient12-3.png", "12"),
        ("*_{group}.png", "cat/left_p7.png", "p7"),
        ("{group}/*", "anna/1.png", "anna"),
        ("*/{group}/*", "cat/anna/1.png", "anna"),
        ("{group}", "cat/1.png", "1.png"),
        ("{group}.png", "cat/a.png.png", "a.png"),
        ("p{group}", "cat/p7.png", "7.png"),
    ],
)
def test_groups_in_names(pattern, name, group):
    assert groups_of_names([name], pattern).tolist() == [group]


def test_names_that_do_not_fit_are_listed():
    with pytest.raises(
        UserError, match=r'2 of 3 files do not fit the pattern "\{group\}_\*" of groups: a/1\.png, _2\.png'
    ):
        groups_of_names(["a/1.png", "b_1.png", "_2.png"], "{group}_*")


@pytest.mark.parametrize("pattern", ["*_*", "{group}{group}", ""])
def test_a_pattern_without_one_group_is_refused(pattern):
    with pytest.raises(UserError, match=r"holds (no|several) \{group\}"):
        groups_of_names(["a.png"], pattern)


def test_a_long_name_takes_no_time():
    with pytest.raises(UserError, match="do not fit"):
        groups_of_names(["a" * 200_000] * 3, "*a" * 50 + "{group}b")


def test_times_are_ordered_with_and_without_zones():
    texts = ["2024-12-31", "2024-12-31T00:00:01Z", "2024-12-30 23:00", "2024-12-31T01:30:00+02:00"]
    assert np.argsort(keys_of("ordered", texts, "x")).tolist() == [2, 3, 0, 1]
    assert keys_of("ordered", np.array([3, 1, 2]), "x").tolist() == [3, 1, 2]


def test_a_text_that_is_no_time_is_named():
    with pytest.raises(UserError, match=r"Column 'day' holds \"31\.12\.2024\", which is no time"):
        keys_of("ordered", ["2024-12-31", "31.12.2024"], "Column 'day'")


def test_other_keys_are_taken_as_they_are():
    assert keys_of("column", ["train", "test"], "x").tolist() == ["train", "test"]
    with pytest.raises(UserError, match="has gaps, the first for sample 1"):
        keys_of("grouped", np.array([1.0, np.nan]), "x")
    with pytest.raises(UserError, match=r"has the shape \(2, 2\)"):
        keys_of("grouped", np.ones((2, 2)), "x")
