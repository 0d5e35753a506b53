"""Trials and runs of an experiment that are under way: starting each run in a process forked from the runner, and how
it ended."""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.core.child_process import fork
from engine.core.errors import EXIT_DEFECT
from engine.core.files import leave_flushing
from engine.experiments.pruning import Decision
from engine.launch.forked_coordinator import coordinate_forked
from engine.launch.prepare import prepare
from engine.launch.resume import prepare_resume
from engine.network.analysis import analyse
from engine.placement.shares import Slot
from engine.project.experiment import MEASURED, Objective
from engine.project.file import load
from engine.project.project import Project
from engine.runs.experiments import Trial, TrialRun
from engine.runs.folder import RunFolder
from engine.runs.summary import read_summary


@dataclass
class ActiveRun:
    """A run under way: in a child process of ours, or one that an earlier runner has started (`pid` 0)."""

    trial: int
    name: str
    folder: RunFolder
    slot: Slot
    pid: int = 0
    pidfd: int = -1
    pipe: int = -1

    def said(self) -> dict[str, Any]:
        """Return what the process said before the run began, such as why it was refused."""
        with contextlib.suppress(OSError, ValueError):
            message = json.loads(os.read(self.pipe, 2**16) or b"{}")
            return message if isinstance(message, dict) else {}
        return {}

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in (self.pidfd, self.pipe):
            if descriptor >= 0:
                os.close(descriptor)


@dataclass
class TrialAtWork:
    """A trial that has begun, and the projects of its runs that have not. Where trials are pruned, `unjudged` is the
    record of its first run, which has ended before all of its epochs were judged."""

    trial: Trial
    waiting: dict[str, Project] = field(default_factory=dict)
    unjudged: TrialRun | None = None
    decision: Decision | None = None

    @property
    def is_left(self) -> bool:
        """Whether runs wait to be started or judged."""
        return bool(self.waiting or self.unjudged)


@dataclass(frozen=True)
class RunPlan:
    """What a run is made from. `base` is the folder that relative paths start from."""

    trial: int
    name: str
    folder: RunFolder
    project: Project
    project_path: Path | None
    base: Path


def start_run(plan: RunPlan, slot: Slot, private: Iterable[int]) -> ActiveRun:
    """Fork the coordinator of a run, which prepares it, or resumes it where it has begun. `private`: descriptors that
    it may not hold."""
    folder = plan.folder
    reading, writing = os.pipe()
    is_begun = folder.info.is_file()
    if not is_begun and folder.path.exists():  # the runner was killed while it was created
        shutil.rmtree(folder.path)

    def prepared() -> RunFolder:
        if is_begun:
            prepare_resume(folder)
            return folder
        return prepare(plan.project, plan.project_path, folder.path, trial=plan.trial)

    def coordinate() -> int:
        for descriptor in (*private, reading):
            os.close(descriptor)
        os.setsid()
        leave_flushing()
        os.chdir(plan.base if plan.base.is_dir() else folder.path.parent)
        return coordinate_forked(prepared, writing)

    pid = fork(coordinate, EXIT_DEFECT)
    os.close(writing)
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_NONBLOCK)
    pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
    return ActiveRun(plan.trial, plan.name, folder, slot, pid, pidfd, reading)


def ended_run(name: str, folder: RunFolder, objectives: Sequence[Objective]) -> TrialRun:
    """Return the record of a run that has ended, with its scores."""
    summary = read_summary(folder.path)
    seconds = float(summary.number("seconds") or 0.0)
    scores = dict(summary.scores)
    for measured in {objective.name for objective in objectives} & set(MEASURED):
        scores[measured] = seconds if measured == "seconds" else _counted(folder, measured)
    state = folder.state()
    return TrialRun(name, state, scores, seconds, summary.reason if state != "finished" else "")


def _counted(folder: RunFolder, what: str) -> float:
    """Return the number of parameters, or the FLOPs per sample, of the network of a run."""
    found = analyse(load(folder.project).project.network)
    return float(found.parameters if what == "parameters" else found.flops)


def set_aside(path: Path) -> None:
    """Rename the folder of a run that is trained again, to `3.1`, so that its log is not lost."""
    number = 1
    while path.with_name(f"{path.name}.{number}").exists():
        number += 1
    with contextlib.suppress(FileNotFoundError):
        path.rename(path.with_name(f"{path.name}.{number}"))
