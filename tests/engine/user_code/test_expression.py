"""Expressions of tensors: what they may hold, and how they are printed."""

import pytest

from netwright.engine.core.errors import FieldError
from netwright.engine.user_code.expression import parsed, spelled


def test_it_is_printed_with_the_names_of_its_tensors():
    assert spelled("x1*torch.sigmoid(x2)[:, 0]", ["relu_1", "conv_2"]) == "relu_1*torch.sigmoid(conv_2)[:, 0]"


@pytest.mark.parametrize(
    ("text", "count", "words"),
    [
        ("x1 +", 1, "not a Python expression"),
        ("x1 + x3", 2, "no 'x3' in it; it has x1, x2, torch, math"),
        ("x1", 2, "it does not use x2"),
        ("__import__('os').system('true') or x1", 1, "no '__import__'"),
        ("x1.__class__", 1, "'.__class__' is private"),
        ("[x1 for y in x1]", 1, "ListComp has no place"),
        ("(lambda: x1)()", 1, "Lambda has no place"),
        ("x1 + " * 400 + "x1", 1, "at most 1,000 characters"),
    ],
)
def test_what_is_no_expression_of_tensors_is_refused(text: str, count: int, words: str):
    with pytest.raises(FieldError, match=words.replace("'", ".")):
        parsed(text, count)


def test_a_printed_expression_keeps_its_text_and_names_only_its_tensors_anew() -> None:
    assert spelled("torch.where(x1 > 0, x1, x2.x1)", ["x2", "x1"]) == "torch.where(x2 > 0, x2, x1.x1)"
    assert spelled("(x1 + # ö x1\n x2)", ["a", "b"]) == "(\n(a + # ö x1\n b)\n)"


@pytest.mark.parametrize("sign", ["-", "+", "~"])
def test_an_expression_of_900_signs_is_printed(sign: str) -> None:
    assert spelled(f"{sign * 900}x1", ["relu_1"]) == f"{sign * 900}relu_1"
    terms = sign.join(["x1"] * 300) if sign != "~" else "~x1"
    assert spelled(terms, ["relu_1"]) == terms.replace("x1", "relu_1")
