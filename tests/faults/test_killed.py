"""Processes of a run that die or stop at random moments, and at any single operation on its folder."""

import shutil
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.events import Event, Resumed
from tests.faults.conftest import project_of
from tests.faults.harness import (
    KNOWN_S,
    Workshop,
    assert_over,
    assert_undisturbed,
    repetitions,
)
from tests.runs import Done
from tests.system.test_training import TWO

DEADLY = (signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT)


def forms(short: int, long: int) -> pytest.MarkDecorator:
    """So often in every run of the tests, and so often by `make faults`."""
    at_length = (pytest.mark.faults, pytest.mark.timeout(3600))
    return pytest.mark.parametrize("times", [short, pytest.param(long, marks=at_length)])


def is_short(times: int) -> bool:
    """Whether this is not the form at length, which has the machine for itself and judges times."""
    return times < 10


def has_resumed(times: int, events: list[Event]) -> bool:
    return sum(isinstance(event, Resumed) for event in events) == times


@forms(2, 50)
def test_workers_that_die_once_twice_or_three_times(
    workshop: Workshop, together: Done, tmp_path: Path, times: int
) -> None:
    took: list[float] = []
    for number, chance in enumerate(repetitions(1, times)):
        run = workshop.train(project_of(TWO), tmp_path / f"run{number}")
        moments = sorted(chance.sample(range(4, 90), chance.choice([1, 2, 3])))
        known: set[int] = set()
        for count, moment in enumerate(moments, start=1):
            how, rank = chance.choice(DEADLY), chance.choice([0, 1])
            run.wait_for_events(moment + 8 * count)
            workers = run.new_workers(known)
            known.update(workers)
            run.signal(workers[rank], how)
            began = time.monotonic()
            if not run.wait_until(partial(has_resumed, count), "it goes on", may_end=True):
                break  # it was through before the signal came
            took.append(time.monotonic() - began)
            resumed = [event for event in run.events if isinstance(event, Resumed)][-1]
            assert f"Worker {rank} " in resumed.reason, resumed.reason
            assert how.name in resumed.reason, resumed.reason
        done = run.end()
        assert_over(run, soon=not is_short(times))
        assert_undisturbed(done, together)
        shutil.rmtree(run.folder.path)
    took.sort()
    print(f"{len(took)} deaths; known after {took[len(took) // 2]:.1f} s (median), {took[-1]:.1f} s at most")
    assert is_short(times) or took[-1] < KNOWN_S


@forms(2, 50)
def test_a_coordinator_killed_at_any_operation(workshop: Workshop, alone: Done, tmp_path: Path, times: int) -> None:
    """And, now and then, the one that goes on with it too."""
    for number, chance in enumerate(repetitions(2, times)):
        at, again = chance.randint(1, 150), chance.choice([0, chance.randint(1, 60)])
        seam = {"who": "coordinator", "what": "kill"}
        run = workshop.train(project_of(), tmp_path / f"run{number}", seam={**seam, "at": at})
        for coordinator in (run, *([workshop.resume(run.folder, seam={**seam, "at": again})] if again else [])):
            coordinator.end()
            assert_over(coordinator, soon=not is_short(times))
        if run.folder.state() != "finished":
            assert run.folder.state() == "lost"
            reported = len(Done(run.folder, []).losses)
            newest = next((one.iteration for one in all_checkpoints(run.folder)), 0)
            assert reported - newest <= 7, f"killed at {at} and {again}: more than one checkpoint was lost"
            run = workshop.resume(run.folder)
        assert_undisturbed(run.end(), alone)
        shutil.rmtree(run.folder.path)


@forms(2, 50)
def test_a_worker_that_dies_at_any_operation(workshop: Workshop, alone: Done, tmp_path: Path, times: int) -> None:
    """The same one each time, until the limit is reached or the run is through; without the fault it goes on."""
    for number, chance in enumerate(repetitions(3, times)):
        seam = {"who": "worker", "what": "kill", "at": chance.randint(1, 110)}
        run = workshop.train(project_of(), tmp_path / f"run{number}", seam=seam)
        done = run.end()
        assert_over(run, soon=not is_short(times))
        if run.folder.state() != "finished":
            assert (done.folder.read_result() or {})["reason"].endswith(
                "The run was restarted 3 times, which is the limit (run.max_restarts)."
            )
            done = workshop.resume(run.folder).end()
        assert_undisturbed(done, alone)
        shutil.rmtree(run.folder.path)
