"""A run on a cluster whose only host is this machine, reached over loopback: an agent starts its workers."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from netwright.engine.cluster.profile_file import save_profile
from netwright.engine.cluster.profiles import ClusterProfile
from tests.runs import ROOT, Running, train
from tests.system.test_training import TWO, convolution, digits

ON_CLUSTER = {"target": "parallel", "cluster": "lab"}


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile with one host of two workers, and a program in place of ssh that runs the command here."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ssh").write_text(f'#!/bin/sh\nfor last; do :; done\nPYTHONPATH={ROOT} exec sh -c "exec $last"\n')
    (programs / "ssh").chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    save_profile(ClusterProfile(name="lab", kind="ssh", address="localhost", workers=2, python=sys.executable))


def test_workers_of_a_cluster_compute_as_those_of_this_machine_and_go_on_when_one_dies(tmp_path: Path) -> None:
    local = train(digits(convolution(), TWO, max_epochs=1), tmp_path / "local")
    options = {"checkpoint_unit": "iterations", "checkpoint_frequency": 50, "validation_frequency": 1_000_000}
    project = digits(convolution(), ON_CLUSTER, max_epochs=100_000, **options)
    with Running(project, tmp_path / "run") as run:
        run.wait_for_kind("checkpoint")
        assert all("node_agent" in " ".join(psutil.Process(pid).cmdline()) for pid in run.workers), "forked by it"
        run.kill(run.workers[1])
        resumed = run.wait_for_kind("resumed")
        run.wait_for_kind("progress")
        run.folder.request("stop")
        done = run.finish()
    assert done.result["state"] == "stopped"
    assert done.result["environment"]["resolved"] == "parallel"
    assert resumed["reason"].startswith("Worker 1 was killed by signal 9 (SIGKILL)")
    assert done.losses[: len(local.losses)] == pytest.approx(local.losses, rel=1e-6)


def test_a_host_that_refuses_is_reported_in_its_words(tmp_path: Path) -> None:
    (tmp_path / "programs" / "ssh").write_text("#!/bin/sh\necho 'Permission denied (publickey).' >&2\nexit 255\n")
    done = train(digits(convolution(), ON_CLUSTER), tmp_path / "run", end="failed")
    assert done.result["reason"] == "localhost: the agent ended with code 255: Permission denied (publickey)."
    assert done.exit_code == 3
