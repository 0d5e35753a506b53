"""What the figures of a layer mean, where blocks and copies are, and that badges are drawn and told."""

import math

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from netwright.designer import theme
from netwright.designer.scene import health_badges
from netwright.designer.scene.health_badges import HealthBadge, badge_for, badges
from netwright.engine.network.block import Block
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH
from tests.builders import chain, layer
from tests.designer.mouse import Hand
from tests.designer.scene.test_tint import contrast


@pytest.mark.parametrize(
    ("figures", "state", "words"),
    [
        ([0.5, 1.2, 0.0], "good", "Output 1.2 · gradient 0.5"),
        ([-1.0, 1.2, 0.25], "good", "Output 1.2 · 25 % of units zero"),
        ([-1.0, 1.2, 0.62], "warning", "62 % of its units give zero for every sample · output 1.2"),
        ([0.5, 0.0, 1.0], "error", "All its units give zero for every sample · output 0 · gradient 0.5"),
        ([0.0, 1.2, 0.0], "warning", "No gradient reaches it · output 1.2 · gradient 0"),
        (
            [1e-5, 1.2, 0.0],
            "warning",
            "Next to no gradient reaches it, 5e-6 of the largest · output 1.2 · gradient 1e-5",
        ),
        ([math.nan, 1.2, 0.0], "error", "Its gradient is NaN"),
        ([0.5, math.inf, 0.0], "error", "Its output is infinite"),
    ],
)
def test_figures_are_judged(figures: list[float], state: str, words: str) -> None:
    badge = badge_for(figures, 2.0)
    assert (badge.state, badge.words) == (state, words)


@pytest.mark.parametrize(
    ("figures", "tone", "figure", "silent"),
    [
        ([0.5, 1.2, 0.0], "good", "25 %", ""),
        ([-1.0, 1.2, 0.31], "", "", "31 % silent"),
        ([0.0, 1.2, 0.0], "low", "▼ 0 %", ""),
        ([4.2e-5, 1.2, 0.0], "low", "▼ 0.0021 %", ""),
        ([math.nan, 1.2, 0.0], "high", "▲ no number", ""),
        ([0.5, math.inf, 0.0], "high", "▲ infinite", ""),
    ],
)
def test_a_layer_shows_its_gradient_and_its_silent_units(
    figures: list[float], tone: str, figure: str, silent: str
) -> None:
    badge = badge_for(figures, 2.0)
    assert (badge.tone, badge.figure, badge.silent) == (tone, figure, silent)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read_on_every_tone(qapp: QApplication, scheme: theme.Scheme) -> None:
    theme.apply(qapp, scheme)
    try:
        for tone in ("", "low", "good", "high"):
            assert contrast(theme.current().text, health_badges.ground(tone)) >= 4.5
            assert contrast(health_badges.ink(tone), health_badges.ground(tone)) >= 4.5
    finally:
        theme.apply(qapp, "light")


def test_a_block_has_the_worst_mark_of_what_it_holds() -> None:
    inner = chain(layer("block_input"), layer("fully_connected", outputs=8), layer("relu"), layer("block_output"))
    block = Block(inner, repeat=2)
    network = chain(layer("feature_input", channels=8), block, layer("fully_connected", outputs=2))
    figures = {
        "id1": [-1.0, 1.0, 0.0],
        "id2/1/id2": [0.5, 1.0, 0.0],
        "id2/1/id3": [-1.0, 1.0, 0.1],
        "id2/2/id2": [0.5, 1.0, 0.0],
        "id2/2/id3": [-1.0, 1.0, 0.8],
        "id3": [0.5, 1.0, 0.0],
        "gone": [0.5, 1.0, 0.0],
    }
    outside = badges(figures, network, [])
    assert {id: mark.state for id, mark in outside.items()} == {"id1": "good", "id2": "warning", "id3": "good"}
    assert outside["id2"].words.startswith("relu_1: 80 % of its units")
    inside = badges(figures, network, ["id2"])
    assert {id: mark.state for id, mark in inside.items()} == {"id2": "good", "id3": "warning"}
    assert badges(figures, network, ["id3"]) == {}


@pytest.fixture
def hand(make_hand) -> Hand:
    found: Hand = make_hand(
        chain(layer("feature_input", channels=4), layer("fully_connected", outputs=3), layer("relu"))
    )
    return found


def test_marks_are_drawn_told_and_taken_away(hand: Hand) -> None:
    scene = hand.view.network_scene
    before = {id: node.content for id, node in scene.nodes.nodes.items()}
    plain = hand.view.grab().toImage()
    id = hand.id("fc_1")
    scene.show_health({id: HealthBadge("warning", "No gradient reaches it", "low", "▼ 0 %", "70 % silent")})
    content = scene.nodes.nodes[id].content
    assert (content.count, content.detail) == ("▼ 0 %", "Fully connected · 70 % silent")
    assert "health low" in scene.nodes.overview()
    assert hand.view.grab().toImage() != plain
    x, y = scene.nodes.index.positions[id]
    at = QPointF(x + NODE_WIDTH / 2, y + NODE_HEIGHT / 2)
    assert hand.view.tooltip_at(at).endswith("In training: No gradient reaches it")
    scene.show_health({})
    assert {id: node.content for id, node in scene.nodes.nodes.items()} == before
    assert "In training" not in hand.view.tooltip_at(at)
