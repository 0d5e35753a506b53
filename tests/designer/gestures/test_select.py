from PySide6.QtCore import QPoint, QPointF, Qt

from tests.designer.mouse import Hand

CTRL = Qt.KeyboardModifier.ControlModifier


def beside(hand: Hand, name: str, dx: int, dy: int) -> QPoint:
    x, y = hand.place(name)
    return hand.point(QPointF(x + dx, y + dy))


def test_a_frame_selects_what_it_touches(hand: Hand):
    hand.press(beside(hand, "fc_1", -30, -4))
    hand.move(beside(hand, "relu_1", 10, 10))
    assert hand.view.network_scene.feedback.feedback.band is not None
    hand.release(beside(hand, "relu_1", 10, 10))
    assert hand.editor.selection == {hand.id("fc_1"), hand.id("relu_1")}
    assert hand.view.network_scene.feedback.feedback.band is None


def test_a_frame_with_control_adds_to_the_selection(hand: Hand):
    hand.click(hand.body("image_1"))
    hand.drag(beside(hand, "fc_2", -30, 0), beside(hand, "fc_2", 10, 10), CTRL)
    assert hand.editor.selection == {hand.id("image_1"), hand.id("fc_2")}


def test_escape_gives_the_selection_back(hand: Hand):
    hand.click(hand.body("image_1"))
    hand.press(beside(hand, "fc_1", -30, -4))
    hand.move(beside(hand, "fc_2", 10, 10))
    hand.key(Qt.Key.Key_Escape)
    hand.release(beside(hand, "fc_2", 10, 10))
    assert hand.editor.selection == {hand.id("image_1")}


def test_a_click_beside_everything_selects_nothing(hand: Hand):
    hand.click(hand.body("image_1"))
    hand.click(beside(hand, "image_1", -80, 0))
    assert hand.editor.selection == frozenset()


def test_escape_without_a_gesture_selects_nothing(hand: Hand):
    hand.click(hand.body("image_1"))
    hand.key(Qt.Key.Key_Escape)
    assert hand.editor.selection == frozenset()


def test_a_connection_is_selected_by_a_click_and_removed_by_delete(loose_hand: Hand):
    hand = loose_hand
    hand.drag(hand.port("image_1", "out"), hand.port("addition_1", "in1"))
    (line,) = hand.editor.network.connections
    middle = hand.view.network_scene.edges.edges[line].path.pointAtPercent(0.7)
    hand.click(hand.point(middle))
    assert hand.editor.selected_connections == {line}
    hand.key(Qt.Key.Key_Delete)
    assert hand.links() == set()
    assert len(hand.editor.network) == 3


def test_delete_removes_the_selected_layers_and_heals_the_chain(hand: Hand):
    before = hand.editor.network
    hand.click(hand.body("relu_1"))
    hand.key(Qt.Key.Key_Delete)
    assert "relu_1" not in hand.names()
    assert hand.links() == {("image_1", "fc_1"), ("fc_1", "fc_2"), ("fc_2", "softmax_1")}
    after = hand.editor.network
    hand.editor.undo()
    assert hand.editor.network == before
    hand.editor.redo()
    assert hand.editor.network == after


def test_shift_and_delete_leave_the_chain_open(hand: Hand):
    hand.click(hand.body("relu_1"))
    hand.key(Qt.Key.Key_Delete, Qt.KeyboardModifier.ShiftModifier)
    assert "relu_1" not in hand.names()
    assert hand.links() == {("image_1", "fc_1"), ("fc_2", "softmax_1")}


def test_n_goes_from_layer_to_layer_in_their_order_and_round(hand: Hand):
    visited = []
    for _ in range(6):
        hand.key(Qt.Key.Key_N)
        (id,) = hand.editor.selection
        visited.append(hand.editor.network.layers[id].name)
    assert visited == ["image_1", "fc_1", "relu_1", "fc_2", "softmax_1", "image_1"]
    hand.key(Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert hand.editor.selection == {hand.id("softmax_1")}
