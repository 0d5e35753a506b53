"""The folder of an experiment: the log of its trials, and which of them are best."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.errors import RunError, UserError
from engine.experiments.definition import hold
from engine.runs.experiments import (
    ExperimentFolder,
    ExperimentInfo,
    Trial,
    TrialLog,
    TrialRun,
    create_experiment,
    experiments_of,
    open_experiment,
    trials_from,
)
from engine.runs.trial_rows import best_trial, pareto_front, ranked


@pytest.fixture
def folder(tmp_path: Path) -> ExperimentFolder:
    info = ExperimentInfo(name="net", project_path=str(tmp_path / "net.netwright"), objectives=("validation.loss",))
    (tmp_path / "net.netwright").write_text("{}")
    return create_experiment(tmp_path / "net.netwright", "net", "{}", info)


def trial(number: int, state: str = "finished", **scores: float) -> Trial:
    named = {name.replace("_", "."): value for name, value in scores.items()}
    return Trial(number, {}, state, (TrialRun(str(number), state, named),))


def test_the_log_is_read_back(folder: ExperimentFolder) -> None:
    log = TrialLog(folder)
    log.append(1, values={"training.momentum": 0.5, "network.conv.kernel": [3, 3]})
    log.append(1, run="1_1", state="finished", scores={"validation.loss": 1.0}, seconds=2.0)
    log.append(1, run="1_2", state="finished", scores={"validation.loss": 2.0}, seconds=3.0)
    log.append(2, values={})
    log.append(1, state="finished")
    log.close()
    first, second = folder.read_trials()
    assert first.values == {"training.momentum": 0.5, "network.conv.kernel": (3, 3)}
    assert (first.state, first.seconds, first.scores) == ("finished", 5.0, {"validation.loss": 1.5})
    assert first.spread("validation.loss") == pytest.approx((0.5**0.5, 12.71 * 0.5))
    assert second.state == "running"
    assert first.write()["spread"]["validation.loss"]["deviation"] == pytest.approx(0.5**0.5)


def test_a_line_that_was_not_written_whole_is_cut_off(folder: ExperimentFolder) -> None:
    folder.trials.write_bytes(b'{"trial":1,"time":1,"values":{}}\n{"trial":2,"val')
    assert [trial.number for trial in folder.read_trials()] == [1]
    log = TrialLog(folder)
    log.append(2, values={"a": 1})
    log.close()
    assert [trial.number for trial in folder.read_trials()] == [1, 2]


def test_damaged_lines_are_skipped() -> None:
    lines = [
        b"x",
        b"[]",
        b'{"trial":1}',
        b'{"trial":"a","values":{}}',
        b'{"trial":3,"time":1,"values":{"a":[1]}}',
        b"null",
    ]
    assert list(trials_from(lines)) == [3]


def test_a_trial_that_is_tried_again_has_lost_its_runs(folder: ExperimentFolder) -> None:
    log = TrialLog(folder)
    log.append(1, values={})
    log.append(1, run="1", state="failed", reason="out of memory")
    log.append(1, state="failed", reason="out of memory")
    log.append(1, state="running", again=True)
    log.close()
    (found,) = folder.read_trials()
    assert (found.state, found.runs, found.reason, found.is_over) == ("running", (), "", False)


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
    assert folder.state() == "lost", "no runner is at work, and it has not ended"
    lock = hold(folder)
    assert folder.state() == "running"
    with pytest.raises(RunError, match="already at work"):
        hold(replace(folder))
    os.close(lock)


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
