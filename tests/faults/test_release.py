"""A paused run gives back all its memory, waits as a checkpoint, and goes on as if nothing had happened."""

import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from netwright.engine.cli.main import main
from netwright.engine.runs.events import Requested, Resumed, StateChanged
from netwright.engine.runs.folder import RESERVE
from tests.faults.conftest import project_of
from tests.faults.harness import Broken, Workshop, assert_over, assert_undisturbed, leftovers
from tests.runs import Done, wait_for
from tests.system.test_restarts import network_of
from tests.system.test_training import TWO


def released(workshop: Workshop, folder: Path, *, shrink: bool = False, **training: Any) -> tuple[Broken, int]:
    """A run of two workers that waits without them, and after how many iterations."""
    run = workshop.train(project_of(TWO, **training), folder, hold_at=14, shrink=shrink)
    wait_for(lambda: run.workers, "its workers")
    workers = run.workers
    run.folder.request("pause", release=1)
    wait_for(lambda: not list(run.folder.control.glob("*.json")), "the request is taken")
    run.let_go()
    run.wait_until(lambda events: any(isinstance(e, Requested) and e.what == "release" for e in events), "a release")
    (at,) = (e.iteration for e in run.events if isinstance(e, Requested) and e.what == "release")
    assert run.folder.has_released()
    assert run.folder.state() == "paused"
    assert run.workers == []
    wait_for(lambda: not any(psutil.pid_exists(pid) for pid in workers), "the end of its workers")
    assert leftovers(run.folder) == [RESERVE]  # disk space for the end, while its coordinator waits
    return run, at


def test_it_waits_without_workers_and_goes_on_to_the_same_end(
    workshop: Workshop, together: Done, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is asked for meanwhile is done before the first step with workers."""
    run, at = released(workshop, tmp_path / "run")
    assert main(["pause", str(run.folder.path), "--release"]) == 0
    assert main(["watch", str(run.folder.path), "--layers", "on"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"release: done at iteration {at:,}"
    assert told[1].startswith("watch: done when the run goes on")
    run.folder.request("resume")
    done = run.end()
    assert_over(run)
    assert_undisturbed(done, together)
    events = run.events
    assert [(e.iteration, e.restarts) for e in events if isinstance(e, Resumed)] == [(at, 0)]
    states = [e.state for e in events if isinstance(e, StateChanged)]
    assert states == ["starting", "running", "paused", "paused", "starting", "running"]
    assert [e.iteration for e in events if isinstance(e, Requested) and e.what == "watch_layers"] == [at]
    assert not run.folder.has_released()


def test_a_stop_meanwhile_ends_it_as_it_would_have_with_workers(workshop: Workshop, tmp_path: Path) -> None:
    """One that makes no other checkpoints, too."""
    run, at = released(workshop, tmp_path / "run", checkpoint_unit="never")
    run.folder.request("stop")
    run.end()
    assert_over(run)
    result = run.folder.read_result() or {}
    assert (result["state"], result["reason"], result["iterations"]) == ("stopped", "stopped on request", at)
    assert set(result["validation"]) == set(result["test"]) == {"loss", "accuracy"}
    assert all(torch.isfinite(weights).all() for weights in network_of(run.folder.last).values())
    assert [e.state for e in run.events if isinstance(e, StateChanged)][-1] == "stopping"


def test_what_waits_without_workers_outlives_its_coordinator(
    workshop: Workshop, together: Done, tmp_path: Path
) -> None:
    run, at = released(workshop, tmp_path / "run")
    run.signal(run.pid, signal.SIGKILL)
    wait_for(lambda: run.folder.state() == "lost", "that nobody is there")
    again = workshop.resume(run.folder)
    assert_undisturbed(again.end(), together)
    assert [e.iteration for e in again.events if isinstance(e, Resumed)] == [at]
    assert not run.folder.has_released()


def maps(run: Broken) -> str:
    return Path(f"/proc/{run.pid}/maps").read_text()


def test_what_waits_without_workers_is_small(workshop: Workshop, together: Done, tmp_path: Path) -> None:
    """The same process, with another program that has no torch; a run goes on from there as ever."""
    run, at = released(workshop, tmp_path / "run", shrink=True)
    wait_for(lambda: "libtorch" not in maps(run), "a program without torch")
    assert run.folder.state() == "paused"
    assert run.folder.has_released()
    run.folder.request("resume")
    assert_undisturbed(run.end(), together)
    assert [(e.iteration, e.restarts) for e in run.events if isinstance(e, Resumed)] == [(at, 0)]
    assert not run.folder.has_released()
    assert leftovers(run.folder) == []


@pytest.mark.faults
def test_what_is_small_ends_on_a_signal_as_it_would_have_with_workers(workshop: Workshop, tmp_path: Path) -> None:
    run, at = released(workshop, tmp_path / "run", shrink=True)
    run.signal(run.pid, signal.SIGTERM)  # it may come at any moment of the change
    run.end()
    result = run.folder.read_result() or {}
    assert (result["state"], result["reason"], result["iterations"]) == ("stopped", "stopped on request", at)
