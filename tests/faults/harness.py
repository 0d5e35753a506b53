"""Real runs that are broken, and what must hold of them afterwards, whatever broke them."""

import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import psutil

from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.events import ENDS, Event
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log import EventReader, read_all
from tests.runs import ROOT, Done, wait_for

PATIENCE_S = 60.0
KNOWN_S = 10.0
"""So soon every reader knows the state of a run that something happened to. Judged by `make faults` only, which has the
machine for itself: elsewhere the clock says more of the machine than of the run."""


class Broken:
    """A run whose coordinator is a process of the workshop's."""

    def __init__(self, folder: Path, beside: Path, pid: int) -> None:
        self.folder = RunFolder(folder)
        self._beside = beside
        self.pid = pid
        self._process = _process(pid)

    @property
    def workers(self) -> list[int]:
        """The process ids of its workers, as `run.json` lists them."""
        return list(self.folder.read_info().workers)

    def new_workers(self, known: set[int]) -> list[int]:
        """Those of the try that is under way, once `run.json` lists others than these; none if the run has ended."""

        def listed() -> tuple[list[int]] | None:
            was_over, pids = self.is_over, self.workers
            if pids and known.isdisjoint(pids):
                return (pids,)
            return ([],) if was_over else None

        found: list[int] = wait_for(listed, "its new workers")[0]
        return found

    def let_go(self) -> None:
        """A run that was to be held goes on (`hold_at`, an iteration)."""
        (self._beside / "go").touch()

    @property
    def is_over(self) -> bool:
        """Whether its coordinator has gone."""
        return self._process is None or not self._process.is_running()

    @property
    def events(self) -> list[Event]:
        """All that its log says so far."""
        return read_all(self.folder)

    def wait_until(self, fact: Callable[[list[Event]], bool], what: str, *, may_end: bool = False) -> bool:
        """Until the log says so. A run that ends before fails, unless it may: then the answer is no."""
        reader, seen = EventReader(self.folder), list[Event]()

        def holds() -> str:
            was_over = self.is_over
            while more := reader.read():
                seen.extend(more)
            if fact(seen):
                return "yes"
            assert may_end or not was_over, f"the run ended before {what}: {self.printed()}"
            return "no" if was_over else ""

        return bool(wait_for(holds, what) == "yes")

    def wait_for_events(self, count: int) -> None:
        """Until the log has so many events."""
        self.wait_until(lambda events: len(events) >= count, f"{count} events")

    def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to one of its processes, which may just have ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def end(self) -> Done:
        """Wait until its coordinator has gone."""
        wait_for(lambda: self.is_over, "the end of the coordinator")
        return Done(self.folder, [])

    def said(self) -> dict[str, Any]:
        """What it said at its end, where it could still say something."""
        file = self._beside / "said"
        said: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        assert "traceback" not in said, said["traceback"]
        return said

    def printed(self) -> str:
        """The end of what its processes printed."""
        files = (self._beside / "printed", self.folder.log)
        return "\n".join(file.read_text(errors="replace")[-1500:] for file in files if file.exists())


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


class Workshop:
    """Starts runs. As a context it ends with all that it started."""

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="netwright-faults-")
        self._orders = itertools.count()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.fault_starter"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._process.stdout.close()
        self._place.cleanup()

    def train(self, project: Project, folder: Path, **order: Any) -> Broken:
        """Begin a run."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        file = folder.parent / f"{folder.name}.netwright"
        save(project, file)
        return self._order(folder, do="train", project=str(file), **order)

    def resume(self, folder: RunFolder, **order: Any) -> Broken:
        """Go on with one."""
        return self._order(folder.path, do="resume", **order)

    def _order(self, folder: Path, **order: Any) -> Broken:
        assert self._process.stdin is not None
        beside = Path(self._place.name) / str(next(self._orders))
        beside.mkdir()
        self._process.stdin.write(json.dumps({"folder": str(folder), "beside": str(beside), **order}) + "\n")
        self._process.stdin.flush()
        run = Broken(folder, beside, int(self._answer()["pid"]))
        wait_for(lambda: run.is_over or (run.folder.events.exists() and run.folder.info.exists()), "a run's folder")
        return run

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the workshop has closed"
        answer: dict[str, Any] = json.loads(line)
        return answer


def is_known(folder: RunFolder) -> bool:
    """Whether every reader knows that the run is over: it says so, or nobody holds its lock."""
    return folder.state() in {*ENDS, "lost"}


def leftovers(folder: RunFolder) -> list[str]:
    """What lies in a run's folder that is not to stay."""
    found = [*folder.path.glob(".*"), *folder.checkpoints.glob(".*"), *folder.control.iterdir()]
    return sorted(path.name for path in found)


def assert_sound(folder: RunFolder) -> None:
    """What holds at every moment, also while nobody is there: no checkpoint in place is half or wrong."""
    for one in all_checkpoints(folder):
        assert one.damage() == "", one.path


def assert_over(run: Broken, *, soon: bool = False) -> None:
    """What holds once a run is over: its state is known, `soon` where that is judged, nothing holds its lock, no worker
    is left."""
    began = time.monotonic()  # a worker that is just being forked has the lock too, for as long as that takes
    wait_for(lambda: is_known(run.folder) and not run.folder.is_alive(), "a state that is known")
    assert not soon or time.monotonic() - began < KNOWN_S
    wait_for(lambda: not any(psutil.pid_exists(pid) for pid in run.workers), "the end of its workers")
    assert_sound(run.folder)


def assert_undisturbed(done: Done, reference: Done) -> None:
    """It came to the same end as a run that nothing happened to, to the bit, and nothing of the fault is left."""
    assert done.folder.state() == "finished", (done.folder.read_result() or {}).get("reason")
    assert done.losses == reference.losses
    assert done.curve("validation", "loss") == reference.curve("validation", "loss")
    for name in ("best", "last"):
        mine, theirs = (one.folder.path / name / "weights.safetensors" for one in (done, reference))
        assert mine.read_bytes() == theirs.read_bytes(), f"the weights of {name}"
    assert leftovers(done.folder) == []
    numbers = [event.n for event in read_all(done.folder)]
    assert numbers == sorted(set(numbers)), "the log is numbered on"
    assert_sound(done.folder)


def repetitions(seed: int, count: int) -> Iterator[random.Random]:
    """Random numbers for each repetition; the seed is in the parameters of the test."""
    for number in range(count):
        yield random.Random(f"{seed}-{number}")
