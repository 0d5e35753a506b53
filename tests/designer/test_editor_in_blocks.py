"""Editing inside blocks: what is open, what an edit changes, and what undo and redo bring back."""

import random
from dataclasses import replace

import pytest

from netwright.designer import layer_edits
from netwright.designer.editor import Editor
from netwright.engine.network import edits
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.blocks import network_in
from netwright.engine.network.network import Port
from netwright.engine.project.project import Project
from tests.blocks import FEATURES, IMAGE, behind, conv, masked, residual, row
from tests.builders import layer


@pytest.fixture
def editor(qapp) -> Editor:
    """image_1 - stage (a block with a residual block called inner in it) - tail."""
    inner = row(residual(), layer("relu"))
    network = behind(IMAGE, inner, conv(2), names=("stage", "tail"))
    return Editor(Project(network, arrange(network)))


STAGE, INNER = ("id2",), ("id2", "id2")


def names(editor: Editor) -> list[str]:
    return [one.name for one in editor.network.layers.values()]


def in_stage(editor: Editor):
    return network_in(editor.project.network, STAGE)


def test_opening_a_block_shows_what_is_inside(editor, qtbot):
    editor.set_selection(["id3"])
    with qtbot.waitSignals([editor.scope_changed, editor.project_changed, editor.analysis_changed]):
        assert editor.open_block("id2")
    assert editor.scope == STAGE
    assert names(editor) == ["x", "block_1", "relu_1", "y"]
    assert editor.selection == frozenset()
    assert editor.analysis.shapes["id3"].output.short() == "4 × 6 × 6"
    assert editor.project.network.layers["id2"].name == "stage"
    assert not editor.is_modified
    editor.leave_block()
    assert (editor.scope, editor.selection) == ((), {"id2"})


def test_what_is_no_block_is_not_opened(editor):
    assert not editor.open_block("id1")
    assert not editor.open_block("gone")
    editor.open_scope(["id2", "gone", "more"])
    assert editor.scope == STAGE
    editor.open_scope(["id1"])
    assert editor.scope == ()


def test_an_edit_inside_changes_the_whole_project(editor):
    editor.open_scope(INNER)
    before = editor.project
    editor.set_fields(["id2"], {"filters": 4, "kernel": [5, 5]})
    assert editor.project is not before
    assert network_in(editor.project.network, INNER).layers["id2"].type.write()["kernel"] == 5
    assert editor.check_result.analysis.parameters > 0
    assert not editor.problems or all(problem.severity != "error" for problem in editor.problems)
    editor.undo()
    assert editor.project == before


def test_a_problem_inside_is_told_outside_and_leads_there(editor):
    editor.open_scope(INNER)
    editor.set_fields(["id2"], {"filters": 8})
    (problem,) = [p for p in editor.problems if p.severity == "error"]
    assert problem.name == "stage/block_1/add"
    (here,) = [p for p in editor.check_result_here.problems if p.severity == "error"]
    assert here.name == "add"
    editor.open_scope(())
    assert editor.go_to(problem) == "id4"
    assert (editor.scope, editor.selection) == (INNER, {"id4"})


def test_undo_and_redo_return_to_where_the_step_was_made(editor):
    first = editor.project
    editor.rename("id3", "end")
    editor.open_scope(INNER)
    editor.rename("id2", "wide")
    editor.open_scope(STAGE)
    editor.rename("id3", "act")
    editor.open_scope(())
    last = editor.project
    for scope in (STAGE, INNER, ()):
        editor.undo()
        assert editor.scope == scope
    assert editor.project == first
    for scope in ((), INNER, STAGE):
        editor.redo()
        assert editor.scope == scope
    assert editor.project == last
    assert "act" in names(editor)


def test_a_port_renamed_inside_is_renamed_outside(editor):
    editor.open_scope(STAGE)
    before = editor.project
    editor.rename("id1", "data")
    block = editor.project.network.layers["id2"].type
    assert block.input_ports() == ("data",)
    assert [c.target.name for c in editor.project.network.connections] == ["data", "in"]
    assert not [p for p in editor.problems if p.severity == "error"]
    editor.undo()
    assert editor.project == before


def test_a_port_removed_inside_cuts_the_connection_outside_and_undo_heals_it(editor):
    editor.open_scope(STAGE)
    before = editor.project
    editor.set_selection({"id4"})
    editor.delete_selection()
    assert len(editor.project.network.connections) == 1
    assert editor.problems
    editor.undo()
    assert editor.project == before
    assert editor.scope == STAGE


def test_undoing_the_block_while_inside_shows_what_is_around_it(editor):
    editor.set_selection({"id3"})
    id = editor.group()
    assert id is not None
    editor.open_block(id)
    assert names(editor) == ["tail", "input_1", "output_1"]
    editor.undo()
    assert editor.scope == ()
    assert "tail" in names(editor)
    assert editor.selection <= set(editor.network.layers)
    editor.redo()
    assert editor.scope == ()
    assert id in editor.network.layers


def test_a_change_that_takes_the_open_block_away_shows_what_is_around_it(editor, qtbot):
    editor.open_scope(INNER)
    project = Project(behind(IMAGE, conv(3)))
    with qtbot.waitSignal(editor.scope_changed) as told:
        editor.apply("Other", project)
    assert told.args == [()]
    assert editor.network == project.network
    editor.undo()
    assert editor.scope == INNER


def test_copied_inside_one_block_and_pasted_in_another(editor):
    editor.open_scope(INNER)
    editor.set_selection({"id2", "id3"})
    editor.copy()
    editor.open_scope(())
    editor.paste()
    assert {"conv", "bn"} <= set(names(editor))
    assert len(editor.network.connections) == 3
    editor.open_scope(STAGE)
    editor.paste()
    assert {"conv", "bn"} <= set(names(editor))
    assert editor.scope == STAGE
    editor.undo()
    editor.undo()
    assert editor.scope == ()
    assert names(editor) == ["image_1", "stage", "tail"]


def test_a_copied_block_takes_along_what_is_inside_and_where_it_stands(editor):
    editor.open_scope(STAGE)
    editor.apply_here("Arrange", layout=arrange(editor.network, editor.layout))
    editor.open_scope(())
    editor.set_selection({"id2"})
    editor.copy()
    editor.paste()
    (new,) = editor.selection
    assert editor.network.layers[new].type == editor.network.layers["id2"].type
    assert editor.layout.within([new]).positions == editor.layout.within(["id2"]).positions
    editor.set_selection({new})
    editor.duplicate()
    assert len([one for one in editor.network.layers.values() if isinstance(one.type, Block)]) == 3


def test_ports_are_added_only_inside(editor, qtbot):
    with qtbot.waitSignal(editor.refused) as refused:
        assert editor.add_layer("block_input") is None
    assert "stands inside a block" in refused.args[0]
    editor.open_scope(STAGE)
    assert editor.add_layer("block_input", (0.0, 0.0)) is not None
    assert len(editor.project.network.layers["id2"].type.input_ports()) == 2


def test_all_layers_are_one_block_but_for_what_cannot_be_in_one(editor, qtbot):
    inputs = {id for id, layer in editor.network.layers.items() if layer.type.is_input}
    assert inputs
    editor.select_all()
    with qtbot.waitSignal(editor.refused) as told:
        id = editor.group()
    assert id is not None
    assert set(editor.network.layers) == inputs | {id}
    assert all(editor.network.layers[one].name in told.args[0] for one in inputs)


def test_what_the_engine_refuses_is_told_and_changes_nothing(editor, qtbot):
    before = editor.project
    editor.edit_selection(layer_edits.toggle_bypass)
    editor.set_selection({"id1"})
    for refuse in (editor.group, editor.ungroup):
        with qtbot.waitSignal(editor.refused):
            refuse()
    editor.set_selection({"id2"})
    editor.edit_selection(layer_edits.toggle_bypass)
    with qtbot.waitSignal(editor.refused) as refused:
        editor.ungroup()
    assert "bypassed" in refused.args[0]
    editor.undo()
    with qtbot.waitSignal(editor.refused) as refused:
        editor.set_fields(["id2"], {"repeat": 5000})
    assert "1,000" in refused.args[0]
    assert editor.project == before


def test_too_many_copies_by_an_edit_inside_are_refused(editor, qtbot):
    editor.set_fields(["id2"], {"repeat": 1000})
    before = editor.project
    editor.open_scope(STAGE)
    with qtbot.waitSignal(editor.refused) as refused:
        editor.set_fields(["id2"], {"repeat": 10})
    assert "a network has at most 20,000" in refused.args[0]
    assert editor.project == before


def test_grouping_and_ungrouping_inside_a_block(editor):
    editor.open_scope(STAGE)
    before = editor.project
    editor.set_selection({"id2", "id3"})
    id = editor.group()
    assert editor.selection == {id}
    assert editor.scope == STAGE
    editor.ungroup()
    assert sorted(names(editor)) == sorted(["x", "block_1", "relu_1", "y"])
    assert not [p for p in editor.problems if p.severity == "error"]
    editor.undo()
    editor.undo()
    assert editor.project == before


def test_typing_in_two_blocks_is_two_steps(editor):
    editor.open_scope(INNER)
    editor.set_fields(["id2"], {"filters": 5}, merge="id2 filters")
    editor.set_fields(["id2"], {"filters": 6}, merge="id2 filters")
    editor.open_scope(())
    editor.set_fields(["id2"], {"repeat": 2}, merge="id2 filters")
    assert editor.stack.count() == 2


def random_edit(editor: Editor, dice: random.Random) -> None:
    """One thing a person might do, somewhere."""
    layers = list(editor.network.layers)
    if not layers:
        editor.undo()
        return
    one = dice.choice(layers)
    match dice.randrange(13):
        case 0:
            editor.open_block(one)
        case 1:
            editor.leave_block()
        case 2:
            editor.set_selection(dice.sample(layers, min(len(layers), 2)))
            editor.group()
        case 3:
            editor.set_selection([one])
            editor.ungroup()
        case 4:
            editor.rename(one, f"name_{dice.randrange(9)}")
        case 5:
            editor.set_selection([one])
            editor.delete_selection(heal=dice.random() < 0.5)
        case 6:
            editor.set_selection([one])
            editor.add_layer(
                dice.choice(["relu", "block", "block_input", "block_output", "addition", "fully_connected"])
            )
        case 7:
            outs = [Port(id, p) for id, x in editor.network.layers.items() for p in x.type.output_ports()]
            ins = [Port(id, p) for id, x in editor.network.layers.items() for p in x.type.input_ports()]
            if outs and ins:
                ends = dice.choice(outs), dice.choice(ins)
                editor.edit_network("Connect", lambda network: edits.connect(network, *ends))
        case 8:
            editor.set_selection([one])
            editor.copy()
            editor.open_scope(dice.choice([(), STAGE, INNER]))
            editor.paste()
        case 9:
            editor.set_selection([one])
            editor.edit_selection(layer_edits.toggle_bypass)
        case 10:
            editor.apply_here("Move", layout=editor.layout.moved({one: (dice.uniform(-99, 99), dice.uniform(-99, 99))}))
        case 11:
            if isinstance(editor.network.layers[one].type, Block):
                editor.set_fields([one], {"repeat": dice.randrange(1, 4)})
        case 12:
            dice.choice(
                [
                    editor.undo,
                    editor.redo,
                    lambda: editor.apply_here("Arrange", layout=arrange(editor.network, editor.layout)),
                ]
            )()


@pytest.mark.parametrize("seed", range(4))
def test_undo_takes_back_whatever_was_done_and_redo_does_it_again(editor, seed):
    dice = random.Random(seed)
    first = editor.project
    for _ in range(60):
        random_edit(editor, dice)
        assert editor.network is network_in(editor.project.network, editor.scope)
        assert editor.selection <= set(editor.network.layers)
        assert ports_are_there(editor)
    while editor.stack.canRedo():  # the walk itself may have ended in the middle
        editor.redo()
    last = editor.project
    while editor.stack.canUndo():
        editor.undo()
    assert editor.project == first
    while editor.stack.canRedo():
        editor.redo()
    assert editor.project == last


def ports_are_there(editor: Editor) -> bool:
    """Every connection, however deep, ends at ports that its layers have."""
    waiting = [editor.project.network]
    while waiting:
        network = waiting.pop()
        for line in network.connections:
            if line.source.name not in network.layers[line.source.layer].type.output_ports():
                return False
            if line.target.name not in network.layers[line.target.layer].type.input_ports():
                return False
        waiting += [one.type.network for one in network.layers.values() if isinstance(one.type, Block)]
    return True


def test_the_layout_inside_follows_undo(editor):
    editor.open_scope(STAGE)
    before = editor.layout
    editor.apply_here("Move", layout=editor.layout.moved({"id2": (400.0, 400.0)}))
    assert editor.project.layout.within(STAGE).at("id2") == (400.0, 400.0)
    editor.open_scope(())
    editor.undo()
    assert editor.scope == STAGE
    assert editor.layout == before


def test_a_mask_port_shows_on_the_block(qapp):
    network = behind(FEATURES, masked(), names=("steps",))
    editor = Editor(Project(network, arrange(network)))
    editor.open_block("id2")
    ports = [one.name for one in editor.network.layers.values() if isinstance(one.type, BlockInput | BlockOutput)]
    assert ports == ["x", "mask", "y"]
    editor.apply("Options", replace(editor.project, training=editor.project.training.replace(max_epochs=2)))
    assert editor.scope == ("id2",)
