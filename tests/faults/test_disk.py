"""Disks that are full, broken or read-only, for a moment or for good, at any operation of a run."""

import contextlib
import errno
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.events import Checkpointed
from tests.faults.conftest import project_of
from tests.faults.harness import Workshop, assert_over, assert_undisturbed, repetitions
from tests.faults.test_killed import forms, is_short
from tests.runs import Done

FOR_GOOD = 10**9
REASONS = {errno.ENOSPC: "No space left on device", errno.EIO: "Input/output error"}
REASONS |= {errno.EROFS: "Read-only file system", errno.EDQUOT: "Disk quota exceeded"}


def fault(chance: random.Random) -> dict[str, Any]:
    who = chance.choice(["coordinator", "worker"])
    return {
        "who": who,
        "what": "error",
        "at": chance.randint(1, 110 if who == "worker" else 150),
        "error": chance.choice(list(REASONS)),
        "lasts": chance.choice([1, 3, FOR_GOOD]),
    }


@forms(4, 150)
def test_a_disk_that_fails_at_any_operation(workshop: Workshop, alone: Done, tmp_path: Path, times: int) -> None:
    """Either the run gets through, with a warning for what could not be written, or it fails with the reason and goes
    on when there is room again."""
    ended = {"finished": 0, "failed": 0, "lost": 0}
    for number, chance in enumerate(repetitions(4, times)):
        seam = fault(chance)
        run = workshop.train(project_of(), tmp_path / f"run{number}", seam=seam)
        done = run.end()
        assert_over(run, soon=not is_short(times))
        state = run.folder.state()
        ended[state] += 1
        said = run.said()
        if state != "finished":
            reason = said.get("refused") or said["result"]["reason"]
            assert REASONS[seam["error"]] in reason, f"{seam}: {reason}"
            assert state == "failed" or seam["lasts"] == FOR_GOOD, seam
            done = workshop.resume(run.folder).end()
        assert_undisturbed(done, alone)
        shutil.rmtree(run.folder.path)
    print(ended)


@contextlib.contextmanager
def small_disk(path: Path, size: str) -> Iterator[None]:
    """A file system of this size of memory there."""
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", path], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("only root may mount a file system; the test above fails operations by itself")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def test_a_disk_that_is_really_full(workshop: Workshop, alone: Done, tmp_path: Path) -> None:
    """Also for what a library writes by itself, and for half a write."""
    with small_disk(tmp_path / "disk", "1m"):
        run = workshop.train(project_of(), tmp_path / "disk" / "run")
        run.wait_until(lambda events: any(isinstance(event, Checkpointed) for event in events), "a checkpoint")
        filler = tmp_path / "disk" / "filler"
        with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
            while file.write(os.urandom(2**12)):
                pass
        done = run.end()
        assert_over(run)
        filler.unlink()
        if run.folder.state() != "finished":
            assert all_checkpoints(run.folder)
            assert "No space left on device" in run.said()["result"]["reason"]
            done = workshop.resume(run.folder).end()
        assert_undisturbed(done, alone)
