"""Trials of an experiment as text and JSON."""

import sys
from collections.abc import Sequence
from typing import Any

from netwright.engine.cli.answers import note
from netwright.engine.cli.printing import is_terminal, say
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.errors import plural
from netwright.engine.core.text import format_duration
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.project.parameters import value_text
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_log import Trial, damage_text, failures_of
from netwright.engine.runs.trial_marks import marks_and_damage
from netwright.engine.runs.trial_rows import described_experiment, ranked

MOST_ROWS = 30
MOST_COLUMNS = 6
SHOWN = {"validation.": "", "test.": "test ", "training.": "training "}


def read_trials(folder: ExperimentFolder) -> list[Trial]:
    """Return the trials of an experiment, and say where lines of their log are damaged."""
    trials, damaged = folder.read_log()
    note(filter(None, [damage_text(folder.trials, damaged)]))
    return trials


def scores_text(trial: Trial, objectives: Sequence[str]) -> str:
    """Return the objectives of a trial, with their standard deviation over its runs."""
    texts = []
    for name in objectives:
        if (value := trial.scores.get(name)) is not None:
            spread = trial.spread(name)
            texts.append(f"{_short(name)} {format_score(name, value)}" + (f" ± {spread[0]:.2g}" if spread else ""))
    return ", ".join(texts)


def _short(name: str) -> str:
    for start, words in SHOWN.items():
        if name.startswith(start):
            return words + name.removeprefix(start)
    return name


def experiment_json(folder: ExperimentFolder, trials: Sequence[Trial]) -> dict[str, Any]:
    """Return an experiment and its trials, as `experiment status --json` prints them."""
    marks, damage = marks_and_damage(folder)
    note(filter(None, [damage]))
    return dict(described_experiment(folder, trials, marks))


def print_trials(folder: ExperimentFolder, trials: Sequence[Trial]) -> None:
    """Print the trials, the best first, and where they are."""
    info = folder.read_info()
    order = ranked(trials, info.objectives[0])
    placed = {trial.number for trial in order}
    rest = [trial for trial in trials if trial.number not in placed]
    shown = [*order, *rest][: MOST_ROWS if is_terminal(sys.stdout) else None]
    paths = list(dict.fromkeys(path for trial in trials for path in trial.values))[:MOST_COLUMNS]
    has_hosts = any(trial.hosts for trial in trials)
    names = [path.removeprefix("training.") for path in paths]
    head = ["", *names, *map(_short, info.objectives), "time", *(["host"] if has_hosts else []), "state"]
    rows = [head]
    for trial in shown:
        values = [value_text(trial.values[path]) if path in trial.values else "" for path in paths]
        scores = [scores_text(trial, [name]).partition(" ")[2] for name in info.objectives]
        hosts = [", ".join(trial.hosts)] if has_hosts else []
        rows.append([str(trial.number), *values, *scores, format_duration(trial.seconds), *hosts, _state_text(trial)])
    if trials:
        print_table(rows, right=range(len(head) - 1 - has_hosts))
    over = sum(trial.is_over for trial in trials)
    more = f", {len(trials) - len(shown):,} not shown" if len(shown) < len(trials) else ""
    reason = f": {info.reason.rstrip('.')}" if info.reason else ""
    if info.waits and folder.is_alive():
        say(f"waits: {info.waits}")
    state = folder.state()
    for text in failures_of(trials) if state != "failed" else ():  # else its reason says so
        say(text)
    say(f"{state}{reason}; {over:,} of {plural(len(trials), 'trial')} ended{more}")
    say(f"experiment: {folder.path}")


def _state_text(trial: Trial) -> str:
    return (
        f"{trial.state}: {trial.reason}" if trial.reason and trial.state not in ("finished", "pruned") else trial.state
    )


def result_of(trial: Trial | None) -> dict[str, Any]:
    """Return the scores of a trial as `result.json` of a run has them, for `--require`."""
    result: dict[str, Any] = {"state": "finished", "metrics": {}}
    for name, value in trial.scores.items() if trial is not None else ():
        split, _, metric = name.partition(".")
        if name == "training.loss":
            result["loss"] = value
        elif split == "training":
            result["metrics"][metric] = value
        else:
            result.setdefault(split, {})[metric] = value
    return result


def why_none(trials: Sequence[Trial]) -> str:
    """Return that no trial has finished, with the first reason that is known."""
    reason = next((trial.reason for trial in trials if trial.reason), "")
    return f"No trial has finished. {reason}".strip()
