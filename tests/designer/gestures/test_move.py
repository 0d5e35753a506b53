from PySide6.QtCore import QPoint, Qt

from tests.designer.mouse import Hand

CTRL = Qt.KeyboardModifier.ControlModifier


def test_a_dragged_layer_moves_live_and_is_one_step_to_undo(hand: Hand):
    before = hand.place("relu_1")
    start = hand.body("relu_1")
    hand.press(start)
    hand.move(start + QPoint(30, 0))
    hand.move(start + QPoint(120, 10))
    assert hand.shown("relu_1") == (before[0] + 120, before[1] + 8)
    assert hand.place("relu_1") == before
    hand.release(start + QPoint(120, 10))
    assert hand.place("relu_1") == (before[0] + 120, before[1] + 8)
    assert hand.editor.stack.count() == 1
    hand.editor.undo()
    assert hand.place("relu_1") == hand.shown("relu_1") == before
    hand.editor.redo()
    assert hand.shown("relu_1") == (before[0] + 120, before[1] + 8)


def test_the_whole_selection_moves_along_and_keeps_its_shape(hand: Hand):
    names = ("fc_1", "relu_1", "fc_2")
    before = {name: hand.place(name) for name in names}
    hand.editor.set_selection({hand.id(name) for name in names})
    hand.drag(hand.body("relu_1"), hand.body("relu_1") + QPoint(-96, 0))
    assert all(hand.place(name) == (x - 96, y) for name, (x, y) in before.items())
    assert hand.place("image_1")[0] == before["fc_1"][0]


def test_escape_puts_everything_back(hand: Hand):
    before = hand.place("relu_1")
    start = hand.body("relu_1")
    hand.press(start)
    hand.move(start + QPoint(90, 90))
    hand.key(Qt.Key.Key_Escape)
    assert hand.shown("relu_1") == hand.place("relu_1") == before
    hand.release(start + QPoint(90, 90))
    assert hand.editor.stack.count() == 0
    assert hand.editor.selection == frozenset()


def test_connections_follow_what_is_dragged(hand: Hand):
    scene = hand.view.network_scene
    (line,) = [c for c in scene.edges.edges if c.target.layer == hand.id("relu_1")]
    start = hand.body("relu_1")
    hand.press(start)
    hand.move(start + QPoint(160, 0))
    end = scene.edges.edges[line].path.currentPosition()
    assert end.x() == hand.shown("relu_1")[0] + 88
    hand.release(start + QPoint(160, 0))
    assert scene.edges.edges[line].path.currentPosition() == end


def test_a_click_selects_only_the_layer_and_a_tremble_moves_nothing(hand: Hand):
    hand.editor.select_all()
    start = hand.body("fc_2")
    hand.press(start)
    hand.move(start + QPoint(2, 1))
    hand.release(start + QPoint(2, 1))
    assert hand.editor.selection == {hand.id("fc_2")}
    assert hand.editor.stack.count() == 0


def test_control_adds_a_layer_to_the_selection_and_takes_it_away(hand: Hand):
    hand.click(hand.body("fc_1"))
    hand.click(hand.body("fc_2"), CTRL)
    assert hand.editor.selection == {hand.id("fc_1"), hand.id("fc_2")}
    hand.click(hand.body("fc_1"), CTRL)
    assert hand.editor.selection == {hand.id("fc_2")}


def test_layers_are_let_go_on_the_grid(hand: Hand):
    hand.drag(hand.body("fc_2"), hand.body("fc_2") + QPoint(53, 31))
    x, y = hand.place("fc_2")
    assert x % 8 == y % 8 == 0


def test_control_and_arrow_keys_move_the_selection_and_are_one_step(hand: Hand):
    x, y = hand.place("relu_1")
    hand.click(hand.body("relu_1"))
    hand.key(Qt.Key.Key_Right, CTRL)
    hand.key(Qt.Key.Key_Right, CTRL)
    hand.key(Qt.Key.Key_Up, CTRL | Qt.KeyboardModifier.ShiftModifier)
    assert hand.place("relu_1") == (x + 16, y - 32)
    hand.editor.undo()
    assert hand.place("relu_1") == (x, y)


def test_undo_while_dragging_ends_the_drag(hand: Hand):
    new = hand.editor.add_layer("relu", (400.0, 80.0))
    assert new is not None
    hand.press(hand.body("relu_2"))
    hand.move(hand.body("relu_2") + QPoint(60, 60))
    hand.editor.undo()
    hand.move(QPoint(300, 300))
    hand.release(QPoint(300, 300))
    assert "relu_2" not in hand.names()
    assert new not in hand.editor.layout.positions
    assert hand.editor.stack.index() == 0


def test_dragging_everything_keeps_all_connections_attached(hand: Hand):
    hand.editor.select_all()
    scene = hand.view.network_scene
    start = hand.body("fc_1")
    hand.press(start)
    hand.move(start + QPoint(80, 16))
    hand.move(start + QPoint(160, 40))
    for connection, edge in scene.edges.edges.items():
        assert edge.path.currentPosition() == scene.port_at_layer(connection.target, True).at
        assert edge.bounds.contains(edge.path.currentPosition())
    hand.release(start + QPoint(160, 40))
