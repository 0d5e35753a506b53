"""Commands `experiment importance | report`: what the trials of an experiment have shown."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from netwright.engine.cli.answers import note, print_json
from netwright.engine.cli.experiment_text import read_trials
from netwright.engine.cli.printing import say
from netwright.engine.cli.report import checked_destination
from netwright.engine.core.errors import EXIT_DONE, UserError, did_you_mean
from netwright.engine.project.file import load
from netwright.engine.runs.experiments import ExperimentFolder, open_experiment
from netwright.engine.runs.trial_log import Trial


def importance(arguments: argparse.Namespace) -> int:
    """Print the importance of each parameter for an objective."""
    folder = open_experiment(arguments.experiment)
    trials = read_trials(folder)
    objective = arguments.objective or folder.read_info().objectives[0]
    finished = [trial for trial in trials if trial.state == "finished"]
    known = dict.fromkeys(name for trial in finished for name in trial.scores)
    if finished and objective not in known:
        hint = did_you_mean(objective, known) or f"There are: {', '.join(sorted(known))}."
        raise UserError(f"No trial of {folder.path} has {objective}.", hint=hint)
    shares = importances_in(folder, trials, objective)
    if arguments.json:
        count = sum(objective in trial.scores for trial in finished)
        path = str(folder.path.absolute())
        print_json(arguments, {"experiment_dir": path, "objective": objective, "trials": count, "importance": shares})
    else:
        print_shares(shares)
    return EXIT_DONE


def report(arguments: argparse.Namespace) -> int:
    """Write the report, and say what it has."""
    folder = open_experiment(arguments.experiment)
    to = checked_destination(arguments.output or Path(f"{folder.path.resolve().name}.html"))
    from netwright.engine.experiments.report import write_experiment_report

    written = write_experiment_report(folder.path, to)
    note(filter(None, [written["damage"]]))
    if arguments.json:
        print_json(arguments, written)
        return EXIT_DONE
    say(f"wrote {to}: {written['bytes']:,} bytes")
    if written["missing"]:
        say(f"note: without importances: {written['missing']}")
    return EXIT_DONE


def importances_in(folder: ExperimentFolder, trials: Sequence[Trial], objective: str) -> dict[str, float]:
    """Return the importance of each parameter of an experiment, the largest first. Raises `UserError`."""
    from netwright.engine.experiments.strategies import importances

    return dict(importances(load(folder.project).project, trials, objective))


def print_shares(shares: Mapping[str, float]) -> None:
    """Print the importance of each parameter on a line."""
    for path, share in shares.items():
        say(f"{share:6.1%}  {path}")
