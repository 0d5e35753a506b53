"""What the queue begins when, without processes."""

import os
from pathlib import Path

import pytest

from netwright.engine.launch.queue_runner import Worker
from netwright.engine.runs.create import create
from netwright.engine.runs.folder import take_lock, update_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.queue import Queue, is_due


class Process:
    """One that goes on for ever."""

    def poll(self) -> None:
        return None


def test_a_run_that_gave_back_its_memory_makes_room_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def start(_queue: Queue, id: int, *_: str) -> Process:
        begun.append(id)
        return Process()

    monkeypatch.setattr("netwright.engine.launch.queue_runner.start_entry", start)
    queue, run = Queue(tmp_path / "queue"), create(tmp_path / "run", "{}", RunInfo())
    worker, first = Worker(queue, 1), queue.add("{}", "one")
    second = queue.add("{}", "two", after=str(run.path))
    lock = take_lock(run)
    with queue.claimed(first.id) as claim:
        claim.change(state="running", run_dir=str(run.path))
        update_info(run, state="paused")
        assert not is_due(second)
        assert worker._step([])
        assert begun == [], "it waits in memory"
        update_info(run, state="paused", released=True)
        assert is_due(second)
        assert worker._step([])
        assert begun == [second.id]
        update_info(run, state="running", released=False)
        assert worker._step([])
    assert begun == [second.id]
    os.close(lock)
