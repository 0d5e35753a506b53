from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu

from netwright.designer.forms.field_labels import add_field_actions
from netwright.designer.forms.form import Form
from netwright.engine.project.training import TrainingOptions
from tests.designer.forms.sample import Sample, line_of, type_over


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


def test_a_field_offers_to_vary_and_shows_that_it_does(qtbot, shown) -> None:
    form = shown()
    label = form.rows["count"].label
    menu = QMenu()
    add_field_actions(menu, label)
    assert len(menu.actions()) == 1, "no experiment is near"
    wanted: list[str] = []
    form.sweep_requested.connect(wanted.append)
    form.sweep_ended.connect(lambda name: wanted.append(f"no {name}"))
    form.show_sweeps(())
    add_field_actions(menu, label)
    menu.actions()[-1].trigger()
    assert (menu.actions()[-1].text(), wanted) == ("Sweep this…", ["count"])
    form.show_sweeps({"count"})
    assert label.is_swept
    assert "Varies in the experiment" in label.toolTip()
    qtbot.mouseClick(label, Qt.MouseButton.LeftButton, pos=label.sweep_rect().center().toPoint())
    add_field_actions(menu, label)
    menu.actions()[-1].trigger()
    assert wanted == ["count", "count", "no count"]
