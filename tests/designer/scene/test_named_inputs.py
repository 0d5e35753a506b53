"""What many layers take from aside stands at their inputs as a name, not as a line."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF, Qt

from netwright.engine.drawing.picture import draw
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.arrangement import arrange, repeated
from netwright.engine.network.network import Network, Port
from tests.builders import add, chain, layer
from tests.designer.mouse import Hand


def masked() -> Network:
    """Ten layers one below the other; three of them also take a mask."""
    network = chain(layer("feature_input"))
    (last,) = network.layers.values()
    network, mask = edits.add_layer(network, layer("feature_input"), "mask")
    for number in range(10):
        feeds = (last, mask) if number in (3, 5, 7) else (last,)
        network, last = add(network, layer("multiplication" if len(feeds) > 1 else "relu"), *feeds)
    return network


@pytest.fixture
def hand(make_hand: Callable[[Network], Hand]) -> Hand:
    network = masked()
    network, extra = edits.add_layer(network, layer("multiplication"), "extra")
    network = edits.connect(network, Port(network.layer("relu_5").id, "out"), Port(extra.id, "in1"))
    network = edits.connect(network, Port(network.layer("mask").id, "out"), Port(extra.id, "in2"))
    return make_hand(network)


def tags(hand: Hand) -> dict[str, str]:
    """The name at the inputs, by the layer that has them."""
    layers = hand.editor.network.layers
    edges = hand.view.network_scene.edges.edges.items()
    return {layers[connection.target.layer].name: edge.text for connection, edge in edges if edge.is_tag}


def test_the_name_stands_at_every_input_and_follows_renaming(hand: Hand):
    assert set(tags(hand)) == {"multiplication_1", "multiplication_2", "multiplication_3", "extra"}
    assert set(tags(hand).values()) == {"mask"}
    hand.editor.rename(hand.id("mask"), "padding")
    assert set(tags(hand).values()) == {"padding"}
    hand.editor.undo()
    assert set(tags(hand).values()) == {"mask"}


def test_it_becomes_a_line_again_where_few_are_left_and_undo_brings_it_back(hand: Hand):
    before = hand.editor.network
    hand.editor.set_selection({hand.id("extra")})
    hand.editor.delete_selection()
    assert tags(hand) == {}
    assert len(hand.view.network_scene.edges.edges) == len(hand.editor.network.connections)
    after = hand.editor.network
    hand.editor.undo()
    assert hand.editor.network == before
    assert len(tags(hand)) == 4
    hand.editor.redo()
    assert hand.editor.network == after
    assert tags(hand) == {}


def test_a_tag_is_selected_by_a_click_and_removed_by_delete(hand: Hand):
    target = hand.id("extra")
    (line,) = (c for c in repeated(hand.editor.network) if c.target.layer == target)
    hand.click(hand.point(hand.view.network_scene.edges.edges[line].label_box().center()))
    assert hand.editor.selected_connections == {line}
    hand.key(Qt.Key.Key_Delete)
    assert ("mask", "extra") not in hand.links()
    assert hand.view.network_scene.edges.edges.keys() == set(hand.editor.network.connections)


@pytest.mark.parametrize("flow", ["down", "right"])
def test_sizes_and_layers_leave_room_for_tags(hand: Hand, flow):
    hand.view.arrange(flow)
    hand.view.animation.stop()
    scene = hand.view.network_scene
    boxes = [edge.label_box() for edge in scene.edges.edges.values() if edge.text]
    for number, edge in enumerate(edge for edge in scene.edges.edges.values() if edge.text):
        if edge.is_tag:
            assert not any(edge.label_box().intersects(box) for n, box in enumerate(boxes) if n != number)
            assert scene.node_at(edge.label_box().center()) is None
            assert scene.port_at(QPointF(edge.path.currentPosition()), 1) is not None


@pytest.mark.parametrize("flow", ["down", "right"])
def test_drawings_have_the_tags_too(flow):
    network = masked()
    network, extra = edits.add_layer(network, layer("multiplication"), "extra")
    network = edits.connect(network, Port(network.layer("relu_5").id, "out"), Port(extra.id, "in1"))
    network = edits.connect(network, Port(network.layer("mask").id, "out"), Port(extra.id, "in2"))
    picture = draw(network, arrange(network, flow=flow), analyse(network))
    assert sum(group.title.startswith("mask →") for group in picture.groups) == 4
    assert len([group for group in picture.groups if "→" in group.title]) == len(network.connections)
