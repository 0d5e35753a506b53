import pytest
from PySide6.QtCore import Qt

from netwright.designer.forms.field_editors import ChoiceEditor, ChoicesEditor, PathEditor, editor_for
from netwright.designer.forms.switch import Switch
from netwright.engine.core.fields import Choice, Field, FilePath
from tests.designer.forms.sample import Sample, line_of, type_over


def test_a_switch_turns_with_space_and_arrows(qtbot, shown) -> None:
    form = shown()
    switch = form.rows["is_on"].widget
    assert isinstance(switch, Switch)
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert form.record.is_on
    qtbot.keyClick(switch, Qt.Key.Key_Left)
    assert not form.record.is_on


def test_a_path_has_a_button_to_browse(qtbot, shown, monkeypatch) -> None:
    form = shown()
    editor = form.rows["path"].widget
    assert isinstance(editor, PathEditor)
    monkeypatch.setattr(
        "netwright.designer.forms.field_editors.QFileDialog.getOpenFileName", lambda *_: ("/data/x.csv", "")
    )
    qtbot.mouseClick(editor.browse, Qt.MouseButton.LeftButton)
    assert form.record.path == "/data/x.csv"


def test_a_long_path_shows_its_end(shown) -> None:
    form = shown(Sample(path="/a/long/way/to/data.csv"))
    line = line_of(form, "path")
    assert line.cursorPosition() == len(line.text())
    form.set_record(Sample(path="/another/long/way/to/other.csv"))
    assert line.cursorPosition() == len(line.text())


def test_a_kind_without_an_editor_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="No editor is registered for Field"):
        editor_for(Field(1), 1, print)


def test_several_words_are_ticked_in_a_menu_that_stays_open_and_other_words_follow(qtbot, shown) -> None:
    form = shown()
    editor, main = form.rows["sounds"].widget, form.rows["main"].widget
    assert isinstance(editor, ChoicesEditor)
    editor.button.click()
    toll = next(action for action in editor.menu.actions() if action.text() == "Toll")
    for expected in (("ring", "toll"), ("ring",), ("ring", "toll")):
        qtbot.mouseClick(editor.menu, Qt.MouseButton.LeftButton, pos=editor.menu.actionGeometry(toll).center())
        assert form.record.sounds == expected
        assert editor.menu.isVisible()
    assert editor.line.text() == "Ring, Toll"
    assert [action.isChecked() for action in editor.menu.actions()] == [True, True, False]
    assert [main.model().item(index).isEnabled() for index in range(3)] == [True, True, False]
    editor.menu.setActiveAction(toll)
    qtbot.keyClick(editor.menu, Qt.Key.Key_Space)
    assert form.record.sounds == ("ring",)
    editor.menu.close()


@pytest.mark.parametrize("text", ["Ring, Toll", "ring toll", "ring, TOLL"])
def test_several_words_are_typed_as_they_are_shown_or_by_their_keys(qtbot, shown, text: str) -> None:
    form = shown()
    type_over(qtbot, form, "sounds", text)
    assert (form.record.sounds, form.reason) == (("ring", "toll"), "")


def test_without_any_word_the_field_asks_for_one(qtbot, shown) -> None:
    form = shown()
    type_over(qtbot, form, "sounds", "")
    assert form.reason.startswith("Sounds: Enter one or more of ring, toll, peal")
    type_over(qtbot, form, "sounds", "peel")
    assert "did you mean" in form.reason.lower()
    assert form.record.sounds == ("ring",)


def test_words_that_do_not_go_with_others_are_grey_from_the_start(shown) -> None:
    main = shown(Sample(sounds=("toll",))).rows["main"].widget
    assert [main.model().item(index).isEnabled() for index in range(3)] == [False, True, False]


def test_options_are_shown_in_words_and_stay_as_they_are_in_the_file(qtbot) -> None:
    chosen: list[object] = []
    field = Choice("leave-out", options=("leave-out", "class"), words={"leave-out": "Ignore"}, group="Words")
    editor = editor_for(field, "leave-out", chosen.append)
    qtbot.addWidget(editor)
    assert isinstance(editor, ChoiceEditor)
    assert [editor.itemText(at) for at in range(2)] == ["Ignore", "Class"]
    editor.setCurrentIndex(1)
    editor.activated.emit(1)
    editor.show_value("leave-out")
    assert (editor.currentText(), chosen) == ("Ignore", ["class"])


def test_a_path_that_has_no_room_shows_both_ends_and_is_whole_in_the_tooltip(qtbot) -> None:
    path = "/volume/data/of/this/year/first_half/credit.csv"
    editor = editor_for(FilePath("", group="Words"), path, lambda _: None)
    qtbot.addWidget(editor)
    assert isinstance(editor, PathEditor)
    editor.resize(160, 30)
    editor.show()
    assert editor.line.cursorPosition() == len(path)
    shown = editor.line.shown_text
    assert shown.startswith("/vol")
    assert "…" in shown
    assert shown.endswith(".csv")
    editor.grab()
    assert editor.line.toolTip() == path
    editor.show_value(longer := path.replace("credit", "credit_and_income"))
    assert (editor.line.cursorPosition(), editor.line.toolTip()) == (len(longer), longer)
