"""JSON objects from files that anybody may have written: sound ones are read, whatever else counts as not there."""

import errno
import json
import math
from pathlib import Path
from typing import Any

from engine.files import read_file

DEPTH_LIMIT = 64


def read_object(path: Path, limit_bytes: int, *, may_be_deep: bool = False) -> dict[str, Any] | None:
    """The object in a file of at most so many bytes and 64 levels, or None where there is none, or it is damaged.

    `may_be_deep` leaves levels to who uses it: looking at all of a large object takes longer than reading it.
    Raises `OSError` for a file that is there and cannot be read.
    """
    try:
        data = read_file(path, limit_bytes)
        value = json.loads(data)
        if b"\\ud" in data.lower():  # half of a pair of characters, which no file and no screen takes
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    except OSError as error:
        if error.errno in (errno.EFBIG, errno.EINVAL, errno.EISDIR):  # too large, or no file
            return None
        raise
    return value if isinstance(value, dict) and (may_be_deep or not is_deeper(value, DEPTH_LIMIT)) else None


def number_in(value: Any) -> float | None:
    """A number of JSON as a float, or None for what is none, or has no place in a float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects lie in each other over more levels than these."""
    layer = [value]
    for _ in range(levels):
        layer = [
            item
            for one in layer
            if isinstance(one, (dict, list))
            for item in (one.values() if isinstance(one, dict) else one)
        ]
        if not layer:
            return False
    return True
