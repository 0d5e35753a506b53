"""Which run the Train tab shows when another project is opened."""

import os
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.runs.monitor import Monitor
from app.window import MainWindow
from engine.project.file import save
from engine.project.project import Project
from engine.runs.events import Ended
from engine.runs.folder import EventLog, RunFolder, create, runs_beside, take_lock
from tests.builders import classifier


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return project(tmp_path / "one" / "one.netwright")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return project(tmp_path / "other" / "other.netwright")


def project(path: Path) -> Path:
    path.parent.mkdir()
    save(Project(classifier()), path)
    return path


def run_of(path: Path, name: str) -> RunFolder:
    return create(runs_beside(path) / name, "{}", {"project_path": str(path), "name": path.stem})


def ended_run_of(path: Path, name: str) -> RunFolder:
    folder = run_of(path, name)
    log = EventLog(folder)
    log.append(Ended(state="finished", reason="all epochs are done", result={}))
    log.close()
    return folder


def monitor_of(window: MainWindow) -> Monitor:
    monitor = window._pages["train"]
    assert isinstance(monitor, Monitor)
    return monitor


def test_another_project_shows_its_own_last_run(qtbot: QtBot, window: MainWindow, one: Path, other: Path) -> None:
    run = ended_run_of(one, "run_one")
    window.open_path(one)
    assert window.training.run_folder is None  # nobody has looked yet
    window.show_train()
    assert window.training.run_folder == run
    qtbot.waitUntil(lambda: not window.training.is_running)
    assert "finished" not in window.hint_label.text().lower()  # that is no news
    window.open_path(other)
    assert window.training.run_folder is None
    assert monitor_of(window).facts.name.text() == "No run yet"
    window.open_path(one)
    assert monitor_of(window).facts.name.text() == "run_one"
    window.files.new()
    assert monitor_of(window).facts.name.text() == "No run yet"


def test_a_run_that_goes_on_stays_in_the_train_tab(qtbot: QtBot, window: MainWindow, one: Path, other: Path) -> None:
    ended_run_of(other, "run_other")
    run = run_of(one, "run_one")
    lock = take_lock(run)
    try:
        window.training.follow(run)
        window.open_path(other)
        assert window.training.run_folder == run
        assert "run_one goes on" in window.hint_label.text()
        assert "run_one goes on" in monitor_of(window).facts.lines.text()
    finally:
        os.close(lock)
