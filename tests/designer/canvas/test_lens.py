"""The bar of lenses and its one legend: which lens can be had, what it shows, and that it folds."""

import pytest
from PySide6.QtCore import QPoint, Qt

from netwright.designer.canvas.lens_bar import LensBar
from netwright.designer.scene import tint
from netwright.designer.scene.health_badges import HealthBadge
from netwright.designer.scene.lens import LENSES, NO_LAYERS, NO_RUN, NO_TRAINING, Remark
from netwright.engine.network.network import Network
from tests.builders import chain, layer
from tests.designer.mouse import Hand


@pytest.fixture
def hand(make_hand) -> Hand:
    found: Hand = make_hand(
        chain(
            layer("image_input", channels=1, size=8),
            layer("conv2d", filters=8),
            layer("relu"),
            layer("fully_connected", outputs=10),
        )
    )
    return found


@pytest.fixture
def bar(hand: Hand, qtbot) -> LensBar:
    shown = LensBar(hand.view.lenses)
    qtbot.addWidget(shown)
    shown.resize(900, shown.height())
    shown.show()
    return shown


def test_a_lens_that_cannot_be_had_says_why(hand: Hand, bar: LensBar) -> None:
    reasons = {lens: button.toolTip() for lens, button in bar.buttons.items() if not button.isEnabled()}
    assert reasons == {"health": NO_TRAINING, "activations": NO_RUN, "attribution": NO_RUN}
    hand.editor.edit_network("Clear", lambda _: Network.empty())
    assert {lens for lens, button in bar.buttons.items() if button.toolTip() == NO_LAYERS} == {*LENSES[1:]}
    assert bar.buttons["structure"].isEnabled()


def test_segments_keys_and_the_menu_choose_the_same(hand: Hand, bar: LensBar, qtbot) -> None:
    scene = hand.view.network_scene
    qtbot.mouseClick(bar.buttons["cost"], Qt.MouseButton.LeftButton)
    assert scene.tint.kind == "parameters"
    qtbot.keyClick(hand.view, Qt.Key.Key_3)
    assert (scene.tint.kind, bar.buttons["time"].isChecked()) == ("time", True)
    qtbot.keyClick(hand.view, Qt.Key.Key_4)
    assert hand.view.lenses.current == "time", "health cannot be had"
    bar.menu.actions()[0].trigger()
    assert (scene.tint.kind, bar.buttons["structure"].isChecked()) == ("", True)


def test_the_bar_folds_into_a_menu_and_keeps_its_texts(hand: Hand, bar: LensBar) -> None:
    hand.view.lenses.choose("cost")
    assert bar.buttons["cost"].isVisible()
    assert not bar._folded.isVisible()
    bar.resize(260, bar.height())
    assert not bar.buttons["cost"].isVisible()
    assert (bar._folded.isVisible(), bar._folded.text()) == (True, "Cost")
    hand.view.lenses.remark("cost", Remark(shown="labelled cat", sample="Sample 3 of 5"))
    assert bar.sample.isVisible()
    assert bar.sample.geometry().right() < bar.width()


def test_the_legend_of_the_cost_has_five_steps_figures_and_the_heaviest_layer(hand: Hand) -> None:
    hand.view.lenses.choose("cost")
    legend = hand.view.overlays.legend
    assert legend.isVisible()
    assert len(legend.scale.steps.colours) == tint.STEPS
    assert legend.scale.steps.ticks == ("30", "100", "300", "1,000", "3,000", "10 k")
    assert legend.note.text() == "fc_1: 98 %"
    legend.costs["memory"].click()
    assert hand.view.network_scene.tint.kind == "memory"
    assert legend.note.text().startswith("conv_1: ")
    legend.link.click()
    assert hand.editor.selection == {hand.id("conv_1")}
    hand.view.lenses.choose("structure")
    assert legend.isHidden()


def test_the_link_of_the_health_goes_round_the_layers_that_are_worth_a_look(hand: Hand) -> None:
    hand.view.lenses.choose("health")
    bad, good = HealthBadge("warning", "", "low", "▼ 0 %"), HealthBadge("good", "", "good", "3 %")
    names = {"image_1": good, "conv_1": bad, "relu_1": good, "fc_1": bad}
    hand.view.network_scene.show_health({hand.id(name): badge for name, badge in names.items()})
    legend = hand.view.overlays.legend
    assert legend.note.text() == "2 healthy · 2 to look at"
    visited = []
    for _ in range(3):
        legend.link.click()
        visited += [hand.editor.network.layers[id].name for id in hand.editor.selection]
    assert visited == ["conv_1", "fc_1", "conv_1"]


def test_another_link_is_that_of_the_lens(hand: Hand, qtbot) -> None:
    lenses = hand.view.lenses
    lenses.remark("time", Remark(note="Not measured yet", link="Measure"))
    lenses.choose("time")
    legend = hand.view.overlays.legend
    assert (legend.note.text(), legend.scale.isHidden()) == ("Not measured yet", True)
    with qtbot.waitSignal(lenses.link_clicked) as clicked:
        legend.link.click()
    assert clicked.args == ["time"]
    hand.view.network_scene.show_times({hand.id("conv_1"): 1_204_000, hand.id("fc_1"): 602_000})
    assert legend.scale.steps.ticks[-1] == "3 ms"


def test_the_legend_stands_in_its_corner_and_leaves_the_view_alone(hand: Hand) -> None:
    view = hand.view
    view.scroll_by(QPoint(40, 30))
    before = view.zoom, view.visible_area()
    view.lenses.choose("cost")
    legend = view.overlays.legend
    assert (legend.x(), view.height() - legend.geometry().bottom() - 1) == (14, 14)
    view.resize(640, 480)
    assert view.height() - legend.geometry().bottom() - 1 == 14
    view.resize(900, 700)
    assert (view.zoom, view.visible_area()) == before


def test_a_narrow_view_has_a_legend_beside_the_zoom(hand: Hand) -> None:
    hand.view.lenses.choose("cost")
    legend, chip = hand.view.overlays.legend, hand.view.overlays.zoom_chip
    wide = legend.width()
    hand.view.resize(360, 380)
    assert legend.width() < wide
    assert not legend.geometry().intersects(chip.geometry())
    assert not legend.geometry().intersects(hand.view.overlays.minimap.geometry())
    assert legend.scale.isVisible()
    hand.view.resize(900, 700)
    assert legend.width() == wide
    assert legend.costs["memory"].isVisible()
