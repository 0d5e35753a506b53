"""Python text from values: calls as the usual formatters break them, literals, names."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from engine.custom.targets import companion, is_users, split_code

LINE_LENGTH = 120
OWN = "engine.build.modules."


def call(indent: int, head: str, arguments: Sequence[str], tail: str) -> list[str]:
    """A call, broken as the usual formatters do: all on one line, all on the next, or one on each."""
    space, inner = " " * indent, " " * (indent + 4)
    joined = ", ".join(arguments)
    if len(space + head + joined + tail) <= LINE_LENGTH:
        return [space + head + joined + tail]
    is_call = head.endswith("(") and not head.endswith("return (")
    if is_call and len(inner + joined) <= LINE_LENGTH:
        return [space + head, inner + joined, space + tail]
    return [space + head, *(f"{inner}{argument}," for argument in arguments), space + tail]


def spelled(target: str) -> str:
    """A qualified name as the file's imports make it."""
    if is_users(target):
        file, name = split_code(target)
        return f"{companion(file)}.{name}"
    if target.startswith(OWN):
        return target.rpartition(".")[2]
    return f"nn.{target.removeprefix('torch.nn.')}" if target.startswith("torch.nn.") else target


def keywords(values: Mapping[str, Any]) -> list[str]:
    """Arguments by name."""
    return [f"{name}={literal(value)}" for name, value in values.items()]


def literal(value: Any) -> str:
    """A value as Python text."""
    match value:
        case str():
            return f'"{"".join(map(_character, value))}"'
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case tuple() | list():
            inside = ", ".join(map(literal, value)) + ("," if isinstance(value, tuple) and len(value) == 1 else "")
            return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return repr(value)


def _character(character: str) -> str:
    """A character as it may stand between double quotes, whatever a stranger's text holds."""
    is_plain = character.isprintable() and character not in '"\\'
    return character if is_plain else f"\\U{ord(character):08x}"
