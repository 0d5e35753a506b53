"""The log of the trials of an experiment, whole and damaged."""

import json
from pathlib import Path

import pytest

from netwright.engine.cli.main import main
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_log import TrialLog, trials_from
from netwright.engine.runs.trial_rows import best_trial, pareto_front
from tests.trials import ACCURACY, sample_trials, written


@pytest.fixture
def folder(tmp_path: Path) -> ExperimentFolder:
    return written(tmp_path, ())


def test_the_log_is_read_back(folder: ExperimentFolder) -> None:
    log = TrialLog(folder.trials)
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
    log = TrialLog(folder.trials)
    log.append(2, values={"a": 1})
    log.close()
    assert [trial.number for trial in folder.read_trials()] == [1, 2]


def test_a_trial_that_is_tried_again_has_lost_its_runs(folder: ExperimentFolder) -> None:
    log = TrialLog(folder.trials)
    log.append(1, values={})
    log.append(1, run="1", state="failed", reason="out of memory")
    log.append(1, state="failed", reason="out of memory")
    log.append(1, state="running", again=True)
    log.close()
    (found,) = folder.read_trials()
    assert (found.state, found.runs, found.reason, found.is_over) == ("running", (), "", False)


DAMAGED = (
    b"\xff\xfe",
    b"[1]",
    b"null",
    b'{"trial":1',
    b'{"trial":1e400,"values":{}}',
    b'{"trial":-1e400,"state":"finished"}',
    b'{"trial":NaN,"values":{}}',
    b'{"trial":0,"values":{}}',
    b'{"trial":true,"values":{}}',
    b'{"trial":"1","values":{}}',
    b'{"trial":99,"state":"finished"}',
    b'{"trial":1,"time":"now","values":{}}',
    b'{"trial":1,"values":[]}',
    b'{"trial":1,"values":{"a":NaN}}',
    b'{"trial":1,"values":{"a":{"b":1}}}',
    b'{"trial":1,"values":{"a":' + b"9" * 4000 + b"}}",
    b'{"trial":1,"values":{"a":' + b"[" * 500 + b"]" * 500 + b"}}",
    b'{"trial":1,"values":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    b'{"trial":1,"state":"splendid"}',
    b'{"trial":1,"state":["finished"]}',
    b'{"trial":1,"state":"finished","reason":7}',
    b'{"trial":1,"run":"../../home","state":"finished"}',
    b'{"trial":1,"run":"1","state":"finished","epoch":1e400}',
    b'{"trial":1,"run":"1","state":"finished","scores":[1]}',
    b'{"trial":1,"run":"1","state":"finished","seconds":"long"}',
    b'{"trial":1,"run":"1","state":"finished","host":[]}',
)


@pytest.mark.parametrize("line", DAMAGED, ids=lambda line: line[:60].decode(errors="replace"))
def test_a_damaged_line_changes_nothing_and_is_counted(line: bytes) -> None:
    sound = [b'{"trial":1,"time":1,"values":{"a":[1]}}', b'{"trial":1,"run":"1","state":"finished"}']
    trials, damaged = trials_from([*sound, line, b""])
    assert (trials, damaged) == (trials_from(sound)[0], 1)


def test_numbers_that_are_no_numbers_are_no_scores_to_compare(folder: ExperimentFolder) -> None:
    log = TrialLog(folder.trials)
    for number, score in enumerate((float("nan"), 0.5, float("-inf"), 0.25), 1):
        log.append(number, values={"training.momentum": 0.5})
        log.append(number, run=str(number), state="finished", scores={ACCURACY: score, "seconds": 1.0}, seconds=1e400)
        log.append(number, state="finished")
    log.close()
    trials = folder.read_trials()
    best = best_trial(trials, [ACCURACY])
    assert best is not None
    assert best.number == 2
    assert [trial.seconds for trial in trials] == [0.0] * 4
    assert [trial.number for trial in pareto_front(trials, [ACCURACY, "seconds"])] == [2]


@pytest.mark.part("experiments")
@pytest.mark.parametrize(
    "words", ["status", "best", "export", "report", "again", "status --json", "export --format json"]
)
def test_the_commands_say_that_lines_are_damaged(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, sample_trials())
    with open(folder.trials, "ab") as file:
        file.write(b"\n".join(DAMAGED) + b"\n" + b'{"trial":5,"values":{},"half')
    monkeypatch.chdir(tmp_path)
    way, *more = words.split()
    code = main(["experiment", way, str(folder.path), *more])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert f"note: {len(DAMAGED)} lines of {folder.trials} cannot be read" in said.err
    if "json" in words:
        assert len(json.loads(said.out)["trials"]) == 10
