"""The user's own functions of an experiment: what they are called with, and what they may return."""

from pathlib import Path
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.experiments.functions import ByFunction, call, initialized
from netwright.engine.lowering import run_user_code as running  # with torch, for the processes that are forked here
from netwright.engine.project import user_code
from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.project.project import Project
from netwright.engine.project.trials import definition_problems
from netwright.engine.runs.trial_log import Trial, TrialRun
from netwright.engine.user_code import trust

RATE = "training.initial_learn_rate"
CODE = f"""
import os
import numpy


def next_values(trials):
    if len(trials) == 2:
        return None
    best = min((trial["scores"]["validation.loss"] for trial in trials), default=1.0)
    return {{"{RATE}": numpy.float32(best / 2), "network.conv.kernel": (3, numpy.int64(5))}}


def halved(values):
    return {{**values, "{RATE}": values["{RATE}"] / 2}}


def silent(values):
    print("before the trial")


def broken(values):
    return values["nothing"]


def a_list(values):
    return [1]


def infinite(values):
    return {{"{RATE}": float("inf")}}


def gone(values):
    os._exit(3)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(trust.GRANTS, "[]")
    (tmp_path / "own.py").write_text(CODE)
    trust.grant(tmp_path)
    assert running
    return tmp_path


def project(strategy: str = "grid", **options: str) -> Project:
    return Project().with_section("experiment", ExperimentOptions(strategy=strategy, **options))


def trial(number: int, loss: float) -> Trial:
    return Trial(number, {RATE: 0.1}, "finished", (TrialRun(str(number), "finished", {"validation.loss": loss}),))


def test_a_function_is_called_with_the_trials_so_far(folder: Path) -> None:
    strategy = ByFunction(project("function", strategy_function="own.py"), folder)
    assert strategy.values_of(1) == {RATE: 0.5, "network.conv.kernel": (3, 5)}
    strategy.began(Trial(1, {RATE: 0.1}))
    strategy.ended(trial(1, 0.25))
    found = strategy.values_of(2)
    assert found is not None
    assert found[RATE] == 0.125
    assert type(found[RATE]) is float
    strategy.ended(trial(2, 0.2))
    assert strategy.values_of(3) is None


def test_values_are_changed_before_a_trial(folder: Path) -> None:
    values = {RATE: 0.5}
    assert initialized(project(), folder, values) == values
    assert initialized(project(initialization_function="own.py:halved"), folder, values) == {RATE: 0.25}
    assert initialized(project(initialization_function="own.py:silent"), folder, values) == values


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("broken", r"own.py, line 22: KeyError: 'nothing'"),
        ("a_list", "a_list returned list. Expected a dict of values by path"),
        ("infinite", "returned inf for training.initial_learn_rate. Expected a finite number"),
        ("gone", "gone went wrong: the process ended before it answered"),
    ],
)
def test_what_goes_wrong_is_said_with_its_place(folder: Path, name: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        call(project(initialization_function=f"own.py:{name}"), folder, "initialization_function", {})


def problems(base: Path, **options: Any) -> list[str]:
    return [str(problem) for problem in definition_problems(project("function", **options), base)]


def test_functions_are_checked_without_running_them(folder: Path) -> None:
    (folder / "own.py").write_text("raise SystemExit\n\ndef next_values():\n    pass\n")
    assert "choose the Python file" in problems(folder)[0]
    assert "takes 0 arguments; it is called with 1: trials" in problems(folder, strategy_function="own.py")[0]
    assert "has no function 'other'" in problems(folder, strategy_function="own.py:other")[0]
    assert "There is no file" in problems(folder, strategy_function="none.py")[0]


def test_code_that_is_not_trusted_does_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(trust.GRANTS, "[]")
    defined = project("function", strategy_function="own.py", initialization_function="own.py:halved")
    user_code.look(defined, folder)
    user_code.refuse_untrusted(defined)  # a training alone runs none of it
    with pytest.raises(UserError, match=r"\(own.py\).*is not trusted.*--trust"):
        user_code.refuse_untrusted(defined, in_experiment=True)
    with pytest.raises(UserError, match="is not trusted"):
        call(defined, folder, "strategy_function", [])
    user_code.grant(defined)
    user_code.refuse_untrusted(defined, in_experiment=True)
