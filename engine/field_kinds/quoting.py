"""Received values in messages: short, and without characters that would disturb a terminal."""

import json
from itertools import islice

QUOTE_LIMIT = 60


def quoted(value: object) -> str:
    """A received value, short enough for a message, and without characters that would disturb a terminal."""
    text = printable(json.dumps(_excerpt(value, 3), default=str, ensure_ascii=False))
    return text if len(text) <= QUOTE_LIMIT else text[: QUOTE_LIMIT - 3] + "..."


def _excerpt(value: object, depth: int) -> object:
    """The beginning of a value that may be huge, or nested deeper than `json` can follow."""
    match value:
        case str():
            return value[: 2 * QUOTE_LIMIT]
        case dict() if depth:
            return {str(key)[:QUOTE_LIMIT]: _excerpt(value[key], depth - 1) for key in islice(value, 8)}
        case list() | tuple() if depth:
            return [_excerpt(item, depth - 1) for item in value[:32]]
        case dict() | list() | tuple():
            return "..."
        case int() if abs(value) > 10**100:
            return 10**100 if value > 0 else -(10**100)  # more digits are not shown, and are slow to write
    return value


def is_unicode(text: str) -> bool:
    """Whether the text can be written as UTF-8: file names with foreign bytes, and halves of pairs, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """The text with control characters, reversed writing and the like as escapes, as JSON has them."""
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def path_part(name: str) -> str:
    """A key from a file as a part of the path in a message: as it is, unless it is long or not printable."""
    return name if len(name) <= QUOTE_LIMIT and name.isprintable() else quoted(name)
