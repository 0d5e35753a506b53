"""Logs of long runs: what writing them takes, how large they are after thinning, and how long `curves` takes.

    python -m benchmarks.long_logs [STEPS]

Seconds are those of the processor. The log has loss and accuracy of every step, and progress every 500 steps.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

from netwright.engine.runs.create import create
from netwright.engine.runs.curve_files import write_curves
from netwright.engine.runs.events import Points, Progress
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from netwright.engine.runs.log_lines import split_points

AT_ONCE = 500


def main(steps: int) -> None:
    """Write a log, export its curves, and print what that took."""
    dice = random.Random(0)
    values = {name: [dice.random() for _ in range(AT_ONCE)] for name in ("loss", "accuracy")}
    with tempfile.TemporaryDirectory() as folder:
        run = create(Path(folder) / "run", "{}", RunInfo(name="long"))
        log, largest, began = EventLog(run), 0, time.process_time()
        for first in range(1, steps, AT_ONCE):
            for points in split_points(Points(split="training", first_step=first, steps_apart=1, values=values)):
                log.append(points)
            last = first + AT_ONCE - 1
            log.append(
                Progress(
                    epoch=1,
                    iteration=last,
                    elapsed_s=last / 2000,
                    remaining_s=1.0,
                    rate=0.01,
                    samples_per_second=1e5,
                    memory_bytes=10**8,
                )
            )
            largest = max(largest, run.events.stat().st_size)
        log.close()
        written_s = time.process_time() - began
        size = run.events.stat().st_size
        print(
            f"{steps:,} steps: written in {written_s:.1f} s; at most {largest / 2**20:.1f} MiB, now {size / 2**20:.1f}"
        )
        began = time.process_time()
        (table,) = write_curves([run], "csv", Path(folder) / "curves.csv")
        print(f"curves as CSV: {time.process_time() - began:.2f} s, {table.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
