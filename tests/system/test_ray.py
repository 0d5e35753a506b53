"""Runs on a real Ray cluster of two nodes that this module starts, listening on all interfaces: `make cluster`."""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from netwright.engine.cluster.profile_file import save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.ray_address import addresses_of_nodes, ray_environment
from netwright.engine.cluster.validation import STAGES, validate
from netwright.engine.core.errors import UnavailableError
from netwright.engine.placement.inventory import LOOPBACK
from tests.runs import Running, train
from tests.system.test_training import TWO, convolution, digits

pytestmark = pytest.mark.cluster
ON_RAY = {"target": "parallel", "cluster": "ray"}
MARK = ("NETWRIGHT_TEST_RAY", secrets.token_hex(8))
"""Of the processes of this cluster, which outlive a test: they lack the mark of those that must not."""
LASTING = {"checkpoint_unit": "seconds", "checkpoint_frequency": 1, "validation_frequency": 1_000_000}


def ray(*arguments: str, env: dict[str, str]) -> None:
    """Run a command of ray."""
    subprocess.run([sys.executable, "-m", "ray.scripts.scripts", *arguments], env=env, check=True, capture_output=True)


def raylets() -> list[psutil.Process]:
    """The nodes of this cluster, oldest first."""
    found = [each for each in psutil.process_iter() if each.name() == "raylet" and MARK in environment_of(each)]
    return sorted(found, key=lambda each: each.create_time())


def of_node(raylet: psutil.Process) -> list[psutil.Process]:
    """All that runs on a node, with the agents there, which are no children of Ray's processes."""
    mark = ("RAY_RAYLET_PID", str(raylet.pid))
    below = [each for each in psutil.process_iter() if each.name() != "raylet" and mark in environment_of(each)]
    return [raylet, *raylet.children(recursive=True), *below]


def environment_of(process: psutil.Process) -> set[tuple[str, str]]:
    """The environment of a process; nothing of one that has ended."""
    with contextlib.suppress(psutil.Error):
        return set(process.environ().items())
    return set()


def kill(processes: list[psutil.Process]) -> None:
    """End processes at once."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterProfile]:
    """A head with six cores, a second node with eight, which Ray takes first, and a token."""
    folder = tmp_path_factory.mktemp("ray")
    token = folder / "token"
    token.write_text(secrets.token_hex(16))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    profile = ClusterProfile(
        name="ray", address=f"127.0.0.1:{port}", python=sys.executable, interface=LOOPBACK, token_file=str(token)
    )
    env = {**os.environ, **ray_environment(profile), MARK[0]: MARK[1]}
    del env["NETWRIGHT_TEST_SESSION"]
    sizes = ("--num-gpus=0", "--disable-usage-stats")
    ray("start", "--head", f"--port={port}", "--include-dashboard=false", "--num-cpus=6", *sizes, env=env)
    ray("start", f"--address=127.0.0.1:{port}", "--num-cpus=8", *sizes, env=env)
    yield profile
    kill([each for each in psutil.process_iter() if MARK in environment_of(each)])
    shutil.rmtree(Path(tempfile.gettempdir(), "ray"), ignore_errors=True)  # where Ray keeps the files of its processes


@pytest.fixture(autouse=True)
def profile(cluster: ClusterProfile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    save_profile(cluster)


@pytest.mark.parametrize(("workers", "cores"), [(2, 5), (4, 3), (4, 1)])
def test_workers_of_ray_compute_as_those_of_this_machine(
    cluster: ClusterProfile, tmp_path: Path, workers: int, cores: int
) -> None:
    """On two nodes, and on one where that has room for all."""
    save_profile(cluster.replace(cores_per_worker=cores), replacing="ray")
    local = train(digits(convolution(), {**TWO, "num_workers": workers}, max_epochs=2), tmp_path / "local")
    done = train(digits(convolution(), {**ON_RAY, "num_workers": workers}, max_epochs=2), tmp_path / "run")
    assert done.losses == pytest.approx(local.losses, rel=1e-5)


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    """The workers are on one node, which has room for both."""
    with Running(digits(convolution(), ON_RAY, max_epochs=10**6, **LASTING), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        assert len({psutil.Process(worker).ppid() for worker in run.workers}) == 1
        for _ in range(3):
            run.wait_for_kind("checkpoint")
            run.kill(run.workers[1])
            resumed = run.wait_for_kind("resumed")
            assert resumed["reason"].startswith("Worker 1 was killed by signal 9 (SIGKILL)")
        run.folder.request("stop")
        assert run.finish().result["state"] == "stopped"


def test_a_connection_that_breaks_costs_no_new_agent(cluster: ClusterProfile, tmp_path: Path) -> None:
    save_profile(cluster.replace(cores_per_worker=5), replacing="ray")  # a node per worker
    with Running(digits(convolution(), ON_RAY, max_epochs=10**6, **LASTING), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        other, agent = (psutil.Process(worker).ppid() for worker in run.workers)
        assert other != agent
        rows = subprocess.run(["ss", "-Htnp"], capture_output=True, text=True, check=True).stdout.splitlines()
        port = next(row.split()[3].rpartition(":")[2] for row in rows if f"pid={agent}," in row)
        subprocess.run(["ss", "-K", "-tn", "sport", "=", f":{port}"], check=True, capture_output=True)
        assert "cannot be reached" in run.wait_for_kind("resumed")["reason"]
        run.wait_for_kind("checkpoint")
        assert agent in {psutil.Process(worker).ppid() for worker in run.workers}
        run.folder.request("stop")
        assert run.finish().result["state"] == "stopped"


def test_without_a_token_it_is_refused(cluster: ClusterProfile, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="not used without a token"):
        ray_environment(cluster.replace(token_file=str(tmp_path / "none")))


def test_the_processes_of_nodes_name_the_head_that_auto_means(
    cluster: ClusterProfile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may have a Ray on this machine, so that the variable says which."""
    port = cluster.address.rpartition(":")[2]
    head = next(address for address in addresses_of_nodes() if address.endswith(f":{port}"))
    monkeypatch.setenv("RAY_ADDRESS", head)
    save_profile(cluster.replace(address="auto"), replacing="ray")
    assert train(digits(convolution(), ON_RAY, max_epochs=1), tmp_path / "run").losses


def test_another_token_is_refused(cluster: ClusterProfile, tmp_path: Path) -> None:
    (tmp_path / "other").write_text(secrets.token_hex(16))
    (tmp_path / "other").chmod(0o600)
    save_profile(cluster.replace(token_file=str(tmp_path / "other")), replacing="ray")
    done = train(digits(convolution(), ON_RAY), tmp_path / "run", end="failed")
    assert "refuses" in done.result["reason"]


def test_a_profile_is_tried_in_all_stages(cluster: ClusterProfile, tmp_path: Path) -> None:
    left = tmp_path / ".validate-left"
    left.mkdir()
    os.utime(left, (0, 0))
    results = list(validate(cluster.replace(workers=2, storage=str(tmp_path))))
    assert [(result.state, result.hint) for result in results] == [("passed", "")] * 7, results
    assert "2 nodes, 14 cores at" in results[0].detail
    assert not list(tmp_path.glob(".validate-*")), "neither its own nor what a killed one has left"


@pytest.mark.parametrize(
    ("change", "stage", "words", "hint"),
    [
        ({"workers": 15}, "workers", "Ray had room for 14 of 15 workers", "Set fewer workers"),
        ({"python": "none3"}, "versions", "none3", "Correct the Python"),
        ({"token_file": "none"}, "reach", "not used without a token", "ray get-auth-token"),
        ({"token_file": "other"}, "reach", "refuses", "must hold the cluster's token"),
        ({"path_map": ()}, "storage", "not see /nowhere", "path_map"),
    ],
)
def test_a_stage_that_fails_says_the_way_out(
    cluster: ClusterProfile, tmp_path: Path, change: dict[str, Any], stage: str, words: str, hint: str
) -> None:
    (tmp_path / "other").write_text(secrets.token_hex(16))
    change = {**change, "storage": str(tmp_path)}
    if "token_file" in change:
        change["token_file"] = str(tmp_path / change["token_file"])
    if "path_map" in change:
        change["path_map"] = ((str(tmp_path), "/nowhere"),)
    wanted = {"reach", stage, *STAGES[stage].needs}
    stages = {name: each for name, each in STAGES.items() if name in wanted}
    results = {result.stage: result for result in validate(cluster.replace(**change), stages)}
    assert results[stage].state == "failed", results
    assert words in results[stage].detail
    assert hint in results[stage].hint


def test_a_node_that_is_lost_is_replaced_by_another_one(tmp_path: Path) -> None:
    """The last test but one: the cluster has one node then."""
    project = digits(convolution(), {**ON_RAY, "num_workers": 4}, max_epochs=10**6, **LASTING)
    with Running(project, tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        kill(of_node(raylets()[-1]))
        assert "cannot be reached" in run.wait_for_kind("resumed")["reason"]
        run.wait_for_kind("checkpoint")
        run.folder.request("stop")
        assert run.finish().result["state"] == "stopped"


def test_a_run_goes_on_when_the_head_dies(tmp_path: Path) -> None:
    """The last test: there is no Ray any more then, and the agents are left."""
    with Running(digits(convolution(), ON_RAY, max_epochs=10**6, **LASTING), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        workers = run.workers
        of_ray = [each for each in psutil.process_iter() if MARK in environment_of(each)]
        kill([each for each in of_ray if "node_agent" not in " ".join(each.cmdline())])
        assert "is gone. They go on without it" in run.wait_for_kind("message")["text"]
        run.wait_for_kind("checkpoint")
        assert run.workers == workers
        run.folder.request("stop")
        assert run.finish().result["state"] == "stopped"
