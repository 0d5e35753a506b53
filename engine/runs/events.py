"""Every kind of event of a run, in one place. One event is one line of `events.jsonl`, at most 4 KiB.

A line is `{"n", "time", "kind", **fields}`: numbered from 1 without a gap, time in seconds since the epoch.
Numbers that are not finite are the strings "NaN", "Infinity" and "-Infinity". The docstring of each kind names every
field of it; a test sees to that.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, get_origin, get_type_hints

LINE_LIMIT_BYTES = 4096

State = Literal["starting", "running", "paused", "stopping", "finished", "stopped", "failed", "lost"]
ENDS = ("finished", "stopped", "failed", "lost")
SPLIT_PRIORITY = ("validation", "test", "training")
"""The splits of the data, in the order in which their figures are shown."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all kinds. `n` and `time` are given by the log."""

    kind: ClassVar[str] = ""
    n: int = 0
    time: float = 0.0

    def write(self) -> dict[str, Any]:
        """The event as JSON."""
        body = {f.name: to_json(getattr(self, f.name)) for f in fields(self) if f.name not in ("n", "time")}
        return {"n": self.n, "time": self.time, "kind": self.kind, **body}


@dataclass(frozen=True, kw_only=True)
class Started(Event):
    """Training begins.

    `environment` is what is used: `Placement.write()`; `hardware` says it in words. `epochs` and `iterations` are the
    totals that are planned, `steps_per_epoch` the iterations of one epoch. `metric` is its name. `samples`
    counts the samples of each split, `parameters` the learnable numbers of the network. `sentence` says why and how the
    environment is used, `arithmetic` the batch over all workers and of one, the steps of an epoch and the rate.
    """

    kind: ClassVar[str] = "started"
    environment: Mapping[str, Any]
    hardware: str
    epochs: int
    iterations: int
    steps_per_epoch: int
    metric: str
    samples: Mapping[str, int]
    parameters: int
    sentence: str = ""
    arithmetic: str = ""


@dataclass(frozen=True, kw_only=True)
class StateChanged(Event):
    """The run is in another `state`. `reason` says why, in words, where there is something to say."""

    kind: ClassVar[str] = "state"
    state: State
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Points(Event):
    """A batch of points of each curve. `values[name][i]` belongs to step `first_step` + i * `steps_apart` (from 1).

    `split` is `training`, `validation` or `test`. Training points always carry `loss`, one value a step, averaged over
    the global batch. The validation before the first step has step 0. More curves than a line holds (some hundred) go
    on in further events with the same steps.
    """

    kind: ClassVar[str] = "points"
    split: str
    first_step: int
    steps_apart: int
    values: Mapping[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """Where the run is: in `epoch` and `iteration` (both from 1), after `elapsed_s` seconds of training with
    `remaining_s` expected. `rate` is the learn rate, `samples_per_second` the speed over all workers; `memory_bytes` is
    summed over workers (on a GPU: of the device), `utilisation` the share of the processors, or of the GPUs' time, that
    was busy since the last such event. `data_share` and `communication_share` are how much of the time of the steps
    since then the first worker waited for data and for other workers. Shares are 0 to 1; NaN where they are not
    measured."""

    kind: ClassVar[str] = "progress"
    epoch: int
    iteration: int
    elapsed_s: float
    remaining_s: float
    rate: float
    samples_per_second: float
    memory_bytes: int
    utilisation: float = math.nan
    data_share: float = math.nan
    communication_share: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Health(Event):
    """How the layers are after this `iteration`, where that is watched. `layers` has for each, by its path of ids, the
    norm of its gradient, the root mean square of its output, and the share of its units that gave zero for every
    sample of the batch; -1 where there is no such figure. More layers than a line holds follow in further events."""

    kind: ClassVar[str] = "health"
    iteration: int
    layers: Mapping[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class EpochEnded(Event):
    """The `epoch` (from 1) is complete after this `iteration`."""

    kind: ClassVar[str] = "epoch"
    epoch: int
    iteration: int


@dataclass(frozen=True, kw_only=True)
class Best(Event):
    """A better network than before was found at this `iteration` and kept. `objective` is what it goes by on the
    validation split (`loss`, or the metric), `value` what it reached there."""

    kind: ClassVar[str] = "best"
    iteration: int
    objective: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Checkpointed(Event):
    """The complete state of training after this `iteration`, in this `epoch`, is about to stand in `checkpoints/`: a
    run that goes on from there goes on after this event. It took `seconds`."""

    kind: ClassVar[str] = "checkpoint"
    iteration: int
    epoch: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Resumed(Event):
    """The run goes on from the checkpoint after `iteration` (0: from the beginning), for the `reason` given in words.
    What was logged after the event number `after` and before this one is superseded: points, epochs, what was best, how
    it ended. `restarts` counts how often the run has gone on by itself. A `started` event follows."""

    kind: ClassVar[str] = "resumed"
    iteration: int
    after: int
    reason: str
    restarts: int = 0


@dataclass(frozen=True, kw_only=True)
class Requested(Event):
    """What was asked for was done after this `iteration`. `what` is `pause`, `release` (a paused run has given back its
    memory: its workers have ended), `resume`, `stop`, `stop_after_epoch`, `checkpoint`, `validate`, `rate` (the new
    learn rate is `value`), `epochs` (`value` is how many the run has now), `watch_gradient_norm` or `watch_layers`
    (`value` 1: from now on, 0: no more)."""

    kind: ClassVar[str] = "request"
    what: str
    iteration: int
    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Refused(Event):
    """What was asked for was not done, for the `reason` given in words, after this `iteration`. `what` is as in
    `request`."""

    kind: ClassVar[str] = "refused"
    what: str
    iteration: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Message(Event):
    """Something a person should know: `severity` is `note` or `warning`, `text` says it."""

    kind: ClassVar[str] = "message"
    severity: Literal["note", "warning"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    """The run failed. `cause` says why in words; `worker` is its rank or -1; `detail` is the end of a traceback or log;
    `defect` tells a defect of ours from a user's mistake or the machine's. `offer` is a setting with which the run may
    go on, such as `training.gradient_accumulation=2`, where there is one."""

    kind: ClassVar[str] = "failed"
    cause: str
    worker: int = -1
    detail: str = ""
    defect: bool = False
    offer: str = ""


@dataclass(frozen=True, kw_only=True)
class Ended(Event):
    """The last event. `state` is how it ended (finished, stopped, failed), `reason` why, in words, and `result` what
    `result.json` holds."""

    kind: ClassVar[str] = "ended"
    state: State
    reason: str
    result: Mapping[str, Any]


KINDS: dict[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        Started,
        StateChanged,
        Points,
        Progress,
        Health,
        EpochEnded,
        Best,
        Checkpointed,
        Resumed,
        Requested,
        Refused,
        Message,
        Failed,
        Ended,
    )
}

SUPERSEDED = (Points, Progress, Health, EpochEnded, Best, Failed, Ended)
"""The kinds that no longer hold where the run went on from before them."""


def standing(events: Iterable[Event]) -> list[Event]:
    """The events without what was superseded later."""
    found: list[Event] = []
    after = math.inf
    for event in reversed(list(events)):
        if event.n <= after or not isinstance(event, SUPERSEDED):
            found.append(event)
        if isinstance(event, Resumed):
            after = min(after, event.after)
    return found[::-1]


@dataclass(frozen=True, kw_only=True)
class UnknownEvent(Event):
    """An event of a kind that this version does not know: readers pass over it."""

    kind: ClassVar[str] = "unknown"
    body: Mapping[str, Any]


def read_event(data: Mapping[str, Any]) -> Event:
    """The event from its JSON. A kind or a set of fields that is not known gives an `UnknownEvent`, as do values that
    no run writes: numbers beyond 64 bits, curves of something else than numbers."""
    cls = KINDS.get(str(data.get("kind")))
    n, time = data.get("n", 0), data.get("time", 0.0)
    n, time = n if _is_count(n) and n >= 0 else 0, time if _is_time(time) else 0.0
    if cls is None:
        return UnknownEvent(n=n, time=time, body=data)
    kinds = _FORMS[cls]
    try:
        given = {
            key: value if kinds[key] == (str,) else from_json(value)
            for key, value in data.items()
            if key in kinds and key not in ("n", "time")
        }
        if not all(_fits(value, kinds[key]) for key, value in given.items()):
            return UnknownEvent(n=n, time=time, body=data)
        event = cls(n=n, time=time, **given)
    except TypeError:  # a field without a default is missing
        return UnknownEvent(n=n, time=time, body=data)
    return event if _is_sound(event) else UnknownEvent(n=n, time=time, body=data)


LARGEST = 2**63
"""No number of a run is larger; a stranger's may have thousands of digits, which have no place in a float."""
LATEST = 2.5e11
"""The year 9892: what lies behind is no time."""


def _is_count(value: Any) -> bool:
    return type(value) is int and -LARGEST < value < LARGEST


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < LATEST


def _fits(value: Any, forms: tuple[type, ...]) -> bool:
    return isinstance(value, forms) and (not isinstance(value, int) or -LARGEST < value < LARGEST)


def _is_sound(event: Event) -> bool:
    """Whether the inner values of an event are what readers take them for."""
    if isinstance(event, Points):
        is_placed = event.split in SPLIT_PRIORITY and event.first_step >= 0 and event.steps_apart > 0
        return is_placed and all(map(_are_numbers, event.values.values()))
    if isinstance(event, Health):
        return all(figures and _are_numbers(figures) for figures in event.layers.values())
    if isinstance(event, Started):
        return all(_is_count(count) for count in event.samples.values())
    return not isinstance(event, Requested) or math.isfinite(event.value)


def _are_numbers(values: Any) -> bool:
    types = set(map(type, values)) if isinstance(values, list) else {list}
    if types <= {float}:
        return True
    return types <= {float, int} and all(_is_count(value) for value in values if type(value) is int)


def _form(annotation: Any) -> tuple[type, ...]:
    """What values of a field look like in Python, by its declared type."""
    forms: dict[Any, tuple[type, ...]] = {float: (float, int), int: (int,), bool: (bool,), str: (str,)}
    if get_origin(annotation) is Literal:
        return (str,)
    return forms.get(annotation, (dict,))


_FORMS: dict[type[Event], dict[str, tuple[type, ...]]] = {
    cls: {name: _form(t) for name, t in get_type_hints(cls).items() if name != "kind"} for cls in KINDS.values()
}

POINTS_ROOM_BYTES = LINE_LIMIT_BYTES - 256
"""What a line of points has for curves, beside number, time, kind, split and steps."""
VALUE_BYTES = 25
"""The longest number, such as -1.2345678901234567e-308, and a comma."""


def split_points(points: Points) -> Iterator[Points]:
    """The same points as several events that each stay below the limit of a line."""
    for names in _curves_of_a_line(list(points.values)):
        heads = sum(_head_bytes(name) for name in names)
        size = max(1, (POINTS_ROOM_BYTES - heads) // (VALUE_BYTES * len(names)))
        for start in range(0, max(len(points.values[name]) for name in names), size):
            part = {name: points.values[name][start : start + size] for name in names}
            first = points.first_step + start * points.steps_apart
            yield Points(split=points.split, first_step=first, steps_apart=points.steps_apart, values=part)


def _head_bytes(name: str) -> int:
    """The name of a curve and its brackets."""
    return len(json.dumps(name)) + 4


def _curves_of_a_line(names: list[str]) -> Iterator[list[str]]:
    """The curves in groups, of which each has room in one line with at least one value a curve."""
    group: list[str] = []
    room = POINTS_ROOM_BYTES
    for name in names:
        needed = _head_bytes(name) + VALUE_BYTES
        if group and needed > room:
            yield group
            group, room = [], POINTS_ROOM_BYTES
        group.append(name)
        room -= needed
    if group:
        yield group


def split_health(health: Health) -> Iterator[Health]:
    """The same figures as several events that each stay below the limit of a line."""
    part: dict[str, list[float]] = {}
    room = POINTS_ROOM_BYTES
    for id, figures in health.layers.items():
        needed = _head_bytes(id) + VALUE_BYTES * len(figures)
        if part and needed > room:
            yield Health(iteration=health.iteration, layers=part)
            part, room = {}, POINTS_ROOM_BYTES
        part[id] = figures
        room -= needed
    if part:
        yield Health(iteration=health.iteration, layers=part)


_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(value: Any) -> Any:
    """The value with numbers that are not finite as strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        is_curve = set(map(type, value)) == {float} and math.isfinite(sum(value))  # the points of thousands of steps
        return list(value) if is_curve else [to_json(item) for item in value]
    return value


def from_json(value: Any) -> Any:
    """The value with the strings of `to_json` as numbers again."""
    if isinstance(value, str):
        return _NON_FINITE.get(value, value)
    if isinstance(value, dict):
        return {key: from_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_json(item) for item in value]
    return value
