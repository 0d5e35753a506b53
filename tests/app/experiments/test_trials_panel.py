"""The table of trials: what its cells say, search, groups, columns, and what is kept of its layout."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from netwright.app.experiments import trial_watcher
from netwright.app.experiments.trial_watcher import TrialWatcher
from netwright.app.experiments.trials_model import CURVE, SHARE, TINT
from netwright.app.experiments.trials_panel import LAYOUTS, TrialsPanel
from netwright.app.experiments.trials_table import TableLayout
from netwright.app.history import curve_reader
from netwright.engine.network.network import Network
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.runs.events import Points
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, create_experiment
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.trial_log import TrialLog
from netwright.engine.runs.trial_marks import mark_trials, pin_baseline, read_marks
from netwright.engine.runs.trial_reader import Live

ACCURACY, MOMENTUM, SOLVER = "validation.accuracy", "option:training.momentum", "option:training.solver"
TRIALS = (("sgdm", 0.1, 0.7), ("adam", 0.5, 0.9), ("adam", 0.9, 0.8), ("sgdm", 0.3, None))


@pytest.fixture
def folder(tmp_path: Path) -> ExperimentFolder:
    info = ExperimentInfo(name="net", base=str(tmp_path), objectives=(ACCURACY,))
    project = Project(Network.empty(), experiment=ExperimentOptions(parameters=["training.momentum=0.1,0.5,0.9"]))
    project = replace(project, training=project.training.replace(max_epochs=7))
    (tmp_path / "net.netwright").write_text("{}")
    folder = create_experiment(tmp_path / "net.netwright", "net", dumps(project), info)
    log = TrialLog(folder.trials)
    for number, (solver, momentum, accuracy) in enumerate(TRIALS, 1):
        log.append(number, values={"training.solver": solver, "training.momentum": momentum})
        if accuracy is not None:
            log.append(number, run=str(number), state="finished", scores={ACCURACY: accuracy}, seconds=2.0)
            log.append(number, state="finished")
    log.close()
    return folder


@pytest.fixture
def panel(qtbot: QtBot, folder: ExperimentFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[TrialsPanel]:
    QSettings("Netwright", "Netwright").remove(LAYOUTS)
    panel = TrialsPanel()
    qtbot.addWidget(panel)
    monkeypatch.setattr(trial_watcher, "REST", 0)
    panel.changed.connect(lambda: panel.show_trials([ACCURACY], frozenset({2})))
    panel.resize(1000, 400)
    panel.follow(folder)
    panel.watcher.look()
    yield panel
    panel.shutdown()


def cells(panel: TrialsPanel, column: str) -> list[str]:
    return [panel.model.text_of(row, column) for row in panel.model.rows]


def shown_columns(panel: TrialsPanel) -> list[str]:
    header, columns = panel.table.horizontalHeader(), panel.model.columns
    order = [header.logicalIndex(place) for place in range(header.count())]
    return [columns[at] for at in order if not panel.table.isColumnHidden(at)]


def test_cells_say_values_and_scores(panel: TrialsPanel) -> None:
    assert shown_columns(panel) == ["trial", "state", "curve", SOLVER, MOMENTUM, ACCURACY, "seconds"]
    assert cells(panel, "trial") == ["1", "2 ★", "3", "4"]
    assert cells(panel, ACCURACY) == ["70.0 %", "90.0 %", "80.0 %", "–"]
    assert cells(panel, "state")[2:] == ["✓ Finished", "◌ Interrupted"]
    assert panel.count.text() == "4 trials"


def test_search_finds_trials_and_names_what_none_has(panel: TrialsPanel) -> None:
    panel.search.setText("training.solver=adam accuracy<0.85")
    assert cells(panel, "trial") == ["3"]
    assert panel.count.text() == "1 of 4 trials"
    panel.search.setText("acuracy>0.5")
    assert panel.refusal.refused.text() == "No trial has 'acuracy'."
    panel.refusal.suggested.click()
    assert panel.search.text() == "accuracy>0.5"
    assert len(panel.model.rows) == 3


def test_groups_are_a_tree_with_mean_and_best_that_folds(panel: TrialsPanel) -> None:
    panel._fill_group_menu()
    action = next(one for one in panel.group_button.menu().actions() if one.text() == "Solver")
    action.setChecked(True)
    assert cells(panel, "trial") == ["Solver: Adam (2)", "2 ★", "3", "Solver: SGD with momentum (2)", "1", "4"]
    assert cells(panel, ACCURACY)[0] == "mean 85.0 %, best 90.0 %"
    panel.table.selectRow(1)
    panel.model.toggle(0)
    assert cells(panel, "trial") == ["Solver: Adam (2)", "Solver: SGD with momentum (2)", "1", "4"]
    panel.table.selectRow(0)
    assert [row.trial.number for row in panel.table.selected] == [2, 3]
    QTest.keyClick(panel.table, Qt.Key.Key_Right)
    assert cells(panel, "trial")[1] == "2 ★"
    panel._group("state", is_on=True)
    assert cells(panel, "trial")[:3] == ["Solver: Adam (2)", "State: ✓ Finished (2)", "2 ★"]
    panel._group_by(())
    assert len(panel.model.rows) == 4


def test_a_click_on_the_chevron_folds_a_group(panel: TrialsPanel, qtbot: QtBot) -> None:
    panel._group(SOLVER, is_on=True)
    panel.show()
    place = panel.table.visualRect(panel.model.index(0, 0)).topLeft() + QPoint(8, 12)
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert cells(panel, "trial") == ["Solver: Adam (2)", "Solver: SGD with momentum (2)", "1", "4"]


def test_columns_are_chosen_moved_and_kept_for_the_experiment(panel: TrialsPanel, folder: ExperimentFolder) -> None:
    menu = QMenu()
    panel.table.fill_columns_menu(menu)
    by_text = {action.text(): action for action in menu.actions()}
    assert by_text["Solver"].isChecked()
    assert not by_text["Started"].isChecked()
    by_text["Solver"].setChecked(False)
    more = next(action.menu() for action in menu.actions() if action.menu())
    assert isinstance(more, QMenu)
    next(action for action in more.actions() if action.text() == "Max epochs").setChecked(True)
    assert cells(panel, "option:training.max_epochs") == ["7"] * 4
    header = panel.table.horizontalHeader()
    header.moveSection(header.visualIndex(panel.model.columns.index(ACCURACY)), 1)
    panel.table.sortByColumn(panel.model.columns.index(ACCURACY), Qt.SortOrder.DescendingOrder)
    expected = ["trial", ACCURACY, "state", "curve", MOMENTUM, "seconds", "option:training.max_epochs"]
    assert shown_columns(panel) == expected
    panel.follow(None)
    panel.follow(folder)
    panel.watcher.look()
    assert shown_columns(panel) == expected
    assert cells(panel, "trial") == ["2 ★", "3", "1", "4"]


def test_a_damaged_layout_is_none() -> None:
    assert TableLayout.read(json.loads('{"order": 3, "widths": {"a": "b", "c": 80}, "groups": [1, "state"]}')) == (
        TableLayout(widths={"c": 80}, groups=("state",))
    )
    assert TableLayout.read([1]) == TableLayout()


def test_differences_to_a_baseline_are_shown(panel: TrialsPanel, folder: ExperimentFolder) -> None:
    panel.marks = pin_baseline(folder, 1)
    panel.refresh()
    assert cells(panel, "trial")[:2] == ["1 ◆", "2 ★"]
    assert cells(panel, ACCURACY) == ["70.0 %", "90.0 %  +20", "80.0 %  +10", "–"]
    model, accuracy = panel.model, panel.model.columns.index(ACCURACY)
    colour = model.data(model.index(1, accuracy), Qt.ItemDataRole.ForegroundRole)
    assert colour is not None
    assert model.data(model.index(0, accuracy), Qt.ItemDataRole.ForegroundRole) is None


def test_hidden_trials_are_left_out_until_they_are_asked_for(panel: TrialsPanel, folder: ExperimentFolder) -> None:
    panel.marks = mark_trials(folder, [1, 3], is_hidden=True)
    panel.refresh()
    assert cells(panel, "trial") == ["2 ★", "4"]
    assert panel.hidden_button.text() == "Show 2 hidden"
    panel.hidden_button.click()
    assert cells(panel, "trial") == ["1", "2 ★", "3", "4"]
    assert panel.hidden_button.text() == "Hide 2 hidden"


def test_a_trial_that_begins_keeps_the_selection(panel: TrialsPanel, folder: ExperimentFolder) -> None:
    panel.table.select(3)
    log = TrialLog(folder.trials)
    log.append(4, state="failed", reason="out of memory")
    log.append(5, values={"training.solver": "adam", "training.momentum": 0.2})
    log.close()
    panel.watcher.look()
    assert panel.table.number == 3
    assert cells(panel, "state")[3:] == ["✕ Failed", "◌ Interrupted"]
    assert "reason" in shown_columns(panel)
    text = panel.table.as_text()
    assert text.splitlines()[1].startswith("3,finished,adam,0.9,0.8,2.0")


def test_changes_are_told_after_a_pause_and_none_is_lost(panel: TrialsPanel, folder: ExperimentFolder) -> None:
    log = TrialLog(folder.trials)
    log.append(4, state="stopped")
    log.close()
    panel.watcher._not_before = math.inf
    panel.watcher.look()
    assert cells(panel, "state")[3] == "◌ Interrupted"
    panel.watcher._not_before = 0.0
    panel.watcher.look()
    assert cells(panel, "state")[3] == "■ Stopped"


def test_curves_and_progress_are_asked_for_and_painted(
    panel: TrialsPanel, folder: ExperimentFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrialWatcher, "want", lambda self, *what: asked.append(tuple(map(list, what[1:]))))
    asked: list[tuple[list[str], ...]] = []
    panel.show()
    panel.watcher.is_alive = True
    panel.refresh()
    panel._ask()
    assert asked[-1] == (["1", "2", "3"], ["4"])
    panel.watcher.take({"curves": {"2": [0.1, 0.5, "NaN", 0.9], "4": [0.2]}})
    panel.watcher.take({"live": {"4": [0.25, 3.0, 9.0]}})
    panel.watcher.take({"curves": ["no", "curves"]})
    model = panel.model
    curve, state = (model.columns.index(column) for column in ("curve", "state"))
    assert len(model.data(model.index(1, curve), CURVE)) == 4  # type: ignore[arg-type]
    assert model.data(model.index(3, state), SHARE) == 0.25
    assert cells(panel, "state")[3] == "● Training 25 %"
    assert cells(panel, ACCURACY)[3] == "20.0 %", "as far as it is trained"
    panel.marks = mark_trials(folder, [2], colour="green", cell=(ACCURACY, "odd"))
    panel.refresh()
    assert model.data(model.index(1, 0), TINT) is not None
    image = QImage(panel.size(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    panel.render(painter, QPoint())
    painter.end()
    assert len({image.pixel(x, 200) for x in range(0, 1000, 3)}) > 1


def test_the_process_answers_with_curves_and_progress(folder: ExperimentFolder) -> None:
    run = RunFolder(folder.run_path("2"))
    run.path.mkdir()
    log = EventLog(run)
    log.append(Points(split="validation", first_step=1, steps_apart=1, values={"accuracy": [0.5, 0.75]}))
    log.close()
    found = list(curve_reader.answers(folder, {"score": ACCURACY, "curves": ["2", "9"], "live": ["2", "9"]}))
    assert found == [{"live": {"2": Live().write(), "9": Live().write()}}, {"curves": {"2": [0.5, 0.75], "9": []}}]


def test_marks_survive(folder: ExperimentFolder, panel: TrialsPanel) -> None:
    mark_trials(folder, [2], tags=("paper",), note="good")
    panel.follow(None)
    panel.follow(folder)
    panel.watcher.look()
    assert read_marks(folder).of(2).notes.tags == ("paper",)
    panel.search.setText("tag:paper")
    assert cells(panel, "trial") == ["2 ★"]
    assert {"tags", "note"} <= set(shown_columns(panel))
