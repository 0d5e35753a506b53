"""Lines of the event log: one JSON object of at most `LINE_LIMIT_BYTES` each, and how events are split to fit."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from netwright.engine.runs.events import Event, Health, Points, read_event

LINE_LIMIT_BYTES = 4096
POINTS_ROOM_BYTES = LINE_LIMIT_BYTES - 256
"""Bytes for curves in a line of points, without number, time, kind, split and steps."""
VALUE_BYTES = 25
"""Maximum length of a number, such as -1.2345678901234567e-308, and a comma."""


def split_points(points: Points) -> Iterator[Points]:
    """Yield the points as events that each fit in a line of `LINE_LIMIT_BYTES`."""
    for names in _curves_of_a_line(list(points.values)):
        heads = sum(_head_bytes(name) for name in names)
        size = max(1, (POINTS_ROOM_BYTES - heads) // (VALUE_BYTES * len(names)))
        for start in range(0, max(len(points.values[name]) for name in names), size):
            part = {name: points.values[name][start : start + size] for name in names}
            first = points.first_step + start * points.steps_apart
            yield Points(split=points.split, first_step=first, steps_apart=points.steps_apart, values=part)


def _head_bytes(name: str) -> int:
    """Return the size in bytes of the name of a curve and its punctuation."""
    return len(json.dumps(name)) + 4


def _curves_of_a_line(names: list[str]) -> Iterator[list[str]]:
    """Yield groups of curves that fit in a line with at least one value per curve."""
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
    """Yield the layer statistics as events that each fit in a line of `LINE_LIMIT_BYTES`."""
    part: dict[str, list[float]] = {}
    room = POINTS_ROOM_BYTES
    for id, statistics in health.layers.items():
        needed = _head_bytes(id) + VALUE_BYTES * len(statistics)
        if part and needed > room:
            yield Health(iteration=health.iteration, layers=part)
            part, room = {}, POINTS_ROOM_BYTES
        part[id] = statistics
        room -= needed
    if part:
        yield Health(iteration=health.iteration, layers=part)


def line_of(event: Event) -> bytes:
    """Return the encoded line of an event. A text too long for a line loses its middle.

    Raises `ValueError` if that does not help.
    """
    body = event.write()
    line = _encoded(body)
    while len(line) > LINE_LIMIT_BYTES:
        name = max((key for key, value in body.items() if isinstance(value, str)), key=lambda key: len(body[key]))
        text = body[name]
        if len(text) < 64:
            raise ValueError(f"An event of kind {body['kind']} has {len(line)} bytes; the limit is {LINE_LIMIT_BYTES}.")
        part = len(text) * 2 // 5
        body = {**body, name: f"{text[:part]} ... {text[-part:]}"}
        line = _encoded(body)
    return line


def _encoded(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")  # lone surrogates become JSON escapes


def event_in(line: bytes) -> Event | None:
    """Parse a line of the log. Returns None if it is damaged."""
    with contextlib.suppress(ValueError, RecursionError, AttributeError):
        return read_event(json.loads(line))
    return None
