"""Answers in the queue: operations about a model, such as an evaluation, that are computed in the background.

    8.json  8.lock  8.request.json  8.result.json  8.stop

Beside its entry an answer has the request of its operation as JSON and, once it is computed, its result.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.engine.core.dataclass_json import JsonShapeError, from_json, to_json
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import read_object, write_atomically, write_json
from netwright.engine.core.finite_json import to_json as finite
from netwright.engine.project.data_hosts import granted, written
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.queue import Entry, Queue, start_entry

LIMIT_BYTES = 2**28


@dataclass(frozen=True)
class QueuedRequest:
    """The request of an operation, as JSON, and the folder that its paths are relative to."""

    operation: str
    values: Mapping[str, Any]
    folder: str


@dataclass(frozen=True)
class QueuedResult:
    """The result of an operation as JSON, the same for people, and what was said beside it."""

    result: Mapping[str, Any]
    text: str = ""
    notices: tuple[str, ...] = ()


def add(operation: str, values: Mapping[str, Any], model: Path, queue: Queue | None = None) -> Entry:
    """Put the request of an operation into the queue, compute it now, in a process that outlives this one, and return
    its entry. Raises `UserError`."""
    queue = queue or Queue()
    folder, name = RunFolder(model.absolute()), model.absolute().name
    project_path, project_id = str(folder.path), ""
    if folder.info.is_file():
        info = folder.read_info()
        project_path, project_id = info.project_path or "", info.project_id
    entry = queue.add(
        "",
        f"{operation} {name}",
        operation=operation,
        project_path=project_path,
        project_id=project_id,
        hosts=written(granted()),
    )
    request = QueuedRequest(operation, to_json(values), os.getcwd())
    try:
        write_json(queue.folder / f"{entry.id}.request.json", to_json(request))
    except OSError as error:
        raise UserError(f"The queue in {queue.folder} cannot be written: {error.strerror}.") from None
    start_entry(queue, entry.id)
    return entry


def read_request(queue: Queue, id: int) -> QueuedRequest:
    """Return the request of an answer. Raises `UserError`."""
    request: QueuedRequest = _read(queue, id, "request", QueuedRequest)
    return request


def read_queued_result(queue: Queue, id: int) -> QueuedResult:
    """Return the result of an answer that was computed. Raises `UserError` where there is none."""
    result: QueuedResult = _read(queue, id, "result", QueuedResult)
    return result


def write_queued_result(queue: Queue, id: int, result: QueuedResult) -> None:
    """Write the result of an answer. Raises `OSError`."""
    write_json(queue.folder / f"{id}.result.json", finite(to_json(result)))


def stop(queue: Queue, id: int) -> None:
    """Ask an entry to end: an answer, or the run of a project. Raises `UserError` for one that has no process, or
    `RunError`."""
    if (entry := queue.entry(id)) is None:
        raise UserError(f"There is no entry {id} in the queue.", hint="`netwright-engine queue list` shows them.")
    if entry.is_waiting or entry.is_over:
        raise RunError(f"Entry {id} of the queue is not at work: it is {entry.state}.")
    if not entry.operation:
        RunFolder(Path(entry.run_dir)).request("stop")
    else:
        write_atomically(stop_file(queue, id), b"")


def stop_file(queue: Queue, id: int) -> Path:
    """Return the file whose presence asks the process of an answer to end."""
    return queue.folder / f"{id}.stop"


def _read(queue: Queue, id: int, name: str, kind: type) -> Any:
    path = queue.folder / f"{id}.{name}.json"
    try:
        data = read_object(path, LIMIT_BYTES, may_be_deep=True)
        if data is not None:
            return from_json(kind, data)
    except (OSError, ValueError, JsonShapeError) as error:
        raise UserError(f"{path} of the queue cannot be read: {error}.") from None
    raise UserError(f"{path} of the queue is missing or damaged.", hint="`netwright-engine queue remove` removes it.")
