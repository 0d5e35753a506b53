"""Texts in a CSV file are no formulas, and numbers are numbers."""

import csv
import io

import pytest

from netwright.engine.core.csv_text import cell_text, csv_text

FORMULAS = (
    "=1+1",
    "+A1",
    "-cmd",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "-",
    "＝1",
    "＋1+1",
    "－1",
    "＠A1",
    "=cmd|' /C calc'!A0",
)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_is_no_formula(text: str) -> None:
    assert cell_text(text) == f"'{text}"
    assert next(csv.reader(io.StringIO(csv_text([[1, text]]), newline=""))) == ["1", f"'{text}"]


@pytest.mark.parametrize("text", ["", "-0.5", "+3", "-1e-05", "-inf", "a=b", "run 1"])
def test_numbers_and_words_stay_as_they_are_in_a_cell(text: str) -> None:
    assert cell_text(text) == text


def test_numbers_and_empty_cells_stay_what_they_are() -> None:
    rows: list[list[object]] = [["a", "b", "c"], [-1, -0.5, None], [1e-9, True, float("-inf")]]
    assert csv_text(rows) == "a,b,c\n-1,-0.5,\n1e-09,True,-inf\n"


def test_separators_stay_inside_their_cell() -> None:
    cells = ["a,b", 'say "x"', "two\nlines", "carriage\rreturn", "tab\there"]
    for delimiter in (",", "\t"):
        text = csv_text([cells], delimiter=delimiter)
        assert list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) == [cells]
