"""Table of the requests to an active run. Does not import torch.

A row defines the name of a request, its values, its senders, the states in which the window offers it, and its texts. A
request is a file in the run folder, such as `{"do": "set", "rate": 0.01}`. The commands of the command line, the menu
of the window and the numbers sent between workers are derived from the table; `netwright.engine.training.control`
carries requests out. To add a request, add a row here and its handling there.

All workers apply requests at the same step: the pending requests of the first worker are part of the all-reduce at a
report point.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from netwright.engine.core.errors import UserError
from netwright.engine.core.text import format_number
from netwright.engine.runs.events import Requested

LARGEST = 1e12
"""Limit of the numbers in a request, so that sums and products stay finite."""


@dataclass(frozen=True, kw_only=True)
class RequestField:
    """Value of a request. `what` names it in the events `request` and `refused`."""

    name: str
    what: str
    done: str
    """Words on the completed request, with the event's `value`: `learn rate {value}`."""
    help: str
    """Help of its option on the command line."""
    label: str = ""
    """Text of its entry in the window's menu; empty for a value that a dialog asks for."""
    tooltip: str = ""

    @property
    def option(self) -> str:
        """The option of the command line."""
        return f"--{self.name.replace('_', '-')}"

    def read(self, value: Any) -> float:
        """Return the value in a request as a number; 0 where it asks for nothing."""
        raise NotImplementedError

    def merge(self, before: float, value: float) -> float:
        """Return the combined value of two consecutive requests."""
        return value

    def done_by(self, value: float) -> str:
        """Return the action of the run on a value, in words with a placeholder for it."""
        return self.done

    def value_text(self, value: float) -> str:
        """Return the value alone, as a person types it."""
        return ""


@dataclass(frozen=True, kw_only=True)
class Flag(RequestField):
    """Something that a request asks for besides; 1 or absent."""

    def read(self, value: Any) -> float:
        return float(value in (1, True)) if type(value) in (int, float, bool) else 0.0


@dataclass(frozen=True, kw_only=True)
class Number(RequestField):
    """A number above 0. `is_factor`: several multiply; `is_whole`: at least 1, without a fraction."""

    metavar: str
    is_factor: bool = False
    is_whole: bool = False
    resets: str = ""
    """Field that this one cancels when it is set."""

    def read(self, value: Any) -> float:
        number = float(value) if type(value) in (int, float) and abs(value) < LARGEST else 0.0
        if self.is_whole:
            return float(int(number)) if number >= 1 else 0.0
        return number if number > 0 else 0.0

    def merge(self, before: float, value: float) -> float:
        return min(before * value, LARGEST) if self.is_factor and before else value

    def value_text(self, value: float) -> str:
        return f"{value:g}"

    def refuse_outside(self, value: float) -> None:
        """Raise `UserError` for an invalid number."""
        if not (self.read(value) and value < 1e9):
            raise UserError(f"{self.option} {value:g}: expected a number above 0, and below 1e9.")


@dataclass(frozen=True, kw_only=True)
class Switch(RequestField):
    """Something that a run does from now on or no longer; in a request 1 or 0, pending 1 or -1."""

    done_off: str

    def read(self, value: Any) -> float:
        return {1: 1.0, 0: -1.0}.get(value, 0.0) if type(value) in (int, float, bool) else 0.0

    def done_by(self, value: float) -> str:
        return self.done if value > 0 else self.done_off

    def value_text(self, value: float) -> str:
        return "on" if value > 0 else "off"


@dataclass(frozen=True, kw_only=True)
class RequestType:
    """One row of the table. `name` is the `do` of a request, and the `what` of its events where it has no values."""

    name: str
    asked_by: Literal["user", "coordinator", "worker"] = "user"
    """The coordinator asks the workers, a worker asks the others; only a user's requests come as files."""
    fields: tuple[RequestField, ...] = ()
    states: tuple[str, ...] = ("running", "paused")
    """States of a run in which the window offers the request."""
    needs_workers: bool = True
    """True if a run that has released its memory applies the request only after it resumes."""
    cancels: str = ""
    """Request that this one cancels."""
    done: str = ""
    """Words on the completed request."""
    label: str = ""
    tooltip: str = ""
    command: str = ""
    """Description of the command of this name on the command line; empty where it has none, or one of its own."""

    @property
    def has_values(self) -> bool:
        """Whether it asks for nothing unless one of its values is given."""
        return any(not isinstance(field, Flag) for field in self.fields)


REQUESTS = (
    RequestType(
        name="stop",
        states=("starting", "running", "paused"),
        done="stop requested",
        label="Stop",
        tooltip="Stop now; what was learned is kept",
    ),
    RequestType(
        name="stop_after_epoch",
        states=("starting", "running"),
        done="stop after this epoch requested",
        label="After epoch",
        tooltip="Stop when this epoch is complete",
    ),
    RequestType(
        name="pause",
        fields=(
            Flag(
                name="release",
                what="release",
                done="memory released",
                help="release all memory: the run waits as a checkpoint on disk, and resume starts its workers again",
                label="Pause and free memory",
                tooltip="The run waits as a checkpoint on disk: its processes end, Resume starts them again",
            ),
        ),
        states=("running",),
        needs_workers=False,
        cancels="resume",
        done="paused",
        label="Pause",
        tooltip="Pause the run where it is, without using the processor (⋯ frees its memory as well)",
        command="Pause a run where it is, without using the processor; `resume` continues it.",
    ),
    RequestType(
        name="resume",
        states=("paused",),
        needs_workers=False,
        cancels="pause",
        done="resumed",
        label="Resume",
        tooltip="Go on where the run is, from its last checkpoint",
    ),
    RequestType(
        name="checkpoint",
        needs_workers=False,
        done="checkpoint requested",
        label="Save a checkpoint",
        command="Save the complete state of a run now, so that it can be resumed from there.",
    ),
    RequestType(
        name="validate",
        done="validated",
        label="Validate now",
        command="Evaluate the network of a run on its validation data now.",
    ),
    RequestType(
        name="set",
        fields=(
            Number(
                name="rate",
                what="rate",
                done="learn rate {value}",
                help="the learn rate now; the schedule continues from there",
                metavar="R",
                resets="rate_factor",
            ),
            Number(
                name="rate_factor",
                what="rate",
                done="learn rate {value}",
                help="multiply the learn rate, and all that follow",
                metavar="F",
                is_factor=True,
            ),
            Number(
                name="epochs",
                what="epochs",
                done="{value} epochs",
                help="the total number of epochs of the run",
                metavar="N",
                is_whole=True,
            ),
        ),
        label="Change rate or epochs…",
        command="Change the learn rate or the number of epochs of a run while it trains.",
    ),
    RequestType(
        name="watch",
        fields=(
            Switch(
                name="gradient_norm",
                what="watch_gradient_norm",
                done="gradient norm watched",
                done_off="gradient norm no longer watched",
                help="record the norm of all gradients at every step",
                label="Watch the gradient norm",
                tooltip="The norm of all gradients at every step from now on, as a plot",
            ),
            Switch(
                name="layers",
                what="watch_layers",
                done="layers watched",
                done_off="layers no longer watched",
                help="record the gradient, output and dead units of each layer",
                label="Watch layers",
                tooltip="Gradient, output and dead units of each layer from now on, as marks on the canvas",
            ),
        ),
        command="Start or stop recording the gradient norm or layer statistics of a run. Training is not affected.",
    ),
    # The coordinator, of workers that wait and have offered to be ended: do nothing any more.
    RequestType(name="leave", asked_by="coordinator"),
    # The first worker, of all: a checkpoint is due; the time limit is reached.
    RequestType(name="save_now", asked_by="worker"),
    RequestType(name="time_is_up", asked_by="worker"),
)

BY_NAME = {row.name: row for row in REQUESTS}
FROM_USERS = tuple(row.name for row in REQUESTS if row.asked_by == "user")
WATCHABLE = tuple(field.name for field in BY_NAME["watch"].fields)
SLOTS = tuple(
    slot
    for row in REQUESTS
    for slot in (*(() if row.has_values else (row.name,)), *(f"{row.name}.{field.name}" for field in row.fields))
)
"""Slots of pending requests, in the order of the numbers: `stop`, `pause.release`, `set.rate`."""
_BY_WHAT: Mapping[str, RequestType | RequestField] = {
    **{row.name: row for row in REQUESTS},
    **{field.what: field for row in REQUESTS for field in row.fields},
}


@dataclass(frozen=True)
class PendingRequests:
    """Requests since the last report point, by slot."""

    values: Mapping[str, float]

    @classmethod
    def of(cls, *requests: Mapping[str, Any]) -> "PendingRequests":
        """Return the combination of the requests, in their order."""
        pending = NOTHING
        for request in requests:
            pending = pending.add(request)
        return pending

    def __contains__(self, slot: str) -> bool:
        return slot in self.values

    def __bool__(self) -> bool:
        return bool(self.values)

    def number(self, slot: str, default: float = 0.0) -> float:
        """Return the value of a slot."""
        return self.values.get(slot, default)

    def add(self, request: Mapping[str, Any]) -> "PendingRequests":
        """Return the pending requests with another one, given as the JSON of its file. Invalid parts are ignored."""
        name = request.get("do")
        row = BY_NAME.get(name) if isinstance(name, str) else None
        if row is None:
            return self
        values = {slot: value for slot, value in self.values.items() if slot.partition(".")[0] != row.cancels}
        if not row.has_values:
            values[row.name] = 1.0
        for field in row.fields:
            if value := field.read(request.get(field.name)):
                if isinstance(field, Number) and field.resets:
                    values.pop(f"{row.name}.{field.resets}", None)
                slot = f"{row.name}.{field.name}"
                values[slot] = field.merge(values.get(slot, 0.0), value)
        return PendingRequests({slot: value for slot, value in values.items() if value})

    def to_numbers(self) -> list[float]:
        """Return one number per slot, to all-reduce: those of all workers but the first are zero."""
        return [self.values.get(slot, 0.0) for slot in SLOTS]

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> "PendingRequests":
        """Return the pending requests from the output of `to_numbers`."""
        return cls({slot: number for slot, number in zip(SLOTS, numbers, strict=True) if number})


NOTHING = PendingRequests({})


def refuse_unknown(name: str) -> None:
    """Raise `UserError` for a request that users cannot make."""
    if name not in FROM_USERS:
        raise UserError(f"There is no request '{name}'; known are {', '.join(FROM_USERS)}.")


def done_text(event: Requested) -> str:
    """Return the action of the run on request: `paused`, `learn rate 0.002`; empty if unknown."""
    return done_template(event).format(value=format_number(event.value, 4))


def done_template(event: Requested) -> str:
    """Return the action of the run on request with a placeholder for the value: `learn rate {value}`."""
    row = _BY_WHAT.get(event.what)
    return row.done_by(event.value) if isinstance(row, RequestField) else row.done if row is not None else ""


def request_texts() -> Iterator[str]:
    """Yield the texts of the requests that the window shows."""
    for row in REQUESTS:
        yield from (row.label, row.tooltip, row.done)
        for field in row.fields:
            yield from (field.label, field.tooltip, field.done_by(1), field.done_by(-1))


def request_text(event: Requested) -> str:
    """Return the name of the request and its value: `checkpoint`, `rate 0.002`, `watch_layers on`."""
    row = _BY_WHAT.get(event.what)
    value = row.value_text(event.value) if isinstance(row, RequestField) else ""
    return f"{event.what} {value}".rstrip()


def answers_to(name: str, names: Iterable[str]) -> set[str]:
    """Return the `what` of each event that answers a request with these values."""
    return {field.what for field in BY_NAME[name].fields if field.name in names} or {name}
