"""How long the list of 2,000 runs takes: the first time, and from the index; and finding and sorting in it.

Every second run was interrupted: what it reached stands in the last lines of its log only.

`python benchmarks/history.py [RUNS]` makes runs in a temporary folder and prints milliseconds of the processor, and how
often the time of reading nothing but every `run.json` goes into them.
"""

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from netwright.engine.runs.events import Points, Progress
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import list_runs
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.log_lines import split_points
from netwright.engine.runs.query import matching, order_by

DIGITS = Path(__file__).resolve().parents[1] / "resources" / "examples" / "digits.netwright"
REPEATS = 5


def make(base: Path, count: int) -> None:
    """Runs as a project of the size of the digits example leaves them, finished and interrupted in turns."""
    project, dice = json.loads(DIGITS.read_text(encoding="utf-8")), random.Random(1)
    log = b""
    for number in range(count):
        run = base / f"run_{number:05}"
        run.mkdir()
        options = {"max_epochs": dice.choice([10, 20, 30]), "initial_learn_rate": dice.choice([0.1, 0.01])}
        project["training"] = {**project.get("training", {}), **options}
        loss = dice.random()
        files = {
            "project.netwright": project,
            "run.json": {"name": "digits", "created": 1e9 + number, "state": "running" if number % 2 else "finished"},
            "result.json": {"state": "finished", "epochs": 9, "validation": {"loss": loss, "accuracy": 1 - loss}},
        }
        for name, value in files.items():
            (run / name).write_text(json.dumps(value), encoding="utf-8")
        if number % 2:
            (run / "result.json").unlink()
            log = log or log_of(run, dice)
            (run / "events.jsonl").write_bytes(log)


def log_of(run: Path, dice: random.Random) -> bytes:
    """The log of 4,000 iterations, longer than what the list reads of it."""
    events = EventLog(RunFolder(run))
    for first in range(1, 4000, 500):
        values = {name: [dice.random() for _ in range(500)] for name in ("loss", "accuracy")}
        for points in split_points(Points(split="training", first_step=first, steps_apart=1, values=values)):
            events.append(points)
        now = Progress(
            epoch=1,
            iteration=first + 499,
            elapsed_s=1.0,
            remaining_s=1.0,
            rate=0.1,
            samples_per_second=1.0,
            memory_bytes=0,
        )
        events.append(now)
    events.close()
    return (run / "events.jsonl").read_bytes()


def median_ms(act: Callable[[], object]) -> float:
    """The median time of an act."""
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        act()
        times.append(1000 * (time.process_time() - began))
    return statistics.median(times)


def main(count: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        base, os.environ["XDG_CACHE_HOME"] = Path(folder) / "runs", folder
        base.mkdir()
        make(base, count)
        bare = median_ms(lambda: [json.loads(path.read_bytes()) for path in base.glob("*/run.json")])
        began = time.process_time()
        runs = list_runs(base)
        first = 1000 * (time.process_time() - began)
        index = next((Path(folder) / "netwright" / "runs").glob("*.sqlite")).stat().st_size
        for what, taken in (
            ("every run.json read, nothing else", bare),
            ("first list", first),
            ("list from the index", median_ms(lambda: list_runs(base))),
            ("find by a word", median_ms(lambda: matching(runs, "max_epochs"))),
            ("find by a figure", median_ms(lambda: matching(runs, "accuracy>0.9"))),
            ("sort by a figure", median_ms(lambda: order_by("loss", runs).sorted(runs))),
        ):
            print(f"{what:36} {taken:8.1f} ms  {taken / bare:5.2f}")
        print(f"{'index':36} {index / count:8,.0f} bytes per run")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
