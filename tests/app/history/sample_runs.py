"""Runs beside a project, made without training anything."""

import math
from pathlib import Path
from typing import Any

from netwright.engine.core.files import write_json
from netwright.engine.placement.candidates import PlacementRecord
from netwright.engine.project.file import dumps
from netwright.engine.project.project import Project
from netwright.engine.runs.create import create
from netwright.engine.runs.events import Ended, EpochEnded, Points, Progress, Started
from netwright.engine.runs.folder import RunFolder, update_info
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.log import EventLog
from tests.builders import classifier


def made(
    folder: Path, name: str, created: float, *, of: str = "one", state: str = "finished", result: Any = None, **set: Any
) -> RunFolder:
    """A run of `of` in `folder`/runs, with training options and a result."""
    project = Project(classifier())
    project = project.with_section("training", project.training.replace(**set))
    info = RunInfo(
        name=of,
        project_path=str(folder / f"{of}.netwright"),
        base=str(folder),
        created=created,
        placement=PlacementRecord(environment={"resolved": "cpu"}),
    )
    run = create(folder / "runs" / name, dumps(project), info)
    update_info(run, state=state)
    (run.checkpoints / "000000001").mkdir(parents=True)
    if result is not None:
        write_json(run.result, {"state": state, "reason": "all epochs are done", **result})
    return run


def log_curves(run: RunFolder, epochs: int, steps_per_epoch: int, seconds: float, *, metric: str = "accuracy") -> None:
    """An event log with falling losses, a metric, and progress at a steady pace."""
    log = EventLog(run)
    total = epochs * steps_per_epoch
    log.append(
        Started(
            environment={"resolved": "cpu", "workers": 1},
            hardware="2 cores",
            epochs=epochs,
            iterations=total,
            steps_per_epoch=steps_per_epoch,
            metric=metric,
            samples={"training": 100},
            parameters=10,
        )
    )
    for epoch in range(1, epochs + 1):
        first, last = (epoch - 1) * steps_per_epoch + 1, epoch * steps_per_epoch
        losses = [2 * math.exp(-step / total) for step in range(first, last + 1)]
        values = {"loss": losses, metric: [1 - loss / 2 for loss in losses]}
        log.append(Points(split="training", first_step=first, steps_apart=1, values=values))
        at_end = {name: [series[-1]] for name, series in values.items()}
        log.append(Points(split="validation", first_step=last, steps_apart=1, values=at_end))
        log.append(
            Progress(
                epoch=epoch,
                iteration=last,
                elapsed_s=seconds * last / total,
                remaining_s=0.0,
                rate=0.1,
                samples_per_second=10.0,
                memory_bytes=0,
            )
        )
        log.append(EpochEnded(epoch=epoch, iteration=last))
    log.append(Ended(state="finished", reason="all epochs are done", result={}))
    log.close()
