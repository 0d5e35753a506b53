"""AutoLayout from the canvas: small at once and gliding, large in a process that can be cancelled."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton

from netwright.designer.auto_layout import AutoLayout
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from tests.designer.mouse import Hand


def scatter(hand: Hand, text: str = "Scatter") -> Layout:
    places = {id: (160.0 * (n % 3), 60.0 * (7 - n)) for n, id in enumerate(hand.editor.network.layers)}
    hand.editor.apply_here(text, layout=hand.editor.layout.moved(places))
    return hand.editor.layout


def test_layers_glide_to_their_places_which_are_one_step(hand: Hand, qtbot):
    before = scatter(hand)
    count = hand.editor.stack.count()
    hand.view.arrange()
    assert hand.editor.layout == arrange(hand.editor.network, before)
    assert hand.view.animation.is_running
    assert hand.shown("softmax_1") == before.at(hand.id("softmax_1"))
    qtbot.waitUntil(lambda: not hand.view.animation.is_running)
    assert hand.shown("softmax_1") == hand.place("softmax_1")
    assert hand.editor.stack.count() == count + 1
    hand.editor.undo()
    assert hand.editor.layout == before
    hand.editor.redo()
    assert hand.editor.layout == arrange(hand.editor.network, before)


def test_an_edit_or_a_press_while_they_glide_finds_them_where_they_are(hand: Hand):
    scatter(hand)
    hand.view.arrange()
    assert hand.view.animation.is_running
    hand.editor.undo()
    assert not hand.view.animation.is_running
    assert all(hand.shown(name) == hand.place(name) for name in hand.names())
    hand.editor.redo()
    hand.view.animation.begin(dict.fromkeys(hand.editor.network.layers, (0.0, 0.0)))
    assert hand.view.animation.is_running
    hand.click(QPoint(4, 4))
    assert not hand.view.animation.is_running
    assert all(hand.shown(name) == hand.place(name) for name in hand.names())


def test_to_the_right_ports_are_at_the_sides_and_keys_follow(hand: Hand):
    hand.view.arrange("right")
    hand.view.animation.stop()
    assert hand.editor.layout.flow == "right"
    assert hand.place("fc_1")[1] == hand.place("relu_1")[1]
    scene = hand.view.network_scene
    for connection, edge in scene.edges.edges.items():
        x, y = hand.editor.layout.at(connection.source.layer)
        start = edge.path.elementAt(0)
        assert (start.x, start.y) == (x + 176, y + 21)
    assert all(node.content.flow == "right" for node in scene.nodes.nodes.values())
    hand.click(hand.body("fc_1"))
    hand.key(Qt.Key.Key_Right)
    assert hand.editor.selection == {hand.id("relu_1")}
    hand.editor.undo()
    assert hand.editor.layout.flow == "down"
    assert all(node.content.flow == "down" for node in scene.nodes.nodes.values())
    assert hand.view.network_scene.port_at(hand.view.mapToScene(hand.port("fc_1", "out")), 4) is not None


def test_to_the_right_layers_are_added_and_connected_with_the_flow(hand: Hand):
    hand.view.arrange("right")
    hand.view.animation.stop()
    hand.click(hand.body("softmax_1"))
    x, y = hand.place("softmax_1")
    id = hand.editor.add_layer("relu")
    assert id is not None
    assert hand.editor.layout.at(id) == (x + 272, y)
    (line,) = hand.editor.network.outgoing[hand.id("fc_1")]
    at = (hand.place("fc_1")[0] + 120, y + 8)
    new = hand.editor.insert_layer("dropout", at, line)
    assert new is not None
    assert hand.editor.layout.at(new) == (hand.place("fc_1")[0] + 272, y)
    assert hand.place("relu_1") == (hand.place("fc_1")[0] + 544, y)


@pytest.fixture
def large(hand: Hand) -> Hand:
    """Its network counts as large."""
    hand.view.auto_layout._many = 1
    return hand


def test_a_large_network_is_arranged_in_a_process(large: Hand, qtbot):
    before = scatter(large)
    with qtbot.waitSignal(large.view.auto_layout.arranged, timeout=60_000):
        large.view.arrange("right")
        assert large.view.auto_layout.is_busy
        assert large.editor.layout == before
    assert not large.view.auto_layout.is_busy
    assert large.editor.layout == arrange(large.editor.network, before, "right")
    large.editor.undo()
    assert large.editor.layout == before


def test_what_was_arranged_of_an_older_network_is_given_up(large: Hand, qtbot):
    before = scatter(large)
    with qtbot.waitSignal(large.editor.refused, timeout=60_000) as refused:
        large.view.arrange()
        large.editor.rename(large.id("fc_1"), "head")
    assert "changed meanwhile" in refused.args[0]
    assert large.editor.layout == before


@pytest.mark.parametrize("way", ["button", "escape"])
def test_it_says_what_takes_long_and_can_be_cancelled(large: Hand, qtbot, way: str):
    before = scatter(large)
    large.view.arrange()
    large.view.auto_layout._tell()
    assert large.view.overlays.busy.isVisible()
    if way == "button":
        qtbot.mouseClick(large.view.overlays.busy.findChild(QPushButton), Qt.MouseButton.LeftButton)
    else:
        large.key(Qt.Key.Key_Escape)
    assert not large.view.overlays.busy.isVisible()
    assert not large.view.auto_layout.is_busy
    assert large.editor.layout == before
    assert large.editor.stack.count() == 1


def test_a_process_that_cannot_start_is_told_in_words(large: Hand, qtbot, monkeypatch):
    monkeypatch.setattr("netwright.designer.auto_layout.sys.executable", "/nowhere/python")
    with qtbot.waitSignal(large.editor.refused, timeout=60_000) as refused:
        large.view.arrange()
    assert "could not be arranged" in refused.args[0]
    assert not large.view.auto_layout.is_busy


def test_nothing_is_no_work(make_hand: Callable[[Network], Hand]):
    hand = make_hand(Network.empty())
    AutoLayout(hand.editor).arrange()
    assert hand.editor.stack.count() == 0


def test_what_is_arranged_is_the_block_that_is_open(hand: Hand):
    hand.editor.set_selection({hand.id("fc_1"), hand.id("relu_1")})
    hand.editor.group()
    (block,) = hand.editor.selection
    assert hand.editor.open_block(block)
    outside = hand.editor.project.layout.positions
    before = scatter(hand, "Scatter inside")
    hand.view.arrange("right")
    hand.view.animation.stop()
    assert hand.editor.layout == arrange(hand.editor.network, before, "right")
    assert hand.editor.project.layout.positions == outside
    assert hand.editor.project.layout.flow == "down"
    hand.editor.undo()
    assert hand.editor.layout == before


def test_a_block_made_of_a_network_that_flows_to_the_right_does_too(hand: Hand):
    hand.view.arrange("right")
    hand.view.animation.stop()
    hand.editor.set_selection({hand.id("fc_1"), hand.id("relu_1")})
    hand.editor.group()
    (block,) = hand.editor.selection
    assert hand.editor.open_block(block)
    assert hand.editor.layout.flow == "right"
    xs = [hand.place(name)[0] for name in ("input_1", "fc_1", "relu_1", "output_1")]
    assert xs == sorted(xs)
    assert min(b - a for a, b in pairwise(xs)) == 272
