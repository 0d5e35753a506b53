from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from netwright.designer.forms.form import Form
from tests.designer.forms.sample import Sample, line_of, type_over


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


def test_each_edit_signals_the_field(qtbot, shown) -> None:
    form = shown()
    with qtbot.waitSignal(form.changed) as caught:
        type_over(qtbot, form, "count", "7")
    assert caught.args == ["count"]
    assert form.record == Sample(count=7)


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
