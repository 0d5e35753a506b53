"""The experiments of the open project in the rail of runs: their state, how far they are, and their best trials."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from netwright.app.experiments.trial_texts import sweep_title, value_in_words
from netwright.app.runs.segments import FolderSource, TrialEntry, TrialFolder
from netwright.engine.core.errors import UserError
from netwright.engine.project.file import load
from netwright.engine.project.trials import num_trials
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.experiments import ExperimentFolder, ExperimentInfo, experiments_of
from netwright.engine.runs.trial_log import Trial
from netwright.engine.runs.trial_reader import TrialsReader
from netwright.engine.runs.trial_rows import ranked

LOOK_MS = 1000
TURN_S = 0.01
"""Time for which logs are read in one turn of the event loop."""
MOST_TRIALS = 3
REST = 10
"""The pause after an experiment was read, as a multiple of the time that took."""


@dataclass
class _Reading:
    """An experiment, as far as it is read. Its trials are forgotten once it has ended."""

    folder: ExperimentFolder
    info: ExperimentInfo
    title: str = ""
    num_planned: int = 0
    stamp: tuple[int, int] = (0, 0)
    """Modification times of the definition and of the log that were read."""
    life: str = ""
    """`running` where a runner is at work, `starting` before that, else `lost`."""
    reader: TrialsReader | None = None
    shown: TrialFolder | None = None
    not_before: float = 0.0


class TrialFolders(FolderSource):
    """Reads the experiments of a project once a second, a part of their logs at a time."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project: Path | None = None
        self._identity = ""
        self._readings: dict[Path, _Reading] = {}
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self.look)

    def watch(self, project: Path | None, identity: str) -> None:
        """Look at the experiments of a project from now on."""
        if (project, identity) != (self._project, self._identity):
            self._project, self._identity, self._readings = project, identity, {}
            self.folders = ()
            self.changed.emit()
        self.look()

    def rest(self) -> None:
        """Look no more."""
        self._timer.stop()

    def look(self) -> None:
        """Read what is new, for a while; the rest in the next turn."""
        ended = time.monotonic() + TURN_S
        readings: dict[Path, _Reading] = {}
        is_behind = False
        for folder in experiments_of(self._project, self._identity):
            with contextlib.suppress(UserError, OSError):
                reading = self._readings.get(folder.path) or _Reading(folder, folder.read_info())
                readings[folder.path] = reading
                is_behind = _read(reading, ended) or is_behind
        self._readings = readings
        folders = [reading.shown for reading in readings.values() if reading.shown is not None]
        if folders != list(self.folders):
            self.folders = folders
            self.changed.emit()
        self._timer.start(0 if is_behind else LOOK_MS)


def _read(reading: _Reading, ended: float) -> bool:
    """Read on until a time; return whether there is more. Raises `UserError` and `OSError`."""
    folder = reading.folder
    life = "running" if folder.is_alive() else "starting" if folder.is_new(reading.info) else "lost"
    stamp = folder.project.stat().st_mtime_ns, folder.trials.stat().st_mtime_ns
    if (stamp, life) == (reading.stamp, reading.life) or time.monotonic() < reading.not_before:
        return False
    if time.monotonic() > ended:
        return True
    began = time.monotonic()
    if stamp[0] != reading.stamp[0]:  # its budget may have changed
        project = load(folder.project).project
        reading.title, reading.num_planned = sweep_title(project.experiment), num_trials(project)
        reading.stamp = stamp[0], reading.stamp[1]
    reader = reading.reader = reading.reader or TrialsReader(folder)
    while reader.is_behind:
        reader.read()
        if time.monotonic() > ended and reader.is_behind:
            return True
    reading.info, reading.stamp, reading.life = folder.read_info(), stamp, life
    reading.shown = _folder(reading, list(reader.trials.values()))
    if life == "lost":
        reading.reader = None
    now = time.monotonic()
    reading.not_before = now + REST * (now - began)
    return False


def _folder(reading: _Reading, trials: Sequence[Trial]) -> TrialFolder:
    info = reading.info
    state = reading.life if reading.life == "running" or info.state not in ENDS else info.state
    objective = info.objectives[0] if info.objectives else ""
    best = ranked(trials, objective)[:MOST_TRIALS] if objective else []
    listed = best or [trial for trial in trials if trial.runs][-MOST_TRIALS:]
    return TrialFolder(
        path=reading.folder.path,
        title=reading.title,
        state=state,
        created=info.created,
        num_trials=len(trials),
        num_over=sum(trial.is_over for trial in trials),
        num_planned=reading.num_planned,
        objective=objective,
        best=tuple(_entry(reading.folder, trial, is_best=bool(best) and trial is best[0]) for trial in listed),
    )


def _entry(folder: ExperimentFolder, trial: Trial, *, is_best: bool) -> TrialEntry:
    run = folder.run_path(trial.runs[0].name) if trial.runs else None
    values = " · ".join(value_in_words(path, value) for path, value in trial.values.items())
    return TrialEntry(trial.number, run, values, trial.state, trial.scores, is_best)
