"""Event types of a run. Each event is a line of `events.jsonl` of at most 4 KiB.

A line is `{"n", "time", "kind", **fields}`: `n` counts from 1, without gaps until old points are thinned
(`netwright.engine.runs.thinning`), `time` is in seconds since the Unix epoch.
Non-finite numbers are written as the strings "NaN", "Infinity" and "-Infinity". The docstring of each type describes
all its fields, which a test verifies.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_origin, get_type_hints

from netwright.engine.core.errors import plural
from netwright.engine.core.finite_json import from_json, to_json

State = Literal["starting", "running", "paused", "stopping", "finished", "stopped", "failed", "lost"]
ENDS = ("finished", "stopped", "failed", "lost")
SPLIT_PRIORITY = ("validation", "test", "training")
"""Splits of the data, in the order in which their losses and metrics are shown."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base class of events. `n` and `time` are set by the log."""

    kind: ClassVar[str] = ""
    n: int = 0
    time: float = 0.0

    def write(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        body = {f.name: to_json(getattr(self, f.name)) for f in fields(self) if f.name not in ("n", "time")}
        return {"n": self.n, "time": self.time, "kind": self.kind, **body}


@dataclass(frozen=True, kw_only=True)
class Started(Event):
    """Training has started, or continues after a `resumed` event.

    `environment` is the execution environment as returned by `Placement.write()`, `hardware` its description. `epochs`
    and `iterations` are the planned totals, also after they were changed on request; `steps_per_epoch` is the number of
    iterations per epoch. `metric` is the name of the metric. `samples` is the number of samples per split, `parameters`
    the number of learnable parameters of the network. `sentence` explains the choice and use of the environment;
    `arithmetic` gives the global batch size, the batch size per worker, the steps per epoch and the learn rate.
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
    """The state of the run has changed to `state`. `reason` is an explanation, or empty."""

    kind: ClassVar[str] = "state"
    state: State
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Points(Event):
    """Points of curves. `values[name][i]` is the value at step `first_step` + i * `steps_apart` (steps count from 1).

    `split` is `training`, `validation` or `test`. Training points include `loss`, one value per step, averaged over the
    global batch; values that hooks report come as training points of their own, at some steps. The validation before
    the first step has step 0. Curves that do not fit in a line (some hundred) follow in further events with the same
    steps.
    """

    kind: ClassVar[str] = "points"
    split: str
    first_step: int
    steps_apart: int
    values: Mapping[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class ThinnedPoints(Event):
    """Old points of curves, thinned (`netwright.engine.runs.thinning`). Bucket i has `counts[i]` points of a `split`,
    from step `first_steps[i]` to `last_steps[i]`; n and time are those of its newest one. `curves[name]` has lists with
    an item per bucket: the `lowest` and the `highest` finite value and their steps (`lowest_steps`, `highest_steps`),
    the `mean` of the finite values, and the number of values that are `nonfinite`, with the step of the first of them
    (`nonfinite_steps`, 0 if there is none).
    """

    kind: ClassVar[str] = "thinned_points"
    split: str
    first_steps: list[int]
    last_steps: list[int]
    counts: list[int]
    curves: Mapping[str, Mapping[str, list[float]]]


CURVE_KEYS = ("lowest", "lowest_steps", "highest", "highest_steps", "mean", "nonfinite", "nonfinite_steps")


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """Progress of the run: `epoch` and `iteration` (both from 1), `elapsed_s` seconds of training and the expected
    remaining seconds `remaining_s`. `rate` is the learn rate, `samples_per_second` the throughput of all workers;
    `memory_bytes` is summed over workers (on a GPU: of the device), `utilisation` the share of processors, or of GPU
    time, that was busy since the previous event of this type. `data_share` and `communication_share` are the shares of
    step time since then that the first worker waited for data and for other workers. `flops_per_second` is what the
    layers compute per second, forward and backward, and `peak_share` its share of the measured peak of the devices
    (model FLOPs utilisation). Shares are in [0, 1], or NaN if not measured."""

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
    flops_per_second: float = math.nan
    peak_share: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Preparing(Event):
    """The first worker reads or measures data before it trains: `done` of `total` (0: unknown), counted in `unit`, such
    as `rows`. Written once per second at most, and not for what takes less."""

    kind: ClassVar[str] = "preparing"
    done: int
    total: int
    unit: str


@dataclass(frozen=True, kw_only=True)
class Health(Event):
    """Layer statistics after `iteration`, if watched. `layers` maps the path of ids of a layer to its gradient norm,
    the root mean square of its output, and the share of its units whose output is zero for all samples of the batch; -1
    for a statistic that does not exist. Layers that do not fit in a line follow in further events."""

    kind: ClassVar[str] = "health"
    iteration: int
    layers: Mapping[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class EpochEnded(Event):
    """`epoch` (from 1) is complete after `iteration`."""

    kind: ClassVar[str] = "epoch"
    epoch: int
    iteration: int


@dataclass(frozen=True, kw_only=True)
class Best(Event):
    """A new best network was found at `iteration` and saved. `objective` is the quantity that is compared on the
    validation split (`loss` or the metric), `value` its value there."""

    kind: ClassVar[str] = "best"
    iteration: int
    objective: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Checkpointed(Event):
    """A checkpoint of the training state after `iteration`, in `epoch`, is about to be renamed into `checkpoints/`: a
    run resumed from it continues after this event. Writing it took `seconds`."""

    kind: ClassVar[str] = "checkpoint"
    iteration: int
    epoch: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Resumed(Event):
    """The run is resumed from the checkpoint of `iteration` (0: from the beginning). `reason` is an explanation.
    Events after number `after` and before this one are superseded: points, epochs, the best network, the end.
    `restarts` is the number of automatic restarts of the run, `repeated` the number of iterations that were trained
    after the checkpoint and are repeated. A `started` event follows."""

    kind: ClassVar[str] = "resumed"
    iteration: int
    after: int
    reason: str
    restarts: int = 0
    repeated: int = 0

    @property
    def explanation(self) -> str:
        """The reason, and how much is repeated."""
        if self.repeated <= 0:
            return self.reason
        count = plural(self.repeated, "iteration")
        return f"{self.reason.removesuffix('.')}. {count} {'is' if self.repeated == 1 else 'are'} repeated."


@dataclass(frozen=True, kw_only=True)
class Requested(Event):
    """A request was carried out after `iteration`. `what` is `pause`, `release` (a paused run has released its memory:
    its workers have ended), `resume`, `stop`, `stop_after_epoch`, `checkpoint`, `validate`, `rate` (`value` is the new
    learn rate), `epochs` (`value` is the new number of epochs), `watch_gradient_norm` or `watch_layers` (`value` 1:
    on, 0: off)."""

    kind: ClassVar[str] = "request"
    what: str
    iteration: int
    value: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Refused(Event):
    """A request was refused after `iteration`. `reason` is an explanation; `what` is as in `request`."""

    kind: ClassVar[str] = "refused"
    what: str
    iteration: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Message(Event):
    """Message to the user with `severity` `note` or `warning` and its `text`."""

    kind: ClassVar[str] = "message"
    severity: Literal["note", "warning"]
    text: str


@dataclass(frozen=True, kw_only=True)
class SampleSkipped(Event):
    """A sample could not be read, and another one of its split stands in for it. `sample` is its file, or its number
    from 0; `reason` an explanation. One event per sample."""

    kind: ClassVar[str] = "sample_skipped"
    sample: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    """The run failed. `cause` is an explanation; `worker` the rank of the worker, or -1; `detail` the end of a
    traceback or log; `defect` is True for a defect of Netwright, False for a user error or a fault of the machine.
    `offer` is a setting with which the run may be resumed, such as `training.gradient_accumulation=2`, or empty.
    `code` tells causes apart, such as `out_of_memory`; empty in runs of older versions."""

    kind: ClassVar[str] = "failed"
    cause: str
    worker: int = -1
    detail: str = ""
    defect: bool = False
    offer: str = ""
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Ended(Event):
    """The run has ended (last event). `state` is finished, stopped or failed, `reason` an explanation and `result` the
    content of `result.json`."""

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
        ThinnedPoints,
        Progress,
        Preparing,
        Health,
        EpochEnded,
        Best,
        Checkpointed,
        Resumed,
        Requested,
        Refused,
        Message,
        SampleSkipped,
        Failed,
        Ended,
    )
}

SUPERSEDED = (Points, ThinnedPoints, Progress, Preparing, Health, EpochEnded, Best, Failed, Ended)
"""Event types that are superseded when the run is resumed from an earlier point."""


def standing(events: Iterable[Event]) -> list[Event]:
    """Return the events except those that a later `Resumed` event supersedes."""
    remaining: list[Event] = []
    after = math.inf
    for event in reversed(list(events)):
        if event.n <= after or not isinstance(event, SUPERSEDED):
            remaining.append(event)
        if isinstance(event, Resumed):
            after = min(after, event.after)
    return remaining[::-1]


def end_of_saved(events: Sequence[Event], iteration: int) -> int:
    """Return the number of the last event from before the checkpoint of an iteration.

    It is that of its own event, unless that came after points of later steps, as training went on while it was written.
    """
    own = max((e.n for e in events if isinstance(e, Checkpointed) and e.iteration == iteration), default=0)
    later = (e.n for e in standing(events) if isinstance(e, Points) and e.first_step > iteration and e.n < own)
    return min(later, default=own + 1) - 1


@dataclass(frozen=True, kw_only=True)
class UnknownEvent(Event):
    """Event of a kind unknown to this version. Readers skip it."""

    kind: ClassVar[str] = "unknown"
    body: Mapping[str, Any]


def read_event(data: Mapping[str, Any]) -> Event:
    """Return the event from its JSON object. An unknown kind, missing fields or invalid values (integers beyond 64
    bits, curves with values that are not numbers) give an `UnknownEvent`."""
    cls = KINDS.get(str(data.get("kind")))
    n, time = data.get("n", 0), data.get("time", 0.0)
    n, time = n if _is_count(n) and n >= 0 else 0, time if _is_time(time) else 0.0
    if cls is None:
        return UnknownEvent(n=n, time=time, body=data)
    kinds = _FORMS[cls]
    try:
        values = {
            key: value if kinds[key] == (str,) else from_json(value)
            for key, value in data.items()
            if key in kinds and key not in ("n", "time")
        }
        if not all(_fits(value, kinds[key]) for key, value in values.items()):
            return UnknownEvent(n=n, time=time, body=data)
        event = cls(n=n, time=time, **values)
    except TypeError:  # a field without a default is missing
        return UnknownEvent(n=n, time=time, body=data)
    return event if _is_sound(event) else UnknownEvent(n=n, time=time, body=data)


LARGEST = 2**63
"""Limit of integers. A foreign log may have numbers of thousands of digits, which cannot be converted to float."""
LATEST = 2.5e11
"""Limit of event times, in seconds since the Unix epoch (year 9892)."""


def _is_count(value: Any) -> bool:
    return type(value) is int and -LARGEST < value < LARGEST


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < LATEST


def _fits(value: Any, forms: tuple[type, ...]) -> bool:
    return isinstance(value, forms) and (not isinstance(value, int) or -LARGEST < value < LARGEST)


def _is_sound(event: Event) -> bool:
    """Return whether the nested values of an event have valid types and ranges."""
    if isinstance(event, Points):
        is_placed = event.split in SPLIT_PRIORITY and event.first_step >= 0 and event.steps_apart > 0
        return is_placed and all(map(_are_numbers, event.values.values()))
    if isinstance(event, ThinnedPoints):
        return event.split in SPLIT_PRIORITY and _are_buckets(event)
    if isinstance(event, Health):
        return all(statistics and _are_numbers(statistics) for statistics in event.layers.values())
    if isinstance(event, Started):
        return all(_is_count(count) for count in event.samples.values())
    return not isinstance(event, Requested) or math.isfinite(event.value)


def _are_buckets(points: ThinnedPoints) -> bool:
    """Return whether buckets follow each other, and all curves have numbers for each."""
    firsts, lasts, counts = points.first_steps, points.last_steps, points.counts
    if not all(_is_count(value) for value in (*firsts, *lasts, *counts)) or not len(firsts) == len(lasts) == len(
        counts
    ):
        return False
    steps = [-1, *(step for pair in zip(firsts, lasts, strict=True) for step in pair)]
    are_apart = all(a <= b for a, b in pairwise(steps)) and all(a < b for a, b in pairwise(firsts))
    are_full = all(0 < n <= b - a + 1 for a, b, n in zip(firsts, lasts, counts, strict=True))
    if not all(isinstance(curve, dict) for curve in points.curves.values()):
        return False
    lists = [curve.get(key) for curve in points.curves.values() for key in CURVE_KEYS]
    return (
        are_apart
        and are_full
        and all(values is not None and _are_numbers(values) and len(values) == len(counts) for values in lists)
    )


def _are_numbers(values: Any) -> bool:
    item_types = set(map(type, values)) if isinstance(values, list) else {list}
    if item_types <= {float}:
        return True
    return item_types <= {float, int} and all(_is_count(value) for value in values if type(value) is int)


def _form(annotation: Any) -> tuple[type, ...]:
    """Return the Python types that a field accepts, by its annotation."""
    forms: dict[Any, tuple[type, ...]] = {
        float: (float, int),
        int: (int,),
        bool: (bool,),
        str: (str,),
        list[int]: (list,),
    }
    if get_origin(annotation) is Literal:
        return (str,)
    return forms.get(annotation, (dict,))


_FORMS: dict[type[Event], dict[str, tuple[type, ...]]] = {
    cls: {name: _form(t) for name, t in get_type_hints(cls).items() if name != "kind"} for cls in KINDS.values()
}
