"""Filter and sort runs and trials by words and conditions. Shared by the window and the command line.

digits failed            contains both words: in name, state, environment, tags, note or changes
state:failed tag:paper   has this state, has this tag
accuracy>0.9             metric of the test and of the validation split, as far as there are any; also accuracy > 90 %
test.accuracy>0.9        metric of one split; also epochs, iterations, seconds
training.max_epochs=30   has this value of an option
"""

import math
import operator
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol, TypeVar, get_args

from netwright.engine.core.csv_text import csv_text
from netwright.engine.core.errors import UserError, closest_word, did_you_mean
from netwright.engine.core.fields import path_part
from netwright.engine.project.options.metric_options import METRICS, is_better_low, is_share
from netwright.engine.project.project import SECTIONS
from netwright.engine.runs.events import SPLIT_PRIORITY, State
from netwright.engine.runs.notes import Notes
from netwright.engine.runs.run_options import Options, shown
from netwright.engine.runs.summary import DAMAGED, RunSummary


class Searched(Protocol):
    """Searchable item: a run, or a trial of an experiment."""

    @property
    def state(self) -> str:
        """State, such as `finished`."""

    @property
    def notes(self) -> Notes:
        """Note and tags."""

    @property
    def scores(self) -> Mapping[str, float]:
        """Losses and metrics by split and name."""

    @property
    def options(self) -> Options:
        """Values by their paths."""

    @property
    def words(self) -> str:
        """The case-folded text that words are searched in."""

    def number(self, name: str) -> float | None:
        """Return one of `COUNTS`."""


AnySearched = TypeVar("AnySearched", bound=Searched)
Condition = Callable[[Searched], bool]
COUNTS = ("epochs", "iterations", "seconds")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
STATES = (*get_args(State), DAMAGED)
OPTIONS = ("training.", "data.", "environment.", "network.")
"""Beginnings of the paths of options and of fields of layers."""
_CONDITION = re.compile(r"([\w.-]+)(>=|<=|>|<|=)(.+)")
OPTION = "option:"
"""Begins the sort key of an option, as in `option:training.solver`."""
SORT_KEYS = ("created", "name", "state", "environment", "run", *COUNTS)


def score(run: Searched, name: str) -> float | None:
    """Return a metric or count by name, such as `validation.loss`. Without a split (`loss`): of test, else
    validation."""
    if name in COUNTS:
        return run.number(name)
    scores = run.scores
    if name in scores:
        return scores[name]
    return next((scores[key] for part in ("test", "validation") if (key := f"{part}.{name}") in scores), None)


def words_of(text: str) -> list[str]:
    """Return the words and conditions of a query: `accuracy > 98 %` is one condition."""
    return re.sub(r"\s*(>=|<=|>|<|=)\s*|\s+(?=%)", lambda sign: sign[1] or "", text.strip()).split()


def matching(runs: Iterable[AnySearched], text: str) -> list[AnySearched]:
    """Return the runs that meet every word and condition of the query text."""
    conditions = [_condition(word) for word in words_of(text)]
    if not conditions:
        return list(runs)
    return [run for run in runs if all(holds(run) for holds in conditions)]


@dataclass(frozen=True)
class UnknownName:
    """A condition that no run can meet, because it names a state, metric or option that does not exist."""

    word: str
    name: str
    closest: str
    """The closest name that exists, or nothing."""
    hint: str
    """Which names there are."""
    noun: str = "run"

    @property
    def message(self) -> str:
        """Return the error in the query, in words."""
        is_state = self.word.startswith("state:")
        return f"there is no state '{self.name}'" if is_state else f"no {self.noun} has '{self.name}'"

    @property
    def suggestion(self) -> str:
        """Return the condition with the closest name, or nothing."""
        return self.word.replace(self.name, self.closest, 1) if self.closest else ""


def unknown_name(
    runs: Sequence[Searched], text: str, *, states: Sequence[str] = STATES, noun: str = "run"
) -> UnknownName | None:
    """Return the first condition of a query with a name that no run, or other `noun` with its `states`, can have."""
    metrics = {name for run in runs for name in run.scores}
    names = {"loss", *METRICS, *COUNTS, *metrics, *(name.partition(".")[2] for name in metrics)}
    splits = {f"{split}.{name}" for split in SPLIT_PRIORITY for name in ("loss", *METRICS)}
    options = {f"{section}.{name}" for section, record in SECTIONS.items() for name in record.fields}
    for word in words_of(text):
        name, colon, value = word.partition(":")
        if colon and value and name == "state" and value.casefold() not in states:
            hint = f"States are: {', '.join(states)}."
            return UnknownName(word, value, closest_word(value.casefold(), states), hint, noun)
        match = _CONDITION.fullmatch(word)
        if match is None or (_number(match[3]) is None and "." not in match[1]):
            continue
        words = {*names, *splits, *options, *(path for run in runs for path in run.options)}
        if match[1] not in words:
            hint = f"Metrics are: {', '.join(sorted(names))}; options are listed by `netwright-engine options`."
            return UnknownName(word, match[1], closest_word(match[1], words), hint, noun)
    return None


def refuse_unknown(runs: Sequence[RunSummary], text: str) -> None:
    """Raise `UserError` if a condition names a state, metric or option that no run can have: it would match nothing."""
    unknown = unknown_name(runs, text)
    if unknown is not None:
        closest = f" Did you mean '{unknown.closest}'?" if unknown.closest else ""
        raise UserError(f"--filter {unknown.word}: {unknown.message}.", hint=f"{closest} {unknown.hint}")


def _condition(word: str) -> Condition:
    name, colon, value = word.partition(":")
    if colon and value and name in ("state", "tag"):
        target = value.casefold()
        if name == "state":
            return lambda run: run.state == target
        return lambda run: any(tag.casefold() == target for tag in run.notes.tags)
    if match := _CONDITION.fullmatch(word):
        name, sign, value = match.groups()
        number = _number(value)
        if number is not None and not name.startswith(OPTIONS):
            return _measured(name, _COMPARE[sign], number)
        if "." in name:
            return _option(name, sign, value)
    return _said(word.casefold())


def _measured(name: str, compare: Callable[[float, float], bool], limit: float) -> Condition:
    """Return a condition on a count, or on a metric: without a split of all held-out samples, so that no listed run
    has a test or validation metric that contradicts it."""

    if limit > 1 and is_share(name.rpartition(".")[2]):
        limit /= 100

    names = f"test.{name}", f"validation.{name}"

    def holds(run: Searched) -> bool:
        scores = run.scores
        held_out = [scores[key] for key in names if key in scores]
        if not held_out and (value := score(run, name)) is not None:
            held_out = [value]
        return bool(held_out) and all(compare(value, limit) for value in held_out)

    return holds


def _option(path: str, sign: str, value: str) -> Condition:
    """Return a condition on an option, or on a training metric, which has the same form (`training.loss<1`)."""
    limit = _number(value)

    def holds(run: Searched) -> bool:
        metric = score(run, path)
        text = shown(run.options, path) if metric is None else ""
        actual = metric if metric is not None else _number(text)
        if limit is not None and actual is not None:
            return _COMPARE[sign](actual, limit)
        return sign == "=" and text.casefold() == value.casefold()

    return holds


def _said(word: str) -> Condition:
    return lambda run: word in run.words


def _number(text: str) -> float | None:
    number, percent, _ = text.partition("%")
    try:
        return float(number) / (100 if percent else 1)
    except ValueError:
        return None


@dataclass(frozen=True)
class Order:
    """Sort key of runs, and direction: descending if `is_down`."""

    key: str = "created"
    is_down: bool = True

    def sorted(self, runs: Sequence[RunSummary]) -> list[RunSummary]:
        """Return the runs sorted: runs without a value last, ties newest first."""
        newest = sorted(runs, key=lambda run: (run.created, run.path.name), reverse=True)
        values = [(self._value(run), run) for run in newest]
        scored: list[tuple[Any, RunSummary]] = [pair for pair in values if pair[0] is not None]
        scored.sort(key=itemgetter(0), reverse=self.is_down)
        return [run for _, run in scored] + [run for value, run in values if value is None]

    def _value(self, run: RunSummary) -> Any:
        if self.key.startswith(OPTION):
            text = shown(run.options, self.key.removeprefix(OPTION))
            number = _number(text)
            return (1, 0.0, text.casefold()) if number is None or math.isnan(number) else (0, number, "")
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
    """Return the order for a sort key. Times, counts and metrics are descending; texts, losses and metrics that are
    better low are ascending.

    Raises `UserError` for a key that no run has.
    """
    metrics = {name for run in runs for name in run.scores}
    names = {*SORT_KEYS, *metrics, *(name.partition(".")[2] for name in metrics)}
    if runs and key not in names:
        hint = did_you_mean(key, names)
        listed = sorted(path_part(name) for name in names if len(name) <= 100)[:100]  # foreign runs: any name
        raise UserError(f"--sort {key}: no run has that.", hint=f"{hint} Known are: {', '.join(listed)}.")
    is_word = key in ("name", "state", "environment", "run")
    is_down = not (is_word or key.endswith("loss") or is_better_low(key.rpartition(".")[2]))
    return Order(key, is_down != is_reversed)


_FIRST = ("run", "project", "state", "created", "environment", *COUNTS)
_LAST = ("tags", "note", "reason", "changes")


def score_names(runs: Iterable[Searched]) -> list[str]:
    """Return the names of all losses and metrics in the runs, sorted by split (`SPLIT_PRIORITY`), loss first."""
    names = {name for run in runs for name in run.scores}

    def place(name: str) -> tuple[int, bool, str]:
        split, _, metric = name.partition(".")
        return SPLIT_PRIORITY.index(split), metric != "loss", metric

    return sorted(names, key=place)


def option_names(runs: Iterable[Searched]) -> list[str]:
    """Return the sorted paths of all options in the runs."""
    return sorted({path for run in runs for path in run.options})


def as_csv(runs: Sequence[RunSummary]) -> str:
    """Return the runs as CSV text with a header row. Times are in ISO 8601, numbers have 9 significant digits."""
    scores, options = score_names(runs), option_names(runs)
    return csv_text(_csv_rows(runs, scores, options))


def _csv_rows(runs: Sequence[RunSummary], scores: Sequence[str], options: Sequence[str]) -> Iterator[Sequence[str]]:
    yield (*_FIRST, *scores, *_LAST, *options)
    for run in runs:
        values = run.scores
        created = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(run.created)) if run.created else ""
        counts = (_cell(run.number(name)) for name in COUNTS)
        annotations = (", ".join(run.notes.tags), run.notes.note, run.reason, "; ".join(map(str, run.changes)))
        yield (
            *(run.path.name, run.name, run.state, created, run.environment, *counts),
            *(_cell(values.get(name)) for name in scores),
            *annotations,
            *(shown(run.options, path) for path in options),
        )


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"
