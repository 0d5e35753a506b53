"""How many epochs a complete run is to have in all."""

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QInputDialog, QWidget
from pytestqt.qtbot import QtBot

from netwright.app.runs.change_run import ask_for_more
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.create import create
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo
from tests.builders import classifier


def run_with(tmp_path: Path, **result: object) -> RunFolder:
    project = Project(classifier(), training=TrainingOptions(max_epochs=5))
    folder = create(tmp_path / "run", dumps(project), RunInfo())
    folder.result.write_text(json.dumps(result))
    return folder


def test_a_run_that_broke_off_is_not_asked_about(qtbot: QtBot, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    assert ask_for_more(parent, run_with(tmp_path, state="stopped", epochs=2)) == []


@pytest.mark.parametrize(("done", "offered"), [(5, 10), (3, 5)])
def test_a_complete_run_gets_twice_its_epochs_unless_another_number_is_given(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int, offered: int
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    folder = run_with(tmp_path, state="finished", epochs=done)
    monkeypatch.setattr(QInputDialog, "exec", lambda self: self.intMinimum() == done + 1)
    assert ask_for_more(parent, folder) == [f"training.max_epochs={offered}"]
    monkeypatch.setattr(QInputDialog, "exec", lambda self: False)
    assert ask_for_more(parent, folder) is None
