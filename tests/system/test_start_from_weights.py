"""Runs that start from the weights of another: with a new head and frozen layers, on one worker and on several."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT
from netwright.engine.lowering.weights_folder import load
from netwright.engine.project.project import Project
from netwright.engine.project.transferred_layers import freeze_up_to, replace_head
from netwright.engine.project.weights import chosen
from tests import warm
from tests.runs import PATIENCE_S, ROOT, Done, Running, train
from tests.system.test_training import TWO, convolution, digits, largest_difference

OPTIONS: dict[str, Any] = {"mini_batch_size": 157, "solver": "adam", "max_epochs": 2}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A run that the others start from."""
    return train(digits(convolution(), **OPTIONS), tmp_path_factory.mktemp("base") / "base")


def transferred(base: Done, place: dict[str, Any] | None = None) -> Project:
    """The same network with a new head, from the weights of the run, frozen up to the first ReLU."""
    project = replace_head(digits(convolution(), place, **{**OPTIONS, "max_epochs": 1}), 10)
    project = project.with_section("weights", chosen(base.folder.path, base.folder.path.parent))
    project = freeze_up_to(project, "relu_1")
    return project.with_section("weights", project.weights.replace(file=str(base.folder.path)))


@pytest.mark.parametrize("strategy", ["", "pipeline", pytest.param("fully-sharded", marks=pytest.mark.parity)])
def test_a_run_starts_from_weights_on_one_worker_and_on_two(tmp_path: Path, base: Done, strategy: str) -> None:
    project = transferred(base)
    place = TWO if not strategy else {**TWO, "strategy": strategy}
    done = [
        train(replace(project, environment=project.environment.replace(**environment)), tmp_path / f"run_{number}")
        for number, environment in enumerate(({}, place))
    ]
    if strategy != "pipeline":  # whose stages have batch statistics of their own
        assert largest_difference(*done) < 1e-4
    before = load(base.folder.path / "best")[0]
    for one in done:
        after = load(one.folder.path / "last")[0]
        frozen = {key for key in before if key.split(".")[0] in ("image_1", "conv_1", "bn_1")}
        assert len(frozen) > 6
        assert all(torch.equal(after[key], before[key]) for key in frozen)
        assert not torch.equal(after["conv_2.weight"], before["conv_2.weight"])
        record = json.loads((one.folder.path / "run.json").read_text())["weights"]
        assert (record["loaded"], record["fresh"], record["fresh_layers"]) == (5, 1, ["fc_2"])
        assert record["sha256"] == project.weights.sha256
        assert any(
            "Started from" in event["text"] and "fresh: fc_2" in event["text"] for event in one.events("message")
        )


def test_the_same_network_goes_on_where_the_other_run_ended(tmp_path: Path, base: Done) -> None:
    project = digits(convolution(), **{**OPTIONS, "max_epochs": 1})
    project = replace(project, weights=chosen(base.folder.best, tmp_path))
    done = train(project, tmp_path / "run")
    best = min(base.curve("validation", "loss").values())
    assert done.curve("validation", "loss")[0] == pytest.approx(best, rel=1e-5)
    assert done.losses[0] < 0.75 * base.losses[0]


def test_a_run_goes_on_and_is_exported_after_its_weights_have_gone(tmp_path: Path, base: Done) -> None:
    shutil.copytree(base.folder.best, tmp_path / "w")
    project = digits(convolution(), **{**OPTIONS, "checkpoint_frequency": 4, "checkpoint_unit": "iterations"})
    project = replace(project, weights=chosen(tmp_path / "w", tmp_path))
    whole = train(project, tmp_path / "whole")
    with Running(project, tmp_path / "run", hold_at=4) as running:
        running.wait_for(lambda event: event["kind"] == "checkpoint" and event["iteration"] == 4)
        running.kill(running.process.pid)
        running.process.wait()
    shutil.rmtree(tmp_path / "w")
    assert warm.run(("resume", running.folder.path), cwd=ROOT, timeout=PATIENCE_S).returncode == EXIT_DONE
    same = Done(running.folder, [])
    assert same.losses == whole.losses
    one, other = (load(folder.last)[0] for folder in (same.folder, whole.folder))
    assert all(torch.equal(one[key], other[key]) for key in other)
    to = tmp_path / "net.py"
    exported = warm.run(("export", same.folder.path, "--format", "pytorch", "-o", to), cwd=ROOT, timeout=PATIENCE_S)
    assert exported.returncode == EXIT_DONE


def test_weights_that_changed_or_do_not_fit_are_refused_before_the_run_begins(tmp_path: Path, base: Done) -> None:
    project = digits(convolution(), **OPTIONS)
    options = chosen(base.folder.best, tmp_path)
    for changed, said in (
        (options.replace(sha256="0" * 64), "changed since they were chosen"),
        (options.replace(file="gone.safetensors"), "cannot be read: No such file"),
        (options.replace(map={"nothing": "conv_1"}), "weights.map: the network has no 'nothing'"),
    ):
        done = train(replace(project, weights=changed), tmp_path / "run")
        assert done.said[-1]["exit_code"] == EXIT_INPUT
        assert said in done.said[-1]["refused"]
        assert not (tmp_path / "run").exists()
