from PySide6.QtCore import QPoint, Qt

from netwright.engine.network import edits
from tests.builders import chain, layer
from tests.designer.mouse import Hand


def marks(hand: Hand):
    return hand.view.network_scene.feedback.feedback


def hint(hand: Hand) -> str:
    return hand.view.overlays.hint.text() if hand.view.overlays.hint.isVisible() else ""


def test_dragging_from_an_output_to_an_input_connects(loose_hand: Hand):
    hand = loose_hand
    hand.drag(hand.port("image_1", "out"), hand.port("relu_1", "in"))
    assert hand.links() == {("image_1", "relu_1")}
    hand.editor.undo()
    assert hand.links() == set()


def test_dragging_from_an_input_to_an_output_connects_too(loose_hand: Hand):
    hand = loose_hand
    hand.drag(hand.port("relu_1", "in"), hand.port("image_1", "out"))
    assert hand.links() == {("image_1", "relu_1")}


def test_dropping_on_a_layer_takes_its_first_free_input(loose_hand: Hand):
    hand = loose_hand
    hand.drag(hand.port("image_1", "out"), hand.body("addition_1"))
    hand.drag(hand.port("relu_1", "out"), hand.body("addition_1"))
    feeds = hand.editor.network.incoming[hand.id("addition_1")]
    assert {name: hand.editor.network.layers[source.layer].name for name, source in feeds.items()} == {
        "in1": "image_1",
        "in2": "relu_1",
    }


def test_while_connecting_free_ports_that_fit_light_up_and_then_go_out(loose_hand: Hand):
    hand = loose_hand
    scene = hand.view.network_scene
    hand.press(hand.port("image_1", "out"))
    hand.move(hand.port("image_1", "out") + QPoint(40, 20))
    lit = {(point.x(), point.y()) for point in marks(hand).lit}
    fitting = [
        hit.at for name in ("relu_1", "addition_1") for hit in scene.nodes.ports_of(hand.id(name)) if hit.is_input
    ]
    assert lit == {(point.x(), point.y()) for point in fitting}
    assert marks(hand).loose is not None
    hand.release(hand.body("image_1"))
    assert marks(hand).lit == ()
    assert marks(hand).loose is None
    assert hand.links() == set()
    assert hand.view.suggestions.popup is None


def test_a_cycle_is_refused_in_words_and_not_made(hand: Hand):
    before = hand.links()
    heard: list[str] = []
    hand.editor.refused.connect(heard.append)
    hand.press(hand.port("fc_2", "out"))
    hand.move(hand.body("fc_1"))
    assert "cycle" in hint(hand)
    assert marks(hand).loose is not None
    assert marks(hand).loose.is_refused
    hand.release(hand.body("fc_1"))
    assert hand.links() == before
    assert len(heard) == 1
    assert "cycle" in heard[0]
    assert hint(hand) == ""


def test_what_will_not_fit_is_said_but_not_forbidden(make_hand):
    network, _ = edits.add_layer(chain(layer("image_input")), layer("lstm"))
    hand = make_hand(network)
    hand.press(hand.port("image_1", "out"))
    hand.move(hand.port("lstm_1", "in"))
    assert "sequence" in hint(hand)
    hand.release(hand.port("lstm_1", "in"))
    assert hand.links() == {("image_1", "lstm_1")}


def test_escape_forgets_the_connection(loose_hand: Hand):
    hand = loose_hand
    hand.press(hand.port("image_1", "out"))
    hand.move(hand.port("relu_1", "in"))
    hand.key(Qt.Key.Key_Escape)
    hand.release(hand.port("relu_1", "in"))
    assert hand.links() == set()
    assert marks(hand).loose is None


def test_dragging_off_a_connected_input_takes_the_connection_away(hand: Hand):
    hand.drag(hand.port("relu_1", "in"), hand.port("relu_1", "in") + QPoint(250, 5))
    assert ("fc_1", "relu_1") not in hand.links()
    hand.editor.undo()
    assert ("fc_1", "relu_1") in hand.links()


def test_dragging_a_connected_end_elsewhere_is_one_step(loose_hand: Hand):
    hand = loose_hand
    hand.drag(hand.port("image_1", "out"), hand.port("relu_1", "in"))
    hand.drag(hand.port("relu_1", "in"), hand.port("addition_1", "in2"))
    assert hand.links() == {("image_1", "addition_1")}
    hand.editor.undo()
    assert hand.links() == {("image_1", "relu_1")}


def test_putting_a_connected_end_back_changes_nothing(hand: Hand):
    scene = hand.view.network_scene
    before = hand.links()
    start = hand.port("relu_1", "in")
    hand.press(start)
    hand.move(start + QPoint(200, 40))
    assert len(scene.edges.edges) == len(before) - 1
    hand.move(start)
    hand.release(start)
    assert hand.links() == before
    assert hand.editor.stack.count() == 0
    assert len(scene.edges.edges) == len(before)


def test_escape_gives_a_connection_back_that_was_taken_off(hand: Hand):
    scene = hand.view.network_scene
    hand.press(hand.port("relu_1", "in"))
    hand.move(hand.port("relu_1", "in") + QPoint(200, 40))
    hand.key(Qt.Key.Key_Escape)
    assert len(scene.edges.edges) == len(hand.editor.network.connections)


def test_a_click_on_a_port_changes_nothing(hand: Hand):
    before = hand.links()
    hand.click(hand.port("relu_1", "in"))
    hand.click(hand.port("relu_1", "out"))
    assert hand.links() == before


def test_a_port_under_the_pointer_grows(hand: Hand, qtbot):
    hand.move(QPoint(5, 5))  # the real pointer may be there already, from another test
    hand.move(hand.port("relu_1", "out"))
    qtbot.waitUntil(lambda: marks(hand).hover is not None)
    hand.move(hand.body("relu_1"))
    qtbot.waitUntil(lambda: marks(hand).hover is None)
