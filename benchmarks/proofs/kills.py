"""Kills the processes of a run at random moments, and compares what becomes of it with a run that nothing happened to.

    python -m benchmarks.proofs.kills

Runs and comparison are those of `tests/faults`, which break more and in more ways (`make faults`).
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from benchmarks.proofs.results import Proof, Row, prove
from netwright.engine.project.file import save
from netwright.engine.project.project import Project
from netwright.engine.runs.events import Resumed
from netwright.engine.runs.folder import open_run
from tests.faults.conftest import project_of
from tests.faults.harness import Broken, Workshop, assert_undisturbed, is_known
from tests.runs import ROOT, Done, wait_for
from tests.system.test_training import TWO
from tests.system.test_window_lives import TRAINS

TIMES, TIMES_IN_WINDOWS = 10, 4
LATEST_S = 2.0
"""The window and its engine are killed so long after the beginning of the run at most."""


def kill_worker(workshop: Workshop, folder: Path, chance: random.Random) -> tuple[Done, bool]:
    """Kill one of two workers; its coordinator starts others. Return the run, and whether it was under way."""
    run = workshop.train(project_of(TWO), folder)
    run.wait_for_events(chance.randint(4, 90))
    run.signal(chance.choice(run.new_workers(set()) or [0]), signal.SIGKILL)
    return run.end(), any(isinstance(event, Resumed) for event in run.events)


def kill_coordinator(workshop: Workshop, folder: Path, chance: random.Random) -> tuple[Done, bool]:
    """Kill the coordinator, with which its workers end, and resume the run."""
    run: Broken = workshop.train(project_of(TWO), folder)
    run.wait_for_events(chance.randint(4, 90))
    run.signal(run.pid, signal.SIGKILL)
    run.end()
    wait_for(lambda: is_known(run.folder) and not run.folder.is_alive(), "a state that is known")
    was_lost = run.folder.state() == "lost"
    return (workshop.resume(run.folder) if was_lost else run).end(), was_lost


def long_project() -> Project:
    """A run of some seconds, so that it is under way when the window is killed."""
    return project_of(TWO, max_epochs=400, checkpoint_frequency=500, validation_frequency=500)


def from_window(
    folder: Path, chance: random.Random, victim: Callable[[psutil.Process], psutil.Process]
) -> tuple[Done, bool]:
    """Press Train in a window, kill the window or a process of it, and wait for the end of the run."""
    folder.mkdir()
    save(long_project(), folder / "net.netwright")
    environment = {**os.environ, "TMPDIR": str(folder), "NETWRIGHT_HOME": str(folder), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", TRAINS, str(folder / "net.netwright")]
    null = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=null, stderr=null) as window:
        try:
            run = open_run(wait_for(lambda: list(folder.glob("runs/*/run.json")), "a run")[0].parent)
            time.sleep(chance.uniform(0, LATEST_S))
            was_alive = run.is_alive()
            victim(psutil.Process(window.pid)).kill()
            wait_for(lambda: is_known(run) and not run.is_alive(), "the end of the run")
        finally:
            window.kill()
    return Done(run, []), was_alive


def engine_of(window: psutil.Process) -> psutil.Process:
    """Return the engine of a window, which has started the run."""
    return next(child for child in window.children() if any("serve" in word for word in child.cmdline()))


def kill_window(_workshop: Workshop, folder: Path, chance: random.Random) -> tuple[Done, bool]:
    """Kill the window; the run belongs to nobody."""
    return from_window(folder, chance, lambda window: window)


def kill_engine(_workshop: Workshop, folder: Path, chance: random.Random) -> tuple[Done, bool]:
    """Kill the engine of the window."""
    return from_window(folder, chance, engine_of)


KILLS: dict[str, tuple[Callable[[Workshop, Path, random.Random], tuple[Done, bool]], str]] = {
    "a worker of two": (kill_worker, "its coordinator starts workers anew, from the last checkpoint"),
    "the coordinator": (kill_coordinator, "`resume`, from the last checkpoint"),
    "the window": (kill_window, "the run goes on by itself"),
    "the engine of the window": (kill_engine, "the run goes on by itself"),
}


def is_undisturbed(done: Done, reference: Done) -> bool:
    """Return whether losses, weights and what else the tests of faults look at are those of the reference."""
    try:
        assert_undisturbed(done, reference)
    except AssertionError as error:
        print(error, file=sys.stderr)
        return False
    return True


def measure(quick: bool) -> list[Row]:
    """Kill each process a number of times; those of a window not where it is to be quick."""
    rows = []
    with tempfile.TemporaryDirectory() as name, Workshop() as workshop:
        folder = Path(name)
        short = long = workshop.train(project_of(TWO), folder / "short").end()
        if not quick:
            long = workshop.train(long_project(), folder / "long").end()
        for number, (victim, (kill, goes_on)) in enumerate(list(KILLS.items())[: 2 if quick else None]):
            is_long = kill in (kill_window, kill_engine)
            times = 1 if quick else TIMES_IN_WINDOWS if is_long else TIMES
            under_way = equal = 0
            for time_ in range(times):
                done, was_hit = kill(workshop, folder / f"{number}-{time_}", random.Random(f"{number}-{time_}"))
                under_way += was_hit
                equal += is_undisturbed(done, long if is_long else short)
            rows.append([victim, str(times), str(under_way), goes_on, str(equal)])
    return rows


PROOF = Proof(
    "kills",
    "Killed, and nothing is lost",
    "Each process of a run is killed (SIGKILL) at random moments, whose seeds are fixed. Afterwards the losses of all "
    "steps, those of the validations, the weights of the best and of the last network are compared with those of a run "
    "that nothing happened to: they must be the same bits, and no file may be left behind. Two workers; of worker and "
    "coordinator 120 steps with a checkpoint every 7, of window and engine 4,000 steps, killed within two seconds of "
    "the beginning of the run. A moment may be after the end, which is not counted as hit. `make faults` does more.",
    ("killed", "times", "hit under way", "how it goes on", "equal to the bit"),
    measure,
)

if __name__ == "__main__":
    prove(PROOF)
