"""Placement advice, computed in a child process: `python -m engine.launch.advisor PROJECT [FOLDER WORKERS HOURS]`.

Prints `{"way": {...}}` for each forecast, then `{"advice": "..."}`, or `{"error": "..."}`. With the folder in which a
checkpoint is timed, the workers of a cluster and the mean time between failures of one (0: the default), it prints
`{"checkpoints": {...}}` before.
"""

import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

from engine.core.child_process import print_line, run_in_child_process
from engine.core.errors import UserError
from engine.hardware.devices import probe
from engine.hardware.threads import calm_threads
from engine.launch.trial import refusals, run_trial, time_checkpoint
from engine.placement.advice import Forecast, advice, best_of, forecasts
from engine.placement.choose import resolve
from engine.placement.recovery import WORKER_HOURS, checkpoint_advice
from engine.project.file import load
from engine.project.project import Project

STEPS = 20
LONG_S = 0.2


def _advise_checkpoints(project: Project, folder: Path, workers: int, worker_hours: float) -> None:
    for refusal in refusals(project):
        raise UserError(refusal)
    timed = run_in_child_process(lambda: time_checkpoint(project, folder))
    found = checkpoint_advice(workers, int(timed["bytes"]), timed["seconds"], worker_hours or WORKER_HOURS)
    print_line({"checkpoints": {**asdict(found), "text": found.text, "settings": found.settings}})


def _advise(project: Project) -> None:
    for refusal in refusals(project):
        raise UserError(refusal)

    def seconds(samples: int, device: str, threads: int) -> float | None:
        """Return the seconds per step, with one thread if that is faster, as it can be for short steps only."""
        found = one(samples, device, threads)
        if found is None or found > LONG_S or device != "cpu" or threads == 1:
            return found
        alone = one(samples, device, 1)
        return found if alone is None else min(found, alone)

    @cache
    def one(samples: int, device: str, threads: int) -> float | None:
        tried = run_trial(project, samples, device, threads, STEPS)
        return None if tried.refusal else tried.seconds

    found: list[Forecast] = []
    for forecast in forecasts(project, probe(), seconds):
        found.append(forecast)
        print_line({"way": {**asdict(forecast), "name": forecast.name, "fits": forecast.fits, "step": forecast.step}})
    options = project.training
    alone = project.environment.replace(target="auto")
    automatic = resolve(alone, probe(), options.mini_batch_size, options.gradient_accumulation).resolved
    best = best_of(found, automatic)
    chosen = {"target": best.target, "strategy": best.strategy} if best is not None else None
    print_line({"advice": advice(found, automatic), "best": chosen})


if __name__ == "__main__":
    calm_threads()
    try:
        chosen = load(Path(sys.argv[1])).project
        if len(sys.argv) > 2:
            _advise_checkpoints(chosen, Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
        _advise(chosen)
    except UserError as error:
        print_line(error.write())
