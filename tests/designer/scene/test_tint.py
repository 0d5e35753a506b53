"""Heavy layers are tinted, say their figure, and can be read on every tint."""

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from netwright.designer import theme
from netwright.designer.scene import tint
from netwright.designer.scene.content import Content
from netwright.engine.network.analysis import analyse
from tests.builders import chain, layer
from tests.designer.mouse import Hand


@pytest.fixture
def tinted(make_hand) -> Hand:
    return make_hand(
        chain(
            layer("image_input", channels=1, size=8),
            layer("conv2d", filters=8),
            layer("relu"),
            layer("fully_connected", outputs=10),
        )
    )


def content(hand: Hand, name: str) -> Content:
    return hand.view.network_scene.nodes.nodes[hand.id(name)].content


def luminance(colour: QColor) -> float:
    parts = [
        v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4
        for v in (colour.redF(), colour.greenF(), colour.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a: QColor, b: QColor) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_steps_are_logarithmic_and_every_layer_has_its_figure_and_a_large_one_its_share(tinted: Hand) -> None:
    scene = tinted.view.network_scene
    scene.show_tint("parameters")
    assert scene.tint.ticks() == ["30", "100", "300", "1,000", "3,000", "10 k"]
    assert (content(tinted, "fc_1").heat, content(tinted, "fc_1").count) == (tint.STEPS, "5,130 · 98 %")
    assert (content(tinted, "conv_1").heat, content(tinted, "conv_1").count) == (1, "80")
    scene.show_tint("flops")
    assert (content(tinted, "fc_1").heat, content(tinted, "fc_1").count) == (tint.STEPS, "10.2 k · 53 %")
    assert (content(tinted, "conv_1").heat, content(tinted, "conv_1").count) == (4, "9,216 · 47 %")
    scene.show_tint("memory")
    assert (content(tinted, "conv_1").heat, content(tinted, "conv_1").count) == (tint.STEPS, "256 KiB · 47 %")
    assert (content(tinted, "fc_1").heat, content(tinted, "fc_1").count) == (3, "5.0 KiB")


def test_one_heavy_layer_leaves_the_others_apart() -> None:
    figures = {"a": 20_000_000, "b": 300_000, "c": 20_000, "d": 900, "e": 0}
    shown = tint.tint_by("time", dict.fromkeys(figures), 1, figures)  # type: ignore[arg-type]  # times need no facts
    assert [shown.level(figure) for figure in figures.values()] == [5, 3, 2, 1, 0]
    assert shown.ticks() == ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"]
    assert [shown.share(figure) for figure in figures.values()] == ["98 %", "", "", "", ""]


def test_without_a_tint_all_is_as_it_was(tinted: Hand) -> None:
    before = {id: node.content for id, node in tinted.view.network_scene.nodes.nodes.items()}
    tinted.view.network_scene.show_tint("flops")
    tinted.view.network_scene.show_tint("")
    assert {id: node.content for id, node in tinted.view.network_scene.nodes.nodes.items()} == before
    assert content(tinted, "conv_1").heat is None


def test_the_tint_follows_edits_and_the_batch(tinted: Hand) -> None:
    scene = tinted.view.network_scene
    scene.show_tint("parameters")
    tinted.editor.set_fields([tinted.id("conv_1")], {"filters": 512, "kernel": 9})
    assert content(tinted, "conv_1").heat == 3
    tinted.editor.set_fields([tinted.id("fc_1")], {"outputs": 1})
    assert content(tinted, "conv_1").heat == tint.STEPS
    tinted.editor.undo()
    tinted.editor.undo()
    scene.show_tint("memory")
    training = tinted.editor.project.training.replace(mini_batch_size=1)
    tinted.editor.apply("Options", tinted.editor.project.with_section("training", training))
    assert content(tinted, "conv_1").count.startswith("2.0 KiB")


def test_a_new_layer_and_one_with_an_error_are_plain(tinted: Hand) -> None:
    scene = tinted.view.network_scene
    scene.show_tint("parameters")
    id = tinted.editor.add_layer("lstm", (400.0, 0.0))
    assert id is not None
    shown = scene.nodes.nodes[id].content
    assert (shown.heat, shown.count) == (0, "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read_on_every_tint(qtbot, scheme: theme.Scheme) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply(app, scheme)
    try:
        for level in range(tint.STEPS + 1):
            assert contrast(theme.current().text, tint.ground(level)) >= 4.5
            assert contrast(tint.ink(level), tint.ground(level)) >= 4.5
        assert len({tint.ground(level).name() for level in range(tint.STEPS + 1)}) == tint.STEPS + 1
        assert len({tint.box_colour(tint.box_kind(level)).name() for level in range(tint.STEPS + 1)}) == tint.STEPS + 1
    finally:
        theme.apply(app, "light")


def test_boxes_from_afar_are_tinted_too(tinted: Hand) -> None:
    scene = tinted.view.network_scene
    assert "Convolution" in scene.nodes.overview()
    scene.show_tint("parameters")
    boxes = scene.nodes.overview()
    assert set(boxes) == {tint.box_kind(0), tint.box_kind(1), tint.box_kind(tint.STEPS)}
    assert len(boxes[tint.box_kind(0)]) == 2


@pytest.mark.parametrize(
    ("count", "text"),
    [(850, "850 ns"), (12_400, "12.4 µs"), (1_000, "1.00 µs"), (123_456, "123 µs"), (3 * 10**9, "3.00 s")],
)
def test_times_have_three_digits_and_a_unit(count: int, text: str) -> None:
    assert tint.format_nanoseconds(count) == text


def test_a_network_of_nothing_heavy_has_no_tint() -> None:
    facts = analyse(chain(layer("feature_input"), layer("relu"))).shapes
    shown = tint.tint_by("parameters", facts, 8, {})
    assert (shown.highest, shown.level(0)) == (0, 0)
