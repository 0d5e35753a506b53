"""Positions, frames and comments as JSON."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from engine.errors import FieldError, did_you_mean
from engine.fields import path_part, quoted
from engine.network.layout import (
    COUNT_LIMIT,
    TEXT_LIMIT,
    TITLE_LIMIT,
    TONES,
    Comment,
    Extent,
    Frame,
    Position,
    Tone,
    numbers,
)

FRAME_KEYS = ("id", "at", "size", "title", "tone")
COMMENT_KEYS = ("id", "at", "size", "text", "tone")
FURTHEST = 1e7

Annotation = TypeVar("Annotation", Frame, Comment)


def read_frames(where: str, data: object, *, keep_unknown: bool = False) -> tuple[Frame, ...]:
    """The frames. Raises `FieldError`."""

    def read(where: str, row: Mapping[str, Any]) -> Frame:
        title = _text(f"{where}.title", row.get("title", ""), TITLE_LIMIT)
        return Frame(
            *_place(where, row), title, _tone(where, row, "grey"), _unknown(where, row, FRAME_KEYS, keep_unknown)
        )

    return _rows(where, data, read)


def read_comments(where: str, data: object, *, keep_unknown: bool = False) -> tuple[Comment, ...]:
    """The comments. Raises `FieldError`."""

    def read(where: str, row: Mapping[str, Any]) -> Comment:
        text = _text(f"{where}.text", row.get("text", ""), TEXT_LIMIT)
        return Comment(
            *_place(where, row), text, _tone(where, row, "yellow"), _unknown(where, row, COMMENT_KEYS, keep_unknown)
        )

    return _rows(where, data, read)


def write_frame(frame: Frame) -> dict[str, Any]:
    """The frame as a row of the file."""
    row = {"id": frame.id, "at": numbers(frame.at), "size": numbers(frame.size), "title": frame.title}
    return {**row, "tone": frame.tone, **frame.unknown}


def write_comment(comment: Comment) -> dict[str, Any]:
    """The comment as a row of the file."""
    row = {"id": comment.id, "at": numbers(comment.at), "size": numbers(comment.size), "text": comment.text}
    return {**row, "tone": comment.tone, **comment.unknown}


def read_position(where: str, value: object) -> Position:
    """A point of the canvas. Raises `FieldError`."""
    match value:
        case [int() | float() as x, int() | float() as y] if abs(x) <= FURTHEST and abs(y) <= FURTHEST:
            if not isinstance(x, bool) and not isinstance(y, bool):
                return round(float(x), 2), round(float(y), 2)
    raise FieldError(where, f"expected [x, y] within ±10,000,000, received {quoted(value)}.")


def _rows(where: str, data: object, read: Callable[[str, Mapping[str, Any]], Annotation]) -> tuple[Annotation, ...]:
    if not isinstance(data, list) or len(data) > COUNT_LIMIT:
        received = f"{len(data):,} entries" if isinstance(data, list) else quoted(data)
        raise FieldError(where, f"expected a list of at most {COUNT_LIMIT:,} entries, received {received}.")
    found: dict[str, Annotation] = {}
    for index, row in enumerate(data):
        at = f"{where}[{index}]"
        if not isinstance(row, dict):
            raise FieldError(at, f"expected an object, received {quoted(row)}.")
        annotation = read(at, row)
        if annotation.id in found:
            raise FieldError(f"{at}.id", f"the id {quoted(annotation.id)} is already taken.")
        found[annotation.id] = annotation
    return tuple(found.values())


def _unknown(where: str, row: Mapping[str, Any], known: tuple[str, ...], keep: bool) -> Mapping[str, Any]:
    """What a newer version wrote here. In a file of our own version it is an error."""
    unknown = {key: value for key, value in row.items() if key not in known}
    for key in unknown if not keep else ():
        raise FieldError(f"{where}.{path_part(key)}", f"there is no such key.{did_you_mean(key, known)}")
    return unknown


def _place(where: str, row: Mapping[str, Any]) -> tuple[str, Position, Extent]:
    id = row.get("id")
    if not isinstance(id, str) or not 0 < len(id) <= 64 or not id.isprintable():
        raise FieldError(f"{where}.id", f"expected a text of 1 to 64 characters, received {quoted(id)}.")
    size = read_position(f"{where}.size", row.get("size"))
    if min(size) <= 0:
        raise FieldError(f"{where}.size", f"expected a width and a height above 0, received {quoted(row['size'])}.")
    return id, read_position(f"{where}.at", row.get("at")), size


def _text(where: str, value: object, limit: int) -> str:
    if isinstance(value, str) and len(value) <= limit:
        return value
    received = f"{len(value):,} characters" if isinstance(value, str) else quoted(value)
    raise FieldError(where, f"expected a text of at most {limit:,} characters, received {received}.")


def _tone(where: str, row: Mapping[str, Any], default: Tone) -> Tone:
    value = row.get("tone", default)
    for tone in TONES:
        if tone == value:
            return tone
    raise FieldError(f"{where}.tone", f"expected one of {', '.join(TONES)}, received {quoted(value)}.")
