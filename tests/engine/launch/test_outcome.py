"""How runs end, in words and numbers."""

import json
import signal
from pathlib import Path

import pytest

from netwright.engine.launch import outcome
from netwright.engine.launch.outcome import ResultTally
from netwright.engine.runs.events import Best, EpochEnded, Points, Progress
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.info import RunInfo


@pytest.mark.parametrize(
    ("code", "ran_out", "words", "error"),
    [
        (
            -signal.SIGKILL,
            True,
            "because memory ran out (signal 9, SIGKILL). Use a smaller mini-batch",
            "out_of_memory",
        ),
        (-signal.SIGKILL, False, "Worker 2 was killed by signal 9 (SIGKILL)", "worker_died"),
        (-signal.SIGSEGV, False, "Worker 2 was ended by signal 11 (SIGSEGV)", "worker_died"),
        (-64, False, "signal 64 (SIGRTMAX)", "worker_died"),
        (3, False, "Worker 2 ended with code 3 and without a word", "worker_died"),
    ],
)
def test_a_death_in_words(tmp_path: Path, code: int, ran_out: bool, words: str, error: str) -> None:
    (tmp_path / "engine.log").write_text("last words\n", encoding="utf-8")
    ending = outcome.death(2, code, RunFolder(tmp_path), memory_ran_out=ran_out)
    assert words in ending.reason
    assert ending.failure is not None
    assert (ending.failure.worker, ending.failure.detail, ending.exit_code) == (2, "last words", 3)
    assert ending.failure.code == error


def test_texts_are_shortened_to_bytes_of_json() -> None:
    for text in ("a" * 5000, "ü" * 5000, '"\n' * 5000):
        for tail in (False, True):
            short = outcome.shorten(text, 1000, tail=tail)
            assert 500 < len(json.dumps(short, ensure_ascii=False).encode()) <= 1000
    assert outcome.shorten("short", 1000) == "short"


def test_of_a_crash_its_place_is_kept(tmp_path: Path) -> None:
    log = RunFolder(tmp_path).log
    log.write_text("x" * 9000 + "\nFatal Python error: Segmentation fault\nhere\n\nExtension modules: " + "m, " * 900)
    failure = outcome.death(0, -11, RunFolder(tmp_path), memory_ran_out=False).failure
    assert failure is not None
    assert failure.detail.strip() == "Fatal Python error: Segmentation fault\nhere"


def test_who_overruns_the_ports_of_the_workers_is_named(tmp_path: Path) -> None:
    log = RunFolder(tmp_path).log
    log.write_text("what(): listener.cc:63] false. accept: Too many open files\nFatal Python error: Aborted\n")
    ending = outcome.death(1, -6, RunFolder(tmp_path), memory_ran_out=False)
    assert ending.reason.startswith("Worker 1 had no file descriptor left: another program connected to the workers'")
    assert ending.remedy == "again"


def test_a_defect_has_exit_code_1_and_a_users_mistake_its_own() -> None:
    assert outcome.failed("x", defect=True).exit_code == 1
    assert outcome.failed("x", exit_code=2).exit_code == 2


def test_the_result_of_a_run_that_cannot_tell_comes_from_its_events() -> None:
    tally = ResultTally("accuracy")
    for event in (
        Points(
            split="validation", first_step=0, steps_apart=5, values={"loss": [3.0, 1.0, 2.0], "accuracy": [0, 0.7, 1]}
        ),
        Points(split="training", first_step=4, steps_apart=1, values={"loss": [2.0, 1.5], "accuracy": [0.5, 0.6]}),
        Best(iteration=5, objective="loss", value=1.0),
        EpochEnded(epoch=2, iteration=5),
        Progress(epoch=2, iteration=5, elapsed_s=8.0, remaining_s=1, rate=0.1, samples_per_second=99.0, memory_bytes=1),
    ):
        tally.add(event)
    found = outcome.result(RunFolder(Path("run")), RunInfo(), outcome.failed("why"), tally)
    assert found["state"] == "failed"
    assert (found["epochs"], found["iterations"], found["loss"], found["seconds"]) == (2, 5, 1.5, 8.0)
    assert found["metrics"] == {"accuracy": 0.6}
    assert found["validation"] == {"loss": 1.0, "accuracy": 0.7}


def test_a_result_of_unusual_length_still_fits_its_event() -> None:
    whole = {"state": "failed", "reason": "r", "run_dir": "d" * 4000, "environment": {}, "loss": 1.0}
    assert outcome.short_result(whole) == {"state": "failed", "reason": "r", "environment": {}, "loss": 1.0}
