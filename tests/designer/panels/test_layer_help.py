"""The longer help of a layer type under its form."""

import pytest
from PySide6.QtCore import Qt

from netwright.designer.editor import Editor
from netwright.designer.panels.properties import Properties
from netwright.designer.panels.property_sections import help_text
from netwright.engine.network.catalog import built_in, layer_type
from netwright.engine.project.project import Project
from tests.builders import chain, layer


@pytest.fixture
def editor() -> Editor:
    return Editor(Project(network=chain(layer("image_input"), layer("conv2d"), layer("conv2d"), layer("gelu"))))


@pytest.fixture
def panel(qtbot, editor: Editor) -> Properties:
    panel = Properties(editor)
    qtbot.addWidget(panel)
    panel.resize(316, 700)
    panel.show()
    return panel


def select(editor: Editor, *names: str) -> None:
    editor.set_selection(editor.network.layer(name).id for name in names)


def test_help_is_folded_until_asked_for_and_then_stays_open(qtbot, editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1")
    assert panel.help.text.isHidden()
    qtbot.mouseClick(panel.help.heading, Qt.MouseButton.LeftButton)
    assert "weight[f, c, k]" in panel.help.text.text()
    select(editor, "gelu_1")
    assert not panel.help.text.isHidden()
    assert "Hendrycks" in panel.help.text.text()
    assert panel.help.heading.accessibleName() == "Help for GELU, unfolded"


def test_help_opens_with_the_keyboard(qtbot, editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1", "conv_2")
    panel.help.heading.setFocus()
    qtbot.keyClick(panel.help.heading, Qt.Key.Key_Space)
    assert not panel.help.text.isHidden()


def test_there_is_no_help_for_several_types_or_none(editor: Editor, panel: Properties) -> None:
    assert not panel.help.isVisible()
    select(editor, "conv_1", "gelu_1")
    assert not panel.help.isVisible()


def test_a_type_without_onnx_form_says_so_under_its_name(
    editor: Editor, panel: Properties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer_type("gelu"), "onnx_refusal", "ONNX knows no such thing.")
    select(editor, "gelu_1")
    assert panel.header.note.text() == "No ONNX form: ONNX knows no such thing."
    assert "No ONNX form" in help_text(layer_type("gelu"))
    select(editor, "conv_1")
    assert panel.header.note.isHidden()


@pytest.mark.parametrize("key", ["relu", "conv1d", "self_attention"])
def test_the_words_are_all_there_and_escaped(key: str) -> None:
    type = built_in()[key]
    written = help_text(type)
    assert f"MATLAB: {type.matlab}" in written
    assert "Source: " in written
    assert "&lt;" not in written or "<" in type.help()
