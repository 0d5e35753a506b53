"""What the window offers around the analysis: find, tint, align, the table as a file, memory in the status bar."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from netwright.app.documents import EXAMPLES
from netwright.app.window import MainWindow

DIGITS = EXAMPLES / "digits.netwright"
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def digits(window: MainWindow) -> MainWindow:
    window.open_path(DIGITS)
    window.design.canvas.setFocus()
    return window


def ids(window: MainWindow, *names: str) -> list[str]:
    return [window.editor.network.layer(name).id for name in names]


def run(window: MainWindow, id: str) -> None:
    assert window.menus.actions_by_id[id].isEnabled()
    window.menus.actions_by_id[id].trigger()


def test_ctrl_f_finds_a_layer(qtbot: QtBot, digits: MainWindow) -> None:
    qtbot.keyClick(digits.design.canvas, Qt.Key.Key_F, CONTROL)
    bar = digits.canvas_commands.find_bar
    qtbot.waitUntil(bar.field.hasFocus)
    qtbot.keyClicks(bar.field, "pool")
    assert digits.editor.selection == set(ids(digits, "pool"))
    assert digits.design.properties.header.title.text() == "pool"
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert bar.isHidden()
    qtbot.keyClick(digits.design.canvas, Qt.Key.Key_F, CONTROL)
    assert digits.canvas_commands.find_bar is bar
    assert bar.isVisible()


def test_f3_goes_on_from_the_canvas_and_opens_a_closed_bar(qtbot: QtBot, digits: MainWindow) -> None:
    qtbot.keyClick(digits.design.canvas, Qt.Key.Key_F3)
    bar = digits.canvas_commands.find_bar
    assert bar.isVisible()
    qtbot.keyClicks(bar.field, "conv_")
    digits.design.canvas.setFocus()
    found = []
    for keys in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.NoModifier, SHIFT):
        qtbot.keyClick(digits.design.canvas, Qt.Key.Key_F3, keys)
        found += [digits.editor.network.layers[id].name for id in digits.editor.selection]
    assert found == ["conv_2", "conv_3", "conv_2"]


def test_keys_of_the_canvas_and_the_window_are_letters_in_the_find_bar(qtbot: QtBot, digits: MainWindow) -> None:
    before = digits.editor.project
    run(digits, "edit.find")
    field = digits.canvas_commands.find_bar.field
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClicks(field, "conv_1 abf")
    for key in (Qt.Key.Key_Backspace, Qt.Key.Key_Home, Qt.Key.Key_Delete):
        qtbot.keyClick(field, key)
    qtbot.keyClick(field, Qt.Key.Key_A, CONTROL)
    assert (field.text(), field.selectedText()) == ("onv_1 ab", "onv_1 ab")
    qtbot.keyClick(field, Qt.Key.Key_X, CONTROL)
    assert field.text() == ""
    assert digits.editor.project is before
    assert digits.editor.selection == set(ids(digits, "conv_1"))


def test_undo_in_the_find_bar_is_the_projects(qtbot: QtBot, digits: MainWindow) -> None:
    digits.editor.set_fields(ids(digits, "conv_1"), {"filters": 3})
    run(digits, "edit.find")
    run(digits, "edit.undo")
    assert digits.editor.network.layer("conv_1").type.replace(filters=16) == digits.editor.network.layer("conv_1").type


def test_lenses_have_keys(qtbot: QtBot, digits: MainWindow) -> None:
    scene = digits.design.canvas.network_scene
    qtbot.keyClick(digits.design.canvas, Qt.Key.Key_H, CONTROL | SHIFT)
    assert scene.tint.kind == "parameters"
    qtbot.keyClick(digits.design.canvas, Qt.Key.Key_T, CONTROL | SHIFT)
    assert (scene.tint.kind, bool(scene.stages)) == ("", True)
    qtbot.keyClick(digits.design.canvas, Qt.Key.Key_1)
    assert not scene.stages
    assert digits.design.canvas.overlays.legend.isHidden()


@pytest.mark.parametrize(
    ("id", "axis", "value"),
    [("left", 0, 194), ("centre", 0, 312), ("right", 0, 430), ("top", 1, 300), ("middle", 1, 328), ("bottom", 1, 360)],
)
def test_layers_are_aligned_as_one_undo_step(digits: MainWindow, id: str, axis: int, value: float) -> None:
    before = digits.editor.layout
    chosen = ids(digits, "conv_2", "skip")
    digits.editor.set_selection(chosen)
    run(digits, f"align.{id}")
    assert {digits.editor.layout.at(layer)[axis] for layer in chosen} == {value}
    assert digits.editor.stack.undoText() == f"Align {id}"
    run(digits, "edit.undo")
    assert digits.editor.layout == before


def test_layers_are_distributed(digits: MainWindow) -> None:
    chosen = ids(digits, "conv_2", "bn_2", "relu_2")
    digits.editor.apply_here("Move", layout=digits.editor.layout.moved({chosen[1]: (194.0, 400.0)}))
    digits.editor.set_selection(chosen)
    run(digits, "distribute.vertically")
    assert [digits.editor.layout.at(id)[1] for id in chosen] == [300, 360, 420]
    assert digits.editor.stack.undoText() == "Distribute vertically"


def test_what_is_in_line_already_is_no_step(digits: MainWindow) -> None:
    digits.editor.set_selection(ids(digits, "conv_2", "bn_2"))
    run(digits, "align.left")
    assert not digits.editor.stack.canUndo()


def test_aligning_needs_several_layers(digits: MainWindow) -> None:
    digits.editor.set_selection(ids(digits, "conv_2"))
    assert not digits.menus.actions_by_id["align.left"].isEnabled()
    digits.editor.set_selection(ids(digits, "conv_2", "bn_2"))
    assert digits.menus.actions_by_id["align.left"].isEnabled()
    assert not digits.menus.actions_by_id["distribute.vertically"].isEnabled()


def test_only_the_selection_is_arranged(digits: MainWindow) -> None:
    chosen = ids(digits, "conv_3", "bn_3", "relu_3")
    digits.editor.apply_here(
        "Move",
        layout=digits.editor.layout.moved({id: (600.0 + 40 * n, 100.0) for n, id in enumerate(reversed(chosen))}),
    )
    before = digits.editor.layout
    digits.editor.set_selection(chosen)
    run(digits, "network.arrange_selection")
    after = digits.editor.layout
    assert all(after.at(id) == before.at(id) for id in digits.editor.network.layers if id not in chosen)
    ys = [after.at(id)[1] for id in chosen]
    assert ys == sorted(set(ys))
    assert len({after.at(id)[0] for id in chosen}) == 1


def test_the_context_menu_aligns_too(digits: MainWindow) -> None:
    chosen = ids(digits, "conv_2", "skip")
    digits.editor.set_selection(chosen)
    x, y = digits.editor.layout.at(chosen[0])
    menu = digits.design.canvas.menus.at(
        digits.design.canvas.mapToScene(digits.design.canvas.mapFromScene(x + 20, y + 20))
    )
    (align,) = [action.menu() for action in menu.actions() if action.text() == "Align"]
    assert isinstance(align, QMenu)
    next(action for action in align.actions() if action.text() == "Align top").trigger()
    assert {digits.editor.layout.at(id)[1] for id in chosen} == {300}


def test_the_table_is_exported(digits: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "layers.csv"), ""))
    run(digits, "file.export_table")
    lines = (tmp_path / "layers.csv").read_text().splitlines()
    assert lines[0] == "Layer,Type,Output,Parameters,FLOPs per sample,Activation bytes at batch 128"
    assert lines[1] == "image,Image input,1 × 8 × 8,0,0,32768"
    assert len(lines) == 16


def test_the_status_bar_says_the_memory_at_the_batch(digits: MainWindow) -> None:
    assert "5.1 MiB at batch 128" in digits.status.summary.text()
    project = digits.editor.project
    smaller = replace(project, training=project.training.replace(mini_batch_size=1))
    digits.editor.apply("Options", smaller)
    assert "188 KiB at batch 1" in digits.status.summary.text()


def test_a_fix_is_one_step_to_undo(digits: MainWindow) -> None:
    digits.editor.set_fields(ids(digits, "skip"), {"filters": 5})
    before = digits.editor.project
    (problem,) = [p for p in digits.editor.problems if p.severity == "error"]
    assert problem.fix is not None
    assert problem.fix.label == "Set filters of skip to 16"
    digits.design.problems.fix(problem)
    assert [p for p in digits.editor.problems if p.severity == "error"] == []
    run(digits, "edit.undo")
    assert digits.editor.project == before


def test_sums_behind_an_error_are_at_least_what_is_said(digits: MainWindow) -> None:
    assert "at least" not in digits.status.summary.text()
    digits.editor.set_fields(ids(digits, "skip"), {"filters": 5})
    assert digits.status.summary.text().count("at least ") == 3
    shown = dict(digits.design.properties.facts.facts)
    assert not digits.editor.selection
    for label in ("Parameters", "FLOPs per sample", "Weights", "Memory to train"):
        assert shown[label].startswith("at least "), label
    digits.editor.mark_saved()
    digits.files.new()
    assert "at least" not in digits.status.summary.text()
