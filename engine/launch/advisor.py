"""Placement advice, computed in a child process: `python -m engine.launch.advisor PROJECT`.

Prints `{"way": {...}}` for each forecast, then `{"advice": "..."}`, or `{"error": "..."}`.
"""

import json
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from engine.core.errors import UserError
from engine.hardware.devices import probe
from engine.hardware.threads import calm_threads
from engine.launch.trial import refusals, run_trial
from engine.placement.advice import Forecast, advice, best_of, forecasts
from engine.placement.choose import resolve
from engine.project.file import load
from engine.project.project import Project

STEPS = 20
LONG_S = 0.2


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


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
        _say({"way": {**asdict(forecast), "name": forecast.name, "fits": forecast.fits, "step": forecast.step}})
    options = project.training
    alone = project.environment.replace(target="auto")
    automatic = resolve(alone, probe(), options.mini_batch_size, options.gradient_accumulation).resolved
    best = best_of(found, automatic)
    chosen = {"target": best.target, "strategy": best.strategy} if best is not None else None
    _say({"advice": advice(found, automatic), "best": chosen})


if __name__ == "__main__":
    calm_threads()
    try:
        _advise(load(Path(sys.argv[1])).project)
    except UserError as error:
        _say(error.write())
