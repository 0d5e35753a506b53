"""Runs that are jobs of a real Ray, whose coordinator is on a node, and go on without this machine: `make cluster`."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from netwright.engine.cluster.profile_file import find_profile, save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.validation import validate
from netwright.engine.project.file import save
from netwright.engine.runs.events import ENDS, Failed, Points, Resumed
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import read_all
from netwright.engine.runs.remote import RemoteRun, read_remote
from tests.runs import train as train_here
from tests.runs import wait_for
from tests.system.test_ray import cluster, profile  # noqa: F401  # fixtures
from tests.system.test_training import TWO, digits, mlp

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
LONG: dict[str, Any] = {"max_epochs": 100_000, "checkpoint_unit": "iterations", "checkpoint_frequency": 20}


@pytest.fixture(autouse=True)
def on_cluster(profile: None, cluster: ClusterProfile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """The coordinator is on the cluster, whose profile has two workers."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    save_profile(cluster.replace(coordinator="cluster", storage=f"{tmp_path}/jobs"), replacing="ray")


def engine(*words: str | Path) -> str:
    done = subprocess.run([sys.executable, "-m", "netwright.engine", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def start(folder: Path, run: Mapping[str, Any] | None = None, **training: Any) -> RunFolder:
    path = folder / "digits.netwright"
    project = digits(mlp(), **training)
    save(replace(project, run=project.run.replace(**(run or {}))), path)
    words = ("--environment", "parallel", "--profile", "ray", "--run-dir", folder / secrets.token_hex(4), "--detach")
    return RunFolder(Path(engine("train", path, *words).strip()))


def losses(run: RunFolder) -> list[float]:
    events = (event for event in read_all(run) if isinstance(event, Points) and event.split == "training")
    return [loss for event in events for loss in event.values["loss"]]


def remote_of(run: RunFolder) -> RemoteRun:
    remote = read_remote(run.path)
    assert remote is not None
    return remote


def there(run: RunFolder) -> RunFolder:
    """The folder of the run on the cluster."""
    return RunFolder(Path(remote_of(run).folder) / "run")


def resumptions(run: RunFolder) -> list[Resumed]:
    return [event for event in read_all(run) if isinstance(event, Resumed)]


def wait_for_resumptions(run: RunFolder, times: int) -> None:
    wait_for(lambda: len(resumptions(there(run))) == times, f"resumption {times} of the run")


def kill_coordinator(run: RunFolder) -> None:
    """Kill the process on the cluster that the actor of a job has started."""
    os.kill(there(run).read_info().coordinator, signal.SIGKILL)


def actors() -> list[psutil.Process]:
    """Processes of Ray that are jobs."""
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if each.cmdline()[:1] == ["ray::RayJob"]:
                found.append(each)
    return found


def test_a_job_computes_as_two_workers_here_and_is_fetched(tmp_path: Path) -> None:
    local = train_here(digits(mlp(), TWO, max_epochs=3), tmp_path / "local")
    run = start(tmp_path, max_epochs=3)
    wait_for(lambda: run.state() in ENDS, "the run on Ray")
    assert run.state() == "finished", [event.cause for event in read_all(run) if isinstance(event, Failed)]
    assert losses(run) == pytest.approx(local.losses, rel=1e-5)
    assert (run.last / "weights.safetensors").is_file()
    assert (there(run).path.parent / "clusters.toml").read_text(encoding="utf-8").count("token") == 0
    wait_for(lambda: not actors(), "the end of its actor")
    engine("jobs", "--delete", run.path)
    assert not list((tmp_path / "jobs").iterdir())
    assert "nothing is to be fetched" in engine("fetch", run.path)


def test_a_job_goes_on_without_this_machine_and_when_its_process_is_killed(tmp_path: Path) -> None:
    run = start(tmp_path, **LONG)
    wait_for(lambda: run.state() == "running" and len(losses(run)) > 40, "the run on Ray")
    os.kill(run.read_info().coordinator, signal.SIGKILL)  # that of the copy, the only process of this machine
    wait_for(lambda: not run.is_alive(), "the end of the copy")
    before = there(run).events.stat().st_size
    wait_for(lambda: there(run).events.stat().st_size > before, "events while nobody follows")
    actors()[0].kill()
    wait_for(lambda: any(isinstance(event, Resumed) for event in read_all(there(run))), "Ray to start it again")
    assert json.loads(engine("jobs", "--json"))["jobs"][0]["coordinator"] == "cluster"
    before = len(losses(run))
    wait_for(lambda: len(losses(run)) > before, "the copy to go on")
    engine("stop", run.path, "--wait", "120")
    assert run.state() == "stopped"
    assert run.events.read_bytes() == there(run).events.read_bytes()
    resumed = next(event for event in read_all(run) if isinstance(event, Resumed))
    assert resumed.iteration >= 20


def test_a_job_whose_coordinator_is_killed_goes_on_at_most_as_often_as_its_run_restarts(tmp_path: Path) -> None:
    """The actor lives, and starts the coordinator again: no kill of it is one of the actor."""
    run = start(tmp_path, {"max_restarts": 2}, **LONG)
    wait_for(lambda: run.state() == "running" and len(losses(run)) > 40, "the run on Ray")
    actor = actors()[0]
    for times in (1, 2):
        kill_coordinator(run)
        wait_for_resumptions(run, times)
        wait_for(lambda: there(run).state() == "running", "the run to go on")
    assert all(resumption.iteration >= 20 for resumption in resumptions(there(run)))
    assert actors() == [actor]
    kill_coordinator(run)
    wait_for(lambda: not actors(), "the end of the actor")
    wait_for(lambda: run.state() == "lost", "the copy to say so")
    engine("resume", run.path, "--detach")
    wait_for_resumptions(run, 3)
    engine("stop", run.path, "--wait", "120")
    assert run.state() == "stopped"


def test_a_job_that_is_deleted_ends_with_its_workers(tmp_path: Path) -> None:
    run = start(tmp_path, **LONG)
    wait_for(lambda: run.state() == "running", "the run on Ray")
    workers = [psutil.Process(pid) for pid in there(run).read_info().workers]
    engine("jobs", "--delete", run.path)
    assert not actors()
    wait_for(lambda: not any(each.is_running() for each in workers), "the end of the workers")
    assert not list((tmp_path / "jobs").iterdir())
    assert run.state() == "stopped"


def test_a_job_that_cannot_start_there_says_why(tmp_path: Path) -> None:
    save_profile(find_profile("ray").replace(python="none3"), replacing="ray")
    run = start(tmp_path)
    wait_for(lambda: run.state() in ENDS, "the run on Ray")
    assert run.state() == "failed"
    said = " ".join(event.cause for event in read_all(run) if isinstance(event, Failed))
    assert said.startswith("There is no program none3 where the job runs.")


def test_a_profile_with_its_storage_there_is_tried_in_all_stages(tmp_path: Path) -> None:
    results = list(validate(find_profile("ray")))
    assert [(result.state, result.hint) for result in results] == [("passed", "")] * 7, results
    assert not list((tmp_path / "jobs").iterdir())
