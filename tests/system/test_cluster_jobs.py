"""Jobs on a real Slurm of two nodes and over a real ssh, which the tests start on this machine."""

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.cluster.profile_file import find_profile, save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.validation import validate
from netwright.engine.project.file import save
from netwright.engine.runs.events import ENDS, Failed, Points, Resumed
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import read_all
from netwright.engine.runs.remote import read_remote
from tests.clusters import SLURM_PROGRAMS, Slurm, free_ports, missing_programs, slurm, ssh_server
from tests.runs import train as train_here
from tests.runs import wait_for
from tests.system.test_training import TWO, digits, mlp

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
KINDS = ("slurm", "ssh")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Slurm]:
    """A Slurm for all tests of the module, whose path is short."""
    if missing := missing_programs(*SLURM_PROGRAMS, "sshd"):
        pytest.skip(f"this machine lacks {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="nw-slurm-") as folder, slurm(Path(folder)) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path, cluster: Slurm, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Profiles for Slurm and for an ssh server that the test starts."""
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for kind, address in (("slurm", ""), ("ssh", "node")):
        save_profile(
            ClusterProfile(name=kind, kind=kind, address=address, storage=f"{tmp_path}/jobs", python=sys.executable)
        )
    with ssh_server(tmp_path, "node", "127.0.0.1", free_ports(1)[0]):
        yield tmp_path
    cluster.cancel_all()


def engine(*words: str | Path) -> str:
    done = subprocess.run([sys.executable, "-m", "netwright.engine", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def change_profile(name: str, **values: Any) -> str:
    """Change a profile and return its name."""
    save_profile(find_profile(name).replace(**values), replacing=name)
    return name


def start(folder: Path, kind: str, **training: Any) -> RunFolder:
    path = folder / "digits.netwright"
    save(digits(mlp(), **training), path)
    words = ("--environment", "parallel", "--profile", kind, "--run-dir", folder / secrets.token_hex(4), "--detach")
    return RunFolder(Path(engine("train", path, *words).strip()))


def losses(run: RunFolder) -> list[float]:
    events = (event for event in read_all(run) if isinstance(event, Points) and event.split == "training")
    return [loss for event in events for loss in event.values["loss"]]


@pytest.mark.parametrize(("kind", "nodes"), [("slurm", 1), ("slurm", 2), ("ssh", 1)])
def test_a_cluster_passes_its_validation(folder: Path, kind: str, nodes: int) -> None:
    results = list(validate(find_profile(kind).replace(nodes=nodes)))
    assert [result.state for result in results] == ["passed"] * 7, results


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_computes_as_two_workers_here(folder: Path, kind: str) -> None:
    local = train_here(digits(mlp(), TWO, max_epochs=3), folder / "local")
    run = start(folder, kind, max_epochs=3)
    wait_for(lambda: run.state() in ENDS, "the run on the cluster")
    assert run.state() == "finished"
    assert losses(run) == pytest.approx(local.losses, rel=1e-5)
    assert (run.last / "weights.safetensors").is_file()


@pytest.mark.parametrize("workers", [2, 4])
def test_workers_on_two_nodes_of_slurm_compute_as_those_of_this_machine(folder: Path, workers: int) -> None:
    here = {"target": "multi-cpu", "num_workers": workers, "threads": 1}
    local = train_here(digits(mlp(), here, max_epochs=3), folder / "local")
    run = start(folder, change_profile("slurm", nodes=2, workers=workers), max_epochs=3)
    wait_for(lambda: run.state() in ENDS, "the run on the cluster")
    assert run.state() == "finished", (run.path / "engine.log").read_text()
    assert losses(run) == pytest.approx(local.losses, rel=1e-5)
    placement = run.read_info().placement
    assert (placement.resolved, len(placement.places)) == ("parallel", workers)


def test_a_job_goes_on_while_nobody_follows_it_and_after_it_was_killed(folder: Path) -> None:
    run = start(folder, "ssh", max_epochs=100_000, checkpoint_unit="iterations", checkpoint_frequency=20)
    wait_for(lambda: run.state() == "running" and len(losses(run)) > 40, "the run on the cluster")
    os.kill(run.read_info().coordinator, signal.SIGKILL)  # that of the copy here
    wait_for(lambda: not run.is_alive(), "the run on the cluster")
    assert run.state() == "running"
    assert json.loads(engine("jobs", "--json"))["jobs"][0]["state"] == "running"
    before = len(losses(run))
    wait_for(lambda: len(losses(run)) > before, "the run on the cluster")
    remote = read_remote(run.path)
    assert remote is not None
    os.killpg(int(remote.job.partition(":")[0]), signal.SIGKILL)
    wait_for(lambda: run.state() == "lost", "the run on the cluster")
    engine("resume", run.path, "--detach")
    wait_for(lambda: run.state() == "running", "the run on the cluster")
    engine("stop", run.path, "--wait", "120")
    assert run.state() == "stopped"
    assert run.events.read_bytes() == (Path(remote.folder) / "run" / "events.jsonl").read_bytes()


LONG = {"max_epochs": 100_000, "checkpoint_unit": "iterations", "checkpoint_frequency": 20}


def job_of(run: RunFolder) -> str:
    remote = read_remote(run.path)
    assert remote is not None
    return remote.job


def resumed(run: RunFolder) -> list[Resumed]:
    return [event for event in read_all(run) if isinstance(event, Resumed)]


def said(run: RunFolder) -> str:
    """Return why a run has failed."""
    return " ".join(event.cause for event in read_all(run) if isinstance(event, Failed))


def stop(run: RunFolder) -> None:
    engine("stop", run.path, "--wait", "120")
    assert run.state() == "stopped"


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_requeued_job_goes_on_from_its_last_checkpoint(folder: Path, cluster: Slurm, nodes: int) -> None:
    run = start(folder, change_profile("slurm", nodes=nodes), **LONG)
    wait_for(lambda: len(losses(run)) > 40, "the run on the cluster")
    cluster.command("scontrol", "requeue", job_of(run))
    wait_for(lambda: resumed(run), "the run to go on")
    assert resumed(run)[0].iteration >= 20
    before = len(losses(run))
    wait_for(lambda: len(losses(run)) > before, "the steps after it")
    stop(run)


def test_a_job_goes_on_after_a_node_has_failed(folder: Path, cluster: Slurm) -> None:
    run = start(folder, change_profile("slurm", nodes=2), **LONG)
    wait_for(lambda: len(losses(run)) > 40, "the run on the cluster")
    cluster.fail_node("n2")
    wait_for(lambda: "waits" in engine("jobs"), "the job to wait for its node")
    cluster.repair_node("n2")
    wait_for(lambda: resumed(run), "the run to go on")
    assert resumed(run)[0].iteration >= 20
    stop(run)


def test_a_job_stops_before_its_time_limit_and_is_resumed(folder: Path) -> None:
    run = start(folder, change_profile("slurm", time_limit=2), **LONG)
    wait_for(lambda: len(losses(run)) > 40, "the run on the cluster")
    wait_for(lambda: run.state() in ENDS, "the end before the time limit", 150)
    assert run.state() == "stopped"
    result = run.read_result()
    assert result is not None
    count = result["iterations"]
    engine("resume", run.path, "--detach")
    wait_for(lambda: resumed(run), "the run to go on")
    assert resumed(run)[0].iteration == count
    stop(run)


STAND_IN = """#!/bin/sh
echo "$0 $@" >> {folder}/started
while [ "${{1#*python}}" = "$1" ]; do shift; done
shift
exec {python} "$@"
"""
"""In place of conda and apptainer, which are not installed here: runs what follows the name of Python."""


@pytest.mark.parametrize(
    ("program", "values", "words"),
    [
        ("conda", {"environment": "conda", "conda": "nets"}, "run --no-capture-output --name nets python"),
        ("apptainer", {"environment": "container", "container": "/nw.sif"}, "exec /nw.sif python3"),
    ],
)
def test_the_run_and_its_agents_start_in_the_environment_of_the_profile(
    folder: Path, program: str, values: dict[str, str], words: str
) -> None:
    name = change_profile("slurm", nodes=2, **values)
    run = start(folder, name, max_epochs=1)
    wait_for(lambda: run.state() in ENDS, "the end of a job that cannot start")
    assert said(run).startswith(f"There is no program {program} where the job runs. Install it there")
    (folder / program).write_text(STAND_IN.format(folder=folder, python=sys.executable), encoding="utf-8")
    (folder / program).chmod(0o700)
    run = start(folder, name, max_epochs=1)
    wait_for(lambda: run.state() in ENDS, "the run on the cluster")
    assert run.state() == "finished", said(run)
    started = (folder / "started").read_text(encoding="utf-8").splitlines()
    assert len(started) == 3, "the run, and an agent on each node"
    assert all(f"{program} {words} -m netwright.engine" in line for line in started)


def test_a_wheel_that_is_installed_runs_jobs_and_agents(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder / "home"))
    environment = folder / "home/.local/share/netwright/environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    shared = [path for path in sys.path if path.endswith("site-packages")]
    site = next((environment / "lib").glob("python*/site-packages"))
    (site / "shared.pth").write_text("\n".join(shared), encoding="utf-8")  # torch, which is not to be installed again
    engine("cluster", "install", change_profile("slurm", nodes=2))
    assert (site / "engine/cluster/host_script.py").is_file()
    assert find_profile("slurm").environment == "wheel"
    run = start(folder, "slurm", max_epochs=1)
    wait_for(lambda: run.state() in ENDS, "the run on the cluster")
    assert run.state() == "finished", said(run)
