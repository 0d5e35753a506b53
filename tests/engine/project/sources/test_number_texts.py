"""Numbers as tables hold them, told by the cells of a column."""

import pytest

from netwright.engine.project.sources.number_texts import UnlikeNumbersError, is_number_like, mark_shown, number_format


@pytest.mark.parametrize(
    ("cells", "decimal", "numbers"),
    [
        (("1", "2.5", "-3e2"), ".", (1, 2.5, -300)),
        (("1", "2,5", "-3e2"), ".", (1, 2.5, -300)),
        (("1,000", "20,000"), ".", (1000, 20000)),
        (("1,000", "20,000"), ",", (1, 20)),
        (("1,000", "0,5"), ".", (1, 0.5)),
        (("1.000", "20.000"), ",", (1000, 20000)),
        (("1.000.000", "7"), ".", None),
        (("1.000.000", "7"), ",", (1_000_000, 7)),
        (("1.234,5", "7"), ".", (1234.5, 7)),
        (("1 234,5", "12"), ",", (1234.5, 12)),
        (("1'234", "12"), ".", (1234, 12)),
        (("-$1,234.50", "$7"), ".", (-1234.5, 7)),
        (("7 €", "8"), ",", (7, 8)),
        (("50 %", "0"), ".", (50, 0)),
        (("50 %", "0.5"), ".", None),
        (("$5", "€5"), ".", None),
        (("\u22125", "+6"), ".", (-5, 6)),
        (("31.01.2024",), ".", None),
        (("192.168.1.1",), ",", None),
        (("12:30",), ".", None),
        (("1-2",), ".", None),
        (("one",), ".", None),
        ((), ".", None),
    ],
)
def test_the_format_of_a_column(cells: tuple[str, ...], decimal: str, numbers: tuple[float, ...] | None) -> None:
    how = number_format(cells, decimal)
    assert (how and tuple(how.number(cell) for cell in cells)) == numbers
    if how is not None:
        with pytest.raises(ValueError, match=r"1\.2\.3"):
            how.number("1.2.3")


def test_thousands_that_disagree_are_an_error_with_both() -> None:
    with pytest.raises(UnlikeNumbersError) as error:
        number_format(("7", "1,000", "2500"), ".")
    assert (error.value.grouped, error.value.unlike) == ("1,000", "2500")
    assert number_format(("1,000.5", "2500"), ".") is not None, "a fraction tells the mark"


def test_the_mark_that_a_cell_shows() -> None:
    shown = {"3,14": ",", "3.14": ".", "1.000,5": ",", "1,000.5": ".", "1,000": "", "1.000": "", "7": "", "x,y": ""}
    assert {cell: mark_shown(cell) for cell in shown} == shown
    assert is_number_like("1,000")
    assert not is_number_like("1,00,0")
