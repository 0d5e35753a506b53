from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent

from netwright.designer.scene.feedback import Feedback
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from netwright.engine.network.network import Network
from tests.designer.mouse import LEFT, NONE, Hand


def test_a_layer_is_dropped_with_its_middle_under_the_pointer(make_hand):
    hand = make_hand(Network.empty())
    assert hand.view.overlays.empty.isVisible()
    at = QPoint(300, 200)
    expected = hand.view.mapToScene(at)
    hand.carry("image_input", at)
    assert hand.names() == ["image_1"]
    assert not hand.view.overlays.empty.isVisible()
    x, y = hand.place("image_1")
    assert abs(x + NODE_WIDTH / 2 - expected.x()) <= 4
    assert abs(y + NODE_HEIGHT / 2 - expected.y()) <= 4
    assert hand.editor.selection == {hand.id("image_1")}


def test_a_layer_dropped_on_a_connection_goes_into_it(hand: Hand):
    (line,) = [c for c in hand.editor.network.connections if c.source.layer == hand.id("fc_1")]
    middle = hand.view.network_scene.edges.edges[line].path.pointAtPercent(0.5)
    at = hand.point(middle)
    below = hand.place("relu_1")
    hand.carry("dropout", at, drop=False)
    assert hand.view.network_scene.edges.target == line
    hand.carry("dropout", at)
    assert {("fc_1", "dropout_1"), ("dropout_1", "relu_1")} <= hand.links()
    assert hand.place("dropout_1") == below
    assert hand.place("relu_1")[1] == below[1] + 60
    assert hand.view.network_scene.edges.target is None


def test_a_layer_that_does_not_fit_there_says_so_and_is_dropped_beside(hand: Hand):
    (line,) = [c for c in hand.editor.network.connections if c.source.layer == hand.id("fc_1")]
    at = hand.point(hand.view.network_scene.edges.edges[line].path.pointAtPercent(0.5))
    before = hand.links()
    hand.carry("lstm", at, drop=False)
    assert "does not fit" in hand.view.overlays.hint.text()
    hand.carry("lstm", at)
    assert hand.links() == before
    assert "lstm_1" in hand.names()


def test_the_ghost_goes_when_the_pointer_leaves(hand: Hand):
    scene = hand.view.network_scene
    hand.carry("relu", QPoint(60, 60), drop=False)
    assert scene.feedback.feedback != Feedback()
    hand.view.dragLeaveEvent(QDragLeaveEvent())
    assert scene.feedback.feedback == Feedback()
    assert hand.names() == ["image_1", "fc_1", "relu_1", "fc_2", "softmax_1"]


def test_other_things_are_not_taken(hand: Hand):
    data = QMimeData()
    data.setText("conv2d")
    event = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, LEFT, NONE)
    hand.view.dragEnterEvent(event)
    assert not event.isAccepted()


def test_a_type_nobody_knows_is_refused_by_name(hand: Hand):
    heard: list[str] = []
    hand.editor.refused.connect(heard.append)
    hand.carry("conv9d", hand.point(QPointF(0, 0)))
    assert "conv9d" in heard[0]
