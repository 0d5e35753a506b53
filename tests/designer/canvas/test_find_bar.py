"""The find bar, by keyboard and mouse."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from netwright.designer.canvas.find_bar import FindBar
from tests.blocks import IMAGE, behind, conv, residual, row
from tests.builders import chain, layer
from tests.designer.mouse import NONE, Hand

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def bar(hand: Hand) -> FindBar:
    bar = FindBar(hand.view)
    bar.open()
    hand.qtbot.waitUntil(bar.field.hasFocus)
    return bar


def selected(hand: Hand) -> list[str]:
    return [hand.editor.network.layers[id].name for id in hand.editor.selection]


def test_typing_goes_to_the_first_layer_and_keys_to_the_others(hand: Hand, bar: FindBar) -> None:
    hand.qtbot.keyClicks(bar.field, "fc")
    assert (selected(hand), bar.count.text()) == (["fc_1"], "1 of 2")
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert (selected(hand), bar.count.text()) == (["fc_2"], "2 of 2")
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_F3)
    assert selected(hand) == ["fc_1"]
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Return, SHIFT)
    assert selected(hand) == ["fc_2"]
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_F3, SHIFT)
    assert selected(hand) == ["fc_1"]
    assert bar.field.hasFocus()


def test_typing_on_stays_where_it_still_fits(hand: Hand, bar: FindBar) -> None:
    hand.qtbot.keyClicks(bar.field, "fc")
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    hand.qtbot.keyClicks(bar.field, "_")
    assert (selected(hand), bar.count.text()) == (["fc_2"], "2 of 2")


def test_nothing_found_is_said_and_changes_nothing(hand: Hand, bar: FindBar) -> None:
    hand.qtbot.keyClicks(bar.field, "softmax")
    hand.qtbot.keyClicks(bar.field, "zzz")
    assert bar.count.text() == "None found"
    assert bar.count.width() >= bar.count.fontMetrics().horizontalAdvance(bar.count.text())
    assert selected(hand) == ["softmax_1"]
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert selected(hand) == ["softmax_1"]
    bar.field.clear()
    assert bar.count.text() == ""


def test_escape_closes_and_keeps_what_was_found(hand: Hand, bar: FindBar) -> None:
    hand.qtbot.keyClicks(bar.field, "relu")
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert selected(hand) == ["relu_1"]
    hand.qtbot.waitUntil(hand.view.hasFocus)
    bar.open()
    assert bar.field.selectedText() == "relu"
    assert bar.count.text() == "1 of 1"


def test_keys_typed_into_the_bar_do_not_reach_the_canvas(hand: Hand, bar: FindBar) -> None:
    hand.editor.set_selection({hand.id("fc_1")})
    before = hand.editor.project
    zoom = hand.view.zoom
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_F, Qt.Key.Key_Delete, Qt.Key.Key_F2, Qt.Key.Key_Left):
        hand.qtbot.keyClick(bar.field, key, NONE)
    assert hand.editor.project is before
    assert hand.view.zoom == zoom


def test_a_problem_is_found_and_the_count_follows_edits(hand: Hand, bar: FindBar) -> None:
    hand.qtbot.keyClicks(bar.field, "not connected")
    assert bar.count.text() == "None found"
    hand.editor.disconnect_all(hand.editor.network.outgoing[hand.id("relu_1")])
    assert bar.count.text() == "1 found"
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert (selected(hand), bar.count.text()) == (["fc_2"], "1 of 1")


@pytest.fixture
def nested(make_hand) -> tuple[Hand, FindBar]:
    """image_1 - stage, with a residual block and a ReLU in it - tail, and the bar."""
    hand = make_hand(behind(IMAGE, row(residual(), layer("relu")), conv(2), names=("stage", "tail")))
    bar = FindBar(hand.view)
    bar.open()
    hand.qtbot.waitUntil(bar.field.hasFocus)
    return hand, bar


def test_what_is_inside_a_block_is_counted_there_and_enter_goes_to_it(nested: tuple[Hand, FindBar]) -> None:
    hand, bar = nested
    hand.qtbot.keyClicks(bar.field, "relu_1")
    assert (hand.editor.scope, selected(hand), bar.count.text()) == ((), [], "1 in stage")
    assert bar.field.property("invalid") != "true"
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert (hand.editor.scope, selected(hand), bar.count.text()) == (("id2",), ["relu_1"], "1 of 1")
    assert bar.field.hasFocus()
    bar.field.clear()
    hand.qtbot.keyClicks(bar.field, "tail")
    assert bar.count.text() == "1 outside"
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert (hand.editor.scope, selected(hand)) == ((), ["tail"])
    assert hand.editor.stack.count() == 0


def test_the_open_block_comes_first_and_all_are_reached(nested: tuple[Hand, FindBar]) -> None:
    hand, bar = nested
    hand.qtbot.keyClicks(bar.field, "convolution")
    assert (selected(hand), bar.count.text()) == (["tail"], "2 of 2")
    hand.qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert (hand.editor.scope, selected(hand), bar.count.text()) == (("id2", "id2"), ["conv"], "1 of 2")
    bar.field.clear()
    hand.editor.open_scope(())
    hand.qtbot.keyClicks(bar.field, "4 x 6 x 6 norm")
    assert bar.count.text() == "1 in stage/block_1"


def test_a_size_is_found_as_it_stands_on_a_connection(hand: Hand, bar: FindBar) -> None:
    hand.qtbot.keyClicks(bar.field, "1 x 6 x 6")
    assert (selected(hand), bar.count.text()) == (["image_1"], "1 of 1")


def test_the_buttons_do_what_the_keys_do(hand: Hand, bar: FindBar) -> None:
    hand.qtbot.keyClicks(bar.field, "fc")
    previous, following, close = bar.findChildren(QToolButton)[-3:]
    hand.qtbot.mouseClick(following, Qt.MouseButton.LeftButton)
    assert selected(hand) == ["fc_2"]
    hand.qtbot.mouseClick(previous, Qt.MouseButton.LeftButton)
    assert selected(hand) == ["fc_1"]
    hand.qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert bar.isHidden()


def test_what_is_far_away_comes_into_sight(make_hand) -> None:
    hand = make_hand(chain(layer("image_input"), *(layer("relu") for _ in range(60)), layer("softmax")))
    bar = FindBar(hand.view)
    bar.open()
    hand.qtbot.keyClicks(bar.field, "softmax")
    assert hand.view.rect().contains(hand.body("softmax_1"))


def test_the_bar_stays_at_the_edge_of_the_canvas(hand: Hand, bar: FindBar) -> None:
    hand.view.resize(700, 500)
    hand.qtbot.waitUntil(lambda: bar.geometry().right() <= 700)
    assert bar.geometry().right() > 600
