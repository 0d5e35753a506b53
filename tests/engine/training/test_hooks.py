"""The user's functions are called at their moments, see what they are promised, and can end the run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from netwright.engine.core.errors import RunError
from netwright.engine.lowering.run_user_code import defined
from netwright.engine.parallel.process_group import SingleProcess
from netwright.engine.training.hook_reports import HookReports
from netwright.engine.training.recorder import Clock
from netwright.engine.training.trainer import Outcome
from netwright.engine.training.user_hooks import FileHooks, Run
from netwright.engine.user_code import registry, trust
from tests.small_training import Small


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv(trust.GRANTS, "[]")
    registry.forget()
    yield
    registry.forget()


def train(folder: Path, text: str) -> tuple[Outcome, list[tuple[str, int, int]]]:
    """Two epochs of three steps with a validation every two; and what the hooks wrote into `seen`."""
    (folder / "own.py").write_text("seen = []\n" + text)
    outcome = Small(folder, hooks_file="own.py").run()
    return outcome, defined("own.py", ["on_end"])["on_end"].__globals__["seen"]


MOMENTS = ("on_start", "on_step", "on_validation", "on_epoch_end", "on_end")
ALL = "".join(f"def {name}(run): seen.append(('{name}', run.epoch, run.step))\n" for name in MOMENTS)


def test_each_is_called_at_its_moment(tmp_path: Path) -> None:
    _, seen = train(tmp_path, ALL)
    names = {"start": "on_start", "step": "on_step", "val": "on_validation", "epoch": "on_epoch_end", "end": "on_end"}
    story = "start 0 0, val 0 0, step 1 1, step 1 2, val 1 2, step 1 3, epoch 1 3, step 2 4, val 2 4, step 2 5, "
    story += "step 2 6, val 2 6, epoch 2 6, end 2 6"
    expected = [(names[name], int(epoch), int(step)) for name, epoch, step in map(str.split, story.split(", "))]
    assert seen == expected


def test_what_they_see(tmp_path: Path) -> None:
    text = """
import math
def on_start(run):
    assert math.isnan(run.loss) and run.validation is None and run.learn_rate == 0.1
def on_step(run):
    seen.append(run.loss)
    assert run.learn_rate == 0.1 / run.step
    assert run.is_first and run.elapsed_s > 0 and run.network.weight.shape == (3, 2)
def on_end(run):
    assert (run.reason, run.epochs) == ("all 2 epochs completed", 2)
    assert run.validation.keys() == run.test.keys() == {"loss", "accuracy"}
"""
    outcome, seen = train(tmp_path, text)
    assert seen[-1] == pytest.approx(outcome.loss)
    assert len(seen) == 6


@pytest.mark.parametrize(
    ("function", "condition", "iterations", "epochs"),
    [
        ("on_start", "True", 0, 0),
        ("on_step", "run.step == 4", 4, 1),
        ("on_validation", "run.step == 2", 2, 0),
        ("on_epoch_end", "run.epoch == 1", 3, 1),
    ],
)
def test_true_ends_the_run(tmp_path: Path, function: str, condition: str, iterations: int, epochs: int) -> None:
    outcome, seen = train(tmp_path, ALL + f"def {function}(run): return {condition}\n")
    assert (outcome.state, outcome.reason) == ("finished", f"ended by {function} of own.py")
    assert (outcome.iterations, outcome.epochs) == (iterations, epochs)
    assert seen[-1][0] == "on_end"


def test_what_goes_wrong_is_told_with_file_and_line(tmp_path: Path) -> None:
    for text, words in (
        ("def on_step(run):\n    open('/none/of/this')\n", "went wrong: own.py, line 3: FileNotFoundError: "),
        ("def on_end(run):\n    raise SystemExit(3)\n", "own.py, line 3: SystemExit: 3 It ended the program."),
        ("def on_step(run): return run.loss\n", "own.py: on_step returned a float. Return True to end the run, or"),
    ):
        with pytest.raises(RunError) as refused:
            train(tmp_path, text)
        assert words in str(refused.value)


def test_what_they_keep_must_be_plain(tmp_path: Path) -> None:
    train(tmp_path, ALL + "def state_dict(): return {'a': (1, {2})}\ndef load_state_dict(state): ...\n")
    reports = HookReports(tmp_path, lambda *_: None, is_first=True)
    run = Run(torch.nn.Linear(1, 1), tmp_path, 1, 1, 0, 1, rate_at=float, clock=Clock(), reports=reports)
    with pytest.raises(
        RunError, match=r"own\.py: state_dict returned what cannot be saved\. A state may not hold a set"
    ):
        FileHooks("own.py", run, SingleProcess()).state_dict()
