"""Runs whose workers die go on by themselves from the last checkpoint, as if nothing had happened, up to a limit."""

import contextlib
import os
import signal
import subprocess
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.core.errors import RunError
from netwright.engine.core.locks import is_locked
from netwright.engine.launch.resume import prepare_resume
from netwright.engine.lowering.weights_folder import load as load_weights
from netwright.engine.project.project import Project, RunOptions
from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.folder import RESERVE
from tests import warm
from tests.runs import PATIENCE_S, ROOT, Running, train
from tests.system.test_training import TWO, convolution, digits, mlp

OFTEN: dict[str, Any] = {
    "checkpoint_unit": "iterations",
    "checkpoint_frequency": 7,
    "validation_frequency": 5,
    "deterministic": True,
}


def network_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_weights(folder)[0]


def test_what_goes_on_after_a_killed_worker_equals_what_was_never_disturbed(tmp_path: Path) -> None:
    project = digits(convolution(), TWO, max_epochs=10, **OFTEN)
    undisturbed = train(project, tmp_path / "undisturbed")
    with Running(project, tmp_path / "run", hold_at=14) as run:
        run.wait_for(lambda event: event["kind"] == "checkpoint" and event["iteration"] == 14)
        run.kill(run.workers[1])
        run.let_go()
        done = run.finish()
    assert done.result["state"] == "finished", done.result["reason"]
    resumed = done.events("resumed")
    assert [event["restarts"] for event in resumed] == [1]
    assert resumed[0]["reason"].startswith("Worker 1 was killed by signal 9 (SIGKILL)")
    assert resumed[0]["iteration"] >= 14
    trained = [event["n"] for event in done.events("progress") if event["n"] < resumed[0]["n"]]
    last = max(event["iteration"] for event in done.events("progress") if event["n"] in trained)
    assert resumed[0]["repeated"] == last - resumed[0]["iteration"]
    assert done.losses == undisturbed.losses
    assert done.curve("validation", "loss") == undisturbed.curve("validation", "loss")
    for name in ("best", "last"):
        one, other = network_of(done.folder.path / name), network_of(undisturbed.folder.path / name)
        assert all(torch.equal(one[key], other[key]) for key in other)
    assert [one.iteration for one in all_checkpoints(done.folder)] == [100, 98], "the last two are kept"
    numbers = [event["n"] for kind in ("started", "points", "resumed", "ended") for event in done.events(kind)]
    assert len(numbers) == len(set(numbers)), "the log is numbered on"


def fragile(project: Project, restarts: int) -> Project:
    return replace(project, run=RunOptions(max_restarts=restarts))


def test_there_is_a_limit(tmp_path: Path) -> None:
    project = fragile(digits(convolution(), max_epochs=100_000, **OFTEN), 1)
    with Running(project, tmp_path / "run") as run:
        for begins in ("started", "resumed"):
            run.wait_for_kind(begins)  # a checkpoint behind it is the new worker's
            run.wait_for_kind("checkpoint")
            run.kill(run.workers[0])
        done = run.finish()
    assert done.result["state"] == "failed"
    assert len(done.events("resumed")) == 1
    assert done.result["reason"].endswith("The run was restarted once, which is the limit (run.max_restarts).")


def test_a_run_goes_back_from_a_loss_that_is_no_number(tmp_path: Path) -> None:
    """With a rate that is lower each time, from the beginning here: no checkpoint was made before."""
    going_back = {"non_finite_loss": "go-back", "go_back_rate_factor": 1e-5, "checkpoint_unit": "never"}
    project = digits(mlp(), TWO, initial_learn_rate=900.0, loss="cross-entropy", max_epochs=50, **going_back)
    done = train(project, tmp_path / "run")
    (resumed,) = done.events("resumed")
    assert resumed["reason"].startswith("The loss became ")
    rates = [event["rate"] for event in done.events("progress") if event["n"] > resumed["n"]]
    assert rates == pytest.approx([900e-5] * len(rates))
    assert all(isinstance(loss, float) for loss in done.losses)


def test_a_lock_that_is_deleted_while_a_run_trains_is_restored(tmp_path: Path) -> None:
    """No second engine is let in before that, and nobody takes the run for lost."""
    project = digits(mlp(), max_epochs=100_000, validation_frequency=1_000_000)
    with Running(project, tmp_path / "run") as run:
        run.wait_for_training()
        folder = run.folder
        folder.lock.unlink()
        assert folder.state() == "running"
        with pytest.raises(RunError, match="at work"):
            prepare_resume(folder)
        run.wait_for(lambda event: event["kind"] == "message" and "run.lock was deleted" in event["text"])
        assert is_locked(folder.lock)
        folder.request("stop")
        assert run.finish().result["state"] == "stopped"


def test_a_coordinator_that_is_paused_is_said_not_to_respond(tmp_path: Path) -> None:
    project = digits(mlp(), max_epochs=100_000, validation_frequency=1_000_000)
    with Running(project, tmp_path / "run") as run:
        run.wait_for_training()
        assert run.folder.why_silent() == ""
        os.kill(run.process.pid, signal.SIGSTOP)
        pid, shown = run.process.pid, f"its coordinator (process {run.process.pid}) is paused, as by SIGSTOP"
        try:
            while not run.folder.why_silent():
                threading.Event().wait(0.01)
            listed = warm.run(["runs", tmp_path], cwd=ROOT, timeout=PATIENCE_S)
            assert "running, not responding" in listed.stdout
            stopped = warm.run(["stop", run.folder.path, "--wait", "0.5"], cwd=ROOT, timeout=PATIENCE_S)
            assert stopped.returncode == 3
            assert stopped.stderr.startswith(f"not responding: {shown}")
            assert f"it is running, and not responding: {shown}" in stopped.stderr
        finally:
            os.kill(pid, signal.SIGCONT)
        assert run.finish().result["state"] == "stopped"
        assert run.folder.why_silent() == ""


def test_the_cause_of_a_full_disk_is_written_to_it(tmp_path: Path) -> None:
    """Into the space that the run reserved for its end."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=False).returncode:
        pytest.skip("no disk of its own can be mounted here")
    try:
        with Running(digits(mlp(), max_epochs=100_000), tmp_path / "disk" / "run") as run:
            run.wait_for_training()
            assert (run.folder.path / RESERVE).stat().st_size
            with contextlib.suppress(OSError), open(disk / "large", "wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
            done = run.finish()
        assert done.exit_code == 3
        assert done.folder.state() == "failed"
        assert "No space left on device" in (done.folder.read_result() or {})["reason"]
        assert "No space left on device" in done.events("ended")[0]["reason"]
        assert not (done.folder.path / RESERVE).exists()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
