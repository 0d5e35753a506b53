"""The queue as a folder: entries, their order, their locks, and what is left of one that broke off."""

import os
import stat
from pathlib import Path

import pytest

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.runs.create import create
from netwright.engine.runs.events import Ended
from netwright.engine.runs.folder import take_lock, update_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.queue import Queue, is_due


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path / "queue")


def test_entries_keep_their_order_and_their_project_and_are_private(queue: Queue) -> None:
    assert queue.entries() == []
    first, second = queue.add("{one}", "one"), queue.add("{two}", "two", project_path="/p/two.netwright")
    assert [(e.id, e.title, e.state) for e in queue.entries()] == [(1, "one", "waiting"), (2, "two", "waiting")]
    assert queue.project_text(second.id) == "{two}"
    assert queue.folder.stat().st_mode & 0o077 == 0
    assert (queue.folder / "1.json").stat().st_mode & 0o077 == 0
    queue.move(second.id, 1)
    assert [e.id for e in queue.entries()] == [2, 1]
    third = queue.add("{three}", "three")
    queue.move(third.id, 2)
    assert [e.id for e in queue.entries()] == [2, 3, 1]
    queue.remove(first.id)
    assert [e.id for e in queue.entries()] == [2, 3]
    with pytest.raises(UserError, match="There is no entry 1"):
        queue.remove(first.id)
    with pytest.raises(UserError, match="Entry 9 does not wait"):
        queue.move(9, 1)


def test_an_entry_that_is_held_is_neither_changed_nor_trained_by_another(queue: Queue) -> None:
    entry = queue.add("{}", "one")
    with queue.claimed(entry.id) as claim:
        assert queue.is_held(entry.id)
        with pytest.raises(RunError, match="is being trained"), queue.claimed(entry.id, patience_s=0.05):
            pass
        claim.change(state="running", run_dir="/nowhere")
        assert queue.entry(entry.id) == claim.entry
    assert not queue.is_held(entry.id)


def test_an_entry_that_broke_off_before_its_run_was_made_waits_again(queue: Queue, tmp_path: Path) -> None:
    entry = queue.add("{}", "one")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "project.netwright").touch()  # a folder that was not finished
    with queue.claimed(entry.id) as claim:
        claim.change(state="starting", run_dir=str(tmp_path / "run"))
    with queue.claimed(entry.id) as claim:
        assert claim.entry == entry


def test_an_entry_with_a_run_is_never_trained_again(queue: Queue, tmp_path: Path) -> None:
    entry = queue.add("{}", "one")
    run = create(tmp_path / "run", "{}", RunInfo())
    with queue.claimed(entry.id) as claim:
        claim.change(state="starting", run_dir=str(run.path))
    assert [e.state for e in queue.entries()] == ["lost"]
    update_info(run, state="finished")
    assert [e.state for e in queue.entries()] == ["finished"]
    assert queue.remove_over() == 1
    assert run.info.is_file()


def test_one_process_at_a_time_goes_through_the_queue(queue: Queue) -> None:
    assert not queue.is_worked()
    with queue.at_work():
        assert queue.is_worked()
        queue.ask_to_leave()
        assert queue.is_to_be_left()
    with queue.at_work():
        assert not queue.is_to_be_left()


def test_an_entry_is_due_when_the_run_before_it_has_ended(queue: Queue, tmp_path: Path) -> None:
    run = create(tmp_path / "run", "{}", RunInfo())
    entry = queue.add("{}", "one", after=str(run.path))
    lock = take_lock(run)
    assert not is_due(entry)
    log = EventLog(run)
    log.append(Ended(state="finished", reason="", result={}))
    log.close()
    update_info(run, state="finished")
    assert is_due(entry)
    os.close(lock)
    assert is_due(queue.add("{}", "two", after=str(tmp_path / "deleted")))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"title": 5}', '{"title": "x", "state": []}', "[" * 5000])
def test_damaged_entries_are_left_out(queue: Queue, text: str) -> None:
    queue.add("{}", "one")
    (queue.folder / "2.json").write_text(text)
    (queue.folder / "not a number.json").write_text("{}")
    assert [entry.id for entry in queue.entries()] == [1]
    assert queue.damaged() == [queue.folder / "2.json"]
    assert queue.add("{}", "two").id == 3
    assert (queue.folder / "2.json").read_text() == text


@pytest.mark.parametrize("umask", [0, 0o277])
def test_the_queue_and_the_folders_made_for_it_are_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        queue = Queue(tmp_path / "state" / "queue")
        queue.add("{one}", "one")
        with queue.at_work():
            pass
    finally:
        os.umask(before)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (queue.folder, queue.folder.parent)] == [0o700, 0o700]
