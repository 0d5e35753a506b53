"""The folder of an experiment: the log of its trials, and which of them are best."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.runs.experiments import (
    START_S,
    ExperimentFolder,
    ExperimentInfo,
    create_experiment,
    experiments_of,
    hold,
    open_experiment,
)
from netwright.engine.runs.trial_log import Trial, TrialRun
from netwright.engine.runs.trial_rows import best_trial, pareto_front, ranked


@pytest.fixture
def folder(tmp_path: Path) -> ExperimentFolder:
    info = ExperimentInfo(name="net", project_path=str(tmp_path / "net.netwright"), objectives=("validation.loss",))
    (tmp_path / "net.netwright").write_text("{}")
    return create_experiment(tmp_path / "net.netwright", "net", "{}", info)


def trial(number: int, state: str = "finished", **scores: float) -> Trial:
    named = {name.replace("_", "."): value for name, value in scores.items()}
    return Trial(number, {}, state, (TrialRun(str(number), state, named),))


def test_the_best_come_first_and_those_that_were_pruned_last() -> None:
    trials = [
        trial(1, validation_loss=2.0),
        trial(2, "pruned", validation_loss=0.5),
        trial(3, validation_loss=1.0),
        trial(4, "failed"),
        trial(5, "running"),
    ]
    assert [t.number for t in ranked(trials, "validation.loss")] == [3, 1, 2]
    best = best_trial(trials, ["validation.loss"])
    assert best is not None
    assert best.number == 3
    assert best_trial(trials[3:], ["validation.loss"]) is None
    assert [t.number for t in ranked([trial(1, test_accuracy=0.5), trial(2, test_accuracy=0.6)], "test.accuracy")] == [
        2,
        1,
    ]


def test_the_pareto_front_has_what_no_other_beats() -> None:
    names = ["validation.accuracy", "seconds"]
    rows = [(0.9, 10.0), (0.8, 5.0), (0.7, 6.0), (0.9, 10.0), (0.95, 20.0)]
    trials = [
        Trial(n, {}, "finished", (TrialRun(str(n), "finished", dict(zip(names, row, strict=True))),))
        for n, row in enumerate(rows, 1)
    ]
    assert [t.number for t in pareto_front(trials, names)] == [1, 2, 4, 5]


def test_a_project_finds_its_experiments(folder: ExperimentFolder, tmp_path: Path) -> None:
    project = tmp_path / "net.netwright"
    assert open_experiment(project) == folder
    assert open_experiment(folder.path) == folder
    assert experiments_of(tmp_path / "other.netwright") == []
    with pytest.raises(UserError, match="is no experiment"):
        open_experiment(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        open_experiment(tmp_path / "nowhere")


def test_one_runner_at_a_time(folder: ExperimentFolder) -> None:
    assert folder.state() == "starting"
    folder.update_info(created=time.time() - 2 * START_S)
    assert folder.state() == "lost", "no runner is at work, and it has not ended"
    lock = hold(folder)
    assert folder.state() == "running"
    with pytest.raises(RunError, match="already at work"):
        hold(replace(folder))
    os.close(lock)
    folder.update_info(created=time.time())
    folder.trials.write_text("{}\n")
    assert folder.state() == "lost", "a runner has been at work"


def test_ten_thousand_trials_are_read_at_once(folder: ExperimentFolder) -> None:
    scores = {f"{split}.{name}": 0.5 for split in ("training", "validation", "test") for name in ("loss", "accuracy")}
    with folder.trials.open("w", encoding="utf-8") as file:
        for number in range(1, 10_001):
            values = {"training.momentum": 0.5, "training.solver": "adam"}
            file.write(json.dumps({"trial": number, "time": time.time(), "values": values}) + "\n")
            file.write(json.dumps({"trial": number, "run": str(number), "state": "finished", "scores": scores}) + "\n")
            file.write(json.dumps({"trial": number, "time": 1.0, "state": "finished"}) + "\n")
    trials = folder.read_trials()
    assert len(trials) == 10_000
    assert trials[-1].scores == scores


def test_requests_are_taken_once(folder: ExperimentFolder) -> None:
    folder.request("set", trials=5)
    folder.request("stop")
    (folder.control / "x.json").write_text("not json")
    assert folder.take_requests() == [{"do": "set", "trials": 5}, {"do": "stop"}]
    assert folder.take_requests() == []
