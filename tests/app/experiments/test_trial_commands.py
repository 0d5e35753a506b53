"""What can be done with trials on the page of experiments: marks, comparing, stopping, trying again, budget, export."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QColorDialog, QInputDialog
from pytestqt.qtbot import QtBot

from netwright.app.experiments import experiment_menu, trial_commands
from netwright.app.experiments.experiment_menu import BudgetDialog
from netwright.app.experiments.search_page import SearchPage
from netwright.app.window import MainWindow
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.runs.confusion import write_confusions
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, create_experiment
from netwright.engine.runs.trial_log import TrialLog
from netwright.engine.runs.trial_marks import read_marks
from tests.app.fake_server import FakeServer
from tests.builders import classifier

ACCURACY, MOMENTUM = "validation.accuracy", "training.momentum"


@pytest.fixture
def folder(tmp_path: Path) -> ExperimentFolder:
    info = ExperimentInfo(name="net", base=str(tmp_path), objectives=(ACCURACY,))
    options = ExperimentOptions(parameters=["training.momentum=0.1..0.9"], strategy="random", trials=4)
    (tmp_path / "net.netwright").write_text("{}")
    text = dumps(Project(classifier(), experiment=options))
    folder = create_experiment(tmp_path / "net.netwright", "net", text, info)
    log = TrialLog(folder.trials)
    for number, (momentum, accuracy) in enumerate(((0.1, 0.7), (0.5, 0.9), (0.9, None)), 1):
        log.append(number, values={MOMENTUM: momentum})
        state = "failed" if accuracy is None else "finished"
        scores = {} if accuracy is None else {ACCURACY: accuracy}
        log.append(number, run=str(number), state=state, scores=scores, seconds=1.0)
        log.append(number, state=state, reason="" if accuracy else "the loss is not finite at step 3: lower the rate")
        run = folder.run_path(str(number))
        run.mkdir()
        for name in ("run.json", "result.json"):
            (run / name).write_text("{}")
    log.append(4, values={MOMENTUM: 0.3})
    log.close()
    write_confusions(folder.run_path("2"), ["cat", "dog"], {"test": [[8, 2], [1, 9]]})
    return folder


@pytest.fixture
def page(window: MainWindow, folder: ExperimentFolder) -> SearchPage:
    window.editor.edit_network("Add layers", lambda network: classifier())
    page = SearchPage(window)
    page.resize(1600, 900)
    page.show_experiment(folder.path)
    return page


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The experiments that a runner was started for."""
    found: list[Path] = []
    monkeypatch.setattr(trial_commands, "start_runner", lambda folder: found.append(folder.path))
    return found


def asked(folder: ExperimentFolder) -> list[dict[str, Any]]:
    return folder.take_requests()


def test_the_selected_trial_is_described_with_its_error_and_the_way_out(page: SearchPage) -> None:
    assert page.details_side.isHidden()
    page.table.select(2)
    details = page.details
    assert not page.details_side.isHidden()
    assert (details.name.text(), details.state.text()) == ("Trial 2 · 0.5", "✓ Finished")
    assert details.differences.text() == "~ training.momentum: 0.9 -> 0.5"
    assert details.confusion_words.text() == "17 of 20 right. Most frequent error: cat taken for dog, 2 times"
    assert details.again.isHidden()
    page.table.select(3)
    assert details.reason.text() == "The loss is not finite at step 3: lower the rate"
    assert not details.again.isHidden()
    assert details.picture.table is None
    page.table.selectAll()
    assert details.name.text() == "4 trials selected"


def test_a_failed_trial_is_tried_again_and_the_experiment_goes_on(
    page: SearchPage, folder: ExperimentFolder, begun: list[Path]
) -> None:
    page.table.select(3)
    page.details.again.click()
    assert asked(folder) == [{"do": "again", "trials": [3]}]
    assert begun == [folder.path]
    page.more.update_actions()
    again = page.more.actions_by_key["again"]
    assert again.text() == "Try 1 failed trial again"
    again.trigger()
    assert asked(folder) == [{"do": "again"}]


def test_a_trial_under_way_is_stopped_alone(page: SearchPage, folder: ExperimentFolder) -> None:
    page.table.select(4)
    stop = page.commands.actions["stop"]
    assert not stop.isEnabled(), "nothing is at work on it"
    page.trials.watcher.is_alive = True
    page.commands.update()
    assert stop.isEnabled()
    stop.trigger()
    assert asked(folder) == [{"do": "stop_trial", "trial": 4}]
    page.more.actions_by_key["finish"].trigger()
    assert asked(folder) == [{"do": "finish"}]


def test_marks_are_set_for_all_selected_trials_and_kept(
    page: SearchPage, folder: ExperimentFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QInputDialog, "getText", lambda *a, **k: ("paper, good", True))
    monkeypatch.setattr(QInputDialog, "getMultiLineText", lambda *a, **k: ("odd", True))
    monkeypatch.setattr(QColorDialog, "getColor", lambda *a, **k: QColor("#12ab34"))
    page.table.selectAll()
    page.commands.actions["tags"].trigger()
    page.table.select(2)
    page.commands.actions["note"].trigger()
    page.commands.offer_note(ACCURACY)
    cell = page.commands.actions["cell"]
    assert (cell.isVisible(), cell.text()) == (True, "Note on this cell (Validation accuracy)…")
    cell.trigger()
    page.commands.offer_note("")
    assert not cell.isVisible()
    page.commands._choose_colour()
    page.commands.actions["baseline"].trigger()
    marks = read_marks(folder)
    assert marks.baseline == 2
    assert marks.of(3).notes.tags == ("good", "paper")
    assert (marks.of(2).notes.note, marks.of(2).colour, marks.of(2).cells) == ("odd", "#12ab34", {ACCURACY: "odd"})
    assert page.details.notes.note.toPlainText() == "odd"
    page.table.select(1)
    assert page.details.headings["Differs from the project"].text() == "DIFFERS FROM TRIAL 2"
    page.table.select(2)
    assert page.commands.actions["baseline"].text() == "Unpin baseline"
    page.commands.actions["baseline"].trigger()
    assert read_marks(folder).baseline == 0
    page.commands.actions["hide"].trigger()
    assert read_marks(folder).of(2).is_hidden
    assert page.trials.hidden_button.text() == "Show 1 hidden"


def test_notes_typed_in_the_panel_are_kept(page: SearchPage, folder: ExperimentFolder) -> None:
    page.table.select(1)
    page.details.notes.tags.setText("b, a")
    page.details.notes.note.setPlainText("again with less")
    page.table.select(2)
    assert read_marks(folder).of(1).notes.note == "again with less"
    assert page.details.notes.note.toPlainText() == ""
    page.table.select(1)
    assert page.details.notes.tags.text() == "a, b"


def test_a_mark_that_cannot_be_kept_is_said(
    page: SearchPage, folder: ExperimentFolder, errors: list[tuple[str, str]]
) -> None:
    (folder.path / "marks.json").write_text("{")
    page.table.select(1)
    page.commands.actions["hide"].trigger()
    assert "damaged" in errors[0][1]
    assert (folder.path / "marks.json").read_text() == "{"


def test_any_number_of_trials_is_compared_and_a_run_is_shown_or_tested(
    qtbot: QtBot, page: SearchPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_commands, "TURN_S", -1.0)  # a turn of the event loop for each run
    told: list[object] = []
    page.compare_requested.connect(told.append)
    page.run_requested.connect(lambda run, segment: told.append((run.name, segment)))
    page.table.selectAll()
    with qtbot.waitSignal(page.compare_requested):
        page.commands.actions["compare"].trigger()
        assert told == []
    runs = told.pop()
    assert isinstance(runs, list)
    assert [run.title for run in runs] == ["Trial 1 · 0.1", "Trial 2 · 0.5", "Trial 3 · 0.9"]
    page.table.select(2)
    assert not page.commands.actions["compare"].isEnabled()
    page.commands.actions["show"].trigger()
    page.details.test.click()
    assert [one.name if isinstance(one, Path) else one for one in told] == [("2", "curves"), ("2", "scores")]
    page.table.select(4)
    assert not page.commands.actions["show"].isEnabled(), "its run has not begun"


def test_networks_of_trials_are_compared(page: SearchPage, monkeypatch: pytest.MonkeyPatch) -> None:
    from netwright.app.dialogs import compare_projects

    made: list[tuple[str, str]] = []

    class Dialog:
        def __init__(self, before: Project, after: Project, names: tuple[str, str], parent: object) -> None:
            made.append(names)

        def exec(self) -> None:
            """Show nothing."""

        def deleteLater(self) -> None:
            """Delete nothing."""

    monkeypatch.setattr(compare_projects, "CompareDialog", Dialog)
    page.table.select(2)
    page.details.networks.click()
    page.commands.actions["baseline"].trigger()
    page.table.select(1)
    page.details.networks.click()
    assert made == [("The open project", "Trial 2 · 0.5"), ("Trial 2 · 0.5", "Trial 1 · 0.1")]


def test_the_budget_is_changed(
    page: SearchPage, folder: ExperimentFolder, begun: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def typed(dialog: BudgetDialog) -> bool:
        dialog.form.set_record(dialog.form.record.replace(trials=9, at_once=2))
        return True

    monkeypatch.setattr(experiment_menu.BudgetDialog, "exec", typed)
    page.more.actions_by_key["budget"].trigger()
    assert asked(folder) == [{"do": "set", "trials": 9, "at_once": 2}]
    assert begun == [folder.path]
    grid = BudgetDialog(ExperimentOptions(), is_alive=True)
    assert grid.ok.text() == "Change"
    grid.deleteLater()


def test_trials_are_exported_as_they_are_shown(page: SearchPage, tmp_path: Path) -> None:
    page.trials.search.setText("accuracy>0.8")
    page.more.export(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "trial,state,training.momentum,validation.accuracy,seconds,reason",
        "2,finished,0.5,0.9,1.0,",
    ]


def test_a_study_is_written_by_the_engine(
    page: SearchPage, server: FakeServer, folder: ExperimentFolder, tmp_path: Path, errors: list[tuple[str, str]]
) -> None:
    page.more.export(tmp_path / "out.log")
    (request,) = (request for request in server.asked if request.do == "experiment export")
    assert request.given == {"experiment": str(folder.path), "format": "optuna", "output": str(tmp_path / "out.log")}
    server.refuse("experiment export", "out.log exists already.")
    assert errors == [("The trials cannot be exported", "out.log exists already.")]
