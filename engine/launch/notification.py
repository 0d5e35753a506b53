"""Tell the user's webhook that a run, an experiment or a queue has ended, in a process that outlives this one.

python -m netwright.engine.core.child netwright.engine.launch.notification run|experiment FOLDER
python -m netwright.engine.core.child netwright.engine.launch.notification queue ENDED FINISHED

What trains waits for nothing and knows nothing of the address, which the process reads itself. What goes wrong stands
in the log beside what has ended.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netwright.engine.core import webhook
from netwright.engine.core.errors import EXIT_DONE, EXIT_INPUT, UserError, plural
from netwright.engine.core.finite_json import to_json
from netwright.engine.core.process import start_detached_module
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.summary import read_summary
from netwright.engine.runs.trial_rows import best_trial

SPLITS = ("test.", "validation.", "training.")


def announce(log: Path, kind: str, *arguments: str) -> None:
    """Start the process that tells the webhook, if the user has set one. Nothing that goes wrong is raised."""
    with contextlib.suppress(Exception):
        if _is_set():
            start_detached_module(log, "netwright.engine.launch.notification", kind, *arguments)


def _is_set() -> bool:
    """Return whether a webhook is set, or its setting is damaged, which the process says in the log."""
    try:
        return bool(webhook.read())
    except UserError:
        return True


def message_of(kind: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the message about what has ended. Raises `UserError` and `OSError`."""
    if kind == "queue":
        ended, finished = map(int, arguments)
        state = "finished" if ended == finished else "failed"
        reason = f"{finished:,} of {plural(ended, 'run')} finished"
        return webhook.message(kind, "Queue", state, reason, {}, runs=ended, runs_finished=finished)
    path = Path(arguments[0])
    if kind == "experiment":
        folder = ExperimentFolder(path)
        info, trials = folder.read_info(), folder.read_trials()
        best = best_trial(trials, info.objectives)
        metrics = {name: to_json(value) for name, value in best.scores.items()} if best is not None else {}
        counts = {"trials": len(trials), "best_trial": best.number if best is not None else None}
        return webhook.message(kind, info.name, info.state, info.reason, metrics, seconds=info.seconds, **counts)
    run = read_summary(path)
    metrics = {}
    for name, value in run.scores.items():
        if name.startswith(SPLITS):
            metrics[name] = to_json(value)
    name = run.title if run.name in run.title else f"{run.name}, {run.title}"
    facts = {"project": run.name, "seconds": run.number("seconds"), "epochs": run.number("epochs")}
    return webhook.message("run", name, run.state, run.reason, metrics, **facts)


def main(arguments: Sequence[str]) -> int:
    """Send the message; print why it was not taken. Return the exit code."""
    kind, *rest = arguments
    try:
        url = webhook.read()
        if not url:
            return EXIT_DONE
        why = webhook.send(url, message_of(kind, rest))
    except (UserError, OSError) as error:
        why = f"The webhook was not told: {error}"
    if why:
        print(f"warning: {why}", flush=True)
    return EXIT_INPUT if why else EXIT_DONE
