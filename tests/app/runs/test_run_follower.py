"""Following a run by its folder, without any engine: the test writes the folder."""

import json
import os
import platform
import signal
import subprocess
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from netwright.app.runs.run_follower import GOES_NOT_ON, LOST, Outcome, RunFollower
from netwright.engine.runs.create import create
from netwright.engine.runs.events import Ended, Event, Failed, Message, Points, Resumed, StateChanged
from netwright.engine.runs.folder import RunFolder, take_lock, update_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog

POLL_MS = 5


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A new run without an engine."""
    return create(tmp_path / "run", "{}", RunInfo())


def points(first_step: int) -> Points:
    return Points(split="training", first_step=first_step, steps_apart=1, values={"loss": [1.0, float("nan")]})


def follow(run: RunFolder) -> tuple[RunFollower, list[Event], list[Outcome]]:
    follower = RunFollower(run, poll_ms=POLL_MS)
    events: list[Event] = []
    outcomes: list[Outcome] = []
    follower.received.connect(events.append)
    follower.ended.connect(outcomes.append)
    follower.start()
    return follower, events, outcomes


def test_events_arrive_in_order_and_once_while_the_run_lives(qtbot: QtBot, run: RunFolder) -> None:
    lock = take_lock(run)
    log = EventLog(run)
    update_info(run, state="running")
    log.append(StateChanged(state="running"))
    follower, events, outcomes = follow(run)
    qtbot.waitUntil(lambda: len(events) == 1)
    for step in range(1, 200, 2):
        log.append(points(step))
    qtbot.waitUntil(lambda: len(events) == 101)
    log.append(Ended(state="finished", reason="all done", result={}))
    update_info(run, state="finished")
    qtbot.waitUntil(lambda: bool(outcomes))
    follower.close()
    log.close()
    os.close(lock)

    assert [event.n for event in events] == list(range(1, 103))
    assert outcomes == [Outcome("finished", "all done", has_checkpoint=False)]
    assert outcomes[0].sentence() == "Training finished: all done"


def test_a_half_written_line_waits_for_its_rest(qtbot: QtBot, run: RunFolder) -> None:
    lock = take_lock(run)
    update_info(run, state="running")
    line = json.dumps(Message(n=1, severity="note", text="hello").write()) + "\n"
    follower, events, _ = follow(run)
    with open(run.events, "a", encoding="utf-8") as file:
        file.write(line[:20])
        file.flush()
        for _ in range(2):
            follower.poll()
        assert events == []
        file.write(line[20:])
    qtbot.waitUntil(lambda: len(events) == 1)
    follower.close()
    os.close(lock)

    assert isinstance(events[0], Message)


def test_a_run_whose_engine_is_gone_is_lost_in_words(qtbot: QtBot, run: RunFolder) -> None:
    update_info(run, state="running")
    log = EventLog(run)
    log.append(points(1))
    log.close()
    _, events, outcomes = follow(run)
    qtbot.waitUntil(lambda: bool(outcomes))

    assert len(events) == 1
    assert outcomes == [Outcome("lost", f"{LOST} {GOES_NOT_ON}", has_checkpoint=False)]


def test_the_cause_of_a_failure_is_the_reason(qtbot: QtBot, run: RunFolder) -> None:
    log = EventLog(run)
    log.append(Failed(cause="worker 1 was killed by SIGKILL", worker=1))
    log.append(Ended(state="failed", reason="", result={}))
    log.close()
    _, _, outcomes = follow(run)
    qtbot.waitUntil(lambda: bool(outcomes))

    assert outcomes == [Outcome("failed", "worker 1 was killed by SIGKILL", has_checkpoint=False)]


def test_a_long_log_is_read_in_slices(qtbot: QtBot, run: RunFolder) -> None:
    """An hour of events must not hold the window up: one poll reads for a few milliseconds only."""
    log = EventLog(run)
    for step in range(1, 40_001, 2):
        log.append(points(step))
    log.append(Ended(state="finished", reason="", result={}))
    log.close()
    follower, events, outcomes = follow(run)
    follower.poll()
    assert 0 < len(events) < 20_001
    qtbot.waitUntil(lambda: bool(outcomes))

    assert len(events) == 20_001


def test_a_run_that_was_resumed_goes_on_behind_its_first_end(qtbot: QtBot, run: RunFolder) -> None:
    """Its log ends with an end until the engine writes the first event of the second try."""
    lock = take_lock(run)
    update_info(run, state="starting")
    log = EventLog(run)
    log.append(Ended(state="stopped", reason="stopped on request", result={}))
    follower, events, outcomes = follow(run)
    qtbot.waitUntil(lambda: len(events) == 1)
    log.append(Resumed(iteration=4, after=0, reason="resumed on request"))
    qtbot.waitUntil(lambda: len(events) == 2)
    follower.poll()
    assert outcomes == []
    log.append(Ended(state="finished", reason="all done", result={}))
    update_info(run, state="finished")
    qtbot.waitUntil(lambda: bool(outcomes))
    assert outcomes == [Outcome("finished", "all done", has_checkpoint=False)]
    log.close()
    os.close(lock)


def test_one_that_is_closed_before_its_first_look_tells_nothing(qtbot: QtBot, run: RunFolder) -> None:
    log = EventLog(run)
    log.append(points(1))
    log.append(Ended(state="finished", reason="all done", result={}))
    update_info(run, state="finished")
    log.close()
    closed, events, outcomes = follow(run)
    closed.close()
    other, heard, ends = follow(run)
    qtbot.waitUntil(lambda: bool(ends))
    other.close()
    assert (events, outcomes) == ([], [])
    assert len(heard) == 2


def test_a_coordinator_that_is_paused_is_told_until_it_goes_on(
    qtbot: QtBot, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.app.runs.run_follower.SILENCE_S", 0.0)
    lock = take_lock(run)
    process = subprocess.Popen(["sleep", "600"])
    update_info(run, state="running", coordinator=process.pid, host=platform.node())
    follower, _, _ = follow(run)
    told: list[str] = []
    follower.silence_changed.connect(told.append)
    try:
        process.send_signal(signal.SIGSTOP)
        qtbot.waitUntil(lambda: len(told) == 1)
        assert f"process {process.pid}) is paused" in told[0]
        process.send_signal(signal.SIGCONT)
        qtbot.waitUntil(lambda: told[1:] == [""])
    finally:
        follower.close()
        process.kill()
        process.wait()
        os.close(lock)
