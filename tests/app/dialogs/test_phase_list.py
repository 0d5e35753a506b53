"""The chain of schedules as rows."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from netwright.app.dialogs.phase_list import PhaseList
from netwright.app.dialogs.training_options import TrainingOptionsDialog
from netwright.engine.project.options.schedule import Phase
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions

CHAIN = "warmup 100 iterations, piecewise 9 epochs times 0.5 learn_rate_drop_period=3, cosine"


@pytest.fixture
def shown(qtbot) -> PhaseList:
    made = PhaseList()
    qtbot.addWidget(made)
    made.show_phases(TrainingOptions(schedule_chain=CHAIN).schedule_chain)
    made.show()
    return made


def test_rows_say_what_the_phases_are(shown: PhaseList) -> None:
    assert [row.schedule.currentText() for row in shown.rows] == ["Warm-up", "Piecewise", "Cosine"]
    assert [row.length.text() for row in shown.rows] == ["100", "9", "0"]
    assert [row.unit.isEnabled() for row in shown.rows] == [True, True, False]
    assert [row.factor.text() for row in shown.rows] == ["1", "0.5", "1"]
    assert shown.rows[1].own.text() == "learn_rate_drop_period=3"


def test_each_edit_gives_the_whole_chain(qtbot, shown: PhaseList) -> None:
    with qtbot.waitSignal(shown.edited) as told:
        shown.rows[0].length.selectAll()
        qtbot.keyClick(shown.rows[0].length, "7")
    assert told.args[0][0] == Phase("warmup", 7, "iterations")
    with qtbot.waitSignal(shown.edited) as told:
        shown.rows[1].schedule.setCurrentText("Exponential")
        shown.rows[1].schedule.activated.emit(shown.rows[1].schedule.currentIndex())
    assert told.args[0][1] == Phase("exponential", 9, "epochs", 0.5)
    with qtbot.waitSignal(shown.edited) as told:
        qtbot.mouseClick(shown.rows[0].remove_button, Qt.MouseButton.LeftButton)
    assert [phase.schedule for phase in told.args[0]] == ["exponential", "cosine"]
    assert len(shown.rows) == 2


def test_what_is_refused_stays_and_is_marked(qtbot, shown: PhaseList) -> None:
    line = shown.rows[1].factor
    with qtbot.assertNotEmitted(shown.edited):
        line.selectAll()
        qtbot.keyClick(line, "0")
    assert (line.text(), line.property("invalid")) == ("0", True)
    assert "above 0" in line.toolTip()


def test_adding_one_gives_the_one_before_an_end(qtbot, shown: PhaseList) -> None:
    with qtbot.waitSignal(shown.edited) as told:
        qtbot.mouseClick(shown.add_button, Qt.MouseButton.LeftButton)
    assert [str(phase) for phase in told.args[0][-2:]] == ["cosine 5 epochs", "cosine"]
    shown.show_phases(())
    with qtbot.waitSignal(shown.edited) as told:
        shown.add_button.click()
    assert [str(phase) for phase in told.args[0]] == ["warmup 100 iterations", "cosine"]


def test_the_dialog_shows_it_for_a_chain_and_follows_it(qtbot) -> None:
    dialog = TrainingOptionsDialog(Project(), None, None)
    qtbot.addWidget(dialog)
    assert dialog.phase_list.isHidden()
    dialog.training_form.set_value("schedule", "chain")
    assert not dialog.phase_list.isHidden()
    assert not dialog.buttons.ok.isEnabled()
    dialog.phase_list.add_button.click()
    assert dialog.buttons.ok.isEnabled()
    chosen = dialog.project().training
    assert [phase.schedule for phase in chosen.schedule_chain] == ["warmup", "cosine"]
    assert dialog.rate_plot.options == chosen


def test_the_heading_of_a_group_without_options_leaves_its_page(qtbot) -> None:
    dialog = TrainingOptionsDialog(Project(), None, None)
    qtbot.addWidget(dialog)
    dialog.show()
    (row,) = (r for r in range(dialog.groups.count()) if dialog.groups.item(r).text() == "Optimisation")
    dialog.groups.setCurrentRow(row)
    (heading,) = (label for label in dialog.findChildren(QLabel) if label.text() == "SCHEDULE")
    assert heading.isVisible()
    dialog.training_form.set_value("solver", "lm")
    assert not heading.isVisible()
    dialog.training_form.set_value("solver", "adam")
    assert heading.isVisible()


def test_in_the_training_options_the_tab_key_goes_through_the_rows_not_their_lists(qtbot) -> None:
    dialog = TrainingOptionsDialog(Project(training=TrainingOptions(schedule="chain", schedule_chain=CHAIN)))
    qtbot.addWidget(dialog)
    dialog.show()
    (phases,) = dialog.findChildren(PhaseList)
    phases.rows[0].schedule.showPopup()
    phases.rows[0].schedule.hidePopup()
    stops = dialog.training_form.tab_stops()
    assert phases.rows[0].schedule in stops
    assert {stop.window() for stop in stops} == {dialog}
