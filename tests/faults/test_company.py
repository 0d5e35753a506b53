"""A run that is not alone: other engines, many readers, noise where it takes requests, a clock that goes back, a folder
with an odd name, a machine that is set up in odd ways. Nothing of that shows in what it comes to."""

import contextlib
import stat
from pathlib import Path

import pytest

from netwright.engine.runs.events import Checkpointed, EpochEnded, Progress, StateChanged
from netwright.engine.runs.log import EventReader
from tests.faults.conftest import project_of
from tests.faults.harness import Workshop, assert_over, assert_undisturbed, leftovers
from tests.runs import Done, wait_for
from tests.system.test_training import TWO

NOWHERE = "http://192.0.2.1:9"
ODD = {"http_proxy": NOWHERE, "https_proxy": NOWHERE, "ALL_PROXY": NOWHERE, "LC_ALL": "C", "TZ": "Asia/Shanghai"}
ODD |= {"MASTER_ADDR": "nowhere.invalid", "MASTER_PORT": "1", "RANK": "7", "WORLD_SIZE": "9"}
"""The last four would lead torch to another meeting place than the run's own."""


@pytest.mark.faults
def test_a_run_that_is_not_alone(workshop: Workshop, together: Done, tmp_path: Path) -> None:
    folder = tmp_path / "Läufe und 实验" / ("x" * 180 + " ;$(touch oops)")
    notes = tmp_path / "flushed"
    notes.mkdir()
    run = workshop.train(project_of(TWO), folder, clock_back_at=30, environ=ODD, durability=str(notes), hold_at=14)
    noise = [run.folder.control / "1_stop.json", run.folder.control / "half"]
    for file in noise:
        file.write_bytes(b'{"do": "st\xff\x00')
    (run.folder.control / "2_nonsense.json").write_text('{"do": "set", "epochs": "many"}')
    readers = [EventReader(run.folder) for _ in range(20)]
    run.wait_until(lambda events: any(isinstance(e, Checkpointed) and e.iteration == 14 for e in events), "14 steps")
    run.folder.request("pause")
    wait_for(lambda: not list(run.folder.control.glob("*.json")), "requests are taken")
    run.let_go()
    run.wait_until(lambda events: any(isinstance(e, StateChanged) and e.state == "paused" for e in events), "a pause")
    for other in (workshop.resume(run.folder), workshop.train(project_of(), folder)):
        other.end()
        words = other.said()["refused"]
        assert any(said in words for said in ("is at work", "is not empty")), words
    run.folder.request("resume")
    seen = [reader.read() for reader in readers]
    done = run.end()
    assert_over(run)
    for reader, events in zip(readers, seen, strict=True):
        while more := reader.read():
            events += more
    assert all(events == run.events for events in seen), "every reader saw all of it, once"
    with contextlib.suppress(FileNotFoundError):
        noise[1].unlink()  # whatever is no request is not touched
    assert_undisturbed(done, together)
    assert leftovers(run.folder) == []
    progress = [event.elapsed_s for event in run.events if isinstance(event, Progress)]
    assert progress == sorted(progress), "the clock of the wall went back, time did not"
    assert sum(isinstance(event, EpochEnded) for event in run.events) == 12
    times = [event.time for event in run.events]
    assert times != sorted(times), "the clock went back indeed"
    assert len(list(notes.iterdir())) > 20, "what was flushed is taken note of"
    assert not (notes / "found").exists(), (notes / "found").read_text()
    for path in [run.folder.path, *(path for path in run.folder.path.rglob("*") if path.is_dir())]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, f"{path} is not private"
    assert not list(tmp_path.rglob("oops"))
