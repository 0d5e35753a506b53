"""Frozen dataclasses as JSON, read back by the types of their fields."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from netwright.engine.core.errors import did_you_mean
from netwright.engine.core.fields import quoted


class JsonShapeError(ValueError):
    """A value of the wrong shape, with its path in the record."""


def to_json(value: Any) -> Any:
    """Return a dataclass, or a value in one, as JSON; fields equal to their default, and those that the class names in
    `unwritten`, are left out."""
    if isinstance(value, tuple | list | Iterator):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {name: to_json(item) for name, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    if not is_dataclass(value):
        return value
    record = {}
    for field in fields(value):
        item, default = getattr(value, field.name), _default(field)
        if field.name not in getattr(value, "unwritten", ()) and (default is MISSING or item != default):
            record[field.name] = to_json(item)
    return record


def _default(field: Field[Any]) -> Any:
    """Return the default of a field; `MISSING` where it has none."""
    return field.default if field.default_factory is MISSING else field.default_factory()


@cache
def _types(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def from_json(kind: Any, value: Any, where: str = "") -> Any:
    """Return a value of a type from JSON: a dataclass, `str`, `int`, `float`, `bool`, `Path`, `Literal`, a tuple of one
    of them of any length, a mapping from texts to any JSON, `Any`, or a union of a text, a number and None. `where` is
    its path, for messages. Raises `JsonShapeError`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _read_record(kind, value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise JsonShapeError(f"{where}: expected a list, received {quoted(value)}")
        return tuple(from_json(arguments[0], item, f"{where}[{place}]") for place, item in enumerate(value))
    if origin in (Union, UnionType):
        if value is None and NoneType in arguments:
            return None
        choices = [option for option in arguments if option is not NoneType]
        fitting = str if isinstance(value, str) and str in choices else choices[0]
        return from_json(fitting, value, where)
    if origin is Literal:
        if not isinstance(value, str) or value not in arguments:
            options = ", ".join(quoted(option) for option in arguments)
            raise JsonShapeError(f"{where}: expected one of {options}, received {quoted(value)}")
        return value
    if kind is Any or (origin is Mapping and isinstance(value, dict)):
        return value
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value):
        return float(value)
    if kind in (str, int, bool) and type(value) is kind:
        return value
    if kind is Path and isinstance(value, str) and is_path(value):
        return Path(value)
    noun = _NOUNS[origin or kind]
    raise JsonShapeError(f"{where}: expected {noun}, received {quoted(value)}")


_NOUNS: Mapping[Any, str] = {
    float: "a finite number",
    int: "a whole number",
    str: "a text",
    bool: "true or false",
    Path: "a path",
    Mapping: "an object",
}


def is_path(text: str) -> bool:
    """Return whether the system can be asked for a path: no null character, and no half of one beyond a byte."""
    try:
        return b"\0" not in text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of a thousand digits
        return False


def _read_record(kind: type, value: Any, where: str) -> Any:
    at = f"{where}: " if where else ""
    if not isinstance(value, dict):
        raise JsonShapeError(f"{at}expected an object, received {quoted(value)}")
    types = _types(kind)
    for name in value:
        if name not in types:
            raise JsonShapeError(f"{at}there is no field {quoted(name)}.{did_you_mean(name, types)}".removesuffix("."))
    prefix = f"{where}." if where else ""
    values = {name: from_json(types[name], item, f"{prefix}{name}") for name, item in value.items()}
    needed = [field.name for field in fields(kind) if _default(field) is MISSING and field.name not in values]
    if needed:
        raise JsonShapeError(f"{at}the field {quoted(needed[0])} is missing")
    return kind(**values)
