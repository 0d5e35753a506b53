"""The runs under way on the start page: found wherever they lie, with their progress, and followed with a click."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from netwright.app.runs.segments import ExperimentPage
from netwright.app.start_page.running import progress_in_words
from netwright.app.start_page.running_program import experiments, running
from netwright.app.window import MainWindow
from netwright.engine.core.locks import take_lock as take_file_lock
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps, save
from netwright.engine.project.project import Project
from netwright.engine.runs.create import create
from netwright.engine.runs.events import Progress, Started
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, create_experiment
from netwright.engine.runs.folder import RunFolder, take_lock, update_info
from netwright.engine.runs.history import own_runs, register
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.machine_shares import RUNNER, MachineShare
from netwright.engine.runs.trial_log import TrialLog
from tests.builders import classifier

STARTED = Started(
    environment={"resolved": "cpu", "workers": 1},
    hardware="CPU",
    epochs=60,
    iterations=600,
    steps_per_epoch=10,
    metric="accuracy",
    samples={"training": 100},
    parameters=12,
)
PROGRESS = Progress(
    epoch=14, iteration=135, elapsed_s=20.0, remaining_s=60.0, rate=0.01, samples_per_second=9.5, memory_bytes=2**20
)


@pytest.fixture
def run() -> Iterator[RunFolder]:
    """A run of a project that was not saved when it began."""
    own = own_runs()
    assert own is not None
    info = RunInfo(name="untitled", project_id="11111111-mine", number=5)
    run = create(own / "a", dumps(Project(classifier(), identity="11111111-mine")), info)
    lock = take_lock(run)
    log = EventLog(run)
    for event in (STARTED, PROGRESS):
        log.append(event)
    log.close()
    update_info(run, state="running")
    register(run, "11111111-mine")
    yield run
    os.close(lock)


@pytest.fixture
def experiment(tmp_path: Path) -> Iterator[ExperimentFolder]:
    """An experiment of a saved project that a process of this machine runs."""
    project = Project(classifier(), experiment=ExperimentOptions(parameters=["training.momentum=0.1,0.5,0.9"]))
    path = tmp_path / "net.netwright"
    save(project, path)
    info = ExperimentInfo(
        name="net", project_path=str(path), base=str(tmp_path), state="running", objectives=("validation.accuracy",)
    )
    folder = create_experiment(path, "net", dumps(project), info)
    log = TrialLog(folder.trials)
    log.append(1, values={"training.momentum": 0.1})
    log.append(1, state="finished")
    log.close()
    with MachineShare(RUNNER, str(folder.path)):
        lock = take_file_lock(folder.lock)
        yield folder
        with suppress(OSError):
            os.close(lock)


def test_an_experiment_is_told_with_its_trials(experiment: ExperimentFolder) -> None:
    (told,) = experiments({})
    assert told.title.startswith("Momentum · ")
    assert (told.share, progress_in_words(told), told.project) == (0.333, "1 of 3 trials", "net")


@pytest.mark.part("experiments")
def test_an_experiment_under_way_stands_on_the_start_page_and_a_click_shows_its_trials(
    qtbot: QtBot, window: MainWindow, experiment: ExperimentFolder
) -> None:
    window.show_start()
    page = window.start_page
    qtbot.waitUntil(lambda: page.running.isVisible())
    (row,) = page.running.rows
    assert (row.follow.text(), row.progress.text()) == ("Show trials", "1 of 3 trials")
    assert row.title.text().startswith("Experiment Momentum · ")
    row.follow.click()
    assert window.tabs.current == "runs"
    tab = window.tabs.page("runs")
    (search,) = tab.findChildren(ExperimentPage)
    assert search.isVisible()
    assert search._folder == experiment  # type: ignore[attr-defined]


@pytest.mark.parametrize(("answer", "may"), [("keep", True), ("stop", True), ("cancel", False)])
def test_closing_while_an_experiment_is_under_way_asks(
    window: MainWindow, experiment: ExperimentFolder, monkeypatch: pytest.MonkeyPatch, answer: str, may: bool
) -> None:
    asked: list[list[str]] = []

    def ask(parent: object, names: list[str]) -> str:
        asked.append(names)
        return answer

    monkeypatch.setattr("netwright.app.messages.ask_to_leave_experiments", ask)
    window.open_path(Path(experiment.read_info().project_path))
    assert window.close() is may
    ((name,),) = asked
    assert name.startswith("Momentum · ")
    assert experiment.take_requests() == ([{"do": "stop"}] if answer == "stop" else [])


def test_closing_asks_about_an_experiment_that_was_begun_before_another_project_was_opened(
    window: MainWindow, experiment: ExperimentFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.app.messages.ask_to_leave_experiments", lambda parent, names: "cancel")
    assert window.made.may_leave()
    window.notifier.watch(experiment)
    assert not window.made.may_leave()


def test_a_run_is_told_with_its_progress_until_it_has_ended(run: RunFolder) -> None:
    ended: dict[Path, int] = {}
    (told,) = running(ended)
    assert (told.title, told.share, told.project) == ("Run 5 · sgdm, 0.01", 0.25, "untitled")
    assert progress_in_words(told) == "Epoch 14 of 60 · 1 m 0 s left"
    update_info(run, state="paused")
    assert progress_in_words(next(running(ended))) == "Epoch 14 of 60 · paused"
    update_info(run, state="finished")
    assert list(running(ended)) == []
    assert list(ended) == [run.path]
    update_info(run, state="running")  # it was resumed
    assert [told.run_dir for told in running(ended)] == [str(run.path)]


def test_a_run_under_way_stands_on_the_start_page_and_a_click_follows_it(
    qtbot: QtBot, window: MainWindow, run: RunFolder, tmp_path: Path
) -> None:
    """With its project, which was saved after the run had begun."""
    window.documents.identity = "11111111-mine"
    window.documents.save(tmp_path / "mine.netwright")
    window.files.new()
    window.show_start()
    page = window.start_page
    qtbot.waitUntil(lambda: page.running.isVisible())
    (row,) = page.running.rows
    assert (row.title.text(), row.bar.value()) == ("Run 5 · sgdm, 0.01", 250)
    QTest.mouseClick(row, Qt.MouseButton.LeftButton)
    assert window.tabs.current == "runs"
    assert window.documents.path == tmp_path / "mine.netwright"
    assert window.training.run_folder == run


def test_the_list_goes_when_the_run_ends(qtbot: QtBot, window: MainWindow, run: RunFolder) -> None:
    window.show_start()
    page = window.start_page
    qtbot.waitUntil(lambda: page.running.isVisible())
    update_info(run, state="finished")
    qtbot.waitUntil(lambda: not page.running.isVisible())
