"""Trials and runs of an experiment that are under way: starting each run in a process forked from the runner, and how
it ended."""

import contextlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import EXIT_DEFECT
from netwright.engine.core.files import leave_flushing
from netwright.engine.core.fork import start_child
from netwright.engine.core.platform import CAN_WATCH, end_process, watch_process
from netwright.engine.core.platform_files import do_not_wait, read_available
from netwright.engine.core.process import MessageReader
from netwright.engine.experiments.trial_pruning import Decision
from netwright.engine.launch.forked_coordinator import coordinate_forked
from netwright.engine.launch.prepare import prepare
from netwright.engine.launch.resume import prepare_resume
from netwright.engine.network.analysis import analyse
from netwright.engine.placement.cluster_part import cluster_function
from netwright.engine.placement.shares import Slot
from netwright.engine.project.experiment import MEASURED, Objective
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import read_summary
from netwright.engine.runs.trial_log import COUNTED, PRUNED, Trial, TrialRun


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
    requests: MessageReader | None = None
    """Requests of the coordinator of a run on a cluster, by the function `place_placer`."""
    answers: int = -1
    """The pipe that its answers go to."""
    is_displaced: bool = False
    """Whether it has lost its place."""

    @property
    def news(self) -> list[int]:
        """Descriptors that tell of its end and of what it asks for."""
        asking = self.requests.descriptor if self.requests is not None else -1
        return [number for number in (self.pidfd, asking) if number >= 0]

    def asked(self) -> list[dict[str, Any]]:
        """Return the requests of its coordinator to its place."""
        return self.requests.read() if self.requests is not None else []

    def tell(self, message: Mapping[str, Any]) -> None:
        """Tell its coordinator something about its place."""
        with contextlib.suppress(OSError):  # it has ended
            os.write(self.answers, json.dumps(message).encode() + b"\n")

    def displace(self) -> None:
        """End its coordinator, if it is a child of ours: its place is lost."""
        if self.pid:
            self.is_displaced = True
            end_process(self.pid)

    def said(self) -> dict[str, Any]:
        """Return the report of the process before the run began, such as why it was refused."""
        with contextlib.suppress(OSError, ValueError):
            message = json.loads(read_available(self.pipe, 2**16) or b"{}")
            return message if isinstance(message, dict) else {}
        return {}

    def early_end(self, report: Mapping[str, Any]) -> TrialRun | None:
        """Return the record of a run that ended before it began, from the `report` of its process; None for one that
        has begun."""
        if "refusal" in report:
            return TrialRun(self.name, "refused", reason=str(report["refusal"]), code=str(report.get("code", "")))
        if "defect" in report:
            return TrialRun(self.name, "failed", reason=f"A defect of Netwright: {report['defect']}", code="defect")
        if self.folder.info.is_file() or self.is_displaced:
            return None
        return TrialRun(self.name, "failed", reason="its process ended before the run began", code="worker_died")

    def close(self) -> None:
        """Close the descriptors."""
        for descriptor in (*self.news, self.pipe, self.answers):
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

    def outcome(self) -> tuple[str, str] | None:
        """Return the state of the trial by the runs that have ended, and the reason; None where there is none."""
        if self.decision is not None:
            return PRUNED, f"behind the others after epoch {self.decision.epoch:,}"
        states = sorted(self.trial.runs, key=lambda run: (run.state in COUNTED, run.state == "finished"))
        if not states:
            return None
        return states[0].state, "" if states[0].state == "finished" else states[0].reason


@dataclass(frozen=True)
class RunPlan:
    """Project, folder and number of a run to start. `base` is the folder that relative paths start from."""

    trial: int
    name: str
    folder: RunFolder
    project: Project
    project_path: Path | None
    base: Path


def start_run(plan: RunPlan, slot: Slot) -> ActiveRun:
    """Start the coordinator of a run, which prepares it, or resumes it where it has begun."""
    folder = plan.folder
    reading, writing = os.pipe()
    placer_ends, request_end, answers = [], -1, -1
    if slot.place:
        (request_end, asking), (answered, answers) = os.pipe(), os.pipe()
        placer_ends = [answered, asking]
    is_begun = folder.info.is_file()
    if not is_begun and folder.path.exists():  # the runner was killed while it was created
        shutil.rmtree(folder.path)

    pid = start_child(partial(_coordinate, plan, is_begun), (writing, *placer_ends), EXIT_DEFECT, group="outlives")
    for descriptor in (writing, *placer_ends):
        os.close(descriptor)
    do_not_wait(reading)
    pidfd = watch_process(pid) if CAN_WATCH else -1
    requests = MessageReader(request_end) if placer_ends else None
    return ActiveRun(plan.trial, plan.name, folder, slot, pid, pidfd, reading, requests, answers)


def _coordinate(plan: RunPlan, is_begun: bool, writing: int, *placer_ends: int) -> int:
    """Be the coordinator of a run, which tells what came of its preparation through the pipe `writing`."""
    folder = plan.folder

    def prepared() -> RunFolder:
        if is_begun:
            prepare_resume(folder)
            return folder
        return prepare(plan.project, plan.project_path, folder.path, trial=plan.trial)

    leave_flushing()
    os.chdir(plan.base if plan.base.is_dir() else folder.path.parent)
    return coordinate_forked(prepared, writing, cluster_function("place_placer")(*placer_ends) if placer_ends else None)


def ended_run(name: str, folder: RunFolder, objectives: Sequence[Objective]) -> TrialRun:
    """Return the record of a run that has ended, with its scores."""
    summary = read_summary(folder.path)
    seconds = float(summary.number("seconds") or 0.0)
    scores = dict(summary.scores)
    for measured in {objective.name for objective in objectives} & set(MEASURED):
        scores[measured] = seconds if measured == "seconds" else _counted(folder, measured)
    state = folder.state()
    if state == "finished":
        return TrialRun(name, state, scores, seconds)
    return TrialRun(name, state, scores, seconds, summary.reason, code=str(summary.measured.get("code") or ""))


def _counted(folder: RunFolder, quantity: str) -> float:
    """Return the number of parameters, or the FLOPs per sample, of the network of a run."""
    analysis = analyse(load(folder.project).project.network)
    return float(analysis.parameters if quantity == "parameters" else analysis.flops)
