"""The runs and experiments that are under way on this machine, as the start page lists them: found in a process of
their own, so that a disk which does not answer blocks nothing.

python -m netwright.engine.core.child netwright.app.start_page.running_program

Each line of JSON on standard output is the list of runs as it is now; one is written whenever the list has changed. The
process ends when its input closes.
"""

import contextlib
import math
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform import lower_priority
from netwright.engine.core.process import print_line, readable
from netwright.engine.project.file import load
from netwright.engine.project.trials import num_trials
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.experiments import ExperimentFolder, experiment_title
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import registered
from netwright.engine.runs.machine_shares import experiments_at_work
from netwright.engine.runs.summary import last_events, title_of
from netwright.engine.runs.trial_reader import TrialsReader

MODULE = "netwright.app.start_page.running_program"
NICENESS = 10
"""The window has priority."""
LOOK_S = 1.0


@dataclass(frozen=True)
class RunningRun:
    """A run or an experiment under way, at epoch `count` of `total`, or with so many of its trials done; zero is not
    known. `share` is the part that is done, in [0, 1]."""

    run_dir: str
    """The folder of the run or of the experiment."""
    title: str
    project: str
    project_path: str
    project_id: str
    share: float
    count: int
    total: int
    remaining_s: float | None = None
    is_paused: bool = False
    is_experiment: bool = False


def main(arguments: list[str]) -> None:
    """Write the list whenever it has changed, until the input closes."""
    lower_priority(NICENESS)
    last_runs: list[dict[str, Any]] | None = None
    ended: dict[Path, int] = {}
    readers: dict[Path, _Trials] = {}
    while True:
        runs = [asdict(run) for run in (*experiments(readers), *running(ended))]
        if runs != last_runs:
            print_line(runs)
            last_runs = runs
        if readable([sys.stdin.fileno()], LOOK_S):
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


class _Trials:
    """An experiment under way: its title, its trials as far as they are read, and their number."""

    def __init__(self, path: Path) -> None:
        self.folder = ExperimentFolder(path)
        self._reader = TrialsReader(self.folder)
        self._title, self._total, self._stamp = "", 0, 0

    def read(self) -> RunningRun:
        """Read on. Raises `OSError` and `UserError`."""
        info, stamp = self.folder.read_info(), self.folder.project.stat().st_mtime_ns
        self._reader.read()
        if stamp != self._stamp:  # its budget may have changed
            self._title, self._stamp = experiment_title(self.folder), stamp
            self._total = num_trials(load(self.folder.project).project)
        count, total = sum(trial.is_over for trial in self._reader.trials.values()), self._total
        return RunningRun(
            str(self.folder.path),
            self._title,
            info.name,
            info.project_path,
            info.project_id,
            round(min(1.0, count / total), 3) if total else 0.0,
            count,
            total,
            is_experiment=True,
        )


def experiments(readers: dict[Path, _Trials]) -> Iterator[RunningRun]:
    """Yield the experiments that are under way. `readers` remembers what was read of them."""
    for path in experiments_at_work():
        with contextlib.suppress(OSError, UserError):  # deleted, or on a disk that was taken out
            yield readers.setdefault(path, _Trials(path)).read()


def _described(folder: RunFolder) -> RunningRun:
    info = folder.read_info()
    started, progress = last_events(folder.path)
    share, remaining_s = 0.0, None
    if progress is not None and math.isfinite(progress.remaining_s):
        whole_s, remaining_s = progress.elapsed_s + progress.remaining_s, round(progress.remaining_s, 1)
        share = progress.elapsed_s / whole_s if whole_s > 0 else 0.0
    return RunningRun(
        str(folder.path),
        title_of(folder),
        info.name,
        info.project_path or "",
        info.project_id,
        round(share, 3),
        progress.epoch if progress is not None else 0,
        started.epochs if started is not None else 0,
        remaining_s,
        is_paused=info.state == "paused",
    )
