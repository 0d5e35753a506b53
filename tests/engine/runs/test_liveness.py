"""A run on another host, whose folder is seen here over a network file system."""

import os
import platform
from pathlib import Path

import pytest

from netwright.engine.core.errors import RunError
from netwright.engine.core.platform import boot_id
from netwright.engine.runs import liveness
from netwright.engine.runs.create import create
from netwright.engine.runs.folder import RunFolder, take_lock, write_info
from netwright.engine.runs.info import RunInfo


def run_of(folder: Path, heard_s: float, **given: str) -> RunFolder:
    """A run whose coordinator was heard of so many seconds ago, on another host unless something else is given."""
    info = RunInfo(**{"host": "elsewhere", "state": "running", **given})  # type: ignore[arg-type]
    run = create(folder / "run", "{}", info)
    write_info(run, info)
    run.lock.touch()
    now = run.lock.stat().st_mtime
    os.utime(run.lock, (now - heard_s, now - heard_s))
    return run


def test_a_run_on_another_host_is_not_lost_while_it_gives_signs_of_life(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1.0)
    assert (run.state(), run.is_alive(), run.host_at_work(), run.why_silent()) == ("running", True, "elsewhere", "")
    with pytest.raises(RunError, match="is at work on elsewhere"):
        take_lock(run)
    assert list(run.control.iterdir()) == [], "the time of the file system was asked for without a trace"


def test_its_silence_is_reported_before_it_counts_as_lost(tmp_path: Path) -> None:
    run = run_of(tmp_path, liveness.SILENCE_S / 2)
    assert run.state() == "running"
    assert run.why_silent().startswith("its coordinator on elsewhere has given no sign of life for 4")


def test_after_a_long_silence_it_is_lost_and_can_be_taken_over(tmp_path: Path) -> None:
    run = run_of(tmp_path, liveness.SILENCE_S + 1)
    assert (run.state(), run.is_alive(), run.why_silent()) == ("lost", False, "")
    os.close(take_lock(run))


def test_one_of_this_host_is_lost_at_once_when_nobody_holds_its_lock(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1.0, host=platform.node(), boot=boot_id())
    assert (run.state(), run.host_at_work()) == ("lost", "")


def test_another_machine_of_the_same_name_is_another_one(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1.0, host=platform.node(), boot="another")
    assert run.state() == "running"


def test_a_run_that_ended_there_has_ended(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1.0, state="finished")
    assert (run.state(), run.is_alive()) == ("finished", False)
    os.close(take_lock(run))
