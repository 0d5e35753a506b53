"""Finding runs: by words and conditions, and in an order. The window and the command line use the same.

digits failed            both words stand somewhere: name, state, environment, tags, note, changes
state:failed tag:paper   the state or a tag is this
accuracy>0.9             of the test split, else of the validation split
validation.loss<=0.2     of one part; epochs, iterations, seconds too
training.max_epochs=30   an option has this value
"""

import csv
import io
import math
import operator
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from engine.core.errors import UserError, did_you_mean
from engine.core.fields import path_part
from engine.project.options.metrics import is_better_low
from engine.runs.events import SPLIT_PRIORITY
from engine.runs.options import shown
from engine.runs.summary import RunSummary

Condition = Callable[[RunSummary], bool]
COUNTS = ("epochs", "iterations", "seconds")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_CONDITION = re.compile(r"([\w.-]+)(>=|<=|>|<|=)(.+)")
SORT_KEYS = ("created", "name", "state", "environment", "run", *COUNTS)


def score(run: RunSummary, name: str) -> float | None:
    """Return a figure or count by its name: `validation.loss`; `loss` is of the test split, else of the validation."""
    if name in COUNTS:
        return run.number(name)
    scores = run.scores
    if name in scores:
        return scores[name]
    return next((scores[key] for part in ("test", "validation") if (key := f"{part}.{name}") in scores), None)


def matching(runs: Iterable[RunSummary], text: str) -> list[RunSummary]:
    """The runs for which every word or condition of the text holds."""
    conditions = [_condition(word) for word in text.split()]
    return [run for run in runs if all(holds(run) for holds in conditions)]


def _condition(word: str) -> Condition:
    name, colon, value = word.partition(":")
    if colon and value and name in ("state", "tag"):
        wanted = value.casefold()
        if name == "state":
            return lambda run: run.state == wanted
        return lambda run: any(tag.casefold() == wanted for tag in run.notes.tags)
    if found := _CONDITION.fullmatch(word):
        name, sign, value = found.groups()
        number = _number(value)
        if number is not None and not name.startswith(("training.", "data.", "environment.")):
            return _measured(name, _COMPARE[sign], number)
        if "." in name:
            return _option(name, sign, value)
    return _said(word.casefold())


def _measured(name: str, compare: Callable[[float, float], bool], limit: float) -> Condition:
    def holds(run: RunSummary) -> bool:
        value = score(run, name)
        return value is not None and compare(value, limit)

    return holds


def _option(path: str, sign: str, value: str) -> Condition:
    """By an option; of training figures too, which look the same (`training.loss<1`)."""
    limit = _number(value)

    def holds(run: RunSummary) -> bool:
        figure = score(run, path)
        text = shown(run.options, path) if figure is None else ""
        have = figure if figure is not None else _number(text)
        if limit is not None and have is not None:
            return _COMPARE[sign](have, limit)
        return sign == "=" and text.casefold() == value.casefold()

    return holds


def _said(word: str) -> Condition:
    return lambda run: word in words_of(run)


def words_of(run: RunSummary) -> str:
    """Everything that words are looked for in."""
    said = (run.path.name, run.name, run.state, run.environment, *run.notes.tags, run.notes.note, run.reason)
    return "\n".join((*said, *map(str, run.changes))).casefold()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class Order:
    """What runs are sorted by, and whether the largest comes first."""

    key: str = "created"
    is_down: bool = True

    def sorted(self, runs: Sequence[RunSummary]) -> list[RunSummary]:
        """The runs in this order; those without a value at the end, equal ones newest first."""
        newest = sorted(runs, key=lambda run: (run.created, run.path.name), reverse=True)
        values = [(self._value(run), run) for run in newest]
        known: list[tuple[Any, RunSummary]] = [pair for pair in values if pair[0] is not None]
        known.sort(key=itemgetter(0), reverse=self.is_down)
        return [run for _, run in known] + [run for value, run in values if value is None]

    def _value(self, run: RunSummary) -> float | str | None:
        match self.key:
            case "created":
                return run.created
            case "run":
                return run.path.name.casefold()
            case "name" | "state" | "environment":
                return str(getattr(run, self.key)).casefold()
            case "tags":
                return ", ".join(run.notes.tags).casefold() or None
            case "note":
                return run.notes.note.casefold() or None
            case "changes":
                return len(run.changes)
        value = score(run, self.key)
        return None if value is None or math.isnan(value) else value


def order_by(key: str, runs: Sequence[RunSummary], *, is_reversed: bool = False) -> Order:
    """The order that a person names: times and figures begin with the largest, words and losses do not.

    Raises `UserError` for a key that no run has.
    """
    figures = {name for run in runs for name in run.scores}
    names = {*SORT_KEYS, *figures, *(name.partition(".")[2] for name in figures)}
    if runs and key not in names:
        hint = did_you_mean(key, names)
        listed = sorted(path_part(name) for name in names if len(name) <= 100)[:100]  # a stranger's may be any
        raise UserError(f"--sort {key}: no run has that.{hint} Known are: {', '.join(listed)}.")
    is_word = key in ("name", "state", "environment", "run")
    is_down = not (is_word or key.endswith("loss") or is_better_low(key.rpartition(".")[2]))
    return Order(key, is_down != is_reversed)


_FIRST = ("run", "project", "state", "created", "environment", *COUNTS)
_LAST = ("tags", "note", "reason", "changes")


def score_names(runs: Iterable[RunSummary]) -> list[str]:
    """The figures of quality that any of the runs has: validation, test, training; losses first."""
    names = {name for run in runs for name in run.scores}

    def place(name: str) -> tuple[int, bool, str]:
        split, _, metric = name.partition(".")
        return SPLIT_PRIORITY.index(split), metric != "loss", metric

    return sorted(names, key=place)


def option_names(runs: Iterable[RunSummary]) -> list[str]:
    """The options that any of the runs names."""
    return sorted({path for run in runs for path in run.options})


def as_csv(runs: Sequence[RunSummary]) -> str:
    """The runs with a header; numbers in full, times as ISO 8601."""
    scores, options = score_names(runs), option_names(runs)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_FIRST, *scores, *_LAST, *options))
    for run in runs:
        values = run.scores
        created = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(run.created)) if run.created else ""
        counts = (_cell(run.number(name)) for name in COUNTS)
        said = (", ".join(run.notes.tags), run.notes.note, run.reason, "; ".join(map(str, run.changes)))
        writer.writerow(
            (
                *(run.path.name, run.name, run.state, created, run.environment, *counts),
                *(_cell(values.get(name)) for name in scores),
                *said,
                *(shown(run.options, path) for path in options),
            )
        )
    return text.getvalue()


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
