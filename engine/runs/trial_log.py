"""Log of the trials of an experiment, and the trials that its lines tell of.

`trials.jsonl` has a line for each change of a trial:

    {"trial": 3, "time": 1700000000.0, "values": {"training.momentum": 0.9}}                            it begins
    {"trial": 3, "time": 1700000009.5, "run": "3", "state": "finished", "scores": {"validation.loss": 0.1}, ...}
    {"trial": 3, "time": 1700000009.6, "state": "finished", "reason": ""}                               it ends
"""

import errno
import itertools
import json
import math
import os
import re
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from netwright.engine.core.errors import listed, plural
from netwright.engine.core.files import DEPTH_LIMIT, is_deeper, number_in
from netwright.engine.core.finite_json import from_json
from netwright.engine.core.platform_files import open_descriptor, read_at
from netwright.engine.project.parameters import lists_of, value_text
from netwright.engine.runs.events import ENDS

PRUNED = "pruned"
OVER = (*ENDS, PRUNED, "refused")
"""States of trials that have ended; `pruned` is ended before its time, `refused` could not be started."""
FAILED = ("failed", "refused", "lost")
"""States of trials that are tried again where none is named."""
STARTS_AGAIN = (*FAILED, "stopped")
"""States of trials that can be tried again."""
COUNTED = ("finished", PRUNED, "stopped")
"""States of trials whose scores are known as far as they were trained."""
FAILED_BY_VALUES = ("", "non_finite_loss", "out_of_memory")
"""Codes of failures that other values may not meet; empty in logs of older versions."""
REFUSED_BY_MACHINE = (
    "no_space",
    "no_permission",
    "not_accessible",
    "unreachable",
    "unavailable",
    "not_installed",
    "run_failed",
)
"""Codes of refusals that are not about the values."""
STATES = ("running", *OVER)
MOST_NAMED = 8
MOST_NUMBER, MOST_VALUE = 10**9, 10**300
LONGEST_S = 1e12
"""Seconds from which on a number is no time: so much after 1970 is in the year 33,658."""
_RUN_NAME = re.compile(r"[0-9]{1,10}(_[0-9]{1,10})?")
STUDENT = (
    *(12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131),
    *(2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""Quantiles 0.975 of Student's t distribution with 1 to 30 degrees of freedom."""

T = TypeVar("T")


def half_interval(values: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of the mean of two values or more, by Student's t distribution."""
    degrees = len(values) - 1
    quantile = STUDENT[degrees - 1] if degrees <= len(STUDENT) else 1.96
    return quantile * statistics.stdev(values) / math.sqrt(len(values))


@dataclass(frozen=True)
class TrialRun:
    """One run of a trial: the only one, or one of its repeats and folds. `name` is that of its folder, `scores` are by
    split and name, such as `validation.loss`. Of a run that was pruned they are those after `epoch`. `host` is that
    of its worker on a cluster. `code` tells the causes of failures apart, such as `no_space`."""

    name: str
    state: str
    scores: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    reason: str = ""
    epoch: int = 0
    host: str = ""
    code: str = ""

    def write(self) -> dict[str, Any]:
        """Return the line of the log on its end, as JSON."""
        values = {name: value for name, value in vars(self).items() if name != "name" and value != ""}
        return {"run": self.name, **values}

    @property
    def is_broken(self) -> bool:
        """Whether it failed for something other than the values of its trial, such as a full disk."""
        if self.state == "refused":
            return self.code in REFUSED_BY_MACHINE
        return self.state == "lost" or (self.state == "failed" and self.code not in FAILED_BY_VALUES)


@dataclass(frozen=True)
class Trial:
    """A trial: its values by path, its runs, and its scores, the means over the runs that have ended."""

    number: int
    values: Mapping[str, Any]
    state: str = "running"
    runs: tuple[TrialRun, ...] = ()
    started: float = 0.0
    ended: float = 0.0
    reason: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the trial has ended."""
        return self.state in OVER

    @property
    def is_broken(self) -> bool:
        """Whether the trial failed for something other than its values, such as a full disk."""
        return self.state in FAILED and any(run.is_broken for run in self.runs)

    @cached_property
    def scores(self) -> dict[str, float]:
        """The mean of each score over the runs that have one."""
        if len(self.runs) == 1:
            return dict(self.runs[0].scores)
        return {name: statistics.fmean(values) for name, values in self._by_name().items()}

    def spread(self, name: str) -> tuple[float, float] | None:
        """Return the standard deviation of a score over the runs of the trial, and half the width of the 95 % interval
        of its mean by Student's t distribution; None for fewer than two runs."""
        values = self._by_name().get(name, ())
        if len(values) < 2:
            return None
        return statistics.stdev(values), half_interval(values)

    def _by_name(self) -> dict[str, list[float]]:
        by_name: dict[str, list[float]] = {}
        for run in self.runs:
            for name, value in run.scores.items():
                by_name.setdefault(name, []).append(value)
        return by_name

    @property
    def seconds(self) -> float:
        """The time of all its runs, in seconds."""
        return sum(run.seconds for run in self.runs)

    @property
    def title(self) -> str:
        """Name for a person: `Trial 5 · adam, 0.001`."""
        values = ", ".join(value_text(value) for value in list(self.values.values())[:3])
        return f"Trial {self.number} · {values}" if values else f"Trial {self.number}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts of a cluster where its runs were that have ended."""
        return tuple(dict.fromkeys(run.host for run in self.runs if run.host))

    def write(self) -> dict[str, Any]:
        """Return the trial as JSON, as `experiment status --json` prints it."""
        spreads = {name: spread for name in self.scores if (spread := self.spread(name)) is not None}
        return {
            "trial": self.number,
            "title": self.title,
            "state": self.state,
            "values": lists_of(self.values),
            "scores": self.scores,
            "spread": {name: {"deviation": sd, "half_interval": half} for name, (sd, half) in spreads.items()},
            "seconds": self.seconds,
            "reason": self.reason,
            "runs": [run.name for run in self.runs],
            **({"hosts": list(self.hosts)} if self.hosts else {}),
        }


def failures_of(trials: Iterable[Trial]) -> list[str]:
    """Return the reasons of trials that have failed, each with their numbers: `trials 4 to 6 and 9: ...`. Reasons with
    the same code are told by that of the first trial, since they differ in the names of folders."""
    alike: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        if trial.state in FAILED:
            code = next((run.code for run in trial.runs if run.state == trial.state), "")
            alike.setdefault((trial.state, code or trial.reason), []).append(trial)
    return [
        f"{_numbers([trial.number for trial in some])}: {some[0].reason or state}" for (state, _), some in alike.items()
    ]


def _numbers(numbers: Sequence[int]) -> str:
    """Return numbers in their order as text: `trials 4 to 6 and 9`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    texts = [[f"{part[0]} to {part[-1]}"] if len(part) > 2 else list(map(str, part)) for part in parts]
    rest = sum(map(len, parts[MOST_NAMED:]))
    items = [*itertools.chain(*texts[:MOST_NAMED]), *([f"{rest:,} more"] if rest else [])]
    return f"trial{'s' if len(numbers) > 1 else ''} {listed(items)}"


class TrialLog:
    """Appends to the log of trials. Held by the runner, under the lock of the experiment. Raises `OSError`."""

    def __init__(self, path: Path) -> None:
        self.descriptor = open_descriptor(path, "a+")
        size = os.fstat(self.descriptor).st_size
        tail = read_at(self.descriptor, 2**16, max(0, size - 2**16))
        if torn := len(tail.rpartition(b"\n")[2]):  # the runner was killed while it wrote
            os.ftruncate(self.descriptor, size - torn)

    def append(self, trial: int, **values: Any) -> None:
        """Write the changes of a trial, with the time. A line that cannot be written whole leaves no part."""
        line = json.dumps({"trial": trial, "time": round(time.time(), 3), **values}, separators=(",", ":")).encode()
        end = os.fstat(self.descriptor).st_size
        try:
            if os.write(self.descriptor, line + b"\n") <= len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            os.ftruncate(self.descriptor, end)
            raise

    def close(self) -> None:
        """Close the log."""
        os.close(self.descriptor)


class Reading(NamedTuple):
    """Result of reading lines of a log: the numbers of the trials that have changed, and how many lines are damaged."""

    changed: set[int]
    damaged: int


def trials_from(lines: Iterable[bytes]) -> tuple[dict[int, Trial], int]:
    """Return the trials by number from the lines of a log, and how many lines are damaged, which are skipped."""
    trials: dict[int, Trial] = {}
    damaged = take_lines(trials, lines).damaged
    return dict(sorted(trials.items())), damaged


def take_lines(trials: dict[int, Trial], lines: Iterable[bytes]) -> Reading:
    """Apply further lines of a log to the trials by number. Damaged lines are skipped."""
    changed, damaged = set(), 0
    for line in filter(None, lines):
        try:
            changed.add(_apply(trials, json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            damaged += 1
    return Reading(changed, damaged)


def damage_text(path: Path, damaged: int) -> str:
    """Return that lines of a log are damaged, for a person; empty where none is."""
    lines = plural(damaged, "line")
    return f"{lines} of {path} cannot be read: what they told of their trials is not shown" if damaged else ""


def _apply(trials: dict[int, Trial], data: Mapping[str, Any]) -> int:
    """Apply a line to its trial and return its number. Raises `ValueError`, `TypeError`, `KeyError`, `AttributeError`
    and `RecursionError` for a damaged line."""
    number, when = _checked(data["trial"], int), _seconds(data, "time")
    if not 0 < number <= MOST_NUMBER:
        raise ValueError(number)
    if "values" in data:
        if is_deeper(data, DEPTH_LIMIT):
            raise ValueError(number)
        values = {path: _tuples(value) for path, value in _checked(data["values"], dict).items()}
        trials[number] = Trial(number, values, started=when)
        return number
    old, state, reason = trials[number], _checked(data["state"], str), _checked(data.get("reason", ""), str)
    if state not in STATES:
        raise ValueError(state)
    if "run" in data:
        runs = (*(run for run in old.runs if run.name != data["run"]), _run_in(data, state, reason))
        trials[number] = Trial(number, old.values, old.state, runs, old.started, old.ended, old.reason)
    else:
        runs = () if data.get("again") else old.runs
        trials[number] = Trial(number, old.values, state, runs, old.started, when if state in OVER else 0.0, reason)
    return number


def _run_in(data: Mapping[str, Any], state: str, reason: str) -> TrialRun:
    name, host, code = (_checked(data.get(key, ""), str) for key in ("run", "host", "code"))
    if not _RUN_NAME.fullmatch(name):
        raise ValueError(name)  # it names a folder
    scores = {key: number_in(from_json(value)) for key, value in _checked(data.get("scores", {}), dict).items()}
    finite_scores = {key: value for key, value in scores.items() if value is not None}
    seconds, epoch = _seconds(data, "seconds"), _checked(data.get("epoch", 0), int)
    return TrialRun(name, state, finite_scores, seconds, reason, epoch, host, code)


def _checked(value: Any, kind: type[T]) -> T:
    """Return a value of this kind. Raises `TypeError` for another one."""
    if type(value) is not kind:
        raise TypeError(type(value))
    return value


def _seconds(data: Mapping[str, Any], key: str) -> float:
    """Return a time; 0 where there is none, or one that is no time. Raises `TypeError` for another kind of value."""
    if (seconds := number_in(data.get(key, 0.0))) is None:
        raise TypeError(key)
    return seconds if 0 <= seconds < LONGEST_S else 0.0


def _tuples(value: Any) -> Any:
    """Return a value with tuples for lists. Raises `TypeError` for a type that no option has."""
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    is_number = isinstance(value, int | float)
    if not (isinstance(value, str | None) or (is_number and (abs(value) <= MOST_VALUE or abs(value) == math.inf))):
        raise TypeError(type(value))
    return value
