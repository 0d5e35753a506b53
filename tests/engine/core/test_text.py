"""Figures as people read them."""

import pytest

from engine.core.text import format_percent, spreadsheet_cell


def test_a_share_in_per_cent() -> None:
    assert [format_percent(0.0), format_percent(0.416), format_percent(1.0), format_percent(0.042, 1)] == [
        "0 %",
        "42 %",
        "100 %",
        "4.2 %",
    ]


@pytest.mark.parametrize("text", ["=1+1", "+A1", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "-"])
def test_a_cell_is_no_formula(text: str) -> None:
    assert spreadsheet_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "-0.5", "+3", "-1e-05", "-inf", "a=b", "run 1"])
def test_numbers_and_words_stay_as_they_are_in_a_cell(text: str) -> None:
    assert spreadsheet_cell(text) == text
