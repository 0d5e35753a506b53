"""Figures as people read them."""

import math

import pytest

from netwright.engine.core.text import format_figure, format_number, format_percent


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
