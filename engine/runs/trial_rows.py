"""Trials of an experiment as rows of a table: columns, order, groups, and differences to a baseline."""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter, le
from typing import Any

from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.text import iso_time
from netwright.engine.project.experiment import Objective
from netwright.engine.project.parameters import lists_of, value_text
from netwright.engine.runs.events import SPLIT_PRIORITY
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.notes import Notes
from netwright.engine.runs.query import OPTION
from netwright.engine.runs.run_options import Options, in_order, shown
from netwright.engine.runs.trial_log import COUNTED, Trial
from netwright.engine.runs.trial_marks import NOTHING, Marks, TrialMarks

FACTS = ("trial", "state", "curve", "seconds", "started", "host", "tags", "note", "reason", "runs")
"""Columns beside values and scores. `curve` is a picture of the objective."""
TEXTS = ("state", "host", "tags", "note", "reason")


@dataclass(frozen=True)
class TrialRow:
    """A trial with its marks. `defaults` are the options of the project, as far as the trial does not vary them."""

    trial: Trial
    marks: TrialMarks = NOTHING
    defaults: Options = field(default_factory=dict)

    @property
    def state(self) -> str:
        """State of the trial."""
        return self.trial.state

    @property
    def notes(self) -> Notes:
        """Note and tags."""
        return self.marks.notes

    @property
    def scores(self) -> Mapping[str, float]:
        """Losses and metrics, the means over the runs."""
        return self.trial.scores

    @cached_property
    def options(self) -> Options:
        """All values by their paths, those that vary as the trial has them."""
        return {**self.defaults, **lists_of(self.trial.values)}

    @cached_property
    def words(self) -> str:
        """The case-folded text that words of a query are searched in."""
        values = map(value_text, self.trial.values.values())
        cells = self.marks.cells.values()
        own = (self.trial.title, self.state, self.trial.reason, *self.notes.tags, self.notes.note)
        return "\n".join((*own, *values, *cells)).casefold()

    def number(self, name: str) -> float | None:
        """Return `seconds`, the time of all runs; None for other counts."""
        return self.trial.seconds if name == "seconds" and self.trial.runs else None

    def value(self, column: str) -> Any:
        """Return the number or text in a column; None where there is none."""
        if column.startswith(OPTION):
            path = column.removeprefix(OPTION)
            value = self.trial.values[path] if path in self.trial.values else shown(self.options, path)
            return value if isinstance(value, int | float) and not isinstance(value, bool) else value_text(value)
        match column:
            case "trial":
                return self.trial.number
            case "seconds":
                return self.number("seconds")
            case "started":
                return self.trial.started or None
            case "runs":
                return len(self.trial.runs)
            case "host":
                return ", ".join(self.trial.hosts) or None
            case "tags":
                return ", ".join(self.notes.tags) or None
            case "note":
                return self.notes.note or None
            case "reason" | "state":
                return getattr(self.trial, column) or None
        return self.scores.get(column)


@dataclass(frozen=True)
class Group:
    """Trials with the same value of a column, in the order of the table. `parts` are groups by the next column."""

    column: str
    value: Any
    rows: tuple[TrialRow, ...]
    parts: tuple["Group", ...] = ()
    level: int = 0
    key: tuple[str, ...] = ()
    """The values of the groups that it is in, and its own, as texts."""

    known: dict[str, list[float]] = field(default_factory=dict, compare=False, repr=False)
    """Numbers that were asked for, by their columns."""

    def values(self, column: str) -> list[float]:
        """Return the finite numbers of its trials in a column."""
        if column not in self.known:
            cells = (row.value(column) for row in self.rows)
            self.known[column] = [float(v) for v in cells if isinstance(v, int | float) and math.isfinite(v)]
        return self.known[column]

    def mean(self, column: str) -> float | None:
        """Return the mean of a column; None without a number."""
        values = self.values(column)
        return statistics.fmean(values) if values else None

    def best(self, column: str) -> float | None:
        """Return the best value of a loss or metric; None without a number."""
        values = self.values(column)
        return (min(values) if is_low_better(column) else max(values)) if values else None


def is_low_better(column: str) -> bool:
    """Return whether the lower one of two values of a column is the better one."""
    return Objective(column).is_low_better


def is_score(column: str) -> bool:
    """Return whether a column is a score: a loss, a metric or another number by which trials are compared."""
    return column not in FACTS and not column.startswith(OPTION)


def columns_of(
    paths: Iterable[str], scores: Iterable[str], objectives: Sequence[str], *, has_hosts: bool = False
) -> list[str]:
    """Return the columns of trials with these values and scores: number, state, curve, what varies, what is compared,
    time, other losses and metrics, hosts of a cluster where there are any, notes."""
    rest = [name for name in FACTS[4:] if has_hosts or name != "host"]
    others = sorted((name for name in scores if name not in objectives), key=_place)
    values = [f"{OPTION}{path}" for path in in_order(paths)]
    return list(dict.fromkeys(["trial", "state", "curve", *values, *objectives, "seconds", *others, *rest]))


def _place(name: str) -> tuple[int, bool, str]:
    split, _, metric = name.partition(".")
    at = SPLIT_PRIORITY.index(split) if split in SPLIT_PRIORITY else len(SPLIT_PRIORITY)
    return at, metric != "loss", metric


def ordered(rows: Sequence[TrialRow], column: str, *, is_down: bool) -> list[TrialRow]:
    """Return the rows sorted by a column: numbers before texts, rows without a value last, ties by their numbers."""
    numbers: list[tuple[float, TrialRow]] = []
    texts: list[tuple[str, TrialRow]] = []
    rest = []
    is_plain = is_score(column)
    for row in rows:
        value = row.trial.scores.get(column) if is_plain else row.value(column)
        if isinstance(value, str):
            texts.append((value.casefold(), row))
        elif value is not None and not math.isnan(value):
            numbers.append((value, row))
        else:
            rest.append(row)
    numbers.sort(key=itemgetter(0), reverse=is_down)
    texts.sort(key=itemgetter(0), reverse=is_down)
    return [row for _, row in numbers] + [row for _, row in texts] + rest


def grouped(rows: Sequence[TrialRow], columns: Sequence[str], _around: tuple[str, ...] = ()) -> list[Group]:
    """Return the rows in groups by the value of the first column, each in groups by the next one. Groups are in the
    order of their values, those without one last."""
    column, *others = columns
    by_value: dict[Any, list[TrialRow]] = {}
    for row in rows:
        by_value.setdefault(row.value(column), []).append(row)

    def place(value: Any) -> tuple[bool, bool, Any]:
        return value is None, isinstance(value, str), value.casefold() if isinstance(value, str) else value or 0

    groups = []
    for value in sorted(by_value, key=place):
        key = (*_around, str(value))
        own = by_value[value]
        parts = tuple(grouped(own, others, key)) if others else ()
        groups.append(Group(column, value, tuple(own), parts, len(_around), key))
    return groups


def difference(row: TrialRow, baseline: TrialRow, column: str) -> float | None:
    """Return the difference of a loss, metric or time of a trial from that of the baseline; None where unknown."""
    own, theirs = row.value(column), baseline.value(column)
    if not (is_score(column) or column == "seconds") or own is None or theirs is None:
        return None
    return float(own - theirs)


def rows_csv(rows: Sequence[TrialRow], columns: Sequence[str]) -> str:
    """Return columns of some trials as CSV with a header row: values as numbers, times in seconds."""
    shown_columns = [column for column in columns if column != "curve"]
    head = [column.removeprefix(OPTION) for column in shown_columns]
    return csv_text([head, *([row.value(column) for column in shown_columns] for row in rows)])


# ---- comparing trials ----


def ranked(trials: Iterable[Trial], objective: str) -> list[Trial]:
    """Return the trials that have a number for the objective, the best first; of equal ones the one with the lower loss
    on the same split, then the earlier one. Pruned and stopped ones come after those that were trained to their end."""
    return [trial for *_, trial in sorted(_ranks(trials, objective))]


def _ranks(trials: Iterable[Trial], objective: str) -> Iterator[tuple[bool, float, float, int, Trial]]:
    """Yield the trials that have a value of the objective, each with its sort key; numbers differ."""
    sign = 1.0 if Objective(objective).is_low_better else -1.0
    split = objective.partition(".")[0] if "." in objective else "validation"
    for trial in trials:
        if trial.state in COUNTED and not math.isnan(score := trial.scores.get(objective, math.nan)):
            loss = trial.scores.get(f"{split}.loss", math.nan)
            yield trial.state != "finished", sign * score, math.inf if math.isnan(loss) else loss, trial.number, trial


def best_trial(trials: Iterable[Trial], objectives: Sequence[str]) -> Trial | None:
    """Return the best trial by the first objective, see `ranked`; None where none has ended with a value."""
    return min(_ranks(trials, objectives[0]), default=(None,))[-1]


def pareto_front(trials: Iterable[Trial], objectives: Sequence[str]) -> list[Trial]:
    """Return the trials that no other one beats in every objective, by their numbers."""
    finished = [trial for trial in trials if trial.state == "finished"]
    signs = [1.0 if Objective(name).is_low_better else -1.0 for name in objectives]
    pairs = tuple(zip(signs, objectives, strict=True))
    costs = {t.number: tuple([s * t.scores.get(name, math.nan) for s, name in pairs]) for t in finished}
    costs = {number: cost for number, cost in costs.items() if not any(map(math.isnan, cost))}
    front: list[tuple[float, ...]] = []
    for own in sorted(set(costs.values())):  # one that beats another comes before it in this order
        if not any(all(map(le, other, own)) for other in front):
            front.append(own)
    best = set(front)
    return [trial for trial in finished if costs.get(trial.number) in best]


def described_experiment(folder: ExperimentFolder, trials: Sequence[Trial], marks: Marks) -> Mapping[str, Any]:
    """Return an experiment and its trials as JSON."""
    info = folder.read_info()
    best = best_trial(trials, info.objectives)
    front = pareto_front(trials, info.objectives) if len(info.objectives) > 1 else []
    return {
        "experiment_dir": str(folder.path.absolute()),
        "name": info.name,
        "state": folder.state(),
        "reason": info.reason,
        "waits": info.waits,
        "created": iso_time(info.created),
        "seconds": info.seconds,
        "objectives": list(info.objectives),
        "best": best.number if best is not None else None,
        "pareto_front": [trial.number for trial in front],
        "trials": [{**trial.write(), **_written_marks(marks.of(trial.number))} for trial in trials],
    }


def _written_marks(marks: TrialMarks) -> dict[str, Any]:
    return {"tags": list(marks.notes.tags), "note": marks.notes.note, "cell_notes": dict(marks.cells)}


def trials_csv(trials: Sequence[Trial], marks: Marks) -> str:
    """Return a table of the trials: values by path, scores, the time in seconds, hosts of a cluster, tags and note."""
    paths = list(dict.fromkeys(path for trial in trials for path in trial.values))
    names = list(dict.fromkeys(name for trial in trials for name in trial.scores))
    has_hosts = any(trial.hosts for trial in trials)
    hosts = ["host"] if has_hosts else []
    rows: list[list[Any]] = [["trial", "state", *paths, *names, "seconds", *hosts, "tags", "note"]]
    for trial in trials:
        cells = [_csv_cell(trial.values.get(path)) for path in paths]
        cells += [trial.scores.get(name) for name in names]
        notes = marks.of(trial.number).notes
        host = [", ".join(trial.hosts)] if has_hosts else []
        rows.append([trial.number, trial.state, *cells, trial.seconds, *host, ", ".join(notes.tags), notes.note])
    return csv_text(rows)


def _csv_cell(value: Any) -> Any:
    return value if value is None or type(value) in (int, float) else value_text(value)
