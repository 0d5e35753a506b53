"""Workers on two hosts that ssh reaches, in network namespaces of this machine, and what happens when a host is lost.

Needs root, `ip` and `sshd`. The coordinator is on this machine, which is at the network of the hosts.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netwright.engine.cluster.profile_file import save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from netwright.engine.cluster.validation import validate
from tests.clusters import Hosts, hosts_in_namespaces, missing_programs
from tests.runs import ROOT, Running, train
from tests.system.test_training import digits, mlp

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
LONG = {"max_epochs": 100_000, "checkpoint_unit": "iterations", "checkpoint_frequency": 20}
KNOWN_S = 30.0
"""In which time a lost host is made up for, or the run has ended in words, on a machine without other work."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Two hosts for all tests of the module."""
    if os.getuid() != 0:
        pytest.skip("network namespaces need root")
    if missing := missing_programs("ip", "unshare", "sshd"):
        pytest.skip(f"this machine lacks {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="nw-hosts-") as folder, hosts_in_namespaces(Path(folder)) as found:
        yield found


@pytest.fixture(autouse=True)
def profile(tmp_path: Path, hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> ClusterProfile:
    """A profile of both hosts."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", f"{hosts.folder}:{os.environ['PATH']}")
    (tmp_path / "python").write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} "$@"\n')
    (tmp_path / "python").chmod(0o755)
    found = ClusterProfile(name="lab", kind="ssh", address="node1; node2", python=f"{tmp_path}/python")
    save_profile(found)
    return found


def on_hosts(workers: int, least: int = 0) -> dict[str, object]:
    return {"target": "parallel", "cluster": "lab", "num_workers": workers, "min_workers": least}


@pytest.mark.parametrize("workers", [2, 4])
def test_workers_on_two_hosts_compute_as_those_of_this_machine(tmp_path: Path, workers: int) -> None:
    here = {"target": "multi-cpu", "num_workers": workers, "threads": 1}
    local = train(digits(mlp(), here, max_epochs=3), tmp_path / "local")
    done = train(digits(mlp(), on_hosts(workers), max_epochs=3), tmp_path / "run")
    assert done.losses == pytest.approx(local.losses, rel=1e-5)


def test_a_killed_agent_is_replaced(tmp_path: Path, hosts: Hosts) -> None:
    with Running(digits(mlp(), on_hosts(2), **LONG), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        begin = time.monotonic()
        run.kill(hosts.agents(2)[0])
        resumed = run.wait_for_kind("resumed")
        run.wait_for_kind("progress")
        print(f"agent killed: steps again after {time.monotonic() - begin:.1f} s")
        run.folder.request("stop")
        done = run.finish()
    assert "node2 cannot be reached" in resumed["reason"]
    assert done.result["state"] == "stopped"


def test_an_unplugged_host_is_left_out_where_fewer_workers_are_enough(tmp_path: Path, hosts: Hosts) -> None:
    with Running(digits(mlp(), on_hosts(2, least=1), **LONG), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        begin = time.monotonic()
        hosts.unplug(2)
        try:
            resumed = run.wait_for_kind("resumed")
            run.wait_for_kind("progress")
            print(f"unplugged: steps again after {time.monotonic() - begin:.1f} s")
        finally:
            hosts.plug(2)
        run.folder.request("stop")
        done = run.finish()
    assert "has given no sign of life" in resumed["reason"]
    assert done.result["state"] == "stopped"


def test_an_unplugged_host_ends_the_run_in_words(tmp_path: Path, hosts: Hosts) -> None:
    with Running(digits(mlp(), on_hosts(2), **LONG), tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        begin = time.monotonic()
        hosts.unplug(1)
        try:
            run.wait_for_kind("failed")
            print(f"unplugged: ended after {time.monotonic() - begin:.1f} s")
        finally:
            hosts.plug(1)
        done = run.finish()
    assert done.result["state"] == "failed"
    assert "node1: the agent ended with code 255" in str(done.result["reason"])


def test_all_hosts_take_part_in_a_validation(
    tmp_path: Path, profile: ClusterProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    results = list(validate(profile.replace(workers=3, storage=f"{tmp_path}/jobs")))
    assert [result.state for result in results] == ["passed"] * 7, results
    found = {result.stage: result.detail for result in results}
    assert found["task"] == "It ran on node1 and node2"
    assert found["workers"] == "3 workers on node1 and node2"
    assert found["storage"].endswith("seen by all hosts")
    assert not list(tmp_path.glob(".validate-*")) + list((tmp_path / "jobs").iterdir())


@pytest.mark.parametrize(
    ("fails", "stage"),
    [("-c", "versions"), ("*/probe.py", "workers")],
)
def test_a_host_that_fails_in_a_validation_is_named(
    tmp_path: Path, profile: ClusterProfile, fails: str, stage: str
) -> None:
    script = (tmp_path / "python").read_text()
    broken = f'case "$(hostname) $1 $3" in "node2 "{fails}*{"" if stage == "versions" else "workers"}) exit 3;; esac'
    (tmp_path / "python").write_text(script.replace("#!/bin/sh\n", f"#!/bin/sh\n{broken}\n"))
    begin = time.monotonic()
    results = {result.stage: result for result in validate(profile.replace(storage=f"{tmp_path}/jobs"))}
    assert [result.stage for result in results.values() if result.state == "failed"] == [stage], results
    assert results[stage].detail.startswith("node2: ")
    print(f"a host that fails: named after {time.monotonic() - begin:.1f} s")
