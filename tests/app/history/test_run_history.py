"""What the window knows of runs through its process: news, notes, deleting, and its end."""

import os
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from netwright.app.history.run_history import RunHistory
from netwright.engine.runs.folder import take_lock
from netwright.engine.runs.history import ProjectKey
from netwright.engine.runs.notes import Notes, read_notes
from tests.app.history.sample_runs import made


@pytest.fixture
def history(qtbot: QtBot):
    history = RunHistory(look_ms=20)
    yield history
    history.close()


def test_runs_are_told_and_what_changes_of_them(qtbot: QtBot, history: RunHistory, tmp_path: Path) -> None:
    first = made(tmp_path, "first", 1)
    other = made(tmp_path, "other", 2, of="two")
    history.watch(ProjectKey(tmp_path / "one.netwright"))
    qtbot.waitUntil(lambda: len(history.runs) == 2)
    assert [history.is_of_project(history.runs[run.path]) for run in (first, other)] == [True, False]

    history.note(first.path, "remember", ["paper"])
    qtbot.waitUntil(lambda: history.runs[first.path].notes.note == "remember")
    assert history.runs[first.path].notes.tags == ("paper",)

    later = made(tmp_path, "later", 3)
    qtbot.waitUntil(lambda: later.path in history.runs)
    history.delete([first.path])
    qtbot.waitUntil(lambda: first.path not in history.runs)
    assert (Path(os.environ["XDG_DATA_HOME"]) / "Trash" / "files" / "first" / "run.json").is_file()


def test_what_cannot_be_done_is_said(qtbot: QtBot, history: RunHistory, tmp_path: Path) -> None:
    run = made(tmp_path, "run", 1, state="running")
    lock = take_lock(run)
    history.watch(ProjectKey(tmp_path / "one.netwright"))
    qtbot.waitUntil(lambda: bool(history.runs))
    assert history.runs[run.path].state == "running"
    with qtbot.waitSignal(history.refused) as told:
        history.delete([run.path])
    assert "is at work. Stop it first" in told.args[0]
    with qtbot.waitSignal(history.refused) as told:
        history.note(run.path, "", ["x" * 60])
    assert "is no tag" in told.args[0]
    os.close(lock)
    qtbot.waitUntil(lambda: history.runs[run.path].state == "lost")


def test_a_project_without_runs_is_read_too(qtbot: QtBot, history: RunHistory, tmp_path: Path) -> None:
    history.watch(ProjectKey(tmp_path / "one.netwright"))
    qtbot.waitUntil(lambda: history.is_read)
    assert history.runs == {}


def test_a_process_that_dies_is_said_and_another_one_starts(qtbot: QtBot, history: RunHistory, tmp_path: Path) -> None:
    made(tmp_path, "run", 1)
    history.watch(ProjectKey(tmp_path / "one.netwright"))
    qtbot.waitUntil(lambda: bool(history.runs))
    assert history._child is not None
    with qtbot.waitSignal(history.refused):
        history._child.process.kill()
    assert len(history.runs) == 1  # what is known stays
    made(tmp_path, "later", 2)
    history.watch(ProjectKey(tmp_path / "one.netwright"))
    qtbot.waitUntil(lambda: len(history.runs) == 2)


def test_a_note_is_kept_although_the_process_is_gone(history: RunHistory, tmp_path: Path) -> None:
    run = made(tmp_path, "run", 1)
    history.watch(ProjectKey(tmp_path / "one.netwright"))
    assert history._child is not None
    history._child.process.kill()
    history._child.process.wait()
    history.note(run.path, "the last word", ["paper"])
    history.close()
    assert read_notes(run) == Notes("the last word", ("paper",))
