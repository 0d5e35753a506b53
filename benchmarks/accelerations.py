"""What each acceleration gives: runs with all of them against runs without one, and without any.

    python benchmarks/accelerations.py [--workloads W1,W2,W3] [--rounds 3] [--seconds 5] [--only manual-backward,...]

Real runs by the real command on data and networks of the shared benchmark, the cases in turn within each round, so that
the load of the machine hits all alike. Manual backward, fused optimizers and garbage timing are measured in one process
with one thread, shared memory with two such workers, placement trials in the environment `auto`. Speed is that of the
best epoch's worth of steps (see `placement.py`); the start is the time from the command to the first point in the log.
Ratios above 1 say that the run with the acceleration is faster. Prints a table in Markdown.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from peer import WORKLOADS, prepare  # noqa: E402  # the folder has no package
from placement import EPOCH_S, PLACEMENTS, best_epoch  # noqa: E402

from engine.project.environment import EnvironmentOptions  # noqa: E402
from engine.project.file import load, save  # noqa: E402
from engine.project.project import ACCELERATIONS, RunOptions  # noqa: E402
from engine.runs.events import Points, Progress  # noqa: E402
from engine.runs.folder import RunFolder  # noqa: E402
from engine.runs.log import EventReader  # noqa: E402

PLACEMENT_OF = {
    "manual-backward": "1x1",
    "fused-optimizers": "1x1",
    "garbage-timing": "1x1",
    "shared-memory": "2x1",
    "placement-trials": "auto",
}
"""Where each acceleration is measured; a placement for each."""
TRIAL_RUN_S = 12.0
"""Runs that are to try their placements are at least so long, or they would not."""


@dataclass
class Timings:
    """Seconds of the best epoch, and from the command to the first point, of each run of a case."""

    epochs: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", default="W1,W2,W3")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", default=",".join(ACCELERATIONS))
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    print("| workload | placement | without | speed, best (median) | start, best (median) |\n|---|---|---|---|---|")
    for workload in arguments.workloads.split(","):
        for placement in dict.fromkeys(PLACEMENT_OF[name] for name in names):
            off = [name for name in names if PLACEMENT_OF[name] == placement]
            cases = {"": ("all",), **{name: tuple(n for n in ACCELERATIONS if n != name) for name in off}}
            cases["all of them"] = ("none",)
            seconds = max(arguments.seconds, TRIAL_RUN_S) if placement == "auto" else arguments.seconds
            timings = _measure(workload, placement, cases, arguments.rounds, seconds)
            for name in cases:
                if name:
                    print(_row(workload, placement, name, timings[""], timings[name]), flush=True)


def _measure(
    workload: str, placement: str, cases: dict[str, tuple[str, ...]], rounds: int, seconds: float
) -> dict[str, Timings]:
    """Train every case once per round."""
    timings = {name: Timings() for name in cases}
    epochs = max(3, round(seconds / EPOCH_S[workload]))
    for _ in range(rounds):
        for name, accelerations in cases.items():
            _train(workload, epochs, placement, accelerations, timings[name])
    return timings


def _train(workload: str, epochs: int, placement: str, accelerations: tuple[str, ...], into: Timings) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = prepare(workload, epochs, 1, 1, folder)
        environment, run = EnvironmentOptions(**PLACEMENTS[placement]), RunOptions(accelerations=accelerations)
        save(replace(load(file).project, environment=environment, run=run), file)
        began = time.time()
        command = [sys.executable, "-m", "engine", "train", str(file), "--run-dir", str(folder / "run")]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        events = EventReader(RunFolder(folder / "run"), 2**30).read()
        reached = [(event.time, event.iteration) for event in events if isinstance(event, Progress)]
        into.epochs.append(best_epoch(reached, WORKLOADS[workload]["steps"]))
        into.starts.append(next(event.time for event in events if isinstance(event, Points)) - began)


def _row(workload: str, placement: str, name: str, fast: Timings, plain: Timings) -> str:
    speed = f"{min(plain.epochs) / min(fast.epochs):.2f} ({median(plain.epochs) / median(fast.epochs):.2f})"
    start = f"{min(plain.starts) / min(fast.starts):.2f} ({median(plain.starts) / median(fast.starts):.2f})"
    return f"| {workload} | {placement} | {name} | {speed} | {start} |"


if __name__ == "__main__":
    main()
