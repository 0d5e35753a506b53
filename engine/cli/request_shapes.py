"""The shapes of the requests that `serve` takes: the server must not fail for a line, whatever it holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netwright.engine.core.dataclass_json import JsonShapeError, is_path
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import is_deeper
from netwright.engine.operations.operation import operation

MOST_LEVELS = 64
LARGEST = 2**53
"""Largest whole number that all who write JSON can write exactly."""
TEXT, PATH, FLAG, NUMBER, OBJECT, LIST = "a text", "a path", "true or false", "a whole number", "an object", "a list"
HOSTS = "hosts with numbers of files"
_ALONE: Mapping[str, str] = {}
_DATA = {"data": OBJECT, "base": PATH}
_ALLOWED = {"hosts": HOSTS}
_OF_RUN = {"split": TEXT, "weights": TEXT, "source": TEXT}


@dataclass(frozen=True)
class Shape:
    """What a request is asked with: the values that it needs, and those that it may have, each with its kind."""

    needed: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, str] = field(default_factory=dict)


SHAPES: Mapping[str, Shape] = {
    "facts": Shape(_DATA, _ALLOWED),
    "guess": Shape({"path": PATH}),
    "preview": Shape({**_DATA, "folder": PATH}, {**_ALLOWED, "count": NUMBER, "training": OBJECT, "epoch": NUMBER}),
    "first_samples": Shape({**_DATA, "folder": PATH}, {**_ALLOWED, "count": NUMBER}),
    "check_data": Shape(_DATA, {**_ALLOWED, "labels": FLAG}),
    "data_changes": Shape({"run_dir": PATH}),
    "samples": Shape({"path": PATH, "folder": PATH}, _OF_RUN),
    "predictor": Shape({"path": PATH}, {"weights": TEXT, "pixels": TEXT, "classes": LIST}),
    "import": Shape(
        {"path": PATH, "to": PATH},
        {
            "sizes": OBJECT,
            "replaces": FLAG,
            "compares": FLAG,
            "class": TEXT,
            "inputs": LIST,
            "arguments": TEXT,
            "time_limit": NUMBER,
        },
    ),
    "weights": Shape({"project": TEXT, "base": PATH}),
    "fetch_weights": Shape({"name": TEXT}),
    "inventory": Shape(),
    "train": Shape(
        {"project": TEXT}, {**_ALLOWED, "project_path": PATH, "run_dir": PATH, "data": OBJECT, "base": PATH}
    ),
    "resume": Shape({"run_dir": PATH}, {"settings": LIST, "allow_changed_data": FLAG}),
    "alive": Shape(_ALONE, {"project_path": PATH, "project_id": TEXT}),
    "cancel": Shape(_ALONE, {"only_waiting": FLAG}),
}
"""The requests that are no operations; `None` stands for a value that is left out. What is in objects and lists, their
readers check."""


@dataclass(frozen=True)
class Request:
    """A line that was read. `fault` says what is wrong with it, as a sentence; empty for a sound one."""

    id: int | str | None = None
    do: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""

    def write(self) -> dict[str, Any]:
        """Return the request as a child process reads it."""
        return {"id": self.id, "do": self.do, "with": dict(self.values)}


def read_request(line: bytes) -> Request:
    """Return the request of a line."""
    try:
        asked = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return Request(fault="The line is no JSON in UTF-8.")
    if not isinstance(asked, dict) or is_deeper(asked, MOST_LEVELS):
        return Request(fault=f"A request is an object of at most {MOST_LEVELS} levels with id, do and with.")
    id, do, values = asked.get("id"), asked.get("do"), asked.get("with")
    if id is not None and not isinstance(id, str) and not _is_number(id):
        return Request(fault=f"The id of a request is a number or a text; received {quoted(id)}.")
    if not isinstance(do, str) or not isinstance(values, dict | None):
        return Request(id, fault="A request has a text in do, and an object in with.")
    values = {name: value for name, value in (values or {}).items() if value is not None}
    return Request(id, do, values, fault=_fault(do, values))


def _fault(do: str, values: Mapping[str, Any]) -> str:
    """Return what is wrong with the values of a request; empty where nothing is, and for a request without a shape."""
    if (declared := operation(do)) is not None:
        if not _fits(values.get("hosts", {}), HOSTS):
            return f"The request {do} takes {HOSTS} for hosts; received {quoted(values['hosts'])}."
        try:
            declared.read({name: value for name, value in values.items() if name != "hosts"})
        except JsonShapeError as error:
            return f"The request {do}: {error}."
        return ""
    shape = SHAPES.get(do, Shape())
    for name, kind in {**shape.needed, **shape.more}.items():
        if name not in values:
            if name in shape.needed:
                return f"The request {do} needs {name}, {kind}."
        elif not _fits(values[name], kind):
            return f"The request {do} takes {kind} for {name}; received {quoted(values[name])}."
    return ""


def _fits(value: Any, kind: str) -> bool:
    match kind:
        case "a text":
            return isinstance(value, str)
        case "a path":
            return isinstance(value, str) and is_path(value)
        case "true or false":
            return isinstance(value, bool)
        case "a whole number":
            return _is_number(value)
        case "an object":
            return isinstance(value, dict)
        case "a list":
            return isinstance(value, list)
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
