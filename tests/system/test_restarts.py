"""Runs whose workers die go on by themselves from the last checkpoint, as if nothing had happened, up to a limit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.lowering.weights import load as load_weights
from engine.project.project import Project, RunOptions
from engine.runs.checkpoints import all_checkpoints
from tests.runs import Running, train
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
