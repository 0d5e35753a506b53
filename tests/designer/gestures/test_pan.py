import pytest
from PySide6.QtCore import QPoint, Qt

from tests.designer.mouse import Hand


@pytest.mark.parametrize("with_space", [False, True])
def test_the_canvas_is_pushed_with_the_middle_button_or_with_space(hand: Hand, qtbot, with_space: bool):
    before = hand.body("image_1")
    start = before + QPoint(-250, 100)
    if with_space:
        qtbot.keyPress(hand.view, Qt.Key.Key_Space)
    button = Qt.MouseButton.LeftButton if with_space else Qt.MouseButton.MiddleButton
    hand.drag(start, start + QPoint(60, -35), button=button)
    assert hand.body("image_1") == before + QPoint(60, -35)
    assert hand.editor.stack.count() == 0
    assert hand.editor.selection == frozenset()
    if with_space:
        qtbot.keyRelease(hand.view, Qt.Key.Key_Space)
        hand.click(hand.body("fc_1"))
        assert hand.editor.selection == {hand.id("fc_1")}


def test_escape_pushes_it_back(hand: Hand):
    before = hand.body("image_1")
    hand.press(before, button=Qt.MouseButton.MiddleButton)
    hand.move(before + QPoint(100, 50))
    assert hand.body("image_1") == before + QPoint(100, 50)
    hand.key(Qt.Key.Key_Escape)
    assert hand.body("image_1") == before
