"""A run is a folder, and the folder is the truth: who can read it can follow the run.

    project.netwright  run.json  events.jsonl  control/  run.lock  engine.log  best/ last/  result.json  metrics.json

Only the coordinator writes here, except for requests in `control/`.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import RunError, UserError
from engine.fields import quoted
from engine.files import open_file, read_file, write_atomically, write_json
from engine.runs.events import ENDS, LINE_LIMIT_BYTES, Event, read_event

REQUESTS = ("stop", "stop_after_epoch", "pause", "resume", "checkpoint", "validate", "set", "watch")
SHIPPED = Path(__file__).resolve().parents[2] / "resources"
"""Examples and templates lie there."""
REQUEST_LIMIT_BYTES = 4096
INFO_LIMIT_BYTES = 2**22
"""Of `run.json` and `result.json`; those of a run have some KiB."""
LOCK_PATIENCE_S = 3.0
"""Readers hold the lock for an instant, to see whether somebody has it; a long one where the machine is busy."""
TAIL_BYTES = 2**16


@dataclass(frozen=True)
class RunFolder:
    """The paths of one run, and reading them. Making and writing are functions below."""

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
        kept = (self.read_info().get("kept") or "") if self.info.is_file() else ""
        candidates = [self.path / kept] if kept in ("best", "last") else [self.best, self.last]
        return next((path for path in candidates if path.is_dir()), None)

    @property
    def result(self) -> Path:
        """Written once, at the end."""
        return self.path / "result.json"

    def read_info(self) -> dict[str, Any]:
        """`run.json`, or an empty one where it is not there yet. Raises `UserError` where it is damaged."""
        return _read_json(self.info) or {}

    def read_result(self) -> dict[str, Any] | None:
        """`result.json`, once it is there."""
        return _read_json(self.result)

    def is_alive(self) -> bool:
        """Whether a coordinator holds the lock."""
        try:
            descriptor = os.open(self.lock, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks: nothing can be told
            return False
        finally:
            os.close(descriptor)
        return False

    def state(self) -> str:
        """The state now: what `run.json` says, or `lost` where it says alive and nobody holds the lock."""
        state = str(self.read_info().get("state", "starting"))
        if state in ENDS or self.is_alive():
            return state
        state = str(self.read_info().get("state", ""))  # it may have ended, as it should, since it was read
        return state if state in ENDS else "lost"

    def has_released(self) -> bool:
        """Whether it is paused and has given back its memory. Raises `UserError`."""
        info = self.read_info()
        return info.get("state") == "paused" and info.get("released") is True

    def request(self, what: str, **given: float) -> None:
        """Ask the run to do something, one of `REQUESTS`; `set` takes `rate`, `rate_factor` and `epochs`, `pause` takes
        `release`: 1 to give back all memory, `watch` takes `gradient_norm` and `layers`: 1 or 0. Raises `UserError`."""
        if what not in REQUESTS:
            raise UserError(f"There is no request '{what}'; known are {', '.join(REQUESTS)}.")
        try:
            if self.control.is_symlink():
                raise OSError(errno.ELOOP, "its folder of requests is a link")
            write_json(self.control / f"{self._turn()}_{secrets.token_hex(2)}_{what}.json", {"do": what, **given})
        except OSError as error:
            raise UserError(f"The run in {self.path} cannot be asked to {what}: {error.strerror}.") from None

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
        found = []
        for file in files:
            with contextlib.suppress(UserError, OSError):
                is_one = file.is_file() and file.stat().st_size <= REQUEST_LIMIT_BYTES
                found.append((_read_json(file) or {}) if is_one else {})
            with contextlib.suppress(OSError):
                file.unlink()
        return [request for request in found if request.get("do") in REQUESTS]


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
    listed = folder.read_info().get("code", {})
    items = listed.items() if isinstance(listed, dict) else ()
    return {str(file): folder.code / f"{re.sub('[^0-9a-f]', '', str(sha256))}.py" for file, sha256 in items}


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


def runs_beside(project_path: Path) -> Path:
    """The folder for the runs of a project."""
    return project_path.parent / "runs"


def new_path(project_path: Path | None, name: str) -> Path:
    """Where a new run goes: `runs/<time>_<name>` beside the project, or in the user's data directory: for a project
    without a file, beside which nobody may write, or which was shipped, where runs would go with the next version."""
    label = re.sub(r"[^\w-]+", "-", name).strip("-")[:40] or "untitled"
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    is_ours = project_path is not None and project_path.resolve().is_relative_to(SHIPPED)
    bases = [runs_beside(project_path)] if project_path and not is_ours else []
    with contextlib.suppress(RuntimeError):  # nobody's home, as in some containers
        bases.append(Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "netwright" / "runs")
    for base in bases:
        with contextlib.suppress(OSError):
            base.mkdir(parents=True, exist_ok=True)
            if os.access(base, os.W_OK):
                return _free(base / f"{stamp}_{label}")
    raise RunError(
        f"No folder for runs can be written; tried {' and '.join(map(str, bases)) or 'none'}. Name one with --run-dir."
    )


def _free(path: Path) -> Path:
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}_{number}")
    return found


def new_folder(project_path: Path | None, name: str) -> Path:
    """A new, empty folder for a run: of several that start in the same second none takes that of another.

    Raises `RunError`.
    """
    while True:
        path = new_path(project_path, name).absolute()
        try:
            path.mkdir(0o700)
            return path
        except FileExistsError:
            continue
        except OSError as error:
            raise _not_writable(path, error) from None


def create(path: Path, project_text: str, info: Mapping[str, Any], code: Iterable[bytes] = ()) -> RunFolder:
    """Make the folder of a new run, private to the user, with copies of its code. It must be absent or empty.

    Raises `UserError`.
    """
    folder = RunFolder(path)
    try:
        was_there = path.is_dir()
        if path.exists() and not was_there:
            raise UserError(f"{path} is a file. A run needs a folder of its own: name one that is absent or empty.")
        path.mkdir(0o700, parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UserError(f"{path} is not empty. A run needs a folder of its own: name one that is absent or empty.")
        folder.control.mkdir(0o700)  # fails for all but the first of several that found the folder empty
        try:
            _fill(folder, project_text, info, code)
        except BaseException:  # a half-made run would keep the folder from being used again
            _clear(folder, keep_folder=was_there)
            raise
    except FileExistsError:
        raise UserError(f"{path} is not empty: another run is just being made there. Name another folder.") from None
    except OSError as error:
        raise _not_writable(path, error) from None
    return folder


def _not_writable(path: Path, error: OSError) -> RunError:
    way_out = "Make room there, or name another folder with --run-dir."
    return RunError(f"The run folder {path} cannot be written: {error.strerror}. {way_out}")


def _fill(folder: RunFolder, project_text: str, info: Mapping[str, Any], code: Iterable[bytes]) -> None:
    folder.path.chmod(0o700)
    for data in code:
        folder.code.mkdir(0o700, exist_ok=True)
        write_atomically(folder.code / f"{hashlib.sha256(data).hexdigest()}.py", data, mode=0o600)
    write_atomically(folder.project, project_text.encode(), mode=0o600)
    folder.lock.touch(0o600)
    folder.events.touch(0o600)
    write_json(folder.info, {**info, "state": "starting"})


def _clear(folder: RunFolder, *, keep_folder: bool) -> None:
    """Remove what `_fill` made."""
    with contextlib.suppress(OSError):
        for file in (folder.info, folder.events, folder.lock, folder.project):
            file.unlink(missing_ok=True)
        if folder.control.is_dir():
            folder.control.rmdir()
        if folder.code.is_dir():
            shutil.rmtree(folder.code)
        if not keep_folder:
            folder.path.rmdir()


def take_lock(folder: RunFolder) -> int:
    """Hold the run's lock until the returned descriptor is closed or the process ends.

    A forked worker must close it first thing. Raises `RunError` if another engine holds it, and `UserError` where a run
    would be written outside of its folder.
    """
    _refuse_links(folder)
    try:
        descriptor = os.open(folder.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RunError(f"The run in {folder.path} cannot be locked: {error.strerror}.") from None
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() < deadline:
                time.sleep(0.01)
                continue
            os.close(descriptor)
            raise RunError(f"Another engine is already at work on the run in {folder.path}.") from None
        except OSError as error:
            os.close(descriptor)
            raise RunError(
                f"The run in {folder.path} cannot be locked: {error.strerror}. Name a folder on another disk."
            ) from None


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
    """Replace some keys of `run.json`, atomically."""
    write_json(folder.info, {**folder.read_info(), **changes}, follow_link=False)


class EventLog:
    """Appends events to the log: numbered, one write each. Raises `OSError` (a full disk, say).

    A log that is there already is continued; a half-written last line is cut off first.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._path = folder.events
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._n = self._repair()

    @property
    def is_in_place(self) -> bool:
        """Whether there still is a log where this one was opened; no, where its folder was moved or deleted."""
        try:
            self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # of a file system that does not answer nothing can be told
            return True
        return True

    def _repair(self) -> int:
        """Cut off a half-written line, and return the number of the last whole one."""
        size = os.fstat(self._descriptor).st_size
        tail = os.pread(self._descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
        whole, newline, torn = tail.rpartition(b"\n")
        if torn:
            os.ftruncate(self._descriptor, size - len(torn))
        for line in reversed(whole.split(b"\n") if newline else []):
            with contextlib.suppress(ValueError, AttributeError, RecursionError):
                if n := read_event(json.loads(line)).n:
                    return n
        return 0

    @property
    def last(self) -> int:
        """The number of the last event; 0 before there is one."""
        return self._n

    def append(self, event: Event) -> Event:
        """Write one event and return it with its number and time. A text too long for a line loses its middle."""
        event = replace(event, n=self._n + 1, time=round(time.time(), 3))
        line = _line(event.write())
        written = os.write(self._descriptor, line)
        if written != len(line):  # the disk is full: leave no half line behind
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._n += 1
        return event

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def _line(body: dict[str, Any]) -> bytes:
    """The line of an event, within the limit."""
    line = _encoded(body)
    while len(line) > LINE_LIMIT_BYTES:
        name = max((key for key, value in body.items() if isinstance(value, str)), key=lambda key: len(body[key]))
        text = body[name]
        if len(text) < 64:
            raise ValueError(f"An event of kind {body['kind']} has {len(line)} bytes; the limit is {LINE_LIMIT_BYTES}.")
        part = len(text) * 2 // 5
        body = {**body, name: f"{text[:part]} ... {text[-part:]}"}
        line = _encoded(body)
    return line


def _encoded(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")  # what UTF-8 cannot hold becomes an escape, which JSON knows


class EventReader:
    """Reads new events of a run, from the start or from where it was.

    A half-written last line waits for its rest, and is then read again from its beginning: who writes the log cuts half
    a line off before it goes on.
    """

    def __init__(self, folder: RunFolder, limit_bytes: int = 2**20) -> None:
        self._path = folder.events
        self._limit = max(limit_bytes, TAIL_BYTES)
        self._offset = 0
        self._is_within = False
        """Whether the offset lies in a line of more than `TAIL_BYTES`, which is none of ours."""

    def read(self) -> list[Event]:
        """The events that came since the last call, at most about `limit_bytes` of them. Damaged lines are left out."""
        return [event for line in self.lines() if (event := event_in(line)) is not None]

    def lines(self) -> list[bytes]:
        """The lines that came since the last call, for who has no time to understand all of them at once."""
        try:
            with open_file(self._path) as file:
                file.seek(self._offset)
                data = file.read(self._limit)
        except OSError:
            return []
        *lines, rest = data.split(b"\n")
        if lines and self._is_within:
            self._is_within = False
            del lines[0]
        if self._is_within or len(rest) >= TAIL_BYTES:
            self._is_within = True
            rest = b""
        self._offset += len(data) - len(rest)
        return lines


def event_in(line: bytes) -> Event | None:
    """The event that a line of the log holds, or None where it is damaged."""
    with contextlib.suppress(ValueError, RecursionError, AttributeError):
        return read_event(json.loads(line))
    return None


def read_all(folder: RunFolder) -> list[Event]:
    """All events of a run so far."""
    reader, found = EventReader(folder), []
    while events := reader.read():
        found += events
    return found
