from PySide6.QtCore import QPoint, QPointF, Qt

from tests.designer.mouse import LEFT, NONE, Hand

ALT, SHIFT = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier


def around(hand: Hand, *names: str) -> list[QPoint]:
    """A line around the middles of some layers, to the left of where others have theirs."""
    boxes = [hand.place(name) for name in names]
    left, right = min(x for x, _ in boxes) - 30, max(x for x, _ in boxes) + 190
    top, bottom = min(y for _, y in boxes) - 8, max(y for _, y in boxes) + 50
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return [hand.point(QPointF(*corner)) for corner in corners]


def draw(hand: Hand, line: list[QPoint], keys: Qt.KeyboardModifier = NONE) -> None:
    hand.press(line[0], keys)
    for point in line[1:]:
        hand.move(point)
    hand.release(line[-1], keys)


def test_alt_and_a_drag_select_what_is_inside_the_line(hand: Hand):
    before = hand.editor.project
    line = around(hand, "fc_1", "relu_1")
    hand.press(line[0], ALT)
    for point in line[1:]:
        hand.move(point)
    assert hand.view.network_scene.feedback.feedback.lasso is not None
    assert hand.editor.selection == {hand.id("fc_1"), hand.id("relu_1")}
    hand.release(line[-1], ALT)
    assert hand.view.network_scene.feedback.feedback.lasso is None
    assert hand.editor.selection == {hand.id("fc_1"), hand.id("relu_1")}
    assert hand.editor.project == before


def test_a_layer_whose_middle_is_outside_is_not_selected(hand: Hand):
    x, y = hand.place("fc_1")
    edge = [QPointF(x - 30, y - 4), QPointF(x + 40, y - 4), QPointF(x + 40, y + 46), QPointF(x - 30, y + 46)]
    draw(hand, [hand.point(point) for point in edge], ALT)
    assert hand.editor.selection == frozenset()


def test_with_shift_the_lasso_adds(hand: Hand):
    hand.click(hand.body("image_1"))
    draw(hand, around(hand, "fc_2"), ALT | SHIFT)
    assert hand.editor.selection == {hand.id("image_1"), hand.id("fc_2")}


def test_escape_gives_the_selection_back(hand: Hand):
    hand.click(hand.body("image_1"))
    line = around(hand, "fc_1", "fc_2")
    hand.press(line[0], ALT)
    for point in line[1:]:
        hand.move(point)
    hand.key(Qt.Key.Key_Escape)
    hand.release(line[-1], ALT)
    assert hand.editor.selection == {hand.id("image_1")}
    assert hand.view.network_scene.feedback.feedback.lasso is None


def test_l_makes_the_next_drag_a_lasso_and_only_that(hand: Hand):
    hand.key(Qt.Key.Key_L)
    assert hand.view.viewport().cursor().shape() == Qt.CursorShape.CrossCursor
    draw(hand, around(hand, "relu_1"))
    assert hand.editor.selection == {hand.id("relu_1")}
    hand.press(line := around(hand, "relu_1")[0])
    hand.move(line + QPoint(60, 60))
    assert hand.view.network_scene.feedback.feedback.band is not None
    hand.release(line + QPoint(60, 60))


def test_escape_puts_the_lasso_away(hand: Hand):
    hand.click(hand.body("image_1"))
    hand.key(Qt.Key.Key_L)
    hand.key(Qt.Key.Key_Escape)
    assert not hand.view.keyboard.lassos
    assert hand.editor.selection == {hand.id("image_1")}
    hand.qtbot.mouseClick(hand.view.viewport(), LEFT, NONE, QPoint(5, 5))
    assert hand.editor.selection == frozenset()
