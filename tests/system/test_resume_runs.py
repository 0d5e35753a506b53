"""Runs that go on by `resume`, with two workers and with another number; requests to a run that lives."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.runs.events import Ended, Resumed, StateChanged, standing
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import read_all
from netwright.engine.runs.summary import RATE, read_summary
from netwright.engine.runs.watched_weights import read_weights
from tests import warm
from tests.runs import PATIENCE_S, ROOT, Done, Running, train
from tests.system.test_restarts import OFTEN, network_of
from tests.system.test_training import TWO, convolution, digits, mlp


def engine(*arguments: str | Path) -> str:
    done = warm.run(arguments, cwd=ROOT, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_lost_run_goes_on_to_the_same_end(tmp_path: Path) -> None:
    """Its coordinator was killed in the middle; the rest is trained by two workers again, and by one."""
    project = digits(convolution(norm=False), TWO, max_epochs=4, watch_weights="weights-and-gradients", **OFTEN)
    whole = train(project, tmp_path / "whole")
    with Running(project, tmp_path / "run", hold_at=14) as run:
        run.wait_for(lambda event: event["kind"] == "checkpoint" and event["iteration"] == 14)
        run.kill(run.process.pid)
        run.process.wait()
        pids = run.workers
    assert run.folder.state() == "lost"
    shutil.copytree(run.folder.path, tmp_path / "alone")
    assert "finished: all 4 epochs completed" in engine("resume", run.folder.path)
    same = Done(run.folder, [])
    assert same.losses == whole.losses
    kept = [{step.iteration: step.layers for step in read_weights(run.path)} for run in (whole.folder, run.folder)]
    both = kept[0].keys() & kept[1].keys()
    assert min(both) == 1
    assert max(both) == len(whole.losses)
    assert all(kept[0][iteration] == kept[1][iteration] for iteration in both)
    assert same.curve("validation", "loss") == whole.curve("validation", "loss")
    one, other = network_of(same.folder.last), network_of(whole.folder.last)
    assert all(torch.equal(one[key], other[key]) for key in other)
    assert run.workers != pids
    engine("resume", tmp_path / "alone", "--environment", "cpu")
    alone = Done(RunFolder(tmp_path / "alone"), [])
    assert alone.losses == pytest.approx(whole.losses, rel=1e-4)
    events = read_all(same.folder)
    assert [event.n for event in events] == list(range(1, len(events) + 1)), "the log is numbered on"
    assert isinstance(events[-2], Ended) or isinstance(events[-1], Ended)


def test_a_run_waits_goes_on_and_obeys_meanwhile(tmp_path: Path) -> None:
    endless: dict[str, Any] = {"max_epochs": 100_000, "validation_frequency": 1_000_000}
    with Running(digits(mlp(), TWO, **endless), tmp_path / "run") as run:
        run.wait_for_training()
        folder = run.folder.path
        assert engine("pause", folder).startswith("pause: done at iteration ")
        assert run.folder.state() == "paused"
        at = engine("checkpoint", folder).split()[-1]
        assert engine("validate", folder).endswith(f"{at}\n"), "nothing is trained while it waits"
        assert (folder / "checkpoints" / at.replace(",", "").zfill(9)).is_dir()
        assert engine("set", folder, "--rate", "0.25").startswith("rate 0.25: done")
        assert engine("set", folder, "--epochs", "90000").startswith("epochs 90000: done")
        now = read_summary(folder)
        assert now.live_changes == {"rate": 0.25, "epochs": 90_000}
        assert (now.options["training.max_epochs"], now.option_text(RATE)) == (90_000, "0.01 → 0.25")
        assert engine("watch", folder, "--gradient-norm", "on").startswith("watch_gradient_norm on: done")
        assert engine("resume", folder) == f"resume: done at iteration {at}\n"
        run.folder.request("stop")
        done = run.finish()
    assert done.result["state"] == "stopped"
    states = [event.state for event in read_all(run.folder) if isinstance(event, StateChanged)]
    assert states == ["starting", "running", "paused", "running", "stopping"]
    assert int(at.replace(",", "")) in done.curve("validation", "loss")
    assert done.events("progress")[-1]["rate"] == 0.25
    trained = [event["values"] for event in done.events("points") if event["split"] == "training"]
    assert ("gradient_norm" in trained[0], "gradient_norm" in trained[-1]) == (False, True)


def test_what_was_superseded_is_left_out(tmp_path: Path) -> None:
    """And so is the end of the first try, of a run that was stopped and goes on."""
    with Running(digits(mlp(), max_epochs=100_000, **OFTEN), tmp_path / "run") as run:
        run.wait_for(lambda event: event["kind"] == "checkpoint")
        run.folder.request("stop")
        stopped = run.finish().result["iterations"]
    epochs = stopped // 10 + 2
    engine("resume", run.folder.path, "--set", f"training.max_epochs={epochs}")
    assert run.folder.state() == "finished"
    events = standing(read_all(run.folder))
    assert sum(isinstance(event, Ended) for event in events) == 1
    done = Done(run.folder, [])
    assert len(done.losses) == 10 * epochs
    assert done.events("resumed")[0]["reason"] == f"resumed on request, with training.max_epochs={epochs}"
    assert (run.folder.read_result() or {})["iterations"] == 10 * epochs


def test_a_damaged_result_is_kept_aside_and_told(tmp_path: Path) -> None:
    """How far the run has come is then read from its log."""
    folder = train(digits(mlp(), max_epochs=2), tmp_path / "run").folder
    folder.result.write_text('{"state": "fin')
    refused = warm.run(["resume", folder.path], cwd=ROOT, timeout=PATIENCE_S)
    assert refused.returncode == 2
    assert "is complete: 2 epochs done" in refused.stderr
    assert folder.result.read_text() == '{"state": "fin'
    assert "finished: all 3 epochs" in engine("resume", folder.path, "--set", "training.max_epochs=3")
    kept = folder.result.with_name("result.json.1")
    assert kept.read_text() == '{"state": "fin'
    (resumed,) = [event for event in read_all(folder) if isinstance(event, Resumed)]
    assert "a damaged result.json, which is kept as result.json.1" in resumed.reason
