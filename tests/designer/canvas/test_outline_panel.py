"""The outline: in step with the canvas, with its menus and its keys, and in words."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QTreeWidgetItem

from netwright.designer.canvas import view as canvas_view
from netwright.designer.canvas.outline_panel import Outline
from netwright.engine.network import annotations
from netwright.engine.network.annotations import Mark
from tests.designer.mouse import Hand

NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def outline(hand: Hand, qtbot) -> Outline:
    layout, _ = annotations.frame_around(hand.editor.layout, {hand.id("fc_1")}, ())
    layout, _ = annotations.add_comment(layout, (-400.0, 0.0))
    hand.editor.apply_here("Annotate", layout=layout)
    outline = Outline(hand.editor, hand.view)
    qtbot.addWidget(outline)
    outline.resize(400, 500)
    with qtbot.waitActive(outline):
        outline.show()
        outline.activateWindow()
    return outline


def row(outline: Outline, text: str) -> QTreeWidgetItem:
    return next(item for item in outline.tree.rows() if item.text(0).startswith(text))


def entries(menu: QMenu) -> list[str]:
    """The texts of a menu and of its submenus."""
    return [action.text() for part in (menu, *menu.findChildren(QMenu)) for action in part.actions()]


def offered(outline: Outline) -> list[str]:
    outline.menu.aboutToShow.emit()
    assert outline._source is not None
    assert outline.menu.actions() == outline._source.actions(), "the entries are those of the canvas's menu"
    return entries(outline._source)


def test_rows_are_layers_with_their_connections_then_frames_and_comments(outline: Outline) -> None:
    texts = [item.text(0).split(" · ")[0] for item in outline.tree.rows()]
    assert texts[:4] == ["image_1", "→ fc_1", "fc_1", "→ relu_1"]
    assert [text.split(",")[0] for text in texts[-2:]] == ["Frame", "Comment"]


def test_selection_is_the_same_here_and_on_the_canvas(hand: Hand, outline: Outline) -> None:
    outline.tree.setCurrentItem(row(outline, "relu_1"))
    assert hand.editor.selection == {hand.id("relu_1")}
    hand.editor.set_selection({hand.id("fc_1"), hand.id("fc_2")})
    assert {item.text(0).split(" · ")[0] for item in outline.tree.selectedItems()} == {"fc_1", "fc_2"}
    (connection,) = hand.editor.network.outgoing[hand.id("fc_1")]
    hand.editor.set_selection((), {connection})
    assert [item.text(0) for item in outline.tree.selectedItems()] == ["→ relu_1"]
    outline.tree.setCurrentItem(row(outline, "Frame"))
    assert {mark.kind for mark in hand.editor.selected_marks} == {"frame"}
    hand.editor.set_selection(())
    assert outline.tree.selectedItems() == []


def test_every_action_of_the_canvas_is_in_the_menu_of_the_outline(hand: Hand, outline: Outline) -> None:
    at = hand.view.mapToScene
    edge = hand.view.network_scene.edges
    (connection,) = hand.editor.network.outgoing[hand.id("relu_1")]
    frame = hand.editor.layout.frames[0]
    places = {
        "relu_1": at(hand.body("relu_1")),
        "Frame": QPointF(frame.at[0] + 40, frame.at[1] + 4),
    }
    for name, place in places.items():
        hand.editor.set_selection(())
        on_canvas = entries(hand.view.menus.at(place))
        hand.editor.set_selection(())
        outline.tree.setCurrentItem(None)  # type: ignore[call-overload]  # as Qt allows
        outline.tree.setCurrentItem(row(outline, name))
        assert offered(outline) == on_canvas, name
    assert edge is not None
    hand.editor.set_selection((), {connection})
    assert "Disconnect" in " ".join(offered(outline))
    hand.editor.set_selection(())
    assert offered(outline) == entries(hand.view.menus.at(QPointF(2000, 2000)))
    hand.editor.set_selection({hand.id("relu_1")})
    expected = [
        *("Edit properties", "Rename", "Add a layer before…", "Add a layer after…", "Connect…", "Disconnect", "Up"),
        *("Delete", "Duplicate", "Copy", "Cut", "Group into a block", "Zoom to selection", "Bypass", "Frame"),
    ]
    missing = [text for text in expected if not any(entry.startswith(text) for entry in offered(outline))]
    assert missing == []


@pytest.mark.parametrize(
    ("key", "keys"),
    [(Qt.Key.Key_B, NONE), (Qt.Key.Key_Delete, NONE), (Qt.Key.Key_Delete, SHIFT), (Qt.Key.Key_Right, CONTROL)],
)
def test_keys_do_here_what_they_do_on_the_canvas(hand: Hand, outline: Outline, key: Qt.Key, keys) -> None:
    hand.editor.set_selection({hand.id("relu_1")})
    before = hand.editor.project
    QTest.keyClick(hand.view, key, keys)
    after = hand.editor.project
    assert after != before
    hand.editor.undo()
    hand.editor.set_selection({hand.id("relu_1")})
    QTest.keyClick(outline.tree, key, keys)
    assert hand.editor.project == after


def test_a_connection_is_made_from_the_outline(hand: Hand, outline: Outline) -> None:
    hand.editor.disconnect_all(hand.editor.network.outgoing[hand.id("fc_1")])
    outline.tree.setCurrentItem(row(outline, "fc_1"))
    QTest.keyClick(outline.tree, Qt.Key.Key_C)
    assert hand.view.keyboard.connecting is not None
    QTest.keyClick(outline.tree, Qt.Key.Key_Return)
    assert ("fc_1", "relu_1") in hand.links()


def test_what_opens_on_the_canvas_gives_the_keyboard_back(hand: Hand, outline: Outline, qtbot) -> None:
    outline.tree.setFocus()
    outline.tree.setCurrentItem(row(outline, "relu_1"))
    QTest.keyClick(outline.tree, Qt.Key.Key_A, SHIFT)
    popup = hand.view.suggestions.popup
    assert popup is not None
    QTest.keyClicks(popup.search, "batch norm")
    QTest.keyClick(popup.search, Qt.Key.Key_Return)
    assert ("fc_1", "bn_1") in hand.links()
    assert ("bn_1", "relu_1") in hand.links()
    qtbot.waitUntil(outline.tree.hasFocus)


def test_an_item_tells_a_screen_reader_its_problems(hand: Hand, outline: Outline) -> None:
    hand.editor.disconnect_all(hand.editor.network.outgoing[hand.id("fc_1")])
    (problem, *_) = [one for one in hand.editor.problems if one.layer == hand.id("relu_1")]
    tree = QAccessible.queryAccessibleInterface(outline.tree)
    QApplication.processEvents()  # a screen reader asks later
    cells = [tree.child(number) for number in range(tree.childCount())]
    told = next(cell for cell in cells if cell.text(QAccessible.Text.Name).startswith("relu_1"))
    assert problem.message in told.text(QAccessible.Text.Description)
    assert "Fed by no layer" in told.text(QAccessible.Text.Description)


def test_a_selection_on_the_canvas_is_announced(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(canvas_view, "announce", lambda _, text: said.append(text))
    hand.click(hand.body("relu_1"))
    assert len(said) == 1
    assert said[0].startswith("relu_1, ReLU, ")
    hand.editor.set_selection({hand.id("fc_1"), hand.id("fc_2")})
    hand.editor.set_selection((), (), {Mark("frame", "none")})
    hand.editor.set_selection(())
    assert said[1:] == ["2 items selected", "Frame, without a title, 0 layers", "Nothing is selected"]
