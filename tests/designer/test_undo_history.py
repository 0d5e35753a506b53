"""What undo and redo say about a step."""

from dataclasses import replace
from functools import partial

import pytest

from netwright.designer.editor import Editor
from netwright.designer.undo_history import Step
from netwright.engine.network import edits
from netwright.engine.network.arrangement import arrange
from netwright.engine.project.project import Project
from tests.builders import classifier


@pytest.fixture
def editor(qapp) -> Editor:
    network = classifier()
    return Editor(Project(network, arrange(network)))


@pytest.fixture
def said(editor: Editor) -> list[Step]:
    steps: list[Step] = []
    editor.stepped.connect(steps.append)
    return steps


def set_training(editor: Editor, **values: object) -> None:
    training = editor.project.training.replace(**values)
    editor.apply("Change training options", replace(editor.project, training=training))


def test_undo_of_training_options_names_them_with_their_values(editor: Editor, said: list[Step]) -> None:
    set_training(editor, initial_learn_rate=0.05)
    assert said == [], "an edit is seen where it is made"
    editor.undo()
    editor.redo()
    assert [step.text for step in said] == [
        "Undid: Training options: initial learn rate is 0.01 again",
        "Redid: Training options: initial learn rate 0.01 → 0.05",
    ]
    assert {step.place for step in said} == {"options"}


def test_many_options_are_counted(editor: Editor, said: list[Step]) -> None:
    set_training(editor, initial_learn_rate=0.05, max_epochs=7, mini_batch_size=64, seed=3)
    editor.undo()
    assert said[0].text.endswith(" and 2 more")
    assert said[0].text.startswith("Undid: Training options: ")


def test_undo_of_data_is_seen_on_its_tab(editor: Editor, said: list[Step]) -> None:
    editor.apply("Choose data", replace(editor.project, data=editor.project.data.replace(source="digits")))
    editor.undo()
    assert said == [Step("Undid: Data: data source is none again", "data")]


def test_undo_of_edits_of_the_network(editor: Editor, said: list[Step]) -> None:
    fc = editor.network.layer("fc_1").id
    editor.set_fields([fc], {"outputs": 16})
    editor.set_selection({fc})
    editor.delete_selection()
    editor.add_layer("tanh")
    for _ in range(3):
        editor.undo()
    assert [step.text for step in said] == [
        "Undid: Add Tanh: tanh_1",
        "Undid: Delete fc_1",
        "Undid: fc_1 outputs is 8 again",
    ]
    assert {step.place for step in said} == {"design"}


def test_steps_that_became_one_are_named_by_the_last(editor: Editor, said: list[Step]) -> None:
    fc = editor.network.layer("fc_1").id
    for name in ("d", "de", "dense"):
        editor.edit_network(f"Rename to {name}", partial(edits.rename, id=fc, name=name), merge="name")
    assert (editor.stack.count(), editor.stack.undoText()) == (1, "Rename to dense")
    editor.undo()
    assert said[0].text.startswith("Undid: Rename to dense")


def test_steps_that_lead_back_leave_none(editor: Editor, said: list[Step]) -> None:
    fc = editor.network.layer("fc_1").id
    before = editor.project
    for outputs in (80, 8):
        editor.set_fields([fc], {"outputs": outputs}, merge="outputs")
    assert editor.project == before
    assert (editor.stack.count(), editor.stack.canUndo(), editor.stack.isClean()) == (0, False, True)
    editor.undo()
    assert said == []
    editor.set_fields([fc], {"outputs": 9}, merge="outputs")
    assert editor.stack.undoText() == "Change outputs"


def test_without_a_step_nothing_is_said(editor: Editor, said: list[Step]) -> None:
    editor.undo()
    editor.redo()
    assert said == []
