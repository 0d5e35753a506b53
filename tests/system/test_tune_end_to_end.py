"""`tune`: a project that is far off gets better, a good one stays, and a search that is killed leaves no runs."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import netwright as nw
from netwright.engine.cli.main import main
from netwright.engine.core.errors import EXIT_INPUT
from netwright.engine.experiments import tuning
from netwright.engine.experiments.operations.tune import TuneRequest, text
from netwright.engine.experiments.tuning import Tuning, tune
from netwright.engine.project.data import DataOptions
from netwright.engine.project.environment import EnvironmentOptions
from netwright.engine.project.experiment import Objective
from netwright.engine.project.file import load, save
from netwright.engine.project.project import Project
from netwright.engine.project.training import TrainingOptions
from netwright.engine.runs.experiments import ExperimentFolder, experiments_of
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.trial_log import Trial, TrialRun
from tests.builders import chain, layer
from tests.json_schema import checked_output
from tests.runs import wait_for
from tests.warm import Process

PATIENCE_S = 120
RATE = "training.initial_learn_rate"
ONLY_RATE = ("--keep", "training.solver", "--keep", "training.mini_batch_size", "--keep", "training.l2_regularization")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A linear classifier of digits, which trains in a second, with a sound learn rate."""
    network = chain(layer("image_input", size=8), layer("fully_connected", outputs=10), layer("softmax"))
    path = tmp_path / "small.netwright"
    training = TrainingOptions(max_epochs=3, mini_batch_size=64, initial_learn_rate=0.02)
    cpu = EnvironmentOptions(target="cpu", threads=1)
    save(Project(network, data=DataOptions(source="digits"), training=training, environment=cpu), path)
    return path


def test_a_learn_rate_that_is_far_off_is_replaced(
    project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few trials and pairs: that a search also leaves the confirmation its time is tested below."""
    monkeypatch.setattr(tuning, "MOST_TRIALS", 8)
    monkeypatch.setattr(tuning, "MOST_PAIRS", tuning.LEAST_PAIRS)
    to = tmp_path / "tuned.netwright"
    off = ["tune", str(project), "--set", f"{RATE}=0.000001", "--minutes", "0.5", "-o", str(to), *ONLY_RATE, "--json"]
    assert main(off) == 0
    result = checked_output(capfd.readouterr().out)
    assert result["conclusion"] == "improved", result["reason"]
    confirmation = result["confirmation"]
    assert confirmation["pairs"] >= 3
    assert confirmation["difference"] > confirmation["interval"]
    assert load(to).project.training.initial_learn_rate == result["values"][RATE] > 0.0001
    assert load(project).project.training.initial_learn_rate == 0.02
    search, proof = (ExperimentFolder(Path(folder)) for folder in result["experiment_dirs"])
    first = search.read_trials()[0]
    assert (dict(first.values), first.state) == ({RATE: 0.000001}, "finished")
    assert (search.state(), proof.state()) == ("finished", "finished")
    seeds = {
        run.name: load(RunFolder(proof.run_path(run.name)).project).project.training.seed
        for trial in proof.read_trials()
        for run in trial.runs
    }
    assert [seeds[f"1_{pair}"] for pair in (1, 2, 3)] == [seeds[f"2_{pair}"] for pair in (1, 2, 3)] == [1, 2, 3]


def test_what_is_planned_and_what_is_refused(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(project), "--plan"]) == 0
    assert RATE in capfd.readouterr().out
    assert nw.tune(project, plan=True).conclusion == "planned"
    assert not experiments_of(project)
    for wrong, words in (
        (["--minutes", "0"], "A budget of 0 minutes"),
        (["--minutes", "nan"], "A budget of nan minutes"),
        (["--set", "data.validation_share=0"], "no validation samples"),
        (["--set", "data.source=none"], "no data to learn from"),
        (["--keep", "training.momentum"], "is not varied"),
        (["--plan", "-o", "x.netwright"], "no project to write"),
    ):
        assert main(["tune", str(project), *wrong]) == EXIT_INPUT
        assert words in capfd.readouterr().err
    assert not experiments_of(project)


def alive(folder: ExperimentFolder) -> Sequence[RunFolder]:
    runs = (RunFolder(path) for path in (folder.path / "runs").iterdir())
    return [run for run in runs if run.info.is_file() and run.is_alive()]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_search_that_is_cancelled_leaves_no_process_and_keeps_its_trials(project: Path, how: int) -> None:
    words: list[str | Path] = ["tune", project, "--minutes", "60", "--set", "training.max_epochs=100000"]
    with open(os.devnull, "wb") as null, Process(words, stdout=null.fileno(), stderr=null.fileno()) as process:
        with contextlib.ExitStack() as ending:
            ending.callback(process.kill)
            wait_for(lambda: experiments_of(project), "an experiment")
            (folder,) = experiments_of(project)
            wait_for(lambda: alive(folder), "a run")
            process.send_signal(how)
            process.wait(PATIENCE_S)
        assert process.returncode != 0
    wait_for(lambda: not folder.is_alive() and not alive(folder), "the end of its runs")
    assert folder.state() == "stopped"
    assert folder.read_trials()
    assert len(experiments_of(project)) == 1
    assert json.loads(folder.info.read_text())["reason"] == "stopped on request"


def test_a_good_project_is_left_as_it_is(tmp_path: Path) -> None:
    """The budget is longer than a test may take: the search ends where no network can be better."""
    rows = [f"{sign * (10 + number % 7)},{'yes' if sign > 0 else 'no'}" for number in range(100) for sign in (-1, 1)]
    (tmp_path / "table.csv").write_text("\n".join(["a,kind", *rows]) + "\n")
    data = DataOptions(source="table", path="table.csv", response="kind")
    training = TrainingOptions(max_epochs=10, mini_batch_size=16, initial_learn_rate=0.1)
    network = chain(layer("feature_input", channels=1), layer("fully_connected", outputs=2), layer("softmax"))
    path, to = tmp_path / "table.netwright", tmp_path / "same.netwright"
    cpu = EnvironmentOptions(target="cpu", threads=1)
    save(Project(network, data=data, training=training, environment=cpu), path)
    request = TuneRequest(project=path, minutes=600, output=to)
    result = tune(request)
    assert (result.conclusion, result.values, result.confirmation) == ("unchanged", {}, None), result.reason
    assert "no network can be better than the project (validation accuracy 100.0 %)" in result.reason
    assert load(to).project.training == training
    assert any("the project as it is" in str(line) for line in text(request, result))


def trial(number: int, *scores: float, state: str = "finished", reason: str = "") -> Trial:
    names = (f"{number}_{run}" for run in range(1, len(scores) + 1))
    runs = [TrialRun(name, state, {"validation.accuracy": score}) for name, score in zip(names, scores, strict=True)]
    return Trial(number, {}, state, tuple(runs), reason=reason)


@pytest.mark.parametrize(
    ("trials", "conclusion", "words"),
    [
        ([trial(1, 0.9, 0.91, 0.92), trial(2, 0.95, 0.96, 0.97)], "improved", "91.0 % → 96.0 % ± 0.0 %, 3 pairs"),
        ([trial(1, 0.9, 0.91, 0.92), trial(2, 0.95, 0.89, 0.93)], "unchanged", "not better by more than chance"),
        ([trial(1, 0.95, 0.96, 0.97), trial(2, 0.9, 0.91, 0.92)], "unchanged", "not better by more than chance"),
        ([trial(1, 0.9, 0.9), trial(2, 0.95, 0.95)], "unchanged", "2 pairs of runs"),
        ([trial(1, state="failed", reason="the loss is nan"), trial(2, 0.9, 0.9, 0.9)], "improved", "the loss is nan"),
        ([trial(1, 0.9, 0.9, 0.9), trial(2, state="failed")], "unchanged", "0 pairs of runs"),
    ],
)
def test_only_what_is_better_by_more_than_chance_is_taken(
    project: Path, trials: list[Trial], conclusion: str, words: str
) -> None:
    of = Tuning(load(project).project, project, project.parent, 60.0, 0.0, Objective("validation.accuracy"))
    result = of.concluded({RATE: 0.1}, trials)
    assert (result.conclusion, bool(result.values)) == (conclusion, conclusion == "improved")
    assert words in result.reason


@pytest.mark.parametrize(("elapsed_s", "requests"), [(20.0, []), (40.0, ["finish"])])
def test_a_search_leaves_the_confirmation_its_time(
    project: Path, monkeypatch: pytest.MonkeyPatch, elapsed_s: float, requests: list[str]
) -> None:
    """Of a minute, one more trial and six runs of 3 s each take about half."""
    asked: list[str] = []
    trials = [Trial(1, {}, "finished", (TrialRun("1", "finished", {"validation.accuracy": 0.9}, seconds=3.0),))]
    folder: Any = SimpleNamespace(request=asked.append, read_trials=lambda: trials)
    began = time.monotonic() - elapsed_s
    of = Tuning(load(project).project, project, project.parent, 60.0, began, Objective("validation.accuracy"), [folder])
    monkeypatch.setattr(of, "_trained", lambda *_: iter([(folder, trials)]))
    of._searched()
    assert asked == requests
