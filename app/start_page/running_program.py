"""The runs that are under way on this machine, as the start page lists them: found in a process of their own, so that a
disk which does not answer blocks nothing.

python -m app.start_page.running_program

Each line of JSON on standard output is the list of runs as it is now; one is written whenever the list has changed. The
process ends when its input closes.
"""

import math
import os
import select
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.core.child_process import print_line
from engine.core.errors import UserError
from engine.core.text import format_duration
from engine.runs.events import ENDS
from engine.runs.folder import RunFolder
from engine.runs.history import registered
from engine.runs.summary import last_events, title_of

MODULE = "app.start_page.running_program"
NICENESS = 10
"""The window has priority."""
LOOK_S = 1.0


@dataclass(frozen=True)
class RunningRun:
    """A run under way. `share` is the part that is done, in [0, 1]; `progress` says the same in words."""

    run_dir: str
    title: str
    project: str
    project_path: str
    project_id: str
    share: float
    progress: str


def main() -> None:
    """Write the list whenever it has changed, until the input closes."""
    os.nice(NICENESS)
    told: list[dict[str, Any]] | None = None
    ended: dict[Path, int] = {}
    while True:
        runs = [asdict(run) for run in running(ended)]
        if runs != told:
            print_line(runs)
            told = runs
        if select.select([sys.stdin], [], [], LOOK_S)[0]:
            return


def running(ended: dict[Path, int]) -> Iterator[RunningRun]:
    """Yield the registered runs that are under way, latest first. `ended` remembers those that are not, by the time of
    their `run.json`: a run that is resumed writes it."""
    for path in registered():
        try:
            folder = RunFolder(path)
            stamp = folder.info.stat().st_mtime_ns
            if ended.get(path) == stamp:
                continue
            if folder.state() in ENDS:
                ended[path] = stamp
                continue
            yield _described(folder)
        except (OSError, UserError):  # deleted, or on a disk that was taken out
            continue


def _described(folder: RunFolder) -> RunningRun:
    info = folder.read_info()
    started, progress = last_events(folder.path)
    share, words = 0.0, "Starting"
    if progress is not None:
        total = progress.elapsed_s + progress.remaining_s
        share = progress.elapsed_s / total if math.isfinite(total) and total > 0 else 0.0
        of = f" of {started.epochs:,}" if started is not None else ""
        words = f"Epoch {progress.epoch:,}{of}{_left(info.state, progress.remaining_s)}"
    name = info.name if info.project_path else f"{info.name}, not saved when it began"
    return RunningRun(
        str(folder.path), title_of(folder), name, info.project_path or "", info.project_id, round(share, 3), words
    )


def _left(state: str, remaining_s: float) -> str:
    if state == "paused":
        return " · paused"
    return f" · {format_duration(remaining_s)} left" if math.isfinite(remaining_s) else ""


if __name__ == "__main__":
    main()
