"""Trials of an experiment as text, JSON and CSV."""

import sys
from collections.abc import Sequence
from typing import Any

from netwright.engine.cli.answers import note
from netwright.engine.cli.printing import is_terminal, say
from netwright.engine.cli.terminal import print_table
from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.errors import UserError, plural
from netwright.engine.core.text import format_duration
from netwright.engine.project.options.metric_options import format_score
from netwright.engine.project.parameters import value_text
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.trial_log import Trial, damage_text, failures_of
from netwright.engine.runs.trial_marks import FILE, Marks, read_marks
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
    return dict(described_experiment(folder, trials, _marks_of(folder)))


def _marks_of(folder: ExperimentFolder) -> Marks:
    """Return the marks of the trials, and say where their file is damaged."""
    try:
        marks = read_marks(folder)
        note([] if marks.is_sound else [f"{folder.path / FILE} is damaged: notes and tags in it cannot be read"])
        return marks
    except OSError as error:
        raise UserError(f"The notes in {folder.path} cannot be read: {error.strerror}.") from None


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


def trials_csv(folder: ExperimentFolder, trials: Sequence[Trial]) -> str:
    """Return a table of the trials: values by path, scores, the time in seconds, hosts of a cluster, tags and note."""
    marks = _marks_of(folder)
    paths = list(dict.fromkeys(path for trial in trials for path in trial.values))
    names = list(dict.fromkeys(name for trial in trials for name in trial.scores))
    has_hosts = any(trial.hosts for trial in trials)
    hosts = ["host"] if has_hosts else []
    rows: list[list[Any]] = [["trial", "state", *paths, *names, "seconds", *hosts, "tags", "note"]]
    for trial in trials:
        cells = [_cell(trial.values.get(path)) for path in paths]
        cells += [trial.scores.get(name) for name in names]
        notes = marks.of(trial.number).notes
        host = [", ".join(trial.hosts)] if has_hosts else []
        rows.append([trial.number, trial.state, *cells, trial.seconds, *host, ", ".join(notes.tags), notes.note])
    return csv_text(rows)


def _cell(value: Any) -> Any:
    return value if value is None or type(value) in (int, float) else value_text(value)


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
