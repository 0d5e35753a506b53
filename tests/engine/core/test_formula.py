"""Formulas compute with named values, and nothing else."""

from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.formula import Formula

VALUES: dict[str, Any] = {"training.solver": "adam", "network.a.filters": 8, "network.b/c.filters": 16, "on": True}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("training.solver == 'adam'", True),
        ("training.solver in ['sgdm', 'adamw']", False),
        ("2 * network.a.filters <= {network.b/c.filters}", True),
        ("1 < network.a.filters < 8", False),
        ("not on or network.a.filters // 3 == 2", True),
        ("max(network.a.filters, 10) % 4", 2),
        ("-network.a.filters + 0.5", -7.5),
    ],
)
def test_arithmetic_and_comparisons(text: str, value: object) -> None:
    assert Formula(text).value(VALUES.__getitem__) == value


def test_the_names_in_a_formula_are_known() -> None:
    assert Formula("{ network.b/c.filters } > on and on").names == ("network.b/c.filters", "on")


@pytest.mark.parametrize(
    "text",
    [
        *("__import__('os').system('x')", "a ** 9", "(lambda: 1)()", "a[0]", "a ==", "1 if a else 2", "f'{a}'", ""),
        *("a.b()", "[x for x in a]", "a := 1", "max(a, key=b)", "-" * 5000 + "1", "(" * 300 + "1" + ")" * 300, "a\0"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="formula"):
        Formula(text)


@pytest.mark.parametrize("text", ["'a' * 9", "1 / 0", "'a' < 1", "[1] + [2]"])
def test_values_that_do_not_go_together_are_an_error(text: str) -> None:
    with pytest.raises(UserError, match="cannot be computed"):
        Formula(text).value(VALUES.__getitem__)
