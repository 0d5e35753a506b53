"""The record of what assistants have asked: a line of JSON per call, beside the runs of a folder, and in a run itself
where the call is about one."""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from netwright.engine.assistants.bounded_json import bounded
from netwright.engine.core.errors import UserError
from netwright.engine.core.platform_files import open_descriptor, replace_file

NAME = "assistant_calls.jsonl"
OLDER = "assistant_calls.older.jsonl"
"""What was recorded before; the record before that is gone."""
MOST_BYTES = 2**20
MOST_CHARACTERS = 4_000
"""Of the arguments of a call."""


def refuse_unrecorded(folder: Path) -> None:
    """Raise `UserError` where calls about a folder could not be recorded."""
    place = folder / "runs"
    try:
        place.mkdir(exist_ok=True)
        os.close(open_descriptor(place / NAME, "a"))
    except OSError as error:
        raise UserError(
            f"{place / NAME}, the record of calls, cannot be written: {error.strerror or error}.",
            hint="An assistant can ask nothing without it. Let this user write into that folder.",
        ) from error


def record(folder: Path, runs: Iterable[Path], call: Mapping[str, Any]) -> None:
    """Append a call to the record in `runs/` of a folder, and to those in folders of runs that can be written."""
    arguments, _ = bounded(call.get("arguments", {}), MOST_CHARACTERS, 1000)
    line = json.dumps({**call, "arguments": arguments}).encode() + b"\n"
    for place in (folder / "runs", *runs):
        with contextlib.suppress(OSError):  # a run of somebody else, or a disk that has become full
            _append(place / NAME, line)


def _append(path: Path, line: bytes) -> None:
    """Append a line; a file that is full begins anew. Raises `OSError`."""
    descriptor = open_descriptor(path, "a")
    try:
        os.write(descriptor, line)
        is_full = os.fstat(descriptor).st_size > MOST_BYTES
    finally:
        os.close(descriptor)
    if is_full:
        replace_file(path, path.with_name(OLDER))
