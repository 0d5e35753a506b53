"""Placement advice, computed in a child process.

python -m netwright.engine.core.child netwright.engine.launch.advisor PROJECT [FOLDER WORKERS HOURS]

Prints `{"busy": "..."}` where other programs disturb the times, `{"way": {...}}` for each forecast, then
`{"advice": "...", "busy": "..."}`, or `{"error": "..."}`. With the folder in which a
checkpoint is timed, the workers of a cluster and the mean time between failures of one (0: the default), it prints
`{"checkpoints": {...}}` before.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from itertools import islice
from pathlib import Path

from netwright.engine.core.errors import UserError
from netwright.engine.core.fork import run_in_child_process
from netwright.engine.core.process import print_line
from netwright.engine.hardware.devices import probe
from netwright.engine.hardware.utilization import busy_cores
from netwright.engine.launch.trial import refusals, run_trial, time_checkpoint
from netwright.engine.placement.advice import Forecast, advice, best_of, disturbance, forecasts
from netwright.engine.placement.choose import resolve
from netwright.engine.placement.recovery import WORKER_HOURS, checkpoint_advice
from netwright.engine.project.file import load
from netwright.engine.project.project import Project
from netwright.engine.runs.experiments import ExperimentFolder, experiment_title
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.history import registered
from netwright.engine.runs.machine_shares import experiments_at_work
from netwright.engine.runs.summary import title_of

STEPS = 20
LOOK_S = 0.5
"""Time in which is looked at what other programs take."""
TRIES_IF_BUSY = 3
"""Measurements of which the shortest counts, where others disturb them."""
MOST_NAMED = 2
LONG_S = 0.2


def _advise_checkpoints(project: Project, folder: Path, workers: int, worker_hours: float) -> None:
    for refusal in refusals(project):
        raise UserError(refusal)
    timed = run_in_child_process(lambda: time_checkpoint(project, folder))
    checkpoints = checkpoint_advice(workers, int(timed["bytes"]), timed["seconds"], worker_hours or WORKER_HOURS)
    print_line({"checkpoints": {**asdict(checkpoints), "text": checkpoints.text, "settings": checkpoints.settings}})


def _advise(project: Project) -> None:
    for refusal in refusals(project):
        raise UserError(refusal)

    inventory = probe()
    busy = _disturbance(inventory.num_cores)
    if busy:
        print_line({"busy": busy})

    def seconds(samples: int, device: str, threads: int) -> float | None:
        """Return the seconds per step, with one thread if that is faster: it can be for short steps, and where threads
        wait for each other on a busy machine."""
        step_s = one(samples, device, threads)
        if step_s is None or (step_s > LONG_S and not busy) or device != "cpu" or threads == 1:
            return step_s
        alone = one(samples, device, 1)
        return step_s if alone is None else min(step_s, alone)

    @cache
    def one(samples: int, device: str, threads: int) -> float | None:
        tries = [run_trial(project, samples, device, threads, STEPS) for _ in range(TRIES_IF_BUSY if busy else 1)]
        return min((trial.seconds for trial in tries if not trial.refusal), default=None)

    ways: list[Forecast] = []
    for forecast in forecasts(project, inventory, seconds):
        ways.append(forecast)
        print_line({"way": {**asdict(forecast), "name": forecast.name, "fits": forecast.fits, "step": forecast.step}})
    options = project.training
    alone = project.environment.replace(target="auto")
    automatic = resolve(alone, inventory, options.mini_batch_size, options.gradient_accumulation).resolved
    best = best_of(ways, automatic)
    choice = {"target": best.target, "strategy": best.strategy} if best is not None else None
    print_line({"advice": advice(ways, automatic), "best": choice, "busy": busy or _disturbance(inventory.num_cores)})


def _disturbance(num_cores: int) -> str:
    """Return a warning where other programs disturb measurements now."""
    return disturbance(busy_cores(LOOK_S), num_cores, list(islice(_under_way(), MOST_NAMED)))


def _under_way() -> Iterator[str]:
    """Yield the experiments and runs of the user that train on this machine."""
    for path in experiments_at_work():
        yield f"the experiment {experiment_title(ExperimentFolder(path))}"
    for path in registered():
        with contextlib.suppress(OSError, UserError):
            folder = RunFolder(path)
            if folder.state() == "running":
                yield f"{title_of(folder)} ({folder.read_info().name})"


def main(arguments: list[str]) -> None:
    """Print the advice for a project."""
    try:
        project = load(Path(arguments[0])).project
        if len(arguments) > 1:
            _advise_checkpoints(project, Path(arguments[1]), int(arguments[2]), float(arguments[3]))
        _advise(project)
    except UserError as error:
        print_line(error.write())
