"""The runs under way on the start page: found wherever they lie, with their progress, and followed with a click."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.start_page.running_program import running
from app.window import MainWindow
from engine.project.file import dumps
from engine.project.project import Project
from engine.runs.create import create
from engine.runs.events import Progress, Started
from engine.runs.folder import RunFolder, take_lock, update_info
from engine.runs.history import own_runs, register
from engine.runs.info import RunInfo
from engine.runs.log import EventLog
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


def test_a_run_is_told_with_its_progress_until_it_has_ended(run: RunFolder) -> None:
    ended: dict[Path, int] = {}
    (told,) = running(ended)
    assert (told.title, told.share, told.progress) == ("Run 5 · sgdm, 0.01", 0.25, "Epoch 14 of 60 · 1 m 0 s left")
    assert told.project == "untitled, not saved when it began"
    update_info(run, state="paused")
    assert next(running(ended)).progress == "Epoch 14 of 60 · paused"
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
    assert window.tabs.current == "train"
    assert window.documents.path == tmp_path / "mine.netwright"
    assert window.training.run_folder == run


def test_the_list_goes_when_the_run_ends(qtbot: QtBot, window: MainWindow, run: RunFolder) -> None:
    window.show_start()
    page = window.start_page
    qtbot.waitUntil(lambda: page.running.isVisible())
    update_info(run, state="finished")
    qtbot.waitUntil(lambda: not page.running.isVisible())
