"""Stages of a pipeline on the canvas: seen by colour and number, changed by key, menu and field, each one undo step."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QMenu

from netwright.designer.panels.property_sections import StageRow
from netwright.designer.scene.content import Content
from netwright.designer.scene.pictures import paint
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network
from netwright.engine.project.environment import EnvironmentOptions
from tests.builders import chain, layer
from tests.designer.mouse import Hand

PIPELINE = EnvironmentOptions(target="multi-cpu", num_workers=2, strategy="pipeline")


@pytest.fixture
def staged(make_hand: Callable[[Network], Hand]) -> Hand:
    """in, fc_1, relu_1, fc_2, and stages on the canvas."""
    full = layer("fully_connected", outputs=8)
    hand = make_hand(chain(layer("feature_input", channels=8), full, layer("relu"), full))
    hand.view.lenses.choose("stages")
    return hand


def numbers(hand: Hand) -> list[int | None]:
    nodes = hand.view.network_scene.nodes.nodes
    return [None if (stage := nodes[id].content.stage) is None else stage + 1 for id in hand.editor.network.order]


def text(hand: Hand) -> str:
    return hand.editor.project.environment.stages


def test_stages_are_shown_instead_of_a_tint_and_the_other_way_round(staged: Hand, qtbot) -> None:
    scene, staging = staged.view.network_scene, staged.view.stages
    assert numbers(staged) == [1, 1, 1, 2]
    assert set(scene.nodes.overview()) == {"stage 0", "stage 1"}
    x, y = staged.editor.layout.at(staged.id("fc_2"))
    assert staged.view.tooltip_at(QPointF(x + 60, y + 16)) == "Stage 2"
    staged.view.lenses.choose("cost")
    assert numbers(staged) == [None] * 4
    assert not staging.is_on
    assert scene.tint.kind == "parameters"
    staged.view.lenses.choose("stages")
    assert scene.tint.kind == ""
    assert numbers(staged) == [1, 1, 1, 2]
    staged.editor.edit_network("Cut", lambda network: Network(network.layers))
    qtbot.waitUntil(lambda: numbers(staged) == [None] * 4, timeout=60_000)
    staged.editor.undo()
    qtbot.waitUntil(lambda: numbers(staged) == [1, 1, 1, 2], timeout=60_000)


def test_a_digit_and_the_menu_put_layers_into_stages(staged: Hand, qtbot) -> None:
    staged.editor.set_selection({staged.id("relu_1")})
    qtbot.keyClick(staged.view, Qt.Key.Key_2)
    assert numbers(staged) == [1, 1, 2, 2]
    assert text(staged) == "relu_1: 2"
    assert staged.editor.stack.undoText() == "Put relu_1 into stage 2"
    x, y = staged.editor.layout.at(staged.id("fc_2"))
    menu = staged.view.menus.at(QPointF(x + 20, y + 20))
    (stages,) = (entry for entry in menu.findChildren(QMenu) if entry.title() == "Stage")
    assert [action.text() for action in stages.actions()] == ["Stage 1", "Stage 2", "New stage 3"]
    assert [action.isChecked() for action in stages.actions()] == [False, True, False]
    stages.actions()[2].trigger()
    assert numbers(staged) == [1, 1, 2, 3]
    menu.deleteLater()
    staged.editor.rename(staged.id("relu_1"), "rectified")
    assert text(staged) == "rectified: 2, fc_2: 3"
    for _ in range(3):
        staged.editor.undo()
    qtbot.waitUntil(lambda: numbers(staged) == [1, 1, 1, 2], timeout=60_000)
    qtbot.keyClick(staged.view, Qt.Key.Key_Escape)
    staged.editor.set_selection(())
    qtbot.keyClick(staged.view, Qt.Key.Key_1)
    assert text(staged) == ""
    assert staged.view.lenses.current == "structure", "without a selection a digit is a lens"


def test_the_card_says_what_each_stage_takes_and_balances_and_clears(staged: Hand) -> None:
    legend = staged.view.overlays.legend
    card = legend.rows
    # 64 samples of two pieces and 72 weights thrice; 32 of one piece: as many pieces as are under way there.
    assert card.lines == ["3 layers: 50 % of work, 6.8 KiB", "1 layer: 50 % of work, 1.8 KiB"]
    assert legend.caption.text() == "automatic"
    assert not card.clear_button.isEnabled()
    assert card.words.text() == "Not used: the execution environment is auto."
    card.use_button.click()
    assert (staged.editor.project.environment.target, staged.editor.project.environment.strategy) == (
        "multi-cpu",
        "pipeline",
    )
    assert card.use_button.isHidden()
    card.balance_menu.actions()[0].trigger()
    assert text(staged) == "fc_2: 2"
    assert legend.caption.text() == "by hand"
    staged.view.stages.workers_of = lambda _: 3
    card.refresh()
    said = "The layers are put into 2 stages, and there are 3 workers. Give each worker one stage."
    assert card.words.text() == said
    card.clear_button.click()
    assert text(staged) == ""
    staged.view.stages.workers_of = lambda _: 5
    refused: list[str] = []
    staged.editor.refused.connect(refused.append)
    card.balance_menu.actions()[1].trigger()
    assert refused[0].startswith("5 stages need as many layers whose weights learn")
    assert card.lines == []
    assert card.words.text().startswith("5 stages need")
    staged.view.lenses.choose("structure")
    assert legend.isHidden()


def test_the_field_of_the_properties_is_there_where_a_run_has_stages(staged: Hand) -> None:
    staging, editor = staged.view.stages, staged.editor
    row = StageRow(editor, staging)
    editor.set_selection({staged.id("fc_1")})
    assert row.isHidden()
    editor.edit("Pipeline", lambda project: project.with_section("environment", PIPELINE))
    row.refresh()
    assert not row.isHidden()
    assert row.words.text() == "2 stages, balanced by the engine."
    row.form.set_value("stage", 2)
    row.form.changed.emit("stage")
    assert text(staged) == "fc_1: 2"
    assert row.words.text() == "2 stages, set by hand."


def test_what_is_inside_a_block_is_in_its_stage(make_hand: Callable[[Network], Hand], qtbot) -> None:
    full = layer("fully_connected", outputs=8)
    inner = chain(layer("block_input"), full, layer("block_output"))
    hand = make_hand(chain(layer("feature_input", channels=8), full, Block(inner)))
    hand.view.lenses.choose("stages")
    hand.editor.open_block("id3")
    qtbot.waitUntil(lambda: numbers(hand) == [2, 2, 2], timeout=60_000)
    refused: list[str] = []
    hand.editor.refused.connect(refused.append)
    hand.editor.set_selection({"id2"})
    hand.view.stages.put(0)
    assert refused == ["What is inside block_1 is in its stage: a block is in one as a whole."]


def test_the_number_takes_the_place_of_the_count_and_its_colour_fills_the_layer(qtbot) -> None:
    from PySide6.QtGui import QImage, QPainter

    from netwright.designer import theme
    from netwright.designer.scene import stage_colours

    image = QImage(200, 60, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    paint(painter, Content("fc_1", "", "1,234", "Fully connected", 1, 1, stage=1))
    painter.end()
    assert image.pixelColor(80, 24) == stage_colours.ground(1)
    right = [image.pixelColor(x, 8) for x in range(100, 200)]
    assert theme.current().stage(1) in right
