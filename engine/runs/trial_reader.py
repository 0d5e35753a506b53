"""Reading of trials for a table while they train: new lines of the log, curves in a few points, and progress."""

import os
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from netwright.engine.core.files import open_file
from netwright.engine.runs.events import Points, Resumed, Started, ThinnedPoints
from netwright.engine.runs.experiments import ExperimentFolder
from netwright.engine.runs.log_lines import event_in
from netwright.engine.runs.summary import last_events
from netwright.engine.runs.trial_log import Trial, damage_text, take_lines

READ_BYTES = 2**17
"""Bytes of the log of trials that are read at a time, which takes some 10 ms."""
CURVE_POINTS = 48
HEAD_BYTES = 2**14
CURVE_LIMIT_BYTES = 2**24


class TrialsReader:
    """Reads the log of trials of an experiment a part at a time, and then appended lines."""

    def __init__(self, folder: ExperimentFolder) -> None:
        self._path = folder.trials
        self._offset = 0
        self.trials: dict[int, Trial] = {}
        self._damaged = 0

    def read(self, limit_bytes: int = READ_BYTES) -> bool:
        """Read on, up to a number of bytes. Return whether trials have changed. Raises `OSError`."""
        with open_file(self._path) as file:
            if os.fstat(file.fileno()).st_size < self._offset:  # another log has taken its place
                self._offset, self.trials, self._damaged = 0, {}, 0
            file.seek(self._offset)
            content = file.read(limit_bytes)
            whole, newline, _ = content.rpartition(b"\n")
            if not newline and len(content) == limit_bytes:  # one very long line
                content += file.readline()
                whole, newline, _ = content.rpartition(b"\n")
        self._offset += len(whole) + len(newline)
        reading = take_lines(self.trials, whole.split(b"\n") if newline else ())
        self._damaged += reading.damaged
        return any(reading)

    @property
    def damage(self) -> str:
        """That lines of the log are damaged; empty where none is."""
        return damage_text(self._path, self._damaged)

    @property
    def is_behind(self) -> bool:
        """Whether there is more to read."""
        try:
            return self._path.stat().st_size > self._offset
        except OSError:
            return False


@dataclass(frozen=True)
class Live:
    """How far a run has come: the share of its iterations, from 0 to 1, its time in seconds, and the time that it is
    expected to need yet."""

    share: float = 0.0
    elapsed_s: float = 0.0
    remaining_s: float = 0.0

    def write(self) -> list[float]:
        """Return the numbers as JSON."""
        return [self.share, self.elapsed_s, self.remaining_s]


def read_live(run: Path) -> Live:
    """Return the progress of a run. Raises `OSError`."""
    started, progress = last_events(run)
    if progress is None:
        return Live()
    if started is None:
        started = _first_start(run)
    total = started.iterations if started is not None else 0
    share = min(1.0, progress.iteration / total) if total else 0.0
    return Live(share, progress.elapsed_s, progress.remaining_s)


def _first_start(run: Path) -> Started | None:
    """Return the first `started` event of a run whose log is long."""
    with open_file(run / "events.jsonl") as file:
        lines = file.read(HEAD_BYTES).split(b"\n")[:-1]
    events = (event_in(line) for line in lines if b'"kind":"started"' in line)
    return next((event for event in events if isinstance(event, Started)), None)


@dataclass
class _Collected:
    """Points of one curve: value by step."""

    values: dict[int, float] = field(default_factory=dict)

    def take(self, event: Any, split: str, name: str) -> None:
        """Take the points of an event, or go back to where a run was resumed."""
        if isinstance(event, Resumed):
            self.values = {step: value for step, value in self.values.items() if step <= event.iteration}
        elif isinstance(event, Points) and event.split == split:
            for number, value in enumerate(event.values.get(name, ())):
                self.values[event.first_step + number * event.steps_apart] = float(value)
        elif isinstance(event, ThinnedPoints) and event.split == split and name in event.curves:
            for step, value in zip(event.last_steps, event.curves[name].get("mean", ()), strict=False):
                self.values[int(step)] = float(value)


def read_curve(run: Path, score: str) -> list[float]:
    """Return the curve of a loss or metric such as `validation.loss` in at most `CURVE_POINTS` values, evenly apart:
    means of as many steps. Empty where the run has no such curve. Raises `OSError`."""
    split, _, name = score.partition(".")
    parts = (f'"split":"{split}"'.encode(), b'"kind":"resumed"')
    collected = _Collected()
    with open_file(run / "events.jsonl") as file:
        for line in file.read(CURVE_LIMIT_BYTES).split(b"\n")[:-1]:
            if any(part in line for part in parts) and (event := event_in(line)) is not None:
                collected.take(event, split, name)
    values = [collected.values[step] for step in sorted(collected.values)]
    if len(values) <= CURVE_POINTS:
        return values
    ends = [round(number * len(values) / CURVE_POINTS) for number in range(CURVE_POINTS + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(ends)]
