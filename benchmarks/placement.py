"""Placements on the CPU: what a run chooses by its trial, against each of 1x1, 1x2 and 2x1 asked for by name.

    python benchmarks/placement.py [--workloads W1,W2,W3,W3T] [--rounds 3] [--seconds 12]

Real runs by the real command, the placements in turn within each round, on data and networks of the shared benchmark.
A run is so long that the trial is worth it. Speed is that of the best epoch's worth of steps: the shortest time between
two reports in the log that are an epoch or more apart. Prints a table in Markdown.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from peer import WORKLOADS, prepare  # noqa: E402  # the folder has no package

from netwright.engine.project.environment import EnvironmentOptions  # noqa: E402
from netwright.engine.project.file import load, save  # noqa: E402
from netwright.engine.runs.events import Message, Progress, Started  # noqa: E402
from netwright.engine.runs.folder import RunFolder  # noqa: E402
from netwright.engine.runs.log import EventReader  # noqa: E402

PLACEMENTS: dict[str, dict[str, object]] = {
    "1x1": {"target": "cpu", "threads": 1},
    "1x2": {"target": "cpu", "threads": 2},
    "2x1": {"target": "multi-cpu", "num_workers": 2, "threads": 1},
    "auto": {},
}
EPOCH_S = {"W1": 1.6, "W2": 0.2, "W3": 0.45, "W3T": 2.0}
"""About what an epoch takes on one core, for runs of about the length asked for."""


@dataclass
class Measured:
    """Seconds of the best epoch of each run, and what the last one said about its choice."""

    epochs: list[float] = field(default_factory=list)
    chosen: str = ""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workloads", default="W1,W2,W3,W3T")
    parser.add_argument("--placements", default=",".join(PLACEMENTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=12.0)
    arguments = parser.parse_args()
    names = arguments.placements.split(",")
    print("| workload | " + " | ".join(f"{name}, best (median)" for name in names) + " | auto of the best | chosen |")
    print("|---|" + "---|" * (len(names) + 2))
    for workload in arguments.workloads.split(","):
        epochs = max(3, round(arguments.seconds / EPOCH_S[workload]))
        found = {name: Measured() for name in names}
        for _ in range(arguments.rounds):
            for name in names:
                _train(workload, epochs, name, found[name])
        print(_row(workload, found), flush=True)


def _row(workload: str, found: dict[str, Measured]) -> str:
    """Speeds as ratios to the first placement."""
    yardstick = next(iter(found.values()))
    ratios = {name: min(yardstick.epochs) / min(one.epochs) for name, one in found.items()}
    medians = {name: median(yardstick.epochs) / median(one.epochs) for name, one in found.items()}
    named = max(ratio for name, ratio in ratios.items() if name != "auto")
    cells = [f"{ratios[name]:.2f} ({medians[name]:.2f})" for name in found]
    share, chosen = ("", "") if "auto" not in found else (f"{ratios['auto'] / named:.2f}", found["auto"].chosen)
    return f"| {workload} | {' | '.join(cells)} | {share} | {chosen} |"


def _train(workload: str, epochs: int, placement: str, into: Measured) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = prepare(workload, epochs, 1, 1, folder)
        project = load(file).project
        save(replace(project, environment=EnvironmentOptions(**PLACEMENTS[placement])), file)
        command = [sys.executable, "-m", "netwright.engine", "train", str(file), "--run-dir", str(folder / "run")]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _read(RunFolder(folder / "run"), workload, into)


def _read(run: RunFolder, workload: str, into: Measured) -> None:
    reached: list[tuple[float, int]] = []
    for event in EventReader(run, 2**30).read():
        match event:
            case Progress():
                reached.append((event.time, event.iteration))
            case Started():
                into.chosen = f"{event.environment['workers']} x ?"
            case Message(text=text) if text.startswith("Computing with"):
                into.chosen = text
    into.epochs.append(best_epoch(reached, WORKLOADS[workload]["steps"]))


def best_epoch(reached: list[tuple[float, int]], steps: int) -> float:
    """Seconds of an epoch's steps where they were fastest, by when the log had which step."""
    pairs = ((a, b) for i, a in enumerate(reached) for b in reached[i + 1 :] if b[1] - a[1] >= steps)
    return min(steps * (b[0] - a[0]) / (b[1] - a[1]) for a, b in pairs if b[0] > a[0])


if __name__ == "__main__":
    main()
