"""Run folder: the files of a run. Any process that can read the folder can follow the run.

    project.netwright  run.json  data.json  events.jsonl  control/  run.lock  engine.log  best/ last/  result.json
    metrics.json

Only the coordinator writes here, except for requests in `control/`.
"""

import contextlib
import errno
import json
import os
import platform
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from netwright.engine.core import locks
from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import (
    CHECKSUM,
    ChecksumError,
    read_file,
    without_checksum,
    write_checked_json,
    write_json,
)
from netwright.engine.core.own_files import COPY
from netwright.engine.core.platform import is_paused
from netwright.engine.core.platform_files import has_open, open_descriptor, touch
from netwright.engine.runs import liveness
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.info import RunInfo
from netwright.engine.runs.remote import read_remote
from netwright.engine.runs.requests import FROM_USERS, refuse_unknown

REQUEST_LIMIT_BYTES = 4096
INFO_LIMIT_BYTES = 2**22
"""Maximum size of `run.json` and `result.json`, which usually have a few KiB."""
RESULT = "result.json"
RESERVE, RESERVE_BYTES = ".reserve", 2**17
"""File that reserves disk space for the last events, `result.json` and `run.json`, each written beside the old one."""
SILENCE_S = 8.0
STARTING_SILENCE_S = 60.0
"""Seconds without a heartbeat after which a coordinator does not respond; longer while it imports torch."""
LOCK_PATIENCE_S = 3.0
"""Readers hold the lock briefly to test whether it is taken; longer on a busy machine."""


@dataclass(frozen=True)
class RunFolder:
    """Paths of a run folder, reading its files, and sending requests. Functions of the coordinator are below."""

    path: Path

    @property
    def project(self) -> Path:
        """Frozen copy of the project."""
        return self.path / COPY

    @property
    def info(self) -> Path:
        """`run.json`: environment, seeds, versions, host, process ids, state."""
        return self.path / "run.json"

    @property
    def data(self) -> Path:
        """`data.json`: the files that the data came from and the splits, see `netwright.engine.runs.data_record`."""
        return self.path / "data.json"

    @property
    def events(self) -> Path:
        """Event log."""
        return self.path / "events.jsonl"

    @property
    def code(self) -> Path:
        """Copies of the user code files from the preparation of the run, named by their hash."""
        return self.path / "code"

    @property
    def control(self) -> Path:
        """Folder of requests to the run."""
        return self.path / "control"

    @property
    def lock(self) -> Path:
        """Lock file, held by the coordinator while it lives."""
        return self.path / "run.lock"

    @property
    def log(self) -> Path:
        """Output of all workers."""
        return self.path / "engine.log"

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints, which the run can be resumed from."""
        return self.path / "checkpoints"

    @property
    def best(self) -> Path:
        """Folder of the weights with the best validation result."""
        return self.path / "best"

    @property
    def last(self) -> Path:
        """Folder of the weights of the last iteration."""
        return self.path / "last"

    def kept(self) -> Path | None:
        """Return the folder of the resulting weights: as named in `run.json`, else best, else last; None if missing."""
        kept_name = self.read_info().kept
        candidates = [self.path / kept_name] if kept_name in ("best", "last") else [self.best, self.last]
        return next((path for path in candidates if path.is_dir()), None)

    @property
    def result(self) -> Path:
        """Result file, written once at the end of the run."""
        return self.path / RESULT

    def read_info(self) -> RunInfo:
        """Return `run.json`, or an empty record if it does not exist yet. Raises `UserError` if it is damaged."""
        return RunInfo.read(_read_json(self.info) or {})

    def read_result(self) -> dict[str, Any] | None:
        """Return the content of `result.json`, or None if it does not exist. Raises `UserError` if it is damaged."""
        return _read_json(self.result)

    def is_alive(self) -> bool:
        """Return whether a coordinator holds the lock, or has this run's log open (the lock may just be deleted), or
        gives signs of life from another host."""
        return locks.is_locked(self.lock) or self.has_writer() or bool(self.host_at_work())

    def host_at_work(self) -> str:
        """Return the name of another host whose coordinator gives signs of life; empty where there is none."""
        with contextlib.suppress(UserError):
            info = self.read_info()
            if info.state not in ENDS and liveness.is_elsewhere(info) and read_remote(self.path) is None:
                is_heard = liveness.silent_s(self.lock, self.control) < liveness.SILENCE_S
                return info.host if is_heard else ""
        return ""

    def has_writer(self) -> bool:
        """Return whether the coordinator that `run.json` names is another process, which has the event log open.

        False where the system does not tell.
        """
        try:
            pid = self.read_info().coordinator
        except UserError:
            return False
        if pid <= 0 or pid == os.getpid():
            return False
        return has_open(pid, self.events)

    def why_silent(self) -> str:
        """Return the reason why the coordinator does not respond; empty while it does, and at the end of the run.

        Judged on the host of the run by the time of the lock file, which the coordinator sets several times per second,
        and by the state of its process.
        """
        info = self.read_info()
        if (remote := read_remote(self.path)) is not None:
            return remote.lost if info.state not in ENDS else ""
        if info.state not in ENDS and liveness.is_elsewhere(info):
            silent_s = liveness.silent_s(self.lock, self.control)
            is_silent = SILENCE_S < silent_s < liveness.SILENCE_S
            return f"its coordinator on {info.host} has given no sign of life for {silent_s:.0f} s" if is_silent else ""
        if info.state in ENDS or info.host != platform.node() or not locks.is_locked(self.lock):
            return ""
        process = f"its coordinator (process {info.coordinator})"
        if is_paused(info.coordinator):
            return f"{process} is paused, as by SIGSTOP; `kill -CONT {info.coordinator}` continues it"
        silent_s = 0.0
        with contextlib.suppress(OSError):
            silent_s = time.time() - self.lock.stat().st_mtime
        if silent_s > (STARTING_SILENCE_S if info.state == "starting" else SILENCE_S):
            return f"{process} has given no sign of life for {silent_s:.0f} s"
        return ""

    def state(self) -> str:
        """Return the current state: that of `run.json`; if that is not an end state and no process holds the lock, that
        of the result, whose coordinator was killed before it noted the end, else `lost`. A run on a cluster is lost
        only where its job is gone: it goes on without a process here."""
        state = self.read_info().state
        if state in ENDS or self.is_alive():
            return state
        remote = read_remote(self.path)
        state = self.read_info().state  # it may have ended normally after the first read
        if state in ENDS or (remote is not None and remote.job_state != "gone"):
            return state
        with contextlib.suppress(UserError):
            ended = (self.read_result() or {}).get("state")  # `resume` removes the result of the attempt before
            if ended in ENDS:
                return str(ended)
        return "lost"

    def has_released(self) -> bool:
        """Return whether the run is paused and has released its memory. Raises `UserError`."""
        info = self.read_info()
        return info.state == "paused" and info.released

    def request(self, name: str, **values: float) -> None:
        """Send a request to the run. `name`: one of the table in `netwright.engine.runs.requests`. Raises
        `UserError`."""
        refuse_unknown(name)
        try:
            if self.control.is_symlink():
                raise OSError(errno.ELOOP, "its folder of requests is a link")
            path = self.control / f"{self._turn()}_{secrets.token_hex(2)}_{name}.json"
            try:
                write_json(path, {"do": name, **values})
            except FileNotFoundError:  # the coordinator, which ends, took the unwritten file for one of a lost sender
                write_json(path, {"do": name, **values})
        except OSError as error:
            raise UserError(f"The run in {self.path} cannot be asked to {name}: {error.strerror}.") from None

    def _turn(self) -> int:
        """Return a sequence number greater than those of all pending requests, even if the clock was set back."""
        prefixes = [name.partition("_")[0] for name in os.listdir(self.control)]
        return max(time.time_ns(), *(int(head) + 1 for head in prefixes if head.isdecimal() and len(head) < 20), 0)

    def take_requests(self) -> list[dict[str, Any]]:
        """Return and delete the pending requests, oldest first. Called by the coordinator."""
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
    way_out = "Remove the file: events.jsonl has what it holds." if path.name == RESULT else "Restore it from a copy."
    try:
        data = json.loads(read_file(path, INFO_LIMIT_BYTES))
        data = without_checksum(data) if isinstance(data, dict) else data
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except ChecksumError as error:
        hint = f"{way_out} If you changed it yourself, remove its entry '{CHECKSUM}', and it is read unchecked."
        raise UserError(f"{path} is damaged: {error}.", hint=hint) from None
    except (ValueError, RecursionError):
        raise UserError(f"{path} is damaged: it is not JSON.", hint=way_out) from None
    if not isinstance(data, dict):
        raise UserError(f"{path} is damaged: expected an object.", hint=way_out)
    return data


def frozen_code(folder: RunFolder) -> dict[str, Path]:
    """Return the path of the copy of each user code file in a run folder, by its path in the project."""
    files = folder.read_info().code
    return {file: folder.code / f"{re.sub('[^0-9a-f]', '', sha256)}.py" for file, sha256 in files.items()}


def open_run(path: Path) -> RunFolder:
    """Return the run folder at `path`. Raises `UserError` if it holds no run."""
    folder, cause = RunFolder(path), None
    try:
        if folder.info.is_file():
            return folder
        problem = "is not a run: it has no run.json" if path.is_dir() else "is a file, not the folder of a run"
        problem = problem if path.exists() else "does not exist"
    except OSError as error:
        problem, cause = f"cannot be read: {error.strerror}", error
    code = "not_found" if problem == "does not exist" else ""
    raise UserError(
        f"{path} {problem}.", hint="`netwright-engine runs` lists the runs of a folder.", code=code
    ) from cause


def take_lock(folder: RunFolder) -> int:
    """Hold the run's lock until the returned descriptor is closed or the process ends.

    A forked worker must close the descriptor first. Raises `RunError` if another engine holds the lock or it cannot be
    taken, and `UserError` if a link in the folder would redirect writes outside of it.
    """
    _refuse_links(folder)
    try:
        lock = locks.take_lock(folder.lock, patience_s=LOCK_PATIENCE_S)
    except locks.LockHeldError:
        raise RunError(f"Another engine is already at work on the run in {folder.path}.") from None
    except OSError as error:
        hint = "" if error.filename else " Name a folder on another disk."
        raise RunError(f"The run in {folder.path} cannot be locked: {error.strerror}.{hint}") from None
    if host := folder.host_at_work():
        os.close(lock)
        raise RunError(
            f"The run in {folder.path} is at work on {host}, or was less than {liveness.SILENCE_S:.0f} seconds ago.",
            hint="Stop it first, with `netwright-engine stop`, or wait until it counts as lost.",
        )
    if folder.has_writer():
        os.close(lock)
        raise RunError(
            f"Another engine is already at work on the run in {folder.path}, although its run.lock was deleted or "
            "replaced.",
            hint="Stop that run first, with `netwright-engine stop`.",
        )
    return lock


def restore_lock(folder: RunFolder, lock: int) -> bool:
    """Restore the lock of a run whose `run.lock` was deleted or replaced; return whether it was. Sends the heartbeat.

    Raises `RunError` if another engine has locked the new file, or if it cannot be restored.
    """
    try:
        touch(lock)
        return locks.restore_lock(folder.lock, lock, patience_s=LOCK_PATIENCE_S)
    except locks.LockHeldError:
        cause = "was replaced while it trained, and another engine has locked the new file"
    except OSError as error:
        cause = f"was deleted while it trained, and cannot be restored: {error.strerror}"
    raise RunError(f"The run.lock of {folder.path} {cause}.", hint="Resume the run once no other engine works on it.")


def reserve_space(folder: Path) -> None:
    """Reserve disk space in a folder, which `release_space` gives back, for what is written there at the end: a full
    disk does not hide its cause. Raises `OSError`."""
    descriptor = open_descriptor(folder / RESERVE, "w", follow_link=False)
    try:
        os.write(descriptor, bytes(RESERVE_BYTES))
    finally:
        os.close(descriptor)


def release_space(folder: Path) -> None:
    """Give back the space of `reserve_space`."""
    with contextlib.suppress(OSError):
        (folder / RESERVE).unlink()


def _refuse_links(folder: RunFolder) -> None:
    """Refuse links, devices and pipes, so that writes stay in an untrusted folder. Raises `UserError`."""
    try:
        entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
    except OSError:
        return  # taking the lock reports the error
    for entry in entries:
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            kind = "a link" if entry.is_symlink() else "a device or a pipe"
            raise UserError(
                f"{quoted(entry.name)} in the folder of the run {folder.path} is {kind}. A run is written in its own "
                "folder only: remove it, or put what it leads to in its place."
            )


def update_info(folder: RunFolder, **changes: Any) -> None:
    """Update fields of the record in `run.json`, atomically. Raises `UserError` and `OSError`."""
    write_info(folder, replace(folder.read_info(), **changes))


def write_info(folder: RunFolder, info: RunInfo) -> None:
    """Replace `run.json`, atomically. Raises `OSError`."""
    write_checked_json(folder.info, info.write(), follow_link=False)


@dataclass(frozen=True)
class Origin:
    """Folders and name that belong to a project file.

    Relative paths of data are resolved against `base`, those of user code against `code_base` unless `code` has a copy.
    New runs are created beside `runs_beside` and named `name`.
    """

    base: Path
    code_base: Path
    runs_beside: Path
    name: str
    code: Mapping[str, Path] = field(default_factory=dict)


def origin(path: Path) -> Origin:
    """Return the origin of a project file. For the frozen copy in a run folder, it is that of the run, with its
    code."""
    path = path.resolve()
    folder = RunFolder(path.parent)
    if path == folder.project and folder.info.is_file():
        with contextlib.suppress(UserError):  # damaged run.json: treated as an ordinary project
            info = folder.read_info()
            if info.base and info.name:
                # `runs/<time>_<name>/project.netwright`: the next run of it goes to the same `runs`.
                beside = folder.path.parent.parent if folder.path.parent.name == "runs" else folder.path
                return Origin(
                    Path(info.base), folder.path, beside / folder.project.name, info.name, frozen_code(folder)
                )
    return Origin(path.parent, path.parent, path, path.stem)
