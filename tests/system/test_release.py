"""A paused run gives back all its memory, waits as a checkpoint, and goes on as if nothing had happened."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import torch

from engine.project.file import save
from engine.project.project import Project
from engine.runs.checkpoints import newest_whole
from engine.runs.events import ENDS, Requested, Resumed, StateChanged
from engine.runs.folder import RunFolder, read_all
from engine.training.detached import _started, start_detached
from engine.training.preparing import lock_of, prepare
from engine.training.resuming import prepare_resume
from tests.runs import PATIENCE_S, Done, train
from tests.system.test_restarts import OFTEN, network_of
from tests.system.test_resume_runs import engine
from tests.system.test_training import TWO, convolution, digits, mlp


def wait_until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not fact():
        assert time.monotonic() < deadline, "it has not come"
        threading.Event().wait(0.02)


def iteration_of_release(run: RunFolder) -> int:
    """After how many it was; 0 before."""
    told = (e.iteration for e in read_all(run) if isinstance(e, Requested) and e.what == "release")
    return next(told, 0)


@contextlib.contextmanager
def released(project: Project, folder: Path) -> Iterator[RunFolder]:
    """A run that was asked to pause and to give back its memory before its first step, and has done so at one of the
    first ones."""
    file = folder.with_suffix(".netwright")
    save(project, file)
    run = prepare(project, file, folder)
    run.request("pause", release=1)
    start_detached(run)
    try:
        wait_until(lambda: iteration_of_release(run) > 0 or run.state() in ENDS)
        assert run.has_released()
        yield run
    finally:
        coordinator = _started.pop()
        coordinator.kill()
        coordinator.wait()


def test_it_waits_without_workers_and_goes_on_to_the_same_end(tmp_path: Path) -> None:
    """What is asked for meanwhile is done when there are workers again."""
    project = digits(convolution(norm=False), TWO, max_epochs=3, **{**OFTEN, "validation_frequency": 4})
    whole = train(project, tmp_path / "whole")
    with released(project, tmp_path / "run") as run:
        assert run.state() == "paused"
        assert run.read_info()["workers"] == []
        (coordinator,) = [psutil.Process(run.read_info()["coordinator"])]
        assert coordinator.children() == [], "no worker is left"
        at = iteration_of_release(run)
        assert engine("pause", run.path, "--release") == f"release: done at iteration {at:,}\n"
        assert engine("set", run.path, "--epochs", "4").startswith("set: done when the run goes on")
        run.request("resume")
        wait_until(lambda: run.state() in ENDS)
    assert run.state() == "finished"
    done = Done(run, [])
    assert len(done.losses) == 40, "it was given another epoch"
    assert done.losses[:30] == whole.losses
    one, other = (judged.curve("validation", "loss") for judged in (done, whole))
    assert [one[step] for step in range(0, 29, 4)] == [other[step] for step in range(0, 29, 4)]
    events = read_all(run)
    assert [(e.iteration, e.restarts) for e in events if isinstance(e, Resumed)] == [(at, 0)]
    states = [e.state for e in events if isinstance(e, StateChanged)]
    assert states == ["starting", "running", "paused", "paused", "starting", "running"]


def test_a_stop_meanwhile_ends_it_as_it_would_have_with_workers(tmp_path: Path) -> None:
    project = digits(mlp(), max_epochs=100_000, checkpoint_unit="never", deterministic=True)
    with released(project, tmp_path / "run") as run:
        at = iteration_of_release(run)
        run.request("stop")
        wait_until(lambda: not run.is_alive())
    result = run.read_result() or {}
    assert (result["state"], result["reason"], result["iterations"]) == ("stopped", "stopped on request", at)
    assert set(result["validation"]) == set(result["test"]) == {"loss", "accuracy"}
    assert all(torch.isfinite(weights).all() for weights in network_of(run.last).values())
    assert [e.state for e in read_all(run) if isinstance(e, StateChanged)][-1] == "stopping"


def test_what_waits_without_workers_outlives_its_coordinator(tmp_path: Path) -> None:
    with released(digits(mlp(), max_epochs=2), tmp_path / "run") as run:
        os.kill(int(run.read_info()["coordinator"]), 9)
        wait_until(lambda: run.state() == "lost")
        checkpoint, refused = newest_whole(run)
        assert checkpoint is not None
        assert (checkpoint.iteration, refused) == (iteration_of_release(run), [])
        prepare_resume(run)
        assert run.state() == "starting"
        assert not run.has_released()
        os.close(lock_of(run))
