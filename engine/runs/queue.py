"""Runs that wait for their turn, in a folder of the user's: who can read it can see, order and work the queue.

    7.json  7.netwright  7.lock  ...  work.lock  leave

An entry is its JSON file, which names the run's folder before there is one: a `run.json` there tells for good that the
entry was trained, so that none is trained twice, whatever dies when. Who changes or trains an entry holds its lock.
"""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from engine.core.child_process import module_command, module_environment
from engine.core.errors import RunError, UserError
from engine.core.files import ROOT, read_file, write_atomically, write_json
from engine.core.folders import state_folder
from engine.core.locks import LockHeldError, is_locked, take_lock
from engine.runs.events import ENDS
from engine.runs.folder import RunFolder

OVER = (*ENDS, "refused")
PATIENCE_S = 3.0
MOST_ENTRIES = 10_000
ENTRY_LIMIT_BYTES = 2**20
PROJECT_LIMIT_BYTES = 2**23
LEAVE = "leave"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A run to be. `run_dir` is where, once it was begun; `state` how that goes: waiting, starting, running, one of the
    ends of a run, or refused, with the reason. `after` is the folder of a run that has to end first."""

    id: int
    title: str
    project_path: str = ""
    created: float = 0.0
    order: float = 0.0
    after: str = ""
    trust: bool = False
    """Whether the project's own code may run: the user said so."""
    state: str = "waiting"
    reason: str = ""
    run_dir: str = ""
    devices: tuple[str, ...] = ()
    """The accelerators that it trains on."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in OVER

    @property
    def is_waiting(self) -> bool:
        """Whether it is still to be trained."""
        return self.state == "waiting"


def queue_folder() -> Path:
    """Where the user's queue is. Raises `UserError` where the user has no home."""
    try:
        return state_folder() / "queue"
    except RuntimeError:
        raise UserError("There is no place for a queue: you have no home folder. Set XDG_STATE_HOME.") from None


class Claim:
    """An entry whose lock is held: only through it an entry changes."""

    def __init__(self, queue: "Queue", entry: Entry) -> None:
        self._queue = queue
        self.entry = entry

    def change(self, **changes: Any) -> Entry:
        """Write the entry with other values. Raises `UserError`."""
        self.entry = replace(self.entry, **changes)
        self._queue.write(self.entry)
        return self.entry


class Queue:
    """The queue in a folder: that of the user, unless another one is given."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or queue_folder()

    # ---- reading ----

    def entries(self) -> list[Entry]:
        """All of them: those that were begun, oldest first, then those that wait, in their order. What is damaged is
        left out."""
        found = []
        with contextlib.suppress(OSError):
            numbers = [int(name[:-5]) for name in os.listdir(self.folder) if _is_entry(name)]
            found = [entry for number in numbers[:MOST_ENTRIES] if (entry := self.entry(number)) is not None]
        return sorted(found, key=lambda entry: (entry.is_waiting, entry.order, entry.id))

    def entry(self, id: int) -> Entry | None:
        """One entry as it is now, or None. One that nobody trains any more is lost, or waits again."""
        entry = self._read(id)
        if entry is None or entry.is_over or entry.is_waiting or self.is_held(id):
            return entry
        entry = self._read(id)  # it may have ended, as it should, since it was read
        return entry if entry is None or entry.is_over else _left(entry)

    def _read(self, id: int) -> Entry | None:
        try:
            data = json.loads(read_file(self.folder / f"{id}.json", ENTRY_LIMIT_BYTES))
            given = {f.name: data[f.name] for f in fields(Entry) if f.name in data}
            entry = Entry(**{**given, "id": id, "devices": tuple(map(str, given.get("devices", ())))})
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return None
        is_sound = all(isinstance(getattr(entry, f.name), f.type) for f in fields(Entry) if isinstance(f.type, type))
        return entry if is_sound else None

    def project_text(self, id: int) -> str:
        """The project of an entry, as it was when it was added. Raises `UserError`."""
        path = self.folder / f"{id}.netwright"
        try:
            return read_file(path, PROJECT_LIMIT_BYTES).decode("utf-8")
        except (OSError, ValueError) as error:
            raise UserError(f"The project of entry {id}, {path}, cannot be read: {error}.") from None

    def is_held(self, id: int) -> bool:
        """Whether somebody changes or trains an entry."""
        return is_locked(self.folder / f"{id}.lock")

    def is_worked(self) -> bool:
        """Whether a process goes through the queue."""
        return is_locked(self.folder / "work.lock")

    # ---- changing ----

    def add(self, project_text: str, title: str, **more: Any) -> Entry:
        """Put a project at the end. Raises `UserError`."""
        try:
            self.folder.mkdir(0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            number = self._free_number()
            now = round(time.time(), 3)
            last = max((entry.order for entry in self.entries()), default=0.0)
            entry = Entry(id=number, title=title, created=now, order=max(now, last + 1), **more)
            write_atomically(self.folder / f"{number}.netwright", project_text.encode(), mode=0o600)
        except OSError as error:
            raise UserError(f"The queue in {self.folder} cannot be written: {error.strerror}.") from None
        self.write(entry)
        return entry

    def _free_number(self) -> int:
        """A number that nobody has; its lock's file is made."""
        names = [name.partition(".")[0] for name in os.listdir(self.folder)]
        number = max((int(name) for name in names if _is_number(name)), default=0)
        while True:
            number += 1
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.folder / f"{number}.lock", os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
                return number

    def write(self, entry: Entry) -> None:
        """Put an entry's file. Raises `UserError`."""
        try:
            write_json(self.folder / f"{entry.id}.json", asdict(entry))
        except OSError as error:
            raise UserError(f"The queue in {self.folder} cannot be written: {error.strerror}.") from None

    @contextlib.contextmanager
    def claimed(self, id: int, patience_s: float = PATIENCE_S) -> Iterator[Claim]:
        """Hold an entry, to change or to train it. Raises `UserError` where there is none, `RunError` where somebody
        else holds it."""
        if self._read(id) is None:
            raise UserError(f"There is no entry {id} in the queue. `netwright-engine queue list` shows them.")
        busy = f"Entry {id} is being trained. To end it, stop its run."
        with _locked(self.folder / f"{id}.lock", patience_s, busy):
            if (entry := self._read(id)) is None:
                raise UserError(f"There is no entry {id} in the queue any more.")
            yield Claim(self, entry if entry.is_over or entry.is_waiting else _left(entry))

    def remove(self, id: int) -> None:
        """Take an entry out; its run, if there is one, stays. Raises `UserError`, `RunError` while it is trained."""
        with self.claimed(id):
            for ending in ("json", "netwright", "lock"):
                with contextlib.suppress(FileNotFoundError):
                    (self.folder / f"{id}.{ending}").unlink()

    def remove_over(self) -> int:
        """Take out those that have ended. Says how many."""
        over = [entry.id for entry in self.entries() if entry.is_over]
        for id in over:
            with contextlib.suppress(UserError):
                self.remove(id)
        return len(over)

    def move(self, id: int, to: int) -> None:
        """Let an entry be the first (1), second ... of those that wait. Raises `UserError`."""
        waiting = [entry for entry in self.entries() if entry.is_waiting]
        if not any(entry.id == id for entry in waiting):
            raise UserError(f"Entry {id} does not wait. `netwright-engine queue list` shows which do.")
        others = [entry.order for entry in waiting if entry.id != id]
        place = min(max(0, to - 1), len(others))
        before = others[place - 1] if place else (others[0] - 2 if others else 0.0)
        behind = others[place] if place < len(others) else before + 2
        with self.claimed(id) as claim:
            claim.change(order=(before + behind) / 2)

    # ---- working ----

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Go through the queue: one process at a time does. Raises `RunError` where another one does already."""
        try:
            self.folder.mkdir(0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"The queue in {self.folder} cannot be written: {error.strerror}.") from None
        with _locked(self.folder / "work.lock", PATIENCE_S, "The queue is being worked through by another process."):
            (self.folder / LEAVE).unlink(missing_ok=True)
            yield

    def ask_to_leave(self) -> None:
        """Whoever works the queue begins no more entries, and goes. What is under way goes on."""
        if self.is_worked():
            with contextlib.suppress(OSError):
                write_atomically(self.folder / LEAVE, b"")

    def is_to_be_left(self) -> bool:
        """Whether that was asked for."""
        return (self.folder / LEAVE).exists()


def is_due(entry: Entry) -> bool:
    """Whether an entry's time has come: it waits, and the run that it waits for has ended, or has made room: it is
    paused and has given back its memory."""
    if not entry.is_waiting:
        return False
    folder = RunFolder(Path(entry.after))
    try:
        return not entry.after or not folder.info.is_file() or folder.state() in ENDS or folder.has_released()
    except (UserError, OSError):
        return True  # a run that was deleted or damaged does not end any more


def _left(entry: Entry) -> Entry:
    """An entry that was begun, and that nobody trains any more."""
    folder = RunFolder(Path(entry.run_dir))
    try:
        has_run = bool(entry.run_dir) and folder.info.is_file()
        state = folder.state() if has_run else ""
    except (UserError, OSError):
        return replace(entry, state="lost", reason="The run cannot be read any more.")
    if not has_run:
        return replace(entry, state="waiting", run_dir="", devices=())
    return replace(entry, state=state)


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) < 10


def _is_entry(name: str) -> bool:
    return name.endswith(".json") and _is_number(name[:-5])


@contextlib.contextmanager
def _locked(path: Path, patience_s: float, busy: str) -> Iterator[None]:
    """Hold a lock. Raises `RunError` with the text `busy` where somebody else keeps it, `UserError`."""
    try:
        lock = take_lock(path, patience_s=patience_s)
    except LockHeldError:
        raise RunError(busy) from None
    except OSError as error:
        raise UserError(f"{path} cannot be locked: {error.strerror}.") from None
    try:
        yield
    finally:
        os.close(lock)


# Kept so that Python does not complain of processes that are meant to outlive it.
_started: list["subprocess.Popen[bytes]"] = []


def start(queue: Queue, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start a process of the queue in a session of its own: it outlives whoever started it, and prints into a log
    beside the entries. Raises `UserError`."""
    _started[:] = [process for process in _started if process.poll() is None]
    try:
        queue.folder.mkdir(0o700, parents=True, exist_ok=True)
        log = os.open(queue.folder / "work.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            process = subprocess.Popen(
                module_command(module, *arguments),
                cwd=ROOT,
                env=module_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        finally:
            os.close(log)
    except OSError as error:
        raise UserError(f"The queue in {queue.folder} cannot be worked: {error.strerror}.") from None
    _started.append(process)
    return process


def start_work(queue: Queue, *arguments: str) -> None:
    """See to it that somebody goes through the queue. Raises `UserError`."""
    with contextlib.suppress(OSError):
        (queue.folder / LEAVE).unlink(missing_ok=True)
    if not queue.is_worked():
        start(queue, "engine.launch.queue_runner", str(queue.folder), *arguments)


def start_entry(queue: Queue, id: int, *arguments: str) -> "subprocess.Popen[bytes]":
    """Train an entry now, whatever else is under way. Raises `UserError`."""
    return start(queue, "engine.launch.queued_run", str(queue.folder), str(id), *arguments)
