"""Short values of layers in the language of the window."""

import re

import pytest
from PySide6.QtWidgets import QApplication

from netwright.designer import language
from netwright.designer.scene.short_values import short_value
from netwright.engine.network.catalog import built_in

FORMULAS = {"exp", "tc,sc->ts", "x1", "Identity", "rk4", "zscore", "euclidean"}
"""Values that are names and formulas in every language."""


@pytest.fixture
def chinese(qapp: QApplication):
    language.use(qapp, "zh_CN")
    yield
    language.use(qapp, "en")


def values() -> list[str]:
    return [text for type in built_in().values() if (text := type().short_value())]


def test_english_values_are_those_of_the_engine() -> None:
    assert [text for text in values() if short_value(text) != text] == []
    assert len(values()) > 50


def test_values_have_no_english_word_in_chinese(chinese: None) -> None:
    words = [text for text in map(short_value, values()) if re.search("[a-z]{3}", text) and text not in FORMULAS]
    assert words == []
    assert short_value("1,024 filters") == "1,024 个滤波器"
    assert short_value("1 filter") == "1 个滤波器"


@pytest.mark.parametrize("text", ["", "my value", "× 2", "x^2", "-1 to", "3 houses", "along with much else"])
def test_what_is_of_no_known_form_is_shown_as_it_is(chinese: None, text: str) -> None:
    assert short_value(text) == text
