from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel, QLineEdit, QMainWindow

from netwright.designer import layer_edits
from netwright.designer.editor import Editor
from netwright.designer.forms.switch import Switch
from netwright.designer.panels.parts import UNKNOWN
from netwright.designer.panels.properties import Properties
from netwright.engine.network.catalog import Placeholder
from netwright.engine.network.network import Network
from netwright.engine.project.project import Project
from netwright.engine.project.sweeps import with_parameter
from tests.builders import chain, layer


def network() -> Network:
    return chain(
        layer("image_input", channels=1, size=8),
        layer("conv2d", filters=8),
        layer("relu"),
        layer("conv2d", filters=4, kernel=5),
        layer("fully_connected", outputs=10),
    )


@pytest.fixture
def editor() -> Editor:
    return Editor(Project(network=network()))


@pytest.fixture
def panel(qtbot, editor: Editor) -> Properties:
    panel = Properties(editor)
    qtbot.addWidget(panel)
    panel.resize(316, 700)
    with qtbot.waitActive(panel):
        panel.show()
        panel.activateWindow()
    return panel


def select(editor: Editor, *names: str) -> None:
    editor.set_selection(editor.network.layer(name).id for name in names)


def type_over(qtbot, panel: Properties, name: str, text: str) -> QLineEdit:
    assert panel.form is not None
    line = panel.name_edit if name == "name" else panel.form.rows[name].widget
    assert isinstance(line, QLineEdit)
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, text)
    return line


def test_nothing_selected_shows_the_network(panel: Properties) -> None:
    assert panel.header.title.text() == "Network"
    assert ("Layers", "5") in panel.facts.facts
    assert ("Input image_1", "1 × 8 × 8") in panel.facts.facts
    assert ("Output fc_1", "10") in panel.facts.facts
    assert "Select a layer" in panel.hint.text()
    assert panel.form is None


def test_the_network_shows_what_a_training_step_takes(editor: Editor, panel: Properties) -> None:
    facts = dict(panel.facts.facts)
    assert facts["Weights"] == facts["Gradients"] == facts["State of sgdm"]
    training = editor.project.training.replace(mini_batch_size=1, solver="adam")
    editor.apply("Options", editor.project.with_section("training", training))
    after = dict(panel.facts.facts)
    assert after["Activations, batch 1"] == "5.3 KiB"
    assert after["Weights"] == facts["Weights"] == "13 KiB"
    assert after["State of adam"] == "27 KiB"


def test_an_empty_network_says_what_to_do_first(qtbot) -> None:
    panel = Properties(Editor())
    qtbot.addWidget(panel)
    assert "Drag a layer" in panel.hint.text()


def test_a_layer_shows_its_fields_and_what_the_analysis_says(editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1")
    assert panel.header.title.text() == "conv_1"
    assert panel.header.summary.text().startswith("2-D convolution · slides learned filters")
    assert panel.name_edit.text() == "conv_1"
    assert panel.form is not None
    assert panel.form.record == layer("conv2d", filters=8)
    assert panel.facts.facts == [
        ("Input", "1 × 8 × 8"),
        ("Output", "8 × 8 × 8"),
        ("Parameters", "80"),
        ("FLOPs per sample", "9,216"),
        ("Activations, batch 128", "256 KiB"),
    ]


def test_typing_changes_the_layer_as_one_undo_step(qtbot, editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1")
    line = type_over(qtbot, panel, "filters", "32")
    assert editor.network.layer("conv_1").type == layer("conv2d", filters=32)
    assert ("Output", "32 × 8 × 8") in panel.facts.facts
    assert editor.stack.count() == 1
    assert line.hasFocus()
    editor.undo()
    assert line.text() == "8"
    assert line.hasFocus()
    editor.redo()
    assert line.text() == "32"


def test_coming_back_to_a_field_later_is_another_step(qtbot, editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1")
    type_over(qtbot, panel, "filters", "32")
    select(editor, "conv_2")
    select(editor, "conv_1")
    type_over(qtbot, panel, "filters", "64")
    editor.undo()
    assert editor.network.layer("conv_1").type == layer("conv2d", filters=32)


def test_a_refused_text_leaves_the_network_and_goes_with_the_selection(
    qtbot, editor: Editor, panel: Properties
) -> None:
    select(editor, "conv_1")
    line = type_over(qtbot, panel, "filters", "0")
    assert editor.network.layer("conv_1").type == layer("conv2d", filters=8)
    assert panel.form is not None
    assert panel.form.rows["filters"].message.startswith("Expected a whole number")
    select(editor, "conv_2")
    assert line.text() == "4"
    assert panel.form.is_valid


def test_what_the_analysis_finds_wrong_with_a_field_stands_under_it(qtbot, editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1")
    type_over(qtbot, panel, "kernel", "3")
    editor.set_fields([editor.network.layer("conv_1").id], {"padding": 0})
    type_over(qtbot, panel, "kernel", "30")
    assert panel.form is not None
    problem = next(p for p in editor.problems if p.name == "conv_1")
    assert problem.field == "kernel"
    assert panel.form.rows["kernel"].message == problem.message
    assert ("Output", UNKNOWN) in panel.facts.facts
    assert panel.hint.text() == problem.message
    type_over(qtbot, panel, "kernel", "3")
    assert panel.form.rows["kernel"].message == ""


def test_renaming_by_typing_is_one_step_and_refuses_in_words(qtbot, editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1")
    id = editor.network.layer("conv_1").id
    line = type_over(qtbot, panel, "name", "stem")
    assert editor.network.layers[id].name == "stem"
    assert panel.header.title.text() == "stem"
    assert editor.stack.count() == 1
    type_over(qtbot, panel, "name", "relu_1")
    assert panel.name_row.message == "There is already a layer 'relu_1'."
    assert editor.network.layers[id].name == "relu_"
    type_over(qtbot, panel, "name", "1x")
    assert "cannot be a name" in panel.name_row.message
    assert line.text() == "1x"
    editor.undo()
    assert line.text() == "conv_1"
    assert panel.name_row.message == ""


def test_several_layers_of_one_type_are_changed_together(qtbot, editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1", "conv_2")
    assert panel.header.title.text() == "2 layers"
    assert panel.form is not None
    line = panel.form.rows["filters"].widget
    assert isinstance(line, QLineEdit)
    assert (line.text(), line.placeholderText()) == ("", "several values")
    type_over(qtbot, panel, "filters", "12")
    assert [editor.network.layer(name).type for name in ("conv_1", "conv_2")] == [
        layer("conv2d", filters=12),
        layer("conv2d", filters=12, kernel=5),
    ]
    assert editor.stack.count() == 1
    assert line.text() == "12"
    editor.undo()
    assert line.placeholderText() == "several values"
    select(editor, "conv_1")
    assert line.text() == "8"


def test_layers_of_several_types_have_no_common_form(editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1", "relu_1")
    assert panel.form is None
    assert panel.header.summary.text() == "2 types"
    assert "one type" in panel.hint.text()


def test_a_form_is_made_once_a_layer_type(editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1")
    first = panel.form
    select(editor, "fc_1")
    assert panel.form is not first
    select(editor, "conv_2")
    assert panel.form is first


def test_removing_the_selected_layer_leads_back_to_the_network(editor: Editor, panel: Properties) -> None:
    select(editor, "conv_1")
    editor.delete_selection()
    assert panel.header.title.text() == "Network"
    editor.undo()
    assert panel.header.title.text() == "conv_1"


def test_a_switch_changes_the_layer(qtbot, editor: Editor, panel: Properties) -> None:
    select(editor, "fc_1")
    assert panel.form is not None
    qtbot.keyClick(panel.form.rows["bias"].widget, Qt.Key.Key_Space)
    assert editor.network.layer("fc_1").type == layer("fully_connected", bias=False)


def test_undo_in_a_field_is_the_projects_undo(qtbot, editor: Editor) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    panel = Properties(editor)
    window.setCentralWidget(panel)
    undo = window.addAction("Undo")
    undo.setShortcut(QKeySequence.StandardKey.Undo)
    undo.triggered.connect(editor.undo)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    select(editor, "conv_1")
    line = type_over(qtbot, panel, "filters", "32")
    qtbot.keyClick(line, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.network.layer("conv_1").type == layer("conv2d", filters=8)
    assert line.text() == "8"
    assert editor.stack.canRedo()


def test_a_layer_of_unknown_type_is_named_and_kept(qtbot) -> None:
    unknown = Placeholder("quantum_conv", {"qubits": 3}, ("in",), ("out",))
    editor = Editor(Project(network=chain(layer("feature_input"), unknown)))
    panel = Properties(editor)
    qtbot.addWidget(panel)
    (_, id) = editor.network.layers
    editor.set_selection({id})
    assert panel.header.summary.text().startswith("Unknown layer · ")
    assert "quantum_conv" in panel.hint.text()
    assert panel.form is not None
    assert panel.form.rows == {}


def test_fields_of_weights_are_folded_for_all_types_alike(panel: Properties, editor: Editor) -> None:
    select(editor, "conv_1")
    assert panel.form is not None
    assert not panel.form.rows["frozen"].is_shown
    panel.form.set_folded("Weights", False)
    assert panel.form.rows["frozen"].is_shown
    select(editor, "fc_1")
    assert panel.form.rows["frozen"].is_shown
    select(editor, "relu_1")
    assert "frozen" not in panel.form.rows


def test_several_layers_are_frozen_together(panel: Properties, editor: Editor) -> None:
    select(editor, "conv_1", "conv_2")
    assert panel.form is not None
    panel.form.set_folded("Weights", False)
    switch = panel.form.rows["frozen"].widget
    assert isinstance(switch, Switch)
    switch.click()
    assert [getattr(layer.type, "frozen", None) for layer in editor.network.layers.values()] == [
        None,
        True,
        None,
        True,
        False,
    ]
    assert not panel.form.rows["weight_l2_factor"].is_shown, "what is frozen has no factors"


def test_frozen_parameters_are_told(panel: Properties, editor: Editor) -> None:
    editor.set_fields([editor.network.layer("conv_1").id], {"frozen": True})
    assert ("Frozen parameters", "80") in panel.facts.facts
    select(editor, "conv_1")
    assert ("Parameters", "80, frozen") in panel.facts.facts
    select(editor, "conv_2")
    assert ("Parameters", "804") in panel.facts.facts


def test_what_is_in_a_frozen_block_is_told_as_frozen(panel: Properties, editor: Editor) -> None:
    select(editor, "conv_1")
    block = editor.group()
    assert block is not None
    editor.set_fields([block], {"frozen": True})
    assert ("Parameters", "80, frozen") in panel.facts.facts
    editor.open_scope([block])
    assert ("Frozen parameters", "80") in panel.facts.facts
    select(editor, "conv_1")
    assert ("Parameters", "80, frozen") in panel.facts.facts


def test_every_output_is_told(panel: Properties, editor: Editor) -> None:
    network = chain(layer("sequence_input", channels=8, length=5), layer("self_attention", scores="heads"))
    editor.apply("Another", replace(editor.project, network=network))
    select(editor, "self_attention_1")
    assert ("Output out", "5 × 8") in panel.facts.facts
    assert ("Output scores", "4 × 5 × 5") in panel.facts.facts


def test_fields_that_vary_are_marked_and_ask_with_their_path(panel: Properties, editor: Editor) -> None:
    wanted: list[str] = []
    panel.sweep_requested.connect(wanted.append)
    select(editor, "conv_1")
    assert panel.form is not None
    panel.form.rows["filters"].label.sweep_requested.emit()
    assert wanted == ["network.conv_1.filters"]
    assert panel.form.rows["filters"].label.is_swept is False
    editor.edit("Vary", lambda project: with_parameter(project, wanted[0]))
    assert panel.form.rows["filters"].label.is_swept
    select(editor, "conv_2")
    assert panel.form.rows["filters"].label.is_swept is False
    select(editor, "conv_1", "conv_2")
    assert panel.form.rows["filters"].label.is_swept is None, "several layers have no common path"


def test_both_sides_of_shared_weights_are_named(panel: Properties, editor: Editor) -> None:
    editor.set_fields([editor.network.layer("conv_2").id], {"filters": 8, "kernel": 3})
    select(editor, "conv_1", "conv_2")
    editor.edit_selection(layer_edits.toggle_sharing)
    rows = {}
    for name in ("conv_1", "conv_2"):
        select(editor, name)
        rows[name] = " ".join(label.text() for label in panel.facts.findChildren(QLabel))
    assert "Also those of conv_2" in rows["conv_1"]
    assert "Same as conv_1" in rows["conv_2"]
