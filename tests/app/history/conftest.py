from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from netwright.app.history.runs_page import RunsPage
from netwright.app.window import MainWindow
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import dumps, save
from netwright.engine.project.project import Project
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, create_experiment
from netwright.engine.runs.folder import RunFolder, update_info
from netwright.engine.runs.trial_log import TrialLog
from tests.app.history.runs_pages import shown
from tests.app.history.sample_runs import made
from tests.builders import classifier


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "one.netwright"
    save(Project(classifier()), path)
    return path


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    good = {"validation": {"loss": 0.2, "accuracy": 0.9}, "epochs": 3, "seconds": 70.0}
    bad = {"validation": {"loss": 0.7, "rmse": 4.0}, "epochs": 1, "seconds": 5.0}
    folders = [
        made(tmp_path, "a", 1, result=good),
        made(tmp_path, "b", 2, result=bad, state="failed", max_epochs=60),
        made(tmp_path, "c", 3, max_epochs=60, solver="adam"),
        made(tmp_path, "other", 4, of="two"),
    ]
    for number, folder in enumerate(folders, 1):
        update_info(folder, number=number)
    return folders


@pytest.fixture
def experiment(tmp_path: Path) -> ExperimentFolder:
    info = ExperimentInfo(name="one", project_path=str(tmp_path / "one.netwright"), objectives=("validation.accuracy",))
    options = ExperimentOptions(parameters=["training.momentum=0.1,0.2,0.3,0.5,0.9", "training.mini_batch_size=8"])
    text = dumps(Project(classifier(), experiment=options))
    folder = create_experiment(tmp_path / "one.netwright", "one", text, info)
    log = TrialLog(folder.trials)
    for number, score in enumerate((0.7, 0.95, 0.8, 0.6, 0.91), 1):
        log.append(number, values={"training.momentum": number / 10, "training.mini_batch_size": 8})
        log.append(number, run=str(number), state="finished", scores={"validation.accuracy": score}, seconds=1.0)
        log.append(number, state="finished")
    log.close()
    folder.update_info(state="finished", created=2.5)
    return folder


@pytest.fixture
def page(qtbot: QtBot, window: MainWindow, project: Path, runs: list[RunFolder]) -> RunsPage:
    window.open_path(project)
    return shown(qtbot, window)
