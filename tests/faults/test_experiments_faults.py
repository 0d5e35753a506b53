"""Experiments whose runner, coordinators and workers are killed at random moments end as if nothing had happened."""

import contextlib
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from netwright.engine.core.errors import EXIT_RUN_FAILED, UserError
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project, RunOptions
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.trial_log import FAILED
from tests.builders import chain, layer
from tests.faults.test_disk import small_disk
from tests.runs import PATIENCE_S, wait_for
from tests.warm import Process

MOST_KILLS = 4
LONGEST_S = 3.0
"""The kills lie in so many seconds, about what the experiment takes."""
WAYS: dict[str, dict[str, Any]] = {
    "tpe": {"strategy": "tpe", "trials": 4, "at_once": 1},
    "pruned": {"strategy": "random", "trials": 9, "at_once": 2, "pruning": "median"},
}
"""With two trials at a time, those of tpe depend on which of them ends first."""
FULL: dict[str, Any] = {"strategy": "sobol", "trials": 12, "at_once": 2}


def project_file(folder: Path, options: Mapping[str, Any]) -> Path:
    """A project whose trials take some tenths of a second each and save what they have reached."""
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))
    training = TrainingOptions(
        max_epochs=8, mini_batch_size=256, validation_frequency=3, validation_patience=0, checkpoint_unit="epochs"
    )
    rate = {"path": "training.initial_learn_rate", "low": 1e-4, "high": 0.1, "log": True}
    project = Project(
        network,
        data=DataOptions(source="digits"),
        training=training,
        environment=EnvironmentOptions(target="cpu", threads=1),
        run=RunOptions(max_restarts=20),
        experiment=ExperimentOptions(parameters=[rate], **options),
    )
    path = folder / "search.netwright"
    save(project, path)
    return path


def experiment(what: Path) -> Process:
    """`experiment run` of a project, or of the folder of an experiment."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        return Process(["experiment", "run", what], stdout=null, stderr=null)
    finally:
        os.close(null)


def outcome(folder: ExperimentFolder) -> list[Any]:
    """What trials were made of and have reached. When a run was killed decides on nothing of it."""
    found = [(trial.number, dict(trial.values), trial.state, trial.scores) for trial in folder.read_trials()]
    assert sorted(path.name for path in (folder.path / "runs").iterdir()) == sorted(str(n) for n, *_ in found)
    return found


def processes_of_runs(folder: ExperimentFolder) -> list[int]:
    """The processes of the runs under way."""
    found: list[int] = []
    for path in (folder.path / "runs").iterdir():
        with contextlib.suppress(UserError, OSError):
            if (run := RunFolder(path)).is_alive():
                info = run.read_info()
                found += [info.coordinator, *info.workers]
    return found


def disturbed(path: Path, choice: random.Random) -> ExperimentFolder:
    """Run an experiment to its end while its processes are killed."""
    process = experiment(path)
    pause = threading.Event()
    folder = wait_for(lambda: _begun(path), "it has begun")
    for _ in range(choice.randint(1, MOST_KILLS)):
        deadline = time.monotonic() + choice.random() * LONGEST_S / MOST_KILLS
        while time.monotonic() < deadline and psutil.pid_exists(process.pid):
            pause.wait(0.005)
        runs = processes_of_runs(folder)
        if runs and choice.random() < 0.6:
            with contextlib.suppress(ProcessLookupError):
                os.kill(choice.choice(runs), signal.SIGKILL)
        elif psutil.pid_exists(process.pid):
            process.kill()  # it may have ended just now
            process.wait(PATIENCE_S)
            process.close()
            process = experiment(folder.path)
    assert process.wait(PATIENCE_S) == 0
    process.close()
    assert folder.state() == "finished"
    return folder


def _begun(path: Path) -> ExperimentFolder | None:
    with contextlib.suppress(UserError):
        return open_experiment(path)
    return None


def _undisturbed(folder: Path, way: str) -> list[Any]:
    path = project_file(folder, WAYS[way])
    with experiment(path) as process:
        assert process.wait(PATIENCE_S) == 0
    return outcome(open_experiment(path))


def test_an_experiment_on_a_full_disk_has_failed_and_goes_on_once_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "900k"):
        path = project_file(disk, FULL)
        with experiment(path) as process:
            assert process.wait(PATIENCE_S) == EXIT_RUN_FAILED
        folder = open_experiment(path)
        info, trials = folder.read_info(), folder.read_trials()
        assert info.state == "failed"
        assert "No space left on device" in info.reason
        failed = [trial.number for trial in trials if trial.state in FAILED]
        assert failed
        assert all(str(number) in info.reason for number in failed)
        assert len(trials) < FULL["trials"], "no trial begins on a full disk"
        subprocess.run(["mount", "-o", "remount,size=32m", disk], check=True)
        folder.request("again")
        with experiment(folder.path) as process:
            assert process.wait(PATIENCE_S) == 0
        assert folder.state() == "finished"
        assert [trial.state for trial in folder.read_trials()] == ["finished"] * FULL["trials"]


def check(folder: Path, way: str, seeds: range) -> None:
    """Compare disturbed experiments with one that was not."""
    (folder / "whole").mkdir()
    expected = _undisturbed(folder / "whole", way)
    assert len(expected) == WAYS[way]["trials"]
    for seed in seeds:
        (folder / str(seed)).mkdir()
        assert outcome(disturbed(project_file(folder / str(seed), WAYS[way]), random.Random(seed))) == expected, seed


@pytest.mark.parametrize("way", WAYS)
def test_an_experiment_that_is_killed_ends_as_if_it_was_not(tmp_path: Path, way: str) -> None:
    check(tmp_path, way, range(1))


@pytest.mark.faults
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("first", range(0, 25, 5))
def test_experiments_that_are_killed_end_as_if_they_were_not(tmp_path: Path, way: str, first: int) -> None:
    check(tmp_path, way, range(first, first + 5))
