import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from netwright.designer import layer_edits
from netwright.designer.editor import Editor
from netwright.engine.core.types import image
from netwright.engine.network import edits
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout
from netwright.engine.network.network import Port
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of
from netwright.engine.project.project import Project
from netwright.engine.project.sweeps import with_parameter
from tests.builders import chain, classifier, layer

EDITORS_AS_GARBAGE = """
import gc
from PySide6.QtGui import QGuiApplication
from netwright.designer.editor import Editor

application = QGuiApplication([])
for _ in range(20):
    editor = Editor()
    editor.itself = editor
    for _ in range(5):
        editor.add_layer("relu")
    del editor
    gc.collect()
"""


@pytest.fixture
def editor(qapp) -> Editor:
    network = classifier()
    return Editor(Project(network, arrange(network)))


def names(editor: Editor) -> list[str]:
    return [one.name for one in editor.network.layers.values()]


def id_of(editor: Editor, name: str) -> str:
    return editor.network.layer(name).id


def links(editor: Editor) -> set[tuple[str, str]]:
    layers = editor.network.layers
    return {(layers[c.source.layer].name, layers[c.target.layer].name) for c in editor.network.connections}


def test_an_edit_is_shown_analysed_and_can_be_undone(editor, qtbot):
    before = editor.project
    with qtbot.waitSignals([editor.project_changed, editor.analysis_changed]):
        editor.set_fields([id_of(editor, "fc_1")], {"outputs": 16})
    assert editor.analysis.parameters == 36 * 16 + 16 + 16 * 3 + 3
    editor.undo()
    assert editor.project is before
    assert editor.analysis.parameters == 36 * 8 + 8 + 8 * 3 + 3
    editor.redo()
    assert editor.network.layer("fc_1").type.outputs == 16


def test_layers_share_weights_and_get_their_own_again(editor, qtbot):
    first, second = id_of(editor, "fc_1"), id_of(editor, "fc_2")
    editor.set_selection({first, second})
    with qtbot.waitSignal(editor.refused) as refused:
        editor.edit_selection(layer_edits.toggle_sharing)
    assert refused.args == ["'fc_2' and 'fc_1' differ in Outputs: layers with the same weights have equal settings."]
    twins = chain(layer("feature_input", channels=4), *[layer("fully_connected", outputs=4)] * 2)
    shared = Editor(Project(twins, arrange(twins)))
    shared.set_selection({id_of(shared, "fc_1"), id_of(shared, "fc_2")})
    shared.edit_selection(layer_edits.toggle_sharing)
    assert shared.network.layer("fc_2").weights_of == id_of(shared, "fc_1")
    assert shared.analysis.parameters == 20
    shared.undo()
    assert shared.analysis.parameters == 40
    shared.redo()
    shared.set_selection({id_of(shared, "fc_1")})
    shared.edit_selection(layer_edits.toggle_sharing)
    assert (shared.analysis.parameters, shared.network.layer("fc_2").weights_of) == (40, "")
    with qtbot.waitSignal(shared.refused):
        shared.edit_selection(layer_edits.toggle_sharing)


def test_a_move_does_not_ask_for_a_new_analysis(editor, qtbot):
    with qtbot.assertNotEmitted(editor.analysis_changed):
        editor.apply_here("Move", layout=editor.layout.moved({id_of(editor, "fc_1"): (40.0, 40.0)}))
    assert editor.layout.at(id_of(editor, "fc_1")) == (40.0, 40.0)


def test_other_training_options_ask_for_a_new_report_but_not_for_another_network(editor, qtbot):
    network = editor.network
    with qtbot.waitSignal(editor.analysis_changed):
        editor.apply("Batch", editor.project.with_section("training", editor.project.training.replace(max_epochs=3)))
    assert editor.network is network


def test_nothing_is_put_on_the_stack_for_an_edit_that_changes_nothing(editor):
    editor.set_fields([id_of(editor, "fc_1")], {"outputs": 8})
    editor.apply("Nothing", replace(editor.project))
    assert editor.stack.count() == 0
    assert not editor.is_modified


def test_typing_in_one_field_is_one_step(editor):
    id = id_of(editor, "fc_1")
    for outputs in (1, 16, 160):
        editor.set_fields([id], {"outputs": outputs}, merge=f"{id} outputs")
    assert editor.stack.count() == 1
    editor.undo()
    assert editor.network.layers[id].type.outputs == 8


def test_different_fields_are_steps_of_their_own(editor):
    id = id_of(editor, "fc_1")
    editor.set_fields([id], {"outputs": 4}, merge="a")
    editor.set_fields([id], {"bias": False}, merge="b")
    assert editor.stack.count() == 2


def test_saving_ends_a_step_and_undoing_beyond_it_is_a_modification(editor, qtbot):
    id = id_of(editor, "fc_1")
    editor.set_fields([id], {"outputs": 4}, merge="a")
    assert editor.is_modified
    with qtbot.waitSignal(editor.modified_changed) as changed:
        editor.mark_saved()
    assert changed.args == [False]
    editor.set_fields([id], {"outputs": 5}, merge="a")
    assert editor.stack.count() == 2
    editor.undo()
    assert not editor.is_modified
    editor.undo()
    assert editor.is_modified


def test_a_refusal_is_told_in_words_and_changes_nothing(editor, qtbot):
    before = editor.project
    fc, relu = id_of(editor, "fc_1"), id_of(editor, "relu_1")
    with qtbot.waitSignal(editor.refused) as refused:
        assert not editor.edit_network(
            "Connect", lambda network: edits.connect(network, Port(relu, "out"), Port(fc, "in"))
        )
    assert "cycle" in refused.args[0]
    assert editor.project is before


def test_what_undo_brings_back_is_selected(editor):
    ids = {id_of(editor, "fc_1"), id_of(editor, "relu_1")}
    editor.set_selection(ids)
    editor.delete_selection()
    assert editor.selection == frozenset()
    assert names(editor) == ["image_1", "fc_2", "softmax_1"]
    editor.undo()
    assert editor.selection == ids


def test_the_selection_holds_only_layers_that_are_there(editor):
    editor.set_selection(["gone", id_of(editor, "fc_1")])
    assert editor.selection == {id_of(editor, "fc_1")}


def test_deleting_a_selected_connection_leaves_the_layers(editor):
    first = editor.network.connections[0]
    editor.set_selection((), [first])
    editor.delete_selection()
    assert first not in editor.network.connections
    assert len(editor.network) == 5
    assert editor.selected_connections == frozenset()


def test_layers_added_one_after_the_other_become_a_chain(qapp):
    editor = Editor()
    for key in ("image_input", "fully_connected", "relu"):
        editor.add_layer(key)
    assert links(editor) == {("image_1", "fc_1"), ("fc_1", "relu_1")}
    heights = [editor.layout.at(id)[1] for id in editor.network.layers]
    assert heights == sorted(set(heights))


def test_a_layer_added_to_one_in_the_middle_goes_between_and_gets_room(editor):
    editor.set_selection({id_of(editor, "fc_1")})
    below = editor.layout.at(id_of(editor, "relu_1"))
    new = editor.add_layer("dropout")
    assert new is not None
    assert ("fc_1", "dropout_1") in links(editor)
    assert ("dropout_1", "relu_1") in links(editor)
    assert ("fc_1", "relu_1") not in links(editor)
    assert editor.layout.at(new) == below
    assert editor.layout.at(id_of(editor, "relu_1"))[1] > below[1]
    editor.undo()
    assert editor.layout.at(id_of(editor, "relu_1")) == below


def test_a_layer_that_does_not_fit_is_added_without_a_connection(editor):
    editor.set_selection({id_of(editor, "softmax_1")})
    editor.add_layer("lstm")
    assert not any("lstm_1" in pair for pair in links(editor))


def test_an_unknown_type_is_refused_by_name(editor, qtbot):
    with qtbot.waitSignal(editor.refused) as refused:
        assert editor.add_layer("conv2x") is None
    assert "conv2x" in refused.args[0]


def test_an_input_cannot_be_inserted_into_a_connection(editor, qtbot):
    with qtbot.waitSignal(editor.refused) as refused:
        assert editor.insert_layer("image_input", (0, 0), editor.network.connections[0]) is None
    assert "no input" in refused.args[0]


def test_copied_layers_are_text_that_another_editor_pastes(editor):
    editor.set_selection({id_of(editor, "fc_1"), id_of(editor, "relu_1")})
    editor.copy()
    text = json.loads(QGuiApplication.clipboard().text())
    assert [row["name"] for row in text["layers"]] == ["fc_1", "relu_1"]
    other = Editor()
    other.paste()
    assert links(other) == {("fc_1", "relu_1")}
    assert other.selection == frozenset(other.network.layers)


def test_pasted_layers_lie_on_no_others(editor):
    editor.select_all()
    editor.copy()
    editor.paste()
    editor.paste()
    places = list(editor.layout.positions.values())
    assert len(places) == len(editor.network) == 15
    assert not any(
        abs(x - other_x) < NODE_WIDTH and abs(y - other_y) < NODE_HEIGHT
        for index, (x, y) in enumerate(places)
        for other_x, other_y in places[:index]
    )


def test_pasting_at_a_place_puts_the_corner_there(editor):
    editor.set_selection({id_of(editor, "fc_1"), id_of(editor, "relu_1")})
    editor.copy()
    editor.paste((400.0, 80.0))
    places = [editor.layout.at(id) for id in editor.selection]
    assert min(places) == (400.0, 80.0)
    editor.paste((392.0, 80.0))
    again = [editor.layout.at(id) for id in editor.selection]
    assert min(again) == (584.0, 80.0), "beside the layers that are there"


def test_cutting_takes_the_layers_away_and_keeps_them_for_pasting(editor):
    editor.set_selection({id_of(editor, "relu_1")})
    editor.cut()
    assert "relu_1" not in names(editor)
    editor.paste()
    assert "relu_1" in names(editor)


@pytest.mark.parametrize("text", ["", "hello", "[1]", '{"a": 1}', '{"layers": []}', "[" * 100_000])
def test_a_clipboard_without_layers_says_so(editor, qtbot, text):
    QGuiApplication.clipboard().setText(text)
    with qtbot.waitSignal(editor.refused) as refused:
        editor.paste()
    assert "no layers" in refused.args[0]
    assert not editor.is_modified


def test_faulty_layers_on_the_clipboard_are_refused_by_name(editor, qtbot):
    row = {"id": "a", "name": "fc", "type": "fully_connected", "fields": {"outputs": -1}}
    QGuiApplication.clipboard().setText(json.dumps({"layers": [row], "connections": []}))
    with qtbot.waitSignal(editor.refused) as refused:
        editor.paste()
    assert "outputs" in refused.args[0]


def test_duplicating_leaves_the_clipboard_alone(editor):
    QGuiApplication.clipboard().setText("mine")
    editor.set_selection({id_of(editor, "fc_1")})
    editor.duplicate()
    assert QGuiApplication.clipboard().text() == "mine"
    assert len(editor.network) == 6


def test_arranging_is_one_step(editor):
    editor.apply("Heap", replace(editor.project, layout=Layout()))
    editor.apply_here("Arrange", layout=arrange(editor.network, editor.layout))
    assert editor.layout == arrange(editor.network)
    editor.undo()
    assert editor.layout == Layout()


def test_a_name_is_changed_or_refused(editor, qtbot):
    id = id_of(editor, "fc_1")
    assert editor.rename(id, "head")
    with qtbot.waitSignal(editor.refused) as refused:
        assert not editor.rename(id, "fc_2")
    assert "fc_2" in refused.args[0]
    assert editor.network.layers[id].name == "head"


def test_facts_of_the_data_change_the_problems(editor, qtbot):
    facts = DatasetInfo((InputInfo("image", image(1, 8, 8)),), {"training": 200}, classes_of("a", "b", "c"))
    with qtbot.waitSignal(editor.analysis_changed):
        editor.set_dataset_info(facts)
    assert any(problem.name == "image_1" for problem in editor.problems)


def test_opening_another_project_starts_a_new_history(editor):
    editor.set_fields([id_of(editor, "fc_1")], {"outputs": 4})
    editor.open(Project(chain(layer("image_input"))))
    assert names(editor) == ["image_1"]
    assert editor.stack.count() == 0
    assert not editor.is_modified
    assert editor.selection == frozenset()


def test_the_garbage_collector_takes_editors_with_a_history():
    """In a process of its own: it crashed."""
    ended = subprocess.run(
        [sys.executable, "-c", EDITORS_AS_GARBAGE],
        cwd=Path(__file__).parents[2],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_renamed_layer_is_followed_by_what_varies_in_one_step(editor):
    dense = next(one for one in editor.network.layers.values() if "outputs" in one.type.fields)
    path = f"network.{dense.name}.outputs"
    editor.edit("Vary", lambda project: with_parameter(project, path))
    assert editor.rename(dense.id, "wide")
    assert [p.path for p in editor.project.experiment.parameters] == ["network.wide.outputs"]
    assert editor.stack.undoText() == "Rename to wide, also in the experiment"
    editor.undo()
    assert [p.path for p in editor.project.experiment.parameters] == [path]
