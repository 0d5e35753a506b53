"""JSON objects from files that anybody may have written: small ones are read, whatever else counts as not there."""

import json
from pathlib import Path
from typing import Any


def read_object(path: Path, limit_bytes: int) -> dict[str, Any] | None:
    """The object in a file of at most so many bytes, or None where there is none, or it is damaged.

    Raises `OSError` for a file that is there and cannot be read.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(limit_bytes + 1)
        value = json.loads(data) if len(data) <= limit_bytes else None
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
