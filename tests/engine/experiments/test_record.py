"""What a runner writes: the log of trials on a full disk, and how an experiment has ended."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from netwright.engine.core.errors import RunError
from netwright.engine.experiments import record
from netwright.engine.experiments.record import ExperimentRecord, outcome_of
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.folder import RESERVE
from netwright.engine.runs.trial_log import Trial, TrialRun, failures_of
from tests.trials import written

FULL = "The disk is full, and no more trials were started."
SECOND = "1 of 2 trials failed: trial 2: it went wrong"


def trial(number: int, state: str, code: str = "", reason: str = "it went wrong") -> Trial:
    return Trial(number, {}, state, (TrialRun(str(number), state, reason=reason, code=code),), reason=reason)


@pytest.fixture
def folder(tmp_path: Path) -> ExperimentFolder:
    return written(tmp_path, ())


def full_disk(has_room: Callable[[], bool]) -> Callable[[int, bytes], int]:
    """A `write` that writes half of a line where there is no room."""
    write = os.write

    def half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data if has_room() or not data.startswith(b"{") else data[: len(data) // 2])

    return half


def test_the_end_of_a_run_is_written_in_the_reserved_space(
    folder: ExperimentFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = ExperimentRecord(folder)
    reserve = folder.path / RESERVE
    assert reserve.stat().st_size
    monkeypatch.setattr(os, "write", full_disk(lambda: not reserve.exists()))
    log.append(1, values={"training.momentum": 0.5})
    assert log.is_full
    log.close()
    assert [one.number for one in folder.read_trials()] == [1]
    assert folder.read_log()[1] == 0


def test_a_log_that_cannot_be_written_ends_the_runner_and_holds_no_half_line(
    folder: ExperimentFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = ExperimentRecord(folder)
    log.append(1, values={"training.momentum": 0.5})
    monkeypatch.setattr(os, "write", full_disk(lambda: False))
    with pytest.raises(RunError, match="No space left on device") as caught:
        log.append(2, values={"training.momentum": 0.9})
    assert caught.value.code == "no_space"
    log.close()
    assert folder.trials.read_bytes().count(b"\n") == 1
    assert folder.trials.read_bytes().endswith(b"}}\n")


def test_a_state_that_cannot_be_written_is_told(folder: ExperimentFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ExperimentFolder, "update_info", refuse)
    with pytest.raises(RunError, match="cannot be written: No space left on device"):
        record.note_state(folder, "running", "")


@pytest.mark.parametrize(
    ("trials", "expected"),
    [
        ([trial(1, "finished"), trial(2, "failed", "non_finite_loss")], ("finished", "")),
        ([trial(1, "finished"), trial(2, "refused", "invalid_input")], ("finished", "")),
        ([trial(1, "stopped"), trial(2, "failed", "")], ("finished", "")),
        ([trial(1, "pruned"), trial(2, "lost")], ("failed", SECOND)),
        (
            [trial(1, "finished"), trial(2, "failed", "worker_died")],
            ("failed", SECOND),
        ),
        (
            [trial(1, "finished"), trial(2, "refused", "no_space")],
            ("failed", SECOND),
        ),
        ([trial(1, "failed", "non_finite_loss")], ("failed", "1 of 1 trial failed: trial 1: it went wrong")),
        ([], ("finished", "")),
    ],
)
def test_an_experiment_has_failed_where_something_other_than_values_was_the_cause(
    trials: list[Trial], expected: tuple[str, str]
) -> None:
    assert outcome_of(trials, "", is_full=False) == expected
    state, reason = outcome_of(trials, "", is_full=True)
    assert state == "failed"
    assert reason == (f"{FULL} {expected[1]}" if expected[1] else FULL)


def test_failures_are_told_with_the_numbers_of_their_trials() -> None:
    trials = [trial(number, "failed", "no_space", f"runs/{number} is full") for number in (3, 4, 5, 7, 8, 10)]
    other = trial(9, "refused", reason="no such layer")
    assert failures_of([*trials, other, trial(1, "finished")]) == [
        "trials 3 to 5, 7, 8 and 10: runs/3 is full",
        "trial 9: no such layer",
    ]
    many = failures_of([trial(number, "failed", "no_space") for number in range(1, 41, 2)])
    assert many == ["trials 1, 3, 5, 7, 9, 11, 13, 15 and 12 more: it went wrong"]
