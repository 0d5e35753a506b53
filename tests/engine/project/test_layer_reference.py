"""The reference in `docs/` is what the declarations say, and says all of it."""

import pytest

from netwright.engine.network.catalog import built_in
from netwright.engine.project.layer_reference import COMMAND, PATH, paragraphs, text


def test_the_reference_is_what_the_layer_types_declare() -> None:
    shipped = PATH.read_text(encoding="utf-8") if PATH.is_file() else ""
    assert shipped == text(), f"layer types have changed: run `{COMMAND}` and commit docs/layers.md"


def test_every_layer_type_has_a_longer_help() -> None:
    thin = [key for key, type in built_in().items() if not type.help()]
    assert thin == [], "these need more than the first line of their docstring: a formula, what to know, the source"


def test_the_help_is_the_docstring_without_its_first_line() -> None:
    help = built_in()["elu"].help()
    assert help.startswith("    y = x where x > 0, else alpha")
    assert help.split("\n\n")[1].startswith("Source: Clevert")


def test_formulas_keep_their_lines_and_prose_does_not() -> None:
    assert paragraphs("One\ntwo\n\n    a\n    b\n\nThree") == [("One two", False), ("a\nb", True), ("Three", False)]
    assert paragraphs("") == []


@pytest.mark.parametrize("key", ["conv2d", "gelu", "concatenation"])
def test_a_layer_type_is_told_whole(key: str) -> None:
    type = built_in()[key]
    part = text().partition(f"\n### {type.label}\n")[2].partition("\n### ")[0]
    assert type.summary() in part
    assert f"`{type.key}`; MATLAB `{type.matlab}`; torch `torch." in part
    assert "- ONNX: yes" in part
    for field in type.fields.values():
        assert f"`{field.name}`" in part


def test_what_has_no_onnx_form_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    type = built_in()["elu"]
    monkeypatch.setattr(type, "onnx_refusal", "ONNX knows no such thing.")
    assert "- ONNX: no. ONNX knows no such thing." in text()
    assert "before an export starts: [ELU](#elu)" in text()
