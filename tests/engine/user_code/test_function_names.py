"""Which functions the text of a file has, without running it."""

import ast

import pytest

from netwright.engine.user_code.signature import MANY, Named, read_functions, split_reference

TEXT = """
import math
from torch import nn as layers
def plain(a, b, c=1): ...
def named(a, *, must, may=1): ...
def many(*all): ...
made = layers.SmoothL1Loss()
def plain(a): ...
class Loss: ...
"""


def test_what_a_file_defines() -> None:
    found = read_functions(ast.parse(TEXT))
    assert found["plain"] == Named(8, 1, 1)
    assert found["named"] == Named(5, 1, 1, "must")
    assert found["many"] == Named(6, 0, MANY)
    assert set(found) == {"math", "layers", "plain", "named", "many", "made", "Loss"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("losses.py", ("losses.py", "loss")),
        ("losses.py:huberish", ("losses.py", "huberish")),
        (r"C:\own\losses.py", (r"C:\own\losses.py", "loss")),
        (r"C:\own\losses.py:mine", (r"C:\own\losses.py", "mine")),
        ("C:mine", ("C:mine", "loss")),
    ],
)
def test_a_reference_names_a_file_and_perhaps_a_function(text: str, expected: tuple[str, str]) -> None:
    assert split_reference(text, "loss") == expected
