"""Trials of an experiment as CSV, as JSON, or as a study of optuna."""

import json
from collections.abc import Sequence
from typing import Any

from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.errors import UserError
from netwright.engine.core.files import write_atomically
from netwright.engine.core.finite_json import to_json
from netwright.engine.experiments.operations.experiment_export import TrialExportRequest, TrialExportResult
from netwright.engine.experiments.strategies import write_study
from netwright.engine.project.file import load
from netwright.engine.project.parameters import value_text
from netwright.engine.runs.experiments import open_experiment
from netwright.engine.runs.trial_log import Trial, damage_text
from netwright.engine.runs.trial_marks import Marks, marks_and_damage
from netwright.engine.runs.trial_rows import described_experiment


def export_trials(request: TrialExportRequest) -> TrialExportResult:
    """Write the trials, or return them as text where no file is named. Raises `UserError`."""
    folder, to = open_experiment(request.experiment), request.output
    trials, damaged = folder.read_log()
    faults = [damage_text(folder.trials, damaged)]
    text = ""
    if request.format == "optuna":
        assert to is not None
        write_study(load(folder.project).project, trials, folder.read_info().objectives, to)
    else:
        marks, damage = marks_and_damage(folder)
        faults.append(damage)
        if request.format == "csv":
            text = trials_csv(trials, marks)
        else:
            text = json.dumps(to_json(dict(described_experiment(folder, trials, marks))), indent=1, allow_nan=False)
            text += "\n"
        if to is not None:
            try:
                write_atomically(to, text.encode())
            except OSError as error:
                raise UserError(f"{to} cannot be written: {error.strerror}.") from None
    return TrialExportResult(
        files=[str(to)] if to is not None else [],
        text="" if to is not None else text,
        notices=tuple(filter(None, faults)),
    )


def trials_csv(trials: Sequence[Trial], marks: Marks) -> str:
    """Return a table of the trials: values by path, scores, the time in seconds, hosts of a cluster, tags and note."""
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
