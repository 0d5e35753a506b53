"""Experiments whose trials have places on a cluster: which do, and what becomes of trials whose place is lost."""

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from netwright.engine.cluster.nodes import cluster_places
from netwright.engine.cluster.nodes.cluster_places import trial_cluster
from netwright.engine.cluster.profile_file import save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.core.errors import UserError
from netwright.engine.core.process import MessageProcess
from netwright.engine.placement.inventory import LOOPBACK
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment
from netwright.engine.runs.folder import RunFolder
from tests.builders import chain, layer
from tests.places import RUN
from tests.runs import wait_for
from tests.trials import written
from tests.warm import Process

PATIENCE_S = 60


@pytest.fixture(autouse=True)
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    save_profile(ClusterProfile(name="lab", address="127.0.0.1:1", python=sys.executable, interface=LOOPBACK))
    save_profile(ClusterProfile(name="hpc", kind="slurm"))
    save_profile(ClusterProfile(name="many", address="127.0.0.1:1", interface=LOOPBACK, gpus_per_worker=2))


def defined(cluster: str = "lab", workers: int = 0, **options: Any) -> Project:
    environment = EnvironmentOptions(target="parallel", cluster=cluster, num_workers=workers)
    return Project(environment=environment, experiment=ExperimentOptions(**options))


def test_trials_of_one_worker_have_places_on_ray() -> None:
    assert trial_cluster(defined(workers=2)) is None, "its workers are asked for run by run"
    profile = trial_cluster(defined())
    assert profile is not None
    assert profile.name == "lab"


@pytest.mark.parametrize(
    ("project", "words"),
    [
        (defined("hpc"), "hpc is one of slurm"),
        (defined(parameters=["environment.num_workers=1,2"]), "environment.num_workers cannot vary on a cluster"),
        (defined(gpus_per_trial=2), "environment.num_workers=2"),
        (defined("many", trials_per_gpu=2), "a worker of the cluster profile many has 2"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused_in_words(project: Project, words: str) -> None:
    with pytest.raises(UserError, match=words):
        trial_cluster(project)


def test_a_place_has_its_part_of_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told to a process that writes down what it is told."""
    profile = ClusterProfile(name="gpus", address="127.0.0.1:1", gpus_per_worker=1, cores_per_worker=3, memory=2.0)
    told = tmp_path / "told"
    command = ["sh", "-c", f"cat > {told}"]
    monkeypatch.setattr(cluster_places, "start_client", lambda *_: MessageProcess(command))
    project = defined("gpus", trials_per_gpu=4, at_once=6, gpus=1)
    places = cluster_places.ClusterPlaces(project, written(tmp_path, ()), profile)
    places.attend({}, 5)
    places.close()
    config, wanted = (json.loads(line) for line in told.read_text().splitlines())
    assert config["needs"] == {"CPU": 3, "GPU": 0.25, "memory": 2e9}
    assert (wanted["most"], wanted["at_once"], wanted["limits"]["GPU"]) == (5, 6, 1)


def project_file(folder: Path, trials: int = 3, epochs: int = 25) -> Path:
    """A project with trials that save what they have reached after every epoch."""
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))
    training = TrainingOptions(
        max_epochs=epochs, mini_batch_size=256, checkpoint_unit="iterations", checkpoint_frequency=20
    )
    options = ExperimentOptions(
        parameters=["training.initial_learn_rate=log 0.001..0.1"], trials=trials, strategy="random"
    )
    cpu = EnvironmentOptions(target="cpu", threads=1)
    folder.mkdir()
    path = folder / "search.netwright"
    save(
        Project(network, data=DataOptions(source="digits"), training=training, environment=cpu, experiment=options),
        path,
    )
    return path


def experiment(what: Path, *arguments: str) -> Process:
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        return Process(["experiment", "run", what, *arguments], code=RUN, stdout=null)
    finally:
        os.close(null)


def reached(folder: ExperimentFolder) -> list[Any]:
    return [(trial.number, dict(trial.values), trial.state, trial.scores) for trial in folder.read_trials()]


def workers(path: Path) -> list[tuple[int, int]]:
    """The processes of the workers that train, with those of their coordinators."""
    found = [RunFolder(one).read_info() for one in (path.parent / "experiments").glob("*/runs/*")]
    return [(pid, info.coordinator) for info in found for pid in info.workers if info.state == "running"]


def kill_place(path: Path) -> bool:
    """Kill the process in the place of a run under way; False where there is none."""
    with contextlib.suppress(psutil.NoSuchProcess, IndexError):
        psutil.Process(workers(path)[0][0]).parents()[1].kill()
        return True
    return False


def test_trials_reach_on_a_cluster_what_they_reach_here_also_where_places_and_runner_are_killed(tmp_path: Path) -> None:
    here = project_file(tmp_path / "here")
    with experiment(here, "--at-once", "2") as process:
        assert process.wait(PATIENCE_S) == 0
    path = project_file(tmp_path / "there")
    process = experiment(path, "--environment", "parallel", "--profile", "lab", "--at-once", "2")

    wait_for(lambda: kill_place(path), "no worker")
    folder = open_experiment(path)
    wait_for(lambda: [trial for trial in folder.read_trials() if trial.is_over], "no trial ends")
    process.kill()
    process.wait(PATIENCE_S)
    process.close()
    with experiment(folder.path) as process:
        assert process.wait(PATIENCE_S) == 0
    assert folder.state() == "finished"
    assert sorted(one.name for one in (folder.path / "runs").iterdir()) == ["1", "2", "3"]
    assert RunFolder(folder.run_path("1")).read_info().placement.resolved == "parallel"
    for one, other in zip(reached(folder), reached(open_experiment(here)), strict=True):
        assert one[:3] == other[:3]
        assert one[3] == pytest.approx(other[3], rel=1e-5)
