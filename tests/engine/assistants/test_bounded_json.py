"""Answers of a bounded length, which say what is missing."""

import json
from typing import Any

import pytest

from netwright.engine.assistants.bounded_json import bounded


def test_a_short_answer_is_as_it_was() -> None:
    value = {"a": [1, 2.5, None, True], "b": {"c": "text"}}
    assert bounded(value) == (value, False)


@pytest.mark.parametrize(
    "value",
    [
        {"points": [[number / 7, number, number] for number in range(100_000)]},
        {"text": "x" * 10_000_000},
        {f"key {number}": "y" * 100 for number in range(50_000)},
        [[[["deep"] * 100] * 100] * 100],
        "ö" * 1_000_000,
    ],
)
def test_a_huge_answer_is_cut_and_says_so(value: Any) -> None:
    short, is_cut = bounded(value, 20_000)
    assert is_cut
    assert len(json.dumps(short)) <= 20_000
    assert "more" in json.dumps(short) or "(cut)" in json.dumps(short)


def test_the_beginning_of_a_list_stays() -> None:
    short, _ = bounded({"rows": [*range(100_000)], "name": "digits"}, 5_000)
    assert short["name"] == "digits"
    assert short["rows"][:3] == [0, 1, 2]
    assert short["rows"][-1] == "... (99,000 more)" or short["rows"][-1].endswith(" more)")
