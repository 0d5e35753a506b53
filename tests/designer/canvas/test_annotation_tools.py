"""Frames and comments on the canvas, by real mouse and key events."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QMenu

from netwright.designer import markup
from netwright.designer.canvas.text_fields import CommentField, TitleField
from netwright.designer.scene.annotation_items import lines
from netwright.engine.network import annotations
from netwright.engine.network.annotations import Mark
from netwright.engine.network.layout import Layout
from tests.designer.mouse import Hand

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)


@pytest.fixture
def framed(hand: Hand) -> Hand:
    """fc_1 and relu_1 in a frame, and a comment beside them."""
    editor = hand.editor
    chosen = {hand.id("fc_1"), hand.id("relu_1")}
    layout, _ = annotations.frame_around(editor.layout, chosen, (), "Hidden", "blue")
    at = layout.frames[0].at
    layout, _ = annotations.add_comment(layout, (at[0] - 260, at[1]), "Why so wide?")
    editor.open(replace(editor.project, layout=layout))
    hand.view.look_at(QPointF(at[0], at[1] + 60))
    return hand


def frame(hand: Hand) -> Mark:
    return Mark("frame", hand.editor.layout.frames[0].id)


def comment(hand: Hand) -> Mark:
    return Mark("comment", hand.editor.layout.comments[0].id)


def spot(hand: Hand, mark: Mark, dx: float, dy: float) -> QPoint:
    """A point of the view, from the corner of a frame or a comment."""
    found = annotations.find(hand.editor.layout, mark)
    assert found is not None
    return hand.point(QPointF(found.at[0] + dx, found.at[1] + dy))


def corner(hand: Hand, mark: Mark) -> QPoint:
    found = annotations.find(hand.editor.layout, mark)
    assert found is not None
    return spot(hand, mark, *found.size)


def undone_and_redone(hand: Hand, before: Layout) -> None:
    """The last step, and only that, leads back and forth between equal layouts."""
    after = hand.editor.layout
    hand.editor.undo()
    assert hand.editor.layout == before
    assert hand.view.network_scene.annotations.layout == before
    hand.editor.redo()
    assert hand.editor.layout == after
    assert hand.view.network_scene.annotations.layout == after


def done(hand: Hand) -> None:
    """Leaves the field that is open, as a click elsewhere does."""
    hand.view.setFocus()


def menu_of(hand: Hand, mark: Mark) -> QMenu:
    menu = hand.view.menus.at(hand.view.mapToScene(spot(hand, mark, 30, 14)))
    assert menu is not None
    return menu


def entry(menu: QMenu, text: str):
    return next(action for action in menu.actions() if action.text().split("\t")[0] == text)


def test_a_frame_dragged_by_its_title_takes_its_layers_along(framed: Hand) -> None:
    before, at = framed.editor.layout, {name: framed.place(name) for name in ("fc_1", "relu_1", "fc_2")}
    start = spot(framed, frame(framed), 40, 14)
    framed.press(start)
    framed.move(start + QPoint(40, 0))
    framed.move(start + QPoint(80, 16))
    assert framed.shown("fc_1") == (at["fc_1"][0] + 80, at["fc_1"][1] + 16)
    assert framed.editor.layout == before
    framed.release(start + QPoint(80, 16))
    assert framed.place("relu_1") == (at["relu_1"][0] + 80, at["relu_1"][1] + 16)
    assert framed.place("fc_2") == at["fc_2"]
    assert framed.editor.layout.frames[0].at == (before.frames[0].at[0] + 80, before.frames[0].at[1] + 16)
    assert framed.editor.selected_marks == {frame(framed)}
    assert framed.editor.stack.count() == 1
    undone_and_redone(framed, before)


def test_its_border_drags_too_and_the_ground_in_it_does_not(framed: Hand) -> None:
    before = framed.editor.layout
    framed.drag(spot(framed, frame(framed), 9, 80), spot(framed, frame(framed), 41, 80))
    assert framed.editor.layout.frames[0].at[0] == before.frames[0].at[0] + 32
    framed.editor.undo()
    framed.drag(spot(framed, frame(framed), 18, 40), spot(framed, frame(framed), 60, 150))
    assert framed.editor.layout == before
    assert framed.editor.selection == {framed.id("fc_1"), framed.id("relu_1")}


def test_escape_leaves_a_dragged_frame_where_it_was(framed: Hand) -> None:
    before, start = framed.editor.layout, spot(framed, frame(framed), 40, 14)
    framed.press(start)
    framed.move(start + QPoint(80, 80))
    framed.key(Qt.Key.Key_Escape)
    framed.release(start + QPoint(80, 80))
    assert framed.editor.layout == framed.view.network_scene.annotations.layout == before
    assert framed.shown("fc_1") == framed.place("fc_1")
    assert not framed.editor.selected_marks
    assert framed.editor.stack.count() == 0


def test_a_corner_and_an_edge_resize(framed: Hand) -> None:
    before, mark = framed.editor.layout, frame(framed)
    (x, y), (width, height) = before.frames[0].at, before.frames[0].size
    framed.drag(corner(framed, mark), corner(framed, mark) + QPoint(64, 32))
    changed = framed.editor.layout.frames[0]
    assert changed.at == (x, y)
    assert abs(changed.size[0] - width - 64) <= 4
    assert abs(changed.size[1] - height - 32) <= 4
    assert framed.editor.layout.positions == before.positions
    undone_and_redone(framed, before)
    framed.drag(spot(framed, mark, 0, 80), spot(framed, mark, -50, 80))
    assert framed.editor.layout.frames[0].at[0] < x
    assert framed.editor.layout.frames[0].at[1] == y
    framed.drag(spot(framed, mark, 0, 80), spot(framed, mark, 2000, 80))
    assert framed.editor.layout.frames[0].size[0] == annotations.LEAST[0]


def test_a_comment_is_moved_resized_and_selected_by_a_click(framed: Hand) -> None:
    before, mark = framed.editor.layout, comment(framed)
    framed.click(spot(framed, mark, 60, 40))
    assert framed.editor.selected_marks == {mark}
    assert not framed.editor.selection
    framed.drag(spot(framed, mark, 60, 40), spot(framed, mark, 60, 120))
    assert framed.editor.layout.comments[0].at[1] == before.comments[0].at[1] + 80
    undone_and_redone(framed, before)
    framed.drag(corner(framed, mark), corner(framed, mark) + QPoint(48, 48))
    assert framed.editor.layout.comments[0].size > before.comments[0].size


def test_a_double_click_edits_a_title_and_a_text(framed: Hand) -> None:
    before = framed.editor.layout
    framed.double_click(spot(framed, frame(framed), 40, 14))
    field = framed.view.findChild(TitleField)
    assert field is not None
    assert field.text() == "Hidden"
    assert field.accessibleName()
    framed.qtbot.keyClicks(field, "Stem")
    framed.qtbot.keyClick(framed.view.window().windowHandle(), Qt.Key.Key_Return)
    assert framed.editor.layout.frames[0].title == "Stem"
    assert framed.view.hasFocus()  # and Enter does not open the field again
    undone_and_redone(framed, before)
    framed.double_click(spot(framed, comment(framed), 60, 40))
    sheet = framed.view.findChild(CommentField)
    assert sheet is not None
    framed.qtbot.keyClicks(sheet, "Because")
    framed.qtbot.keyClick(sheet, Qt.Key.Key_Return)
    framed.qtbot.keyClicks(sheet, "it learns")
    framed.qtbot.keyClick(sheet, Qt.Key.Key_Return, CTRL)
    assert framed.editor.layout.comments[0].text == "Because\nit learns"
    assert framed.view.hasFocus()


def test_escape_in_a_field_changes_nothing_and_a_click_elsewhere_takes_it(framed: Hand) -> None:
    before = framed.editor.layout
    framed.double_click(spot(framed, comment(framed), 60, 40))
    sheet = framed.view.findChild(CommentField)
    framed.qtbot.keyClicks(sheet, "no")
    framed.qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    assert framed.editor.layout == before
    framed.view.annotation_tools.edit(comment(framed))
    sheet = next(one for one in framed.view.findChildren(CommentField) if one.isVisible())
    framed.qtbot.keyClicks(sheet, "yes")
    framed.view.setFocus()
    assert framed.editor.layout.comments[0].text == "yes"


def test_delete_removes_a_frame_and_leaves_its_layers(framed: Hand) -> None:
    before = framed.editor.layout
    framed.click(spot(framed, frame(framed), 40, 14))
    framed.key(Qt.Key.Key_Delete)
    assert not framed.editor.layout.frames
    assert "fc_1" in framed.names()
    assert framed.editor.stack.undoText() == "Delete frame"
    undone_and_redone(framed, before)


def test_the_menu_changes_colour_and_order(framed: Hand) -> None:
    before = framed.editor.layout
    menu = menu_of(framed, frame(framed))
    (tones,) = menu.findChildren(QMenu)
    assert [action.text() for action in tones.actions() if action.isChecked()] == ["Blue"]
    entry(tones, "Red").trigger()
    assert framed.editor.layout.frames[0].tone == "red"
    undone_and_redone(framed, before)
    framed.editor.set_selection({framed.id("fc_2")})
    framed.view.annotation_tools.frame_selection()
    done(framed)
    first = framed.editor.layout.frames[0].id
    entry(menu_of(framed, Mark("frame", first)), "Bring to front").trigger()
    assert framed.editor.layout.frames[-1].id == first
    entry(menu_of(framed, Mark("frame", first)), "Select the layers in it").trigger()
    assert framed.editor.selection == {framed.id("fc_1"), framed.id("relu_1")}


def test_framing_a_selection_is_one_step_with_its_title(hand: Hand) -> None:
    before = hand.editor.layout
    hand.editor.set_selection({hand.id("fc_1"), hand.id("relu_1")})
    hand.view.annotation_tools.frame_selection()
    field = hand.view.findChild(TitleField)
    hand.qtbot.keyClicks(field, "Head")
    hand.qtbot.keyClick(field, Qt.Key.Key_Return)
    (made,) = hand.editor.layout.frames
    assert made.title == "Head"
    layers, _ = annotations.standing_in(hand.editor.layout, {Mark("frame", made.id)})
    assert layers == {hand.id("fc_1"), hand.id("relu_1")}
    assert hand.editor.stack.count() == 1
    undone_and_redone(hand, before)


def test_framing_nothing_is_refused_in_words(hand: Hand) -> None:
    with hand.qtbot.waitSignal(hand.editor.refused) as told:
        hand.view.annotation_tools.frame_selection()
    assert "Select the layers" in told.args[0]


def test_a_comment_is_added_at_the_pointer_and_written(hand: Hand) -> None:
    hand.move(QPoint(120, 90))
    hand.view.add_comment()
    sheet = hand.view.findChild(CommentField)
    hand.qtbot.keyClicks(sheet, "Note")
    hand.qtbot.keyClick(sheet, Qt.Key.Key_Return, CTRL)
    (made,) = hand.editor.layout.comments
    assert made.text == "Note"
    place = hand.view.mapToScene(QPoint(120, 90))
    assert abs(made.at[0] - place.x()) <= 4
    assert abs(made.at[1] - place.y()) <= 4
    assert hand.editor.stack.count() == 1


def test_copies_of_a_frame_with_its_layers(framed: Hand) -> None:
    before = framed.editor.layout
    framed.editor.set_selection({framed.id("fc_1"), framed.id("relu_1")}, (), {frame(framed), comment(framed)})
    framed.editor.copy()
    framed.editor.paste()
    layout = framed.editor.layout
    assert [one.title for one in layout.frames] == ["Hidden", "Hidden"]
    step = layout.frames[1].at[0] - layout.frames[0].at[0]
    assert step > 0
    assert framed.editor.selected_marks == {Mark("frame", layout.frames[1].id), Mark("comment", layout.comments[1].id)}
    new = Mark("frame", layout.frames[1].id)
    assert annotations.standing_in(layout, {new})[0] >= framed.editor.selection
    undone_and_redone(framed, before)
    framed.editor.undo()
    framed.editor.set_selection((), (), {comment(framed)})
    framed.editor.cut()
    assert not framed.editor.layout.comments
    framed.editor.paste((0.0, 0.0))
    assert framed.editor.layout.comments[-1].text == "Why so wide?"


def test_everything_by_keyboard(framed: Hand) -> None:
    before = framed.editor.layout
    for _ in range(len(framed.names()) + 1):
        framed.key(Qt.Key.Key_N)
    assert framed.editor.selected_marks == {frame(framed)}
    assert not framed.editor.selection
    framed.key(Qt.Key.Key_Right, CTRL)
    framed.key(Qt.Key.Key_Right, CTRL)
    assert framed.place("fc_1")[0] == before.at(framed.id("fc_1"))[0] + 16
    assert framed.editor.layout.frames[0].at[0] == before.frames[0].at[0] + 16
    undone_and_redone(framed, before)
    framed.editor.undo()
    framed.editor.set_selection((), (), {frame(framed)})
    framed.key(Qt.Key.Key_Down, ALT | SHIFT)
    framed.key(Qt.Key.Key_Down, ALT | SHIFT)
    assert framed.editor.layout.frames[0].size[1] == before.frames[0].size[1] + 16
    undone_and_redone(framed, before)
    framed.key(Qt.Key.Key_F2)
    field = framed.view.findChild(TitleField)
    framed.qtbot.keyClick(field, Qt.Key.Key_Escape)
    framed.key(Qt.Key.Key_N)
    assert framed.editor.selected_marks == {comment(framed)}
    framed.key(Qt.Key.Key_Delete)
    assert not framed.editor.layout.comments


def test_a_band_takes_what_is_whole_inside(framed: Hand) -> None:
    start = spot(framed, comment(framed), -20, -20)
    framed.drag(start, corner(framed, comment(framed)) + QPoint(10, 10))
    assert framed.editor.selected_marks == {comment(framed)}
    framed.editor.select_all()
    assert framed.editor.selected_marks == {frame(framed), comment(framed)}
    framed.click(hand_ground(framed))
    assert not framed.editor.selected_marks


def hand_ground(hand: Hand) -> QPoint:
    return QPoint(hand.view.width() - 20, 20)


def test_inside_a_block_they_belong_to_the_block(framed: Hand) -> None:
    editor = framed.editor
    editor.set_selection({framed.id("fc_1"), framed.id("relu_1")}, (), {frame(framed)})
    before = editor.project.layout
    id = editor.group()
    assert id is not None
    assert not editor.layout.frames
    editor.open_block(id)
    assert [one.title for one in editor.layout.frames] == ["Hidden"]
    framed.view.annotation_tools.add_comment(QPointF(0, 0))
    done(framed)
    assert len(editor.layout.comments) == 1
    editor.undo()
    editor.leave_block()
    assert len(editor.project.layout.comments) == 1
    editor.undo()
    assert editor.project.layout == before


def test_from_afar_a_title_stands_on_a_tab_that_can_be_dragged(framed: Hand) -> None:
    before = framed.editor.layout
    framed.view._set_zoom(0.3)
    framed.view.look_at(QPointF(*before.frames[0].at))
    tabs = framed.view.network_scene.annotations.titles.tabs(framed.view.zoom)
    start = framed.point(tabs[before.frames[0].id].center())
    framed.drag(start, start + QPoint(60, 0))
    assert framed.editor.layout.frames[0].at[0] > before.frames[0].at[0] + 100
    assert framed.place("fc_1")[0] > before.at(framed.id("fc_1"))[0] + 100


def test_only_annotations_are_a_content_too(make_hand: Callable) -> None:
    from netwright.engine.network.network import Network

    hand = make_hand(Network({}, ()))
    hand.view.annotation_tools.add_comment(QPointF(400, 300))
    done(hand)
    assert hand.view.overlays.empty.isHidden()
    assert hand.view.network_scene.content_box().contains(QPointF(450, 340))


def test_a_text_ends_in_an_ellipsis_where_there_is_no_room(qtbot) -> None:
    assert lines("one\n\ntwo", 200, 100) == ("one", "", "two")
    short = lines("word " * 200, 120, 40)
    assert len(short) == 2
    assert short[-1].endswith("…")
    assert lines("x" * 10_000, 100, 60)[-1].endswith("…")
    assert "😀" in lines("😀 😀 " * 50, 100, 60)[0]


def test_there_is_one_field_at_a_time(framed: Hand) -> None:
    framed.view.annotation_tools.edit(frame(framed))
    framed.qtbot.keyClicks(framed.view.findChild(TitleField), "Taken")
    framed.view.annotation_tools.edit(comment(framed))
    assert framed.editor.layout.frames[0].title == "Taken"
    fields = [one for kind in (TitleField, CommentField) for one in framed.view.findChildren(kind) if one.isVisible()]
    assert [type(one) for one in fields] == [CommentField]
    framed.editor.set_selection({framed.id("fc_1")})
    id = framed.editor.group()
    assert id is not None
    framed.editor.open_block(id)
    assert not fields[0].isVisible()


def test_the_tooltip_has_all_of_the_words_and_its_lines_break(framed: Hand) -> None:
    long = "<b>first</b>\n" + "word " * 100
    framed.editor.apply_here("x", layout=annotations.reword(framed.editor.layout, comment(framed), long))
    text = framed.view.annotation_tools.tooltip_at(framed.view.mapToScene(spot(framed, comment(framed), 60, 40)))
    assert text.startswith("<b>first</b>\nword")
    assert max(map(len, text.split("\n"))) <= markup.TOOLTIP_COLUMNS
    assert framed.view.annotation_tools.tooltip_at(framed.view.mapToScene(hand_ground(framed))) == ""
