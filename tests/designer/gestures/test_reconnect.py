"""Moving the ends of connections."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt

from netwright.engine.network import edits
from netwright.engine.network.network import Connection
from tests.builders import add, chain, layer
from tests.designer.mouse import Hand

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def fan(make_hand) -> Hand:
    """relu_1 feeds tanh_1 and sigmoid_1; image_1 stands above, identity_1 aside. Far apart, so that lines are long."""
    network = chain(layer("image_input"), layer("relu"))
    relu = network.layer("relu_1")
    for key in ("tanh", "sigmoid"):
        network, _ = add(network, layer(key), relu)
    network, _ = edits.add_layer(network, layer("identity"))
    hand = make_hand(network)
    places = {
        "image_1": (0, 0),
        "relu_1": (0, 150),
        "tanh_1": (0, 350),
        "sigmoid_1": (220, 350),
        "identity_1": (300, 150),
    }
    hand.editor.apply_here(
        "Move",
        layout=hand.editor.layout.moved({hand.id(name): (float(x), float(y)) for name, (x, y) in places.items()}),
    )
    hand.view.look_at(QPointF(200, 200))
    hand.editor.stack.clear()
    return hand


def line(hand: Hand, source: str, target: str) -> Connection:
    ends = hand.id(source), hand.id(target)
    (found,) = [c for c in hand.editor.network.connections if (c.source.layer, c.target.layer) == ends]
    return found


def beside(hand: Hand, source: str, target: str, *, at_target: bool) -> QPoint:
    """A point on a connection a little away from one of its ends."""
    path = hand.view.network_scene.edges.edges[line(hand, source, target)].path
    length = path.length()
    return hand.point(path.pointAtPercent(path.percentAtLength(length - 16 if at_target else 16)))


def assert_one_step(hand: Hand, before) -> None:
    assert hand.editor.stack.count() == 1
    after = hand.editor.network
    hand.editor.undo()
    assert hand.editor.network == before
    hand.editor.redo()
    assert hand.editor.network == after


def test_the_output_end_is_moved_to_another_output(fan: Hand):
    before = fan.editor.network
    fan.drag(beside(fan, "relu_1", "tanh_1", at_target=False), fan.port("identity_1", "out"))
    assert fan.links() == {("image_1", "relu_1"), ("relu_1", "sigmoid_1"), ("identity_1", "tanh_1")}
    assert_one_step(fan, before)


def test_the_input_end_is_moved_to_another_input(fan: Hand):
    before = fan.editor.network
    fan.drag(beside(fan, "relu_1", "tanh_1", at_target=True), fan.port("identity_1", "in"))
    assert fan.links() == {("image_1", "relu_1"), ("relu_1", "sigmoid_1"), ("relu_1", "identity_1")}
    assert_one_step(fan, before)


@pytest.mark.parametrize("at_target", [False, True])
def test_either_end_dropped_on_the_ground_takes_the_connection_away(fan: Hand, at_target: bool):
    before = fan.editor.network
    start = beside(fan, "relu_1", "tanh_1", at_target=at_target)
    fan.drag(start, start + QPoint(-160, 10))
    assert fan.links() == {("image_1", "relu_1"), ("relu_1", "sigmoid_1")}
    assert fan.view.suggestions.popup is None
    assert_one_step(fan, before)


@pytest.mark.parametrize("at_target", [False, True])
def test_an_end_put_back_changes_nothing(fan: Hand, at_target: bool):
    before, port = fan.editor.project, fan.port("tanh_1", "in") if at_target else fan.port("relu_1", "out")
    fan.press(beside(fan, "relu_1", "tanh_1", at_target=at_target))
    fan.move(port + QPoint(-160, 10))
    assert len(fan.view.network_scene.edges.edges) == 2
    fan.move(port)
    fan.release(port)
    assert fan.editor.project == before
    assert fan.editor.stack.count() == 0
    assert len(fan.view.network_scene.edges.edges) == 3


def test_a_click_beside_the_port_selects_the_connection(fan: Hand):
    fan.click(beside(fan, "relu_1", "tanh_1", at_target=False))
    assert fan.editor.selected_connections == {line(fan, "relu_1", "tanh_1")}
    fan.click(beside(fan, "relu_1", "sigmoid_1", at_target=True), SHIFT)
    assert len(fan.editor.selected_connections) == 2


def test_escape_puts_the_end_back_and_the_selection_too(fan: Hand):
    fan.click(fan.body("identity_1"))
    fan.press(beside(fan, "relu_1", "tanh_1", at_target=False))
    fan.move(fan.port("identity_1", "out"))
    fan.key(Qt.Key.Key_Escape)
    assert len(fan.view.network_scene.edges.edges) == 3
    assert fan.editor.selection == {fan.id("identity_1")}
    assert fan.editor.selected_connections == frozenset()
    assert fan.editor.stack.count() == 0


def test_a_cycle_is_refused_while_an_end_is_moved(fan: Hand):
    fan.press(beside(fan, "image_1", "relu_1", at_target=False))
    fan.move(fan.port("tanh_1", "out"))
    assert "cycle" in fan.view.overlays.hint.text()
    fan.release(fan.port("tanh_1", "out"))
    assert ("image_1", "relu_1") in fan.links()
    assert fan.editor.stack.count() == 0
    assert len(fan.view.network_scene.edges.edges) == 3


def test_shift_on_an_output_moves_all_its_connections(fan: Hand):
    before = fan.editor.network
    fan.press(fan.port("relu_1", "out"), SHIFT)
    fan.move(fan.port("identity_1", "out") + QPoint(40, 60))
    marks = fan.view.network_scene.feedback.feedback
    assert len(marks.all_loose()) == 2
    assert marks.bounds().contains(marks.all_loose()[1].end)
    fan.move(fan.port("identity_1", "out"))
    fan.release(fan.port("identity_1", "out"), SHIFT)
    assert fan.links() == {("image_1", "relu_1"), ("identity_1", "tanh_1"), ("identity_1", "sigmoid_1")}
    assert_one_step(fan, before)


def test_without_shift_an_output_starts_one_more_connection(fan: Hand):
    fan.drag(fan.port("relu_1", "out"), fan.port("identity_1", "in"))
    assert len(fan.links()) == 4


def test_an_end_shows_that_it_can_be_taken_hold_of(fan: Hand, qtbot):
    scene = fan.view.network_scene
    fan.move(QPoint(5, 5))  # the real pointer may be there already, from another test
    fan.move(beside(fan, "relu_1", "tanh_1", at_target=False))
    end = scene.nodes.ports_of(fan.id("relu_1"))[1].at
    qtbot.waitUntil(lambda: scene.feedback.feedback.hover == end)
    path = scene.edges.edges[line(fan, "relu_1", "tanh_1")].path
    fan.move(fan.point(path.pointAtPercent(0.5)))
    qtbot.waitUntil(lambda: scene.feedback.feedback.hover is None)


def test_in_the_middle_a_connection_is_selected_and_a_drag_draws_a_frame(fan: Hand):
    path = fan.view.network_scene.edges.edges[line(fan, "relu_1", "tanh_1")].path
    middle = fan.point(path.pointAtPercent(0.5))
    fan.press(middle)
    assert fan.editor.selected_connections == {line(fan, "relu_1", "tanh_1")}
    fan.move(middle + QPoint(30, 30))
    assert fan.view.network_scene.feedback.feedback.band is not None
    fan.release(middle + QPoint(30, 30))
    assert len(fan.links()) == 3
