"""Experiments on a real Ray cluster of two nodes, whose processes are killed: `make cluster`."""

import contextlib
import os
import random
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from netwright.engine.cluster.profile_file import find_profile, save_profile
from netwright.engine.project.data import DataOptions
from netwright.engine.project.file import load, save
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.trial_log import Trial
from tests.builders import chain, layer
from tests.engine.cluster.nodes.test_cluster_places import kill_place, project_file, reached, workers
from tests.runs import wait_for
from tests.system.test_ray import cluster, profile, raylets  # noqa: F401  # fixtures
from tests.warm import Process

pytestmark = pytest.mark.cluster
PATIENCE_S = 200
ON_RAY = ("--environment", "parallel", "--profile", "ray", "--at-once", "3")


def experiment(what: Path, *arguments: str) -> Process:
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        return Process(["experiment", "run", what, *arguments], stdout=null)
    finally:
        os.close(null)


def run(what: Path, *arguments: str) -> ExperimentFolder:
    with experiment(what, *arguments) as process:
        assert process.wait(PATIENCE_S) == 0
    return open_experiment(what)


def trials_of(path: Path) -> list[Trial]:
    return open_experiment(path).read_trials()


def compare(one: ExperimentFolder, other: ExperimentFolder) -> None:
    """Compare what trials are made of and have reached, each once."""
    assert sorted(path.name for path in (one.path / "runs").iterdir()) == sorted(str(n) for n, *_ in reached(other))
    for on_ray, here in zip(reached(one), reached(other), strict=True):
        assert on_ray[:3] == here[:3]
        assert on_ray[3] == pytest.approx(here[3], rel=1e-5)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> ExperimentFolder:
    """The experiment on this machine, where nothing is killed."""
    return run(project_file(tmp_path_factory.mktemp("whole") / "here", trials=8, epochs=60), "--at-once", "2")


HIDING = """#!/bin/sh
exec unshare -m sh -c 'mount --bind {here} {there} && mount -t tmpfs none {here} && exec {python} "$@"' sh "$@"
"""
"""Python of hosts that know a folder of this machine by another name alone."""


def test_hosts_that_call_folders_otherwise_train_trials_and_are_named(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("mounts need root")
    here, there = tmp_path / "here", tmp_path / "there"
    path = project_file(here, epochs=2)
    there.mkdir()
    (here / "data.csv").write_text("x,y\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(40)), encoding="utf-8")
    (tmp_path / "python").write_text(HIDING.format(here=here, there=there, python=sys.executable), encoding="utf-8")
    (tmp_path / "python").chmod(0o700)
    names = {str(here): str(there)}
    save_profile(find_profile("ray").replace(path_map=names, python=f"{tmp_path}/python"), replacing="ray")
    project = load(path).project
    network = chain(layer("feature_input", channels=1), layer("fully_connected", outputs=2), layer("softmax"))
    save(replace(project, network=network, data=DataOptions(source="table", path=str(here / "data.csv"))), path)
    found = run(path, *ON_RAY)
    assert [trial.state for trial in found.read_trials()] == ["finished"] * 3, found.read_trials()
    assert {trial.hosts for trial in found.read_trials()} == {(os.uname().nodename,)}


def test_the_same_grid_reaches_the_same_on_ray(tmp_path: Path) -> None:
    found = []
    for name, where in (("ray", ON_RAY), ("here", ())):
        path = project_file(tmp_path / name, epochs=3)
        vary = ["--vary", "training.momentum=0.8,0.9", "--vary", "training.initial_learn_rate=log 0.01..0.1:2"]
        found.append(run(path, *where, "--strategy", "grid", *vary))
    compare(*found)
    assert len(found[0].read_trials()) == 4
    assert RunFolder(found[0].run_path("1")).read_info().placement.resolved == "parallel"


def test_the_same_trials_are_pruned_on_ray(tmp_path: Path) -> None:
    found = []
    for name, where in (("ray", ON_RAY), ("here", ("--at-once", "2"))):
        path = project_file(tmp_path / name, trials=9, epochs=8)
        options = ("training.validation_frequency=3", "experiment.pruning=median")
        found.append(run(path, *where, *(word for option in options for word in ("--set", option))))
    compare(*found)
    assert "pruned" in {trial.state for trial in found[0].read_trials()}


def kill(killed: str, path: Path, runner: int, choice: random.Random) -> bool:
    """Kill a process of a run under way, or the runner; False where there was none."""
    if killed == "place":
        return kill_place(path)
    if not (found := workers(path)):
        return False
    worker, coordinator = choice.choice(found)
    with contextlib.suppress(psutil.NoSuchProcess):
        victims = {"worker": worker, "coordinator": coordinator, "runner": runner}
        psutil.Process(victims[killed]).kill()
        return True
    return False


def has_gone_on(path: Path, pid: int, before: int) -> bool:
    """Whether the runner has ended, or has more trials than before."""
    return not psutil.pid_exists(pid) or len(trials_of(path)) > before


@pytest.mark.parametrize("killed", ["worker", "coordinator", "place", "runner"])
def test_a_killed_process_changes_nothing(killed: str, tmp_path: Path, here: ExperimentFolder) -> None:
    path = project_file(tmp_path / "ray", trials=8, epochs=60)
    process = experiment(path, *ON_RAY)
    choice = random.Random(killed)
    for _ in range(1 if killed == "runner" else 3):  # a new runner connects to Ray anew
        wait_for(partial(kill, killed, path, process.pid, choice), "no worker", PATIENCE_S)
        if killed == "runner":
            process.wait(PATIENCE_S)
            process.close()
            process = experiment(open_experiment(path).path)
        before = len(trials_of(path))
        wait_for(partial(has_gone_on, path, process.pid, before), "stuck", PATIENCE_S)
    with process:
        assert process.wait(PATIENCE_S) == 0
    compare(open_experiment(path), here)


def has_trial(node: psutil.Process, path: Path) -> bool:
    """Whether a node of the cluster has a trial: its workers descend from it."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return any(node in psutil.Process(worker).parents() for worker, _ in workers(path))
    return False


def test_a_lost_node_changes_nothing(tmp_path: Path, here: ExperimentFolder) -> None:
    """The last test: the cluster has one node then."""
    path = project_file(tmp_path / "ray", trials=8, epochs=60)
    save_profile(find_profile("ray").replace(cores_per_worker=5), replacing="ray")  # a trial per node
    with experiment(path, *ON_RAY) as process:
        node = raylets()[-1]
        wait_for(lambda: has_trial(node, path), "the second node has no trial", PATIENCE_S)
        for each in [node, *node.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        assert process.wait(PATIENCE_S) == 0
    compare(open_experiment(path), here)
