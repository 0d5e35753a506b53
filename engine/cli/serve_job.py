"""Requests of operations as lines of JSON: the server must not fail for a line, whatever it holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from netwright.engine.core.dataclass_json import JsonShapeError, from_json
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import is_deeper
from netwright.engine.operations.operation import Operation, Request, operation

MOST_LEVELS = 64
LARGEST = 2**53
"""Largest whole number that all who write JSON can write exactly."""


@dataclass(frozen=True)
class Cancellation:
    """The request `cancel`, which the server answers itself: the id of another one."""

    id: Any = None
    only_waiting: bool = False


@dataclass(frozen=True)
class Job:
    """A request that was read. `fault` says what is wrong with it, as a sentence; empty for a sound one."""

    id: Any = None
    do: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    hosts: Mapping[str, int] = field(default_factory=dict)
    """Those that it may fetch data from, with numbers of files."""
    fault: str = ""

    def write(self) -> Mapping[str, Any]:
        """Return the request as a child process reads it."""
        return {"id": self.id, "do": self.do, "with": {**self.values, "hosts": self.hosts}}

    @cached_property
    def operation(self) -> Operation[Any, Any]:
        """The operation of a sound request. Raises `KeyError`."""
        if (declared := operation(self.do)) is None:
            raise KeyError(self.do)
        return declared

    @cached_property
    def request(self) -> Request:
        """What is asked, of a sound request. Raises `JsonShapeError`."""
        asked: Request = self.operation.read(self.values)
        return asked

    @property
    def subject(self) -> str:
        """What the request is about, for messages: `reading pets/`, `importing net.onnx`, or `the request devices`."""
        return self.request.subject or f"the request '{self.do}'"

    @property
    def key(self) -> str:
        """The data set or trained network that the request is about; empty for one that takes a process of its own."""
        return json.dumps(self.request.key) if self.request.key else ""

    @property
    def is_about_data(self) -> bool:
        """Whether its process reads a data set, from which runs may be forked."""
        return self.request.key[:1] == ("data",)

    def with_inventory(self, inventory: Mapping[str, Any] | None) -> "Job":
        """Return the request with the devices of this machine, where they are known."""
        return replace(self, values={**self.values, "inventory": inventory})


def read_job(line: bytes) -> Job:
    """Return the request of a line."""
    try:
        asked = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return Job(fault="The line is no JSON in UTF-8.")
    return job_of(asked)


def job_of(asked: Any) -> Job:
    """Return the request in JSON."""
    if not isinstance(asked, dict) or is_deeper(asked, MOST_LEVELS):
        return Job(fault=f"A request is an object of at most {MOST_LEVELS} levels with id, do and with.")
    id, do, values = asked.get("id"), asked.get("do"), asked.get("with")
    if id is not None and not isinstance(id, str) and not _is_number(id):
        return Job(fault=f"The id of a request is a number or a text; received {quoted(id)}.")
    if not isinstance(do, str) or not isinstance(values, dict | None):
        return Job(id, fault="A request has a text in do, and an object in with.")
    values = {name: value for name, value in (values or {}).items() if value is not None}
    hosts = values.pop("hosts", {})
    if not isinstance(hosts, dict) or not all(map(_is_number, hosts.values())):
        return Job(id, do, fault=f"The request {do} takes hosts with numbers of files; received {quoted(hosts)}.")
    job = Job(id, do, values, hosts)
    try:
        _ = from_json(Cancellation, values) if do == "cancel" else job.request
    except JsonShapeError as error:
        return replace(job, fault=f"The request {do}: {error}.")
    except KeyError:
        return replace(job, fault=f"There is no request '{do}'.")
    return job


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
