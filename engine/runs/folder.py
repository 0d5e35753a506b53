"""A run is a folder, and the folder is the truth: who can read it can follow the run.

    project.netwright  run.json  events.jsonl  control/  run.lock  engine.log  best/ last/  result.json  metrics.json

Only the coordinator writes here, except for requests in `control/`.
"""

import contextlib
import errno
import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.core import locks
from engine.core.errors import RunError, UserError
from engine.core.fields import quoted
from engine.core.files import read_file, write_json
from engine.runs.events import ENDS
from engine.runs.info import RunInfo
from engine.runs.requests import FROM_USERS, refuse_unknown

REQUEST_LIMIT_BYTES = 4096
INFO_LIMIT_BYTES = 2**22
"""Of `run.json` and `result.json`; those of a run have some KiB."""
LOCK_PATIENCE_S = 3.0
"""Readers hold the lock for an instant, to see whether somebody has it; a long one where the machine is busy."""


@dataclass(frozen=True)
class RunFolder:
    """The paths of one run, reading them, and asking it for something. What only its coordinator does stands below."""

    path: Path

    @property
    def project(self) -> Path:
        """The frozen copy of what is trained."""
        return self.path / "project.netwright"

    @property
    def info(self) -> Path:
        """`run.json`: environment, seeds, versions, host, process ids, state."""
        return self.path / "run.json"

    @property
    def events(self) -> Path:
        """The log of events."""
        return self.path / "events.jsonl"

    @property
    def code(self) -> Path:
        """Copies of the user's files of code, as they were when the run was prepared, by their hash."""
        return self.path / "code"

    @property
    def control(self) -> Path:
        """Requests to the run."""
        return self.path / "control"

    @property
    def lock(self) -> Path:
        """Held while the coordinator lives."""
        return self.path / "run.lock"

    @property
    def log(self) -> Path:
        """What all workers printed."""
        return self.path / "engine.log"

    @property
    def checkpoints(self) -> Path:
        """Complete states of training, to go on from."""
        return self.path / "checkpoints"

    @property
    def best(self) -> Path:
        """Weights of the best network by validation."""
        return self.path / "best"

    @property
    def last(self) -> Path:
        """Weights of the last iteration."""
        return self.path / "last"

    def kept(self) -> Path | None:
        """The folder of the weights that count as the result: what `run.json` says, else best, else last."""
        kept = self.read_info().kept
        candidates = [self.path / kept] if kept in ("best", "last") else [self.best, self.last]
        return next((path for path in candidates if path.is_dir()), None)

    @property
    def result(self) -> Path:
        """Written once, at the end."""
        return self.path / "result.json"

    def read_info(self) -> RunInfo:
        """Return `run.json`, or an empty record where it is not there yet. Raises `UserError` where it is damaged."""
        return RunInfo.read(_read_json(self.info) or {})

    def read_result(self) -> dict[str, Any] | None:
        """`result.json`, once it is there."""
        return _read_json(self.result)

    def is_alive(self) -> bool:
        """Whether a coordinator holds the lock."""
        return locks.is_locked(self.lock)

    def state(self) -> str:
        """The state now: what `run.json` says, or `lost` where it says alive and nobody holds the lock."""
        state = self.read_info().state
        if state in ENDS or self.is_alive():
            return state
        state = self.read_info().state  # it may have ended, as it should, since it was read
        return state if state in ENDS else "lost"

    def has_released(self) -> bool:
        """Whether it is paused and has given back its memory. Raises `UserError`."""
        info = self.read_info()
        return info.state == "paused" and info.released

    def request(self, name: str, **values: float) -> None:
        """Ask the run to do something, by a row of the table in `engine.runs.requests`. Raises `UserError`."""
        refuse_unknown(name)
        try:
            if self.control.is_symlink():
                raise OSError(errno.ELOOP, "its folder of requests is a link")
            write_json(self.control / f"{self._turn()}_{secrets.token_hex(2)}_{name}.json", {"do": name, **values})
        except OSError as error:
            raise UserError(f"The run in {self.path} cannot be asked to {name}: {error.strerror}.") from None

    def _turn(self) -> int:
        """A number behind those of all requests that wait, also where the clock was set back meanwhile."""
        heads = [name.partition("_")[0] for name in os.listdir(self.control)]
        return max(time.time_ns(), *(int(head) + 1 for head in heads if head.isdecimal() and len(head) < 20), 0)

    def take_requests(self) -> list[dict[str, Any]]:
        """The requests that wait, oldest first; each is given once. Called by the coordinator."""
        try:
            files = sorted(f for f in self.control.iterdir() if f.suffix == ".json" and not f.name.startswith("."))
        except OSError:
            return []
        requests = []
        for file in files:
            with contextlib.suppress(UserError, OSError):
                is_request = file.is_file() and file.stat().st_size <= REQUEST_LIMIT_BYTES
                requests.append((_read_json(file) or {}) if is_request else {})
            with contextlib.suppress(OSError):
                file.unlink()
        return [request for request in requests if request.get("do") in FROM_USERS]


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(read_file(path, INFO_LIMIT_BYTES))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path} is damaged: it is not JSON.") from None
    if not isinstance(data, dict):
        raise UserError(f"{path} is damaged: expected an object.")
    return data


def frozen_code(folder: RunFolder) -> dict[str, Path]:
    """Where a run keeps its copy of each file of code, by the file's path in the project."""
    files = folder.read_info().code
    return {file: folder.code / f"{re.sub('[^0-9a-f]', '', sha256)}.py" for file, sha256 in files.items()}


def open_run(path: Path) -> RunFolder:
    """The run in this folder. Raises `UserError` if there is none."""
    folder = RunFolder(path)
    try:
        if folder.info.is_file():
            return folder
        what = "is not a run: it has no run.json" if path.is_dir() else "is a file, not the folder of a run"
        what = what if path.exists() else "does not exist"
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
    raise UserError(f"{path} {what}. `netwright-engine runs` lists the runs of a folder.")


def take_lock(folder: RunFolder) -> int:
    """Hold the run's lock until the returned descriptor is closed or the process ends.

    A forked worker must close it first thing. Raises `RunError` if another engine holds it, and `UserError` where a run
    would be written outside of its folder.
    """
    _refuse_links(folder)
    try:
        return locks.take_lock(folder.lock, patience_s=LOCK_PATIENCE_S)
    except locks.LockHeldError:
        raise RunError(f"Another engine is already at work on the run in {folder.path}.") from None
    except OSError as error:
        way_out = "" if error.filename else " Name a folder on another disk."
        raise RunError(f"The run in {folder.path} cannot be locked: {error.strerror}.{way_out}") from None


def _refuse_links(folder: RunFolder) -> None:
    """What is written in a folder of a stranger's stays in it. Raises `UserError`."""
    try:
        entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
    except OSError:
        return  # locking says why
    for entry in entries:
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            what = "a link" if entry.is_symlink() else "a device or a pipe"
            raise UserError(
                f"{quoted(entry.name)} in the folder of the run {folder.path} is {what}. A run is written in its own "
                "folder only: remove it, or put what it leads to in its place."
            )


def update_info(folder: RunFolder, **changes: Any) -> None:
    """Replace some fields of the record in `run.json`, atomically."""
    write_info(folder, replace(folder.read_info(), **changes))


def write_info(folder: RunFolder, info: RunInfo) -> None:
    """Replace `run.json`, atomically. Raises `OSError`."""
    write_json(folder.info, info.write(), follow_link=False)


@dataclass(frozen=True)
class Origin:
    """What goes with a project's file.

    Relative paths of data start at `base`, those of code at `code_base`, unless `code` has a copy. New runs go beside
    `runs_beside`, and are called `name`.
    """

    base: Path
    code_base: Path
    runs_beside: Path
    name: str
    code: Mapping[str, Path] = field(default_factory=dict)


def origin(path: Path) -> Origin:
    """Of a project's file. The copy that a run keeps trains again as the run did, with the code that it kept."""
    path = path.resolve()
    folder = RunFolder(path.parent)
    if path == folder.project and folder.info.is_file():
        with contextlib.suppress(UserError):  # a damaged run.json: a project like any other
            info = folder.read_info()
            if info.base and info.name:
                # `runs/<time>_<name>/project.netwright`: the next run of it goes to the same `runs`.
                beside = folder.path.parent.parent if folder.path.parent.name == "runs" else folder.path
                return Origin(
                    Path(info.base), folder.path, beside / folder.project.name, info.name, frozen_code(folder)
                )
    return Origin(path.parent, path.parent, path, path.stem)
