from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QWidget

from designer.forms.field_editors import ChoicesEditor, PathEditor, editor_for
from designer.forms.form import Form
from designer.forms.line_editors import stepped
from designer.forms.switch import Switch
from engine.core.errors import FieldError
from engine.core.fields import Bool, Choice, Choices, Field, FilePath, Float, Int, Text
from engine.core.list_fields import Ints, Padding, Size
from engine.core.records import Record
from engine.project.environment import EnvironmentOptions
from engine.project.training import TrainingOptions


class Sample(Record):
    """One field of each kind."""

    count = Int(3, low=1, high=5000, unit="samples", group="Numbers", help="How many")
    rate = Float(0.01, above=0.0, high=10.0, group="Numbers")
    is_on = Bool(False, group="Numbers")
    mode = Choice("plain", options=("plain", "fancy"), notes={"fancy": "With bells"}, group="Words")
    sounds = Choices(("ring",), options=("ring", "toll", "peal"), notes={"peal": "All of them"}, group="Words")
    main = Choice("ring", options=("ring", "toll", "peal"), offered=lambda record: record.sounds, group="Words")
    title = Text("", group="Words")
    bells = Int(2, low=1, group="Words", visible_when=lambda record: record.mode == "fancy")
    path = FilePath("", group="Words")
    numbers = Ints((), group="Sizes")
    kernel = Size(3, length=2, group="Sizes")
    padding = Padding("same", length=2, group="Sizes")

    def problems(self) -> list[FieldError]:
        return [FieldError("count", "too many for plain.")] if self.count > 100 and self.mode == "plain" else []


@pytest.fixture
def shown(qtbot) -> Callable[..., Form]:
    def make(record: Record | None = None, **options: object) -> Form:
        form = Form(record or Sample(), **options)  # type: ignore[arg-type]  # as each test says
        qtbot.addWidget(form)
        form.resize(420, 700)
        with qtbot.waitActive(form):
            form.show()
            form.activateWindow()
        return form

    return make


def line_of(form: Form, name: str) -> QLineEdit:
    widget = form.rows[name].widget
    line = widget if isinstance(widget, QLineEdit) else widget.findChild(QLineEdit)
    assert isinstance(line, QLineEdit)
    return line


def type_over(qtbot, form: Form, name: str, text: str) -> None:
    line = line_of(form, name)
    line.setFocus()
    line.selectAll()
    if text:
        qtbot.keyClicks(line, text)
    else:
        qtbot.keyClick(line, Qt.Key.Key_Delete)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "1,200", 1200),
        ("rate", "1e-5", 1e-5),
        ("sounds", "peal, ring", ("peal", "ring")),
        ("title", "a title", "a title"),
        ("path", "data/x.csv", "data/x.csv"),
        ("numbers", "0, 2", (0, 2)),
        ("numbers", "", ()),
        ("kernel", "5", (5, 5)),
        ("kernel", "3x5", (3, 5)),
        ("kernel", "3 5", (3, 5)),
        ("kernel", "3 × 5", (3, 5)),
        ("padding", "2", (2, 2)),
        ("padding", "1 x 0", (1, 0)),
    ],
)
def test_typed_text_becomes_the_value_and_stays_until_it_is_complete(qtbot, shown, name, text, value) -> None:
    form = shown(Sample(mode="fancy", numbers=[1]))
    type_over(qtbot, form, name, text)
    assert line_of(form, name).text() == text
    qtbot.keyClick(line_of(form, name), Qt.Key.Key_Return)  # a path is taken on Enter
    assert getattr(form.record, name) == value
    assert form.is_valid


@pytest.mark.parametrize(
    ("name", "typed", "after"),
    [("kernel", "5", "5 × 5"), ("kernel", "5,7", "5 × 7"), ("rate", "1e-05", "1e-5"), ("count", "1,200", "1200")],
)
@pytest.mark.parametrize("leave", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_what_was_typed_is_written_as_the_value_is_shown_when_it_is_complete(
    qtbot, shown, name: str, typed: str, after: str, leave: Qt.Key
) -> None:
    form = shown()
    line = line_of(form, name)
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, typed)
    assert line.text() == typed
    qtbot.keyClick(line, leave)
    assert line.text() == after


def test_a_refused_text_is_left_as_it_was_typed(qtbot, shown) -> None:
    form = shown()
    line = line_of(form, "kernel")
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, "5 by 5")
    qtbot.keyClick(line, Qt.Key.Key_Tab)
    assert line.text() == "5 by 5"


def test_a_refused_text_says_why_keeps_the_record_and_recovers(qtbot, shown) -> None:
    form = shown()
    validity: list[bool] = []
    form.validity_changed.connect(validity.append)
    type_over(qtbot, form, "count", "9000")
    row = form.rows["count"]
    assert form.record.count == 900  # the last text that was one of its values
    assert line_of(form, "count").text() == "9000"
    assert row.error_label is not None
    assert row.error_label.isVisible()
    assert row.error_label.text() == "Expected a whole number from 1 to 5,000, received 9000."
    assert line_of(form, "count").property("invalid") is True
    assert form.reason.startswith("Count: Expected")
    type_over(qtbot, form, "count", "90")
    assert form.record.count == 90
    assert not row.error_label.isVisible()
    assert line_of(form, "count").property("invalid") is False
    assert (validity[0], validity[-1]) == (False, True)


def test_an_empty_number_is_asked_for_in_words(qtbot, shown) -> None:
    form = shown()
    type_over(qtbot, form, "count", "")
    assert form.rows["count"].message == "Enter a whole number from 1 to 5,000."
    assert form.record == Sample()


def test_each_edit_signals_the_field(qtbot, shown) -> None:
    form = shown()
    with qtbot.waitSignal(form.changed) as caught:
        type_over(qtbot, form, "count", "7")
    assert caught.args == ["count"]
    assert form.record == Sample(count=7)


def test_a_dot_marks_a_changed_value_and_a_click_on_it_resets(qtbot, shown) -> None:
    form = shown()
    label = form.rows["count"].label
    assert not label.is_marked
    type_over(qtbot, form, "count", "7")
    assert label.is_marked
    assert "the default is 3" in label.toolTip()
    qtbot.mouseClick(label, Qt.MouseButton.LeftButton, pos=label.mark_rect().center().toPoint())
    assert form.record == Sample()
    assert line_of(form, "count").text() == "3"
    assert not label.is_marked


def test_a_click_on_the_text_of_a_label_leads_to_the_editor(qtbot, shown) -> None:
    form = shown()
    label = form.rows["count"].label
    qtbot.mouseClick(label, Qt.MouseButton.LeftButton, pos=QPoint(4, 15))
    qtbot.waitUntil(line_of(form, "count").hasFocus)


def test_resetting_takes_a_refused_text_away(qtbot, shown) -> None:
    form = shown()
    type_over(qtbot, form, "count", "abc")
    form.reset_all()
    assert form.is_valid
    assert line_of(form, "count").text() == "3"


def test_a_field_appears_with_the_value_it_depends_on(qtbot, shown) -> None:
    form = shown()
    bells, mode = form.rows["bells"], form.rows["mode"].widget
    assert not bells.is_shown
    assert isinstance(mode, QComboBox)
    mode.setFocus()
    qtbot.keyClick(mode, Qt.Key.Key_Down)
    assert form.record.mode == "fancy"
    assert bells.is_shown
    assert mode.itemData(1, Qt.ItemDataRole.ToolTipRole) == "With bells"
    type_over(qtbot, form, "bells", "x")
    assert not form.is_valid
    qtbot.keyClick(mode, Qt.Key.Key_Up)
    assert form.is_valid  # what is hidden cannot keep anybody from going on


def test_problems_across_fields_stand_under_theirs(qtbot, shown) -> None:
    form = shown()
    type_over(qtbot, form, "count", "101")
    assert form.record.count == 101
    assert form.rows["count"].message == "Too many for plain."
    form.set_record(Sample(count=101, mode="fancy"))
    assert form.is_valid
    form.set_problems({"rate": "not with this data."})
    assert form.reason == "Rate: Not with this data."


def test_another_record_leaves_focus_caret_and_typed_text_alone(qtbot, shown) -> None:
    form = shown(Sample(count=1234, rate=2e-3))
    line = line_of(form, "count")
    line.setFocus()
    line.setCursorPosition(2)
    form.set_record(Sample(count=1235, rate=2e-3))
    assert line.hasFocus()
    assert (line.text(), line.cursorPosition()) == ("1235", 2)
    type_over(qtbot, form, "rate", "2.0e-3")
    form.set_record(Sample(count=1, rate=2e-3))
    assert line_of(form, "rate").text() == "2.0e-3"


def test_a_refused_text_stays_until_its_field_gets_another_value(qtbot, shown) -> None:
    form = shown()
    type_over(qtbot, form, "rate", "abc")
    form.set_record(Sample(count=4))
    assert line_of(form, "rate").text() == "abc"
    assert not form.is_valid
    form.set_record(Sample(rate=0.5))
    assert line_of(form, "rate").text() == "0.5"
    assert form.is_valid


def test_several_values_are_said_and_replaced_by_typing(qtbot, shown) -> None:
    form = shown()
    form.set_several({"count", "is_on", "mode"})
    assert line_of(form, "count").placeholderText() == "several values"
    assert form.is_valid
    type_over(qtbot, form, "count", "8")
    assert form.record.count == 8
    assert line_of(form, "count").text() == "8"


def test_a_switch_turns_with_space_and_arrows(qtbot, shown) -> None:
    form = shown()
    switch = form.rows["is_on"].widget
    assert isinstance(switch, Switch)
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert form.record.is_on
    qtbot.keyClick(switch, Qt.Key.Key_Left)
    assert not form.record.is_on


@pytest.mark.parametrize(
    ("field", "value", "count", "text"),
    [
        (Int(1, low=1, high=9), 9, 1, "9"),
        (Int(1, low=1, high=9), 5, -10, "1"),
        (Float(0.01), 0.01, 1, "0.02"),
        (Float(0.01), 0.01, -1, "0.009"),
        (Float(0.01), 1e-5, -2, "8e-6"),
        (Float(0.01), 0.9, 2, "2"),
        (Float(0.9, low=0.0, high=1.0), 0.9, 3, "1"),
        (Float(0.0, low=0.0), 0.0, 1, "0.1"),
        (Float(0.0, low=0.0), 0.0, -1, "0"),
        (Float(1.0, above=0.0, infinite=True), float("inf"), 1, "Inf"),
        (Float(1.0, above=0.0, infinite=True), float("inf"), -1, "1"),
    ],
)
def test_steps(field: Field, value: float, count: int, text: str) -> None:
    assert stepped(field, value, count) == text


def test_up_and_down_keys_step(qtbot, shown) -> None:
    form = shown()
    line = line_of(form, "count")
    line.setFocus()
    qtbot.keyClick(line, Qt.Key.Key_Up)
    qtbot.keyClick(line, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert form.record.count == 14
    qtbot.keyClick(line, Qt.Key.Key_Down)
    assert line.text() == "13"


def turn_wheel(widget: QWidget) -> None:
    at = QPointF(widget.rect().center())
    event = QWheelEvent(
        at,
        widget.mapToGlobal(at),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, event)


@pytest.mark.parametrize("name", ["count", "mode", "padding"])
def test_the_wheel_changes_only_what_has_the_keyboard(shown, name: str) -> None:
    form = shown()
    line_of(form, "title").setFocus()
    turn_wheel(form.rows[name].widget)
    assert form.record == Sample()
    form.rows[name].widget.setFocus()
    turn_wheel(form.rows[name].widget)
    assert form.record != Sample()


def test_search_leaves_the_matching_rows(shown) -> None:
    form = shown()
    assert form.search("bell") == 1  # a note of a word; the field of that name is hidden
    assert [name for name, row in form.rows.items() if row.is_shown] == ["mode"]
    assert form.sections["Numbers"].isHidden()
    assert form.search("how many") == 1
    assert form.search("") == 11


def test_rows_are_named_for_screen_readers_and_labels_are_buddies(shown) -> None:
    form = shown()
    for row in form.rows.values():
        assert row.label.buddy() is row.widget
        assert row.widget.accessibleName().startswith(row.field.label)
    assert form.rows["count"].widget.accessibleName() == "Count, in samples"


def test_tab_goes_down_the_form(qtbot, shown) -> None:
    form = shown()
    line_of(form, "count").setFocus()
    qtbot.keyClick(line_of(form, "count"), Qt.Key.Key_Tab)
    assert line_of(form, "rate").hasFocus()


def test_defaults_that_follow_another_value_are_shown_at_once(qtbot, shown) -> None:
    form = shown(TrainingOptions(), is_wide=True)
    assert line_of(form, "initial_learn_rate").text() == "0.01"
    solver = form.rows["solver"].widget
    solver.setFocus()
    qtbot.keyClick(solver, Qt.Key.Key_Down)
    assert line_of(form, "initial_learn_rate").text() == "0.001"
    assert not form.rows["initial_learn_rate"].label.is_marked
    assert form.rows["solver"].help is not None
    assert form.rows["solver"].help.text() == "Adaptive moments"


def test_small_numbers_are_shown_as_people_write_them(shown) -> None:
    form = shown(TrainingOptions(solver="adam"))
    assert line_of(form, "epsilon").text() == "1e-8"
    assert line_of(form, "gradient_threshold").text() == "Inf"


def test_a_path_has_a_button_to_browse(qtbot, shown, monkeypatch) -> None:
    form = shown()
    editor = form.rows["path"].widget
    assert isinstance(editor, PathEditor)
    monkeypatch.setattr("designer.forms.field_editors.QFileDialog.getOpenFileName", lambda *_: ("/data/x.csv", ""))
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


def test_a_tall_form_stays_together_at_the_top(qtbot, shown) -> None:
    form = shown(Sample(count=101))
    form.resize(420, 1400)
    qtbot.waitUntil(lambda: form.height() == 1400)
    form.layout().activate()
    tops = [row.widget.y() for row in form.rows.values() if row.is_shown]
    assert tops == sorted(tops)
    assert max(tops) < 700


def test_a_folded_group_shows_its_rows_when_asked(qtbot, shown) -> None:
    form = shown(folded=("Words",))
    heading = form.sections["Words"]
    told: list[tuple[str, bool]] = []
    form.folding_changed.connect(lambda group, is_folded: told.append((group, is_folded)))
    assert not form.rows["mode"].is_shown
    assert form.rows["count"].is_shown
    assert heading.isVisible()
    qtbot.mouseClick(heading, Qt.MouseButton.LeftButton)
    assert form.rows["mode"].is_shown
    assert not form.rows["bells"].is_shown, "it does not apply"
    qtbot.keyClick(heading, Qt.Key.Key_Left)
    assert not form.rows["mode"].is_shown
    assert told == [("Words", False), ("Words", True)]
    form.set_folded("Sizes", True)
    assert form.rows["kernel"].is_shown, "that group does not fold"


def test_a_folded_group_says_what_is_changed_in_it(shown) -> None:
    form = shown(folded=("Words",))
    heading = form.sections["Words"]
    assert heading.note == ""
    form.set_record(Sample(title="x"))
    assert heading.note == "Title"
    form.set_record(Sample(title="x", mode="fancy", count=4))
    assert heading.note == "2 changed"
    assert "2 changed" in heading.accessibleName()


def test_a_folded_group_opens_for_what_is_found_or_wrong(shown) -> None:
    form = shown(folded=("Words",))
    form.search("title")
    assert form.rows["title"].is_shown
    form.search("")
    assert not form.rows["title"].is_shown
    form.set_problems({"title": "no such title."})
    assert form.rows["title"].is_shown
    form.set_problems({})
    assert not form.rows["title"].is_shown


def test_several_words_are_ticked_in_a_menu_that_stays_open_and_other_words_follow(qtbot, shown) -> None:
    form = shown()
    editor, main = form.rows["sounds"].widget, form.rows["main"].widget
    assert isinstance(editor, ChoicesEditor)
    editor.button.click()
    toll = next(action for action in editor.menu.actions() if action.text() == "toll")
    for expected in (("ring", "toll"), ("ring",), ("ring", "toll")):
        qtbot.mouseClick(editor.menu, Qt.MouseButton.LeftButton, pos=editor.menu.actionGeometry(toll).center())
        assert form.record.sounds == expected
        assert editor.menu.isVisible()
    assert editor.line.text() == "ring, toll"
    assert [action.isChecked() for action in editor.menu.actions()] == [True, True, False]
    assert [main.model().item(index).isEnabled() for index in range(3)] == [True, True, False]
    editor.menu.setActiveAction(toll)
    qtbot.keyClick(editor.menu, Qt.Key.Key_Space)
    assert form.record.sounds == ("ring",)
    editor.menu.close()


def test_without_any_word_the_field_asks_for_one(qtbot, shown) -> None:
    form = shown()
    type_over(qtbot, form, "sounds", "")
    assert form.reason.startswith("Sounds: Enter one or more of ring, toll, peal")
    type_over(qtbot, form, "sounds", "peel")
    assert "did you mean" in form.reason.lower()
    assert form.record.sounds == ("ring",)


def test_a_row_has_no_widgets_before_it_applies_and_then_its_place_in_the_order_of_the_tab_key(qtbot) -> None:
    form = Form(TrainingOptions(), is_wide=True)
    qtbot.addWidget(form)
    assert form.rows["momentum"].is_made
    assert not form.rows["epsilon"].is_made
    form.set_value("solver", "adam")
    assert form.rows["epsilon"].is_shown
    made = [row.widget for row in form.rows.values() if row.is_made]
    seen, following = [made[0]], made[0].nextInFocusChain()
    while following is not None and following is not made[0]:
        seen += [following] if following in made else []
        following = following.nextInFocusChain()
    assert seen == made


def test_a_row_whose_editor_is_asked_for_before_it_applies_stays_away(shown) -> None:
    form = shown()
    row = form.rows["bells"]
    assert row.widget.isHidden()
    assert row.label.isHidden()
    form.set_record(Sample(mode="fancy"))
    assert row.is_shown


def test_words_that_do_not_go_with_others_are_grey_from_the_start(shown) -> None:
    main = shown(Sample(sounds=("toll",))).rows["main"].widget
    assert [main.model().item(index).isEnabled() for index in range(3)] == [False, True, False]


def activate(form: Form) -> None:
    layout = form.layout()
    assert layout is not None
    layout.activate()


def test_a_page_has_all_its_widgets_before_it_is_shown(qtbot) -> None:
    form = Form(Sample(), is_wide=True, page=("count", "rate", "is_on"))
    qtbot.addWidget(form)
    assert [name for name, row in form.rows.items() if row.is_made] == ["count", "rate", "is_on"]
    assert not form.rows["numbers"].is_shown, "it is on another page"
    form.show()
    form.search("", page=("mode", "bells", "kernel"))
    assert {name for name, row in form.rows.items() if row.is_shown} == {"mode", "kernel"}
    assert form.rows["mode"].widget.isVisible()
    assert not form.rows["count"].widget.isVisible()
    assert form.search("count", page=("mode",)) == 1, "a search looks at all pages"


def test_hidden_rows_take_no_room(qtbot) -> None:
    form = Form(Sample(), is_wide=True)
    qtbot.addWidget(form)
    form.search("", page=("count",))
    activate(form)
    alone = form.sizeHint().height()
    other = Form(Sample(), is_wide=True, page=("count",))
    qtbot.addWidget(other)
    assert alone == other.sizeHint().height()


def test_an_error_takes_the_width_of_the_form(qtbot) -> None:
    for is_wide, width in ((True, 800), (False, 300)):
        form = Form(Sample(), is_wide=is_wide)
        qtbot.addWidget(form)
        form.set_problems({"count": "The window reaches over 40 along axis H, which has 7. Use at most 7, or pad."})
        form.resize(width, 600)
        form.show()
        activate(form)
        row = form.rows["count"]
        assert row.error_label is not None
        assert row.error_label.geometry().right() == form.width() - 1
        assert row.error_label.height() < 3 * row.error_label.fontMetrics().height()


def test_a_heading_is_nearer_to_what_it_heads(qtbot) -> None:
    for is_wide in (True, False):
        form = Form(Sample(), is_wide=is_wide)
        qtbot.addWidget(form)
        form.resize(800, 1200)
        form.show()
        activate(form)
        heading = form.sections["Words"]
        text = heading.contentsRect().translated(heading.pos())
        rows = [row.widget.geometry() for row in form.rows.values() if row.is_shown]
        above = max(at.bottom() for at in rows if at.bottom() < text.top())
        below = min(at.top() for at in rows if at.top() > text.bottom())
        assert below - text.bottom() < text.top() - above


def test_help_is_one_line_with_the_default_and_the_tooltip_says_the_rest(qtbot) -> None:
    form = Form(TrainingOptions(), is_wide=True)
    qtbot.addWidget(form)
    help = form.rows["momentum"].help
    assert help is not None
    assert help.text() == "Fraction of the previous update kept, 0 to 1. Default 0.9"
    assert {"MATLAB: Momentum", "torch: momentum (default 0)"} <= set(help.toolTip().splitlines())
    assert "Takes a number of at least 0 and up to 1." in help.toolTip()
    form.resize(700, 400)
    form.show()
    assert {row.help.height() for row in form.rows.values() if row.is_shown and row.help} == {help.height()}


def test_zero_is_a_word_followed_by_what_it_comes_to(qtbot) -> None:
    form = Form(EnvironmentOptions(target="multi-cpu"), is_wide=True)
    qtbot.addWidget(form)
    with qtbot.waitActive(form):
        form.show()
        form.activateWindow()
    line_of(form, "threads").setFocus()
    form.set_resolved({"num_workers": "2"})
    line = line_of(form, "num_workers")
    assert line.text() == "auto (2)"
    line.setFocus()
    assert line.text() == "auto"
    type_over(qtbot, form, "num_workers", "4")
    assert form.record == EnvironmentOptions(target="multi-cpu", num_workers=4)
    type_over(qtbot, form, "num_workers", "Auto")
    assert form.record == EnvironmentOptions(target="multi-cpu")
    line_of(form, "threads").setFocus()
    assert line.text() == "auto (2)"
    type_over(qtbot, form, "num_workers", "many")
    assert form.reason == 'Workers: Expected auto, or a whole number from 1 to 1,024, received "many".'


def test_an_offer_stands_under_its_field_until_it_is_withdrawn(qtbot) -> None:
    form = Form(Sample(count=5), is_wide=True)
    qtbot.addWidget(form)
    form.show()
    row = form.rows["count"]
    row.offer("Three is usual.", "Use 3", lambda: form.set_value("count", 3))
    assert row.offer_button is not None
    assert row.offer_button.isVisible()
    qtbot.mouseClick(row.offer_button, Qt.MouseButton.LeftButton)
    assert form.record == Sample(count=3)
    row.withdraw()
    assert not row.has_offer


def test_rows_that_play_no_part_are_left_out_unless_changed_or_searched_for(qtbot) -> None:
    form = Form(Sample(title="changed"))
    qtbot.addWidget(form)
    form.set_unused(("title", "mode"))
    assert form.rows["title"].is_shown
    assert not form.rows["mode"].is_shown
    form.search("mode")
    assert form.rows["mode"].is_shown
    form.search("")
    assert not form.rows["mode"].is_shown


def test_a_path_that_has_no_room_shows_its_end_and_is_whole_in_the_tooltip(qtbot) -> None:
    path = "/volume/data/of/this/year/first_half/credit.csv"
    editor = editor_for(FilePath("", group="Words"), path, lambda _: None)
    qtbot.addWidget(editor)
    assert isinstance(editor, PathEditor)
    editor.resize(160, 30)
    editor.show()
    assert editor.line.cursorPosition() == len(path)
    assert editor.line.toolTip() == path
    editor.show_value(longer := path.replace("credit", "credit_and_income"))
    assert (editor.line.cursorPosition(), editor.line.toolTip()) == (len(longer), longer)
