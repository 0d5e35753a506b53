"""Hooks and training steps of the user's own, in real processes: trusted, obeyed, blamed, and exact on two workers."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.project.file import save
from netwright.engine.runs.folder import RunFolder, frozen_code
from netwright.engine.runs.reported_pictures import read_pictures
from netwright.engine.user_code import trust
from tests import warm
from tests.json_schema import checked_output
from tests.runs import train
from tests.system.test_training import TWO, digits, mlp

HOOKS = """
from pathlib import Path
Path("{mark}").write_text("this ran")
losses = []
def on_step(run):
    losses.append(run.loss)
    if run.step == 12:
        {body}
def on_end(run):
    if run.is_first:
        (run.folder / "own.txt").write_text(f"{len(losses)} {run.step} {run.reason}")
"""
STEPS = """
import copy
import torch
def focal(outputs, targets):
    each = torch.nn.functional.cross_entropy(outputs, targets, reduction="none")
    return (each * (1 - torch.exp(-each)) ** 2).mean()
teacher = None
def on_start(run):
    global teacher
    teacher = copy.deepcopy(run.network).eval()
def training_step(network, inputs, targets, loss):
    x = inputs[0].requires_grad_()
    outputs = network(x)
    value = loss(outputs, targets)
    (slope,) = torch.autograd.grad(value * len(x), x, create_graph=True)
    with torch.no_grad():
        taught = teacher(x)
    size = sum(p.square().sum() for p in network.parameters())
    return value + 0.1 * slope.square().sum() / len(x) + 1e-3 * size + (outputs - taught).square().mean()
"""


def engine(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return warm.run(arguments)


def project(folder: Path, body: str) -> Path:
    """A project beside a file of hooks that do something after the twelfth step."""
    folder.mkdir()
    (folder / "own.py").write_text(HOOKS.replace("{mark}", str(folder / "it-ran")).replace("{body}", body))
    save(digits(mlp(), max_epochs=3, hooks_file="own.py"), folder / "mine.netwright")
    return folder / "mine.netwright"


def test_nothing_of_it_runs_before_it_is_trusted_and_then_it_can_end_the_run(tmp_path: Path) -> None:
    path, run = project(tmp_path / "mine", "return True"), tmp_path / "run"
    refused = engine("train", path, "--run-dir", run)
    assert refused.returncode == 2
    assert "runs code of its own (own.py)" in refused.stderr
    assert "add --trust to let it run this time" in refused.stderr
    assert engine("check", path).returncode == 0
    assert not (path.parent / "it-ran").exists()
    assert not run.exists()
    done = engine("train", path, "--run-dir", run, "--trust", "--environment", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    result = checked_output(done.stdout)
    assert (result["reason"], result["iterations"]) == ("ended by on_step of own.py", 12)
    assert (run / "own.txt").read_text() == "12 12 ended by on_step of own.py"
    assert engine("resume", run).returncode == 2
    done = engine("resume", run, "--trust", "--json")
    assert done.returncode == 0, done.stderr
    assert (checked_output(done.stdout)["reason"], (run / "own.txt").read_text()[:6]) == (
        "all 3 epochs completed",
        "18 30 ",
    )
    (copy,) = frozen_code(RunFolder(run)).values()
    assert copy.read_text() == (path.parent / "own.py").read_text()


def test_what_goes_wrong_in_a_hook_is_told_with_its_line(tmp_path: Path) -> None:
    path = project(tmp_path / "mine", "raise ValueError('not like this')")
    done = engine(
        "train", path, "--trust", "--run-dir", tmp_path / "run", "--environment", "multi-cpu", "--workers", "2"
    )
    assert done.returncode == 3, done.stderr
    assert "The project's own code went wrong: own.py, line 8: ValueError: not like this" in done.stdout


def test_a_step_on_two_workers_gives_what_it_gives_on_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gradient penalty, a penalty on weights and a teacher; the last batch has one sample, and none for the second
    worker."""
    monkeypatch.setenv(trust.GRANTS, "[]")
    trust.grant(tmp_path)
    (tmp_path / "own.py").write_text(STEPS)
    options: dict[str, Any] = {"max_epochs": 1, "mini_batch_size": 157}
    options |= {"hooks_file": "own.py", "step_function": "own.py", "loss": "custom", "loss_function": "own.py:focal"}
    alone = train(digits(mlp(), **options), tmp_path / "one")
    for strategy in ("flat", "ddp"):
        two = train(digits(mlp(), TWO, **options), tmp_path / strategy, strategy=strategy)
        assert two.losses == pytest.approx(alone.losses, rel=1e-6)
        assert two.result["validation"]["loss"] == pytest.approx(alone.result["validation"]["loss"], rel=1e-5)


REPORTS = """
import torch
def on_start(run):
    run.report("norm", 1)
def on_step(run):
    if run.step % 4 == 0:
        run.report("norm", run.network.state_dict().popitem()[1].norm())
def on_validation(run):
    run.report_picture("weights", next(run.network.parameters())[0].reshape(8, 8))
def on_end(run):
    run.report("at the end", run.step)
"""


def test_values_and_pictures_are_reported_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(trust.GRANTS, "[]")
    trust.grant(tmp_path)
    (tmp_path / "own.py").write_text(REPORTS)
    plain = train(digits(mlp(), max_epochs=2), tmp_path / "plain")
    for name, environment in (("one", None), ("two", TWO)):
        done = train(digits(mlp(), environment, max_epochs=2, hooks_file="own.py"), tmp_path / name)
        steps = len(done.losses)
        assert list(done.curve("training", "norm")) == [1, *range(4, steps + 1, 4)]
        assert done.curve("training", "at the end") == {steps: steps}
        assert [picture.iteration for picture in read_pictures(done.folder.path)["weights"]] == list(
            done.curve("validation", "loss")
        )
        assert done.result["iterations"] == steps
        assert done.result.keys() == plain.result.keys()
