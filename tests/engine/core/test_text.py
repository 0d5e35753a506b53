"""Figures as people read them."""

import math

import numpy as np
import pytest

from netwright.engine.core.text import format_figure, format_number, format_percent, format_signed, format_value


def test_a_share_in_per_cent() -> None:
    assert [format_percent(0.0), format_percent(0.416), format_percent(1.0), format_percent(0.042, 1)] == [
        "0 %",
        "42 %",
        "100 %",
        "4.2 %",
    ]


@pytest.mark.parametrize(
    ("value", "number", "figure"),
    [
        (0, "0", "0"),
        (4, "4", "4.00"),
        (347_330.2, "347,330", "347,330"),
        (30_693.0, "30,693", "30,693"),
        (99.96, "100", "100"),
        (0.1131, "0.113", "0.113"),
        (0.5, "0.5", "0.500"),
        (-0.25, "-0.25", "-0.250"),
        (0.0005, "0.0005", "0.000500"),
        (1e-5, "1e-5", "1.00e-5"),
        (2.5e20, "2.5e20", "2.50e20"),
        (123_456_789_012_345_678, "123,456,789,012,345,678", "1.23e17"),
        (math.nan, "not a number", "not a number"),
        (-math.inf, "minus infinite", "minus infinite"),
    ],
)
def test_a_number_has_three_digits_that_matter_and_keeps_those_before_the_point(
    value: float, number: str, figure: str
) -> None:
    assert (format_number(value), format_figure(value)) == (number, figure)


def test_what_is_no_share_is_not_in_per_cent() -> None:
    assert format_percent(math.nan, 1) == "not a number"


@pytest.mark.parametrize(
    ("value", "told", "measured", "per_cent"),
    [
        (None, "–", "–", "–"),
        ("", "–", "–", "–"),
        (math.nan, "–", "–", "–"),
        (np.float32("nan"), "–", "–", "–"),
        (0.0, "0", "0", "0.0 %"),
        (1.0, "1", "1.00", "100.0 %"),
        (0.97484, "0.975", "0.975", "97.5 %"),
        (np.float32(0.25), "0.25", "0.250", "25.0 %"),
        (0.0158114, "0.0158", "0.0158", "1.6 %"),
        (12, "12", "12", "1,200.0 %"),
        (np.int64(30_693), "30,693", "30,693", "3,069,300.0 %"),
        (347_330.2, "347,330", "347,330", "34,733,020.0 %"),
        (12_650.0, "12,650", "12,650", "1,265,000.0 %"),
        (math.inf, "infinite", "infinite", "infinite"),
        ("adam", "adam", "adam", "adam"),
        (True, "True", "True", "True"),
    ],
)
def test_a_value_is_told_in_one_way(value: object, told: str, measured: str, per_cent: str) -> None:
    assert format_value(value) == told
    assert format_value(value, is_measured=True) == measured
    assert format_value(value, is_percent=True) == per_cent


def test_lists_are_told_by_their_first_entries() -> None:
    assert format_value([1, 2.5, None]) == "1, 2.5, –"
    assert format_value(list(range(10))) == "0, 1, 2, 3, 4, 5, 6, 7, …"


def test_differences_have_their_sign() -> None:
    assert [format_signed(value) for value in (0.25, -3.0, 0.0, 1234.5)] == ["+0.25", "−3", "±0", "+1,234"]
