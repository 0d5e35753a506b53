"""Queue of runs in a folder of the user. A process that can access the folder can list, reorder and run the entries.

    7.json  7.netwright  7.lock  ...  work.lock  leave

An entry is a JSON file. It names the run folder before that folder exists: a `run.json` there records that the entry
was trained, so that no entry is trained twice, even after a crash. A process that changes or trains an entry holds its
lock.
"""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.core.files import make_private_folder, read_file, write_atomically, write_json
from netwright.engine.core.folders import state_folder
from netwright.engine.core.locks import LockHeldError, is_locked, take_lock
from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.core.process import start_detached_module
from netwright.engine.core.text import iso_time
from netwright.engine.project.check import check
from netwright.engine.project.data_hosts import admit, granted_for, written
from netwright.engine.project.file import dumps, loads
from netwright.engine.project.project import Project
from netwright.engine.project.user_code import refuse_untrusted
from netwright.engine.runs.events import ENDS
from netwright.engine.runs.folder import RunFolder, open_run, origin
from netwright.engine.runs.run_options import NETWORK, Change, changes, in_short, network_in, options_in

OVER = (*ENDS, "refused")
PATIENCE_S = 3.0
MOST_ENTRIES = 10_000
ENTRY_LIMIT_BYTES = 2**20
PROJECT_LIMIT_BYTES = 2**23
LEAVE = "leave"
SEED = "training.seed"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Queued run. `run_dir` is its run folder, set when it starts; `state` is waiting, starting, running, one of the
    end states of a run, or refused (see `reason`). `after` is the folder of a run that has to end first."""

    id: int
    title: str
    about: str = ""
    """In which options it differs from the run it was queued behind, in a few words."""
    project_path: str = ""
    project_id: str = ""
    """The identity of the project; empty where its file has none."""
    created: float = 0.0
    order: float = 0.0
    after: str = ""
    trust: bool = False
    """True if the user allowed the user code of the project to run."""
    hosts: str = ""
    """Hosts that the user allowed its data to be fetched from, as `netwright.engine.project.data_hosts` writes them."""
    state: str = "waiting"
    reason: str = ""
    run_dir: str = ""
    devices: tuple[str, ...] = ()
    """Accelerators that the run uses."""
    operation: str = ""
    """Name of the operation about a model that is computed, see `netwright.engine.runs.queued_answers`; empty for a
    run."""
    progress: str = ""
    """How far the operation has come, in words."""

    def as_json(self) -> Mapping[str, Any]:
        """Return the entry as JSON, as commands print it."""
        return {**asdict(self), "created": iso_time(self.created)}

    @property
    def is_over(self) -> bool:
        """True if the entry has reached an end state."""
        return self.state in OVER

    @property
    def is_waiting(self) -> bool:
        """True if the entry has not been started."""
        return self.state == "waiting"


def queue_folder() -> Path:
    """Return the folder of the user's queue. Raises `UserError` if the user has no home folder."""
    try:
        return state_folder() / "queue"
    except RuntimeError:
        raise UserError("There is no place for a queue: you have no home folder.", hint="Set XDG_STATE_HOME.") from None


class Claim:
    """Entry whose lock is held. Entries are modified only through a claim."""

    def __init__(self, queue: "Queue", entry: Entry) -> None:
        self._queue = queue
        self.entry = entry

    def change(self, **changes: Any) -> Entry:
        """Update values of the entry, write it and return it. Raises `UserError`."""
        self.entry = replace(self.entry, **changes)
        self._queue.write(self.entry)
        return self.entry


class Queue:
    """Queue in `folder`, by default the folder of the user's queue."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or queue_folder()

    # ---- reading ----

    def entries(self) -> list[Entry]:
        """Return all entries: first those that were started, then those that wait, each sorted by `order`. Damaged
        entries are skipped."""
        entries = []
        with contextlib.suppress(OSError):
            numbers = [int(name[:-5]) for name in os.listdir(self.folder) if _is_entry(name)]
            entries = [entry for number in numbers[:MOST_ENTRIES] if (entry := self.entry(number)) is not None]
        return sorted(entries, key=lambda entry: (entry.is_waiting, entry.order, entry.id))

    def damaged(self) -> list[Path]:
        """Return the files of entries that cannot be read; these are not trained."""
        with contextlib.suppress(OSError):
            numbers = sorted(int(name[:-5]) for name in os.listdir(self.folder) if _is_entry(name))
            files = [self.folder / f"{number}.json" for number in numbers if self._read(number) is None]
            return [file for file in files if file.exists()]
        return []

    def entry(self, id: int) -> Entry | None:
        """Return an entry with its current state, or None. An entry whose process is gone takes the state of its run,
        or waits again if there is no run."""
        entry = self._read(id)
        if entry is None or entry.is_over or entry.is_waiting or self.is_held(id):
            return entry
        entry = self._read(id)  # it may have ended normally after the first read
        return entry if entry is None or entry.is_over else _left(entry)

    def _read(self, id: int) -> Entry | None:
        try:
            data = json.loads(read_file(self.folder / f"{id}.json", ENTRY_LIMIT_BYTES))
            values = {f.name: data[f.name] for f in fields(Entry) if f.name in data}
            entry = Entry(**{**values, "id": id, "devices": tuple(map(str, values.get("devices", ())))})
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return None
        is_sound = all(isinstance(getattr(entry, f.name), f.type) for f in fields(Entry) if isinstance(f.type, type))
        return entry if is_sound else None

    def project_text(self, id: int) -> str:
        """Return the text of the project that was stored when the entry was added. Raises `UserError`."""
        path = self.folder / f"{id}.netwright"
        try:
            return read_file(path, PROJECT_LIMIT_BYTES).decode("utf-8")
        except (OSError, ValueError) as error:
            raise UserError(f"The project of entry {id}, {path}, cannot be read: {error}.") from None

    def is_held(self, id: int) -> bool:
        """Return whether a process holds the lock of an entry, to change or to train it."""
        return is_locked(self.folder / f"{id}.lock")

    def is_worked(self) -> bool:
        """Return whether a process is working through the queue."""
        return is_locked(self.folder / "work.lock")

    # ---- changing ----

    def add(self, project_text: str, title: str, **more: Any) -> Entry:
        """Append a project to the queue and return its entry. Raises `UserError`."""
        try:
            make_private_folder(self.folder)
            number = self._free_number()
            now = round(time.time(), 3)
            last = max((entry.order for entry in self.entries()), default=0.0)
            identity = str((_object_in(project_text) or {}).get("id", ""))
            more = {"project_id": identity, **more}
            entry = Entry(id=number, title=title, created=now, order=max(now, last + 1), **more)
            write_atomically(self.folder / f"{number}.netwright", project_text.encode(), mode=0o600)
        except OSError as error:
            raise UserError(f"The queue in {self.folder} cannot be written: {error.strerror}.") from None
        self.write(entry)
        return entry

    def add_project(
        self, project: Project, path: Path, after: Path | None = None, *, is_trusted: bool = False
    ) -> Entry:
        """Check a project, whose own code was looked at, and add it at the end, or behind the end of the run `after`.
        Raises `UserError`."""
        refuse_untrusted(project)  # now, not when the entry starts
        if project.data.source == "none":
            raise UserError("The project has no data to learn from.", hint="Choose a data source first.")
        check(project).refuse_errors()
        admit(project.data)
        behind = str(open_run(after).path.resolve()) if after else ""
        hosts = written(granted_for(project.data))
        more = {"project_path": str(path.resolve()), "after": behind, "trust": is_trusted, "hosts": hosts}
        return self.add(dumps(project), origin(path).name, **more)

    def another_of(self, project_text: str, after: RunFolder | None) -> tuple[str, str]:
        """Return the project as it is to be queued, and how it differs from the run in `after` in a few words.

        The same options and seed as of that run or of an entry that waits or trains would give the same numbers: the
        next free seed is taken. Raises `UserError` for a text that is no project.
        """
        project = loads(project_text).project
        texts = [self._text_of(entry) for entry in self.entries() if not entry.is_over]
        base = _object_in(_read_text(after.project)) if after is not None else None
        mine, same = _object_in(project_text), []
        for other in (base, *map(_object_in, texts)):
            if other is not None and _without_seed(other) == _without_seed(mine):
                same.append(_seed_of(other))
        if project.training.seed in same:
            seed = max(same) + 1
            project = project.with_section("training", project.training.replace(seed=seed))
            project_text = dumps(project)
            mine = _object_in(project_text)
        if base is None:
            return project_text, ""
        differences = list(changes(options_in(base), options_in(mine)))
        if network_in(base) != network_in(mine):
            differences.insert(0, Change(NETWORK, "", ""))
        return project_text, in_short(differences)

    def _text_of(self, entry: Entry) -> str:
        with contextlib.suppress(UserError):
            return self.project_text(entry.id)
        return ""

    def _free_number(self) -> int:
        """Reserve an unused entry number by creating its lock file."""
        names = [name.partition(".")[0] for name in os.listdir(self.folder)]
        number = max((int(name) for name in names if _is_number(name)), default=0)
        while True:
            number += 1
            with contextlib.suppress(FileExistsError):
                os.close(open_descriptor(self.folder / f"{number}.lock", "x"))
                return number

    def write(self, entry: Entry) -> None:
        """Write the JSON file of an entry. Raises `UserError`."""
        try:
            write_json(self.folder / f"{entry.id}.json", asdict(entry))
        except OSError as error:
            raise UserError(f"The queue in {self.folder} cannot be written: {error.strerror}.") from None

    @contextlib.contextmanager
    def claimed(self, id: int, patience_s: float = PATIENCE_S) -> Iterator[Claim]:
        """Lock an entry, to change or to train it. Raises `UserError` if there is no such entry, `RunError` if another
        process holds its lock."""
        if self._read(id) is None:
            raise UserError(f"There is no entry {id} in the queue.", hint="`netwright-engine queue list` shows them.")
        busy = f"Entry {id} is being trained. To end it, stop its run."
        with _locked(self.folder / f"{id}.lock", patience_s, busy):
            if (entry := self._read(id)) is None:
                raise UserError(f"There is no entry {id} in the queue any more.")
            yield Claim(self, entry if entry.is_over or entry.is_waiting else _left(entry))

    def remove(self, id: int) -> None:
        """Delete an entry; its run folder, if any, stays. Raises `UserError`, and `RunError` while the entry is
        trained."""
        with self.claimed(id):
            for ending in ("json", "netwright", "lock", "request.json", "result.json", "stop"):
                with contextlib.suppress(FileNotFoundError):
                    (self.folder / f"{id}.{ending}").unlink()

    def remove_over(self) -> int:
        """Delete the entries that have ended. Returns the number of ended entries."""
        over = [entry.id for entry in self.entries() if entry.is_over]
        for id in over:
            with contextlib.suppress(UserError):
                self.remove(id)
        return len(over)

    def move(self, id: int, to: int) -> None:
        """Move a waiting entry to position `to` (1 is the first) among those that wait. Raises `UserError`."""
        waiting = [entry for entry in self.entries() if entry.is_waiting]
        if not any(entry.id == id for entry in waiting):
            raise UserError(f"Entry {id} does not wait.", hint="`netwright-engine queue list` shows which do.")
        others = [entry.order for entry in waiting if entry.id != id]
        position = min(max(0, to - 1), len(others))
        before = others[position - 1] if position else (others[0] - 2 if others else 0.0)
        following = others[position] if position < len(others) else before + 2
        with self.claimed(id) as claim:
            claim.change(order=(before + following) / 2)

    # ---- working ----

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Hold the lock for working through the queue, one process at a time. Raises `UserError`, and `RunError` if
        another process holds it."""
        try:
            make_private_folder(self.folder)
        except OSError as error:
            raise UserError(f"The queue in {self.folder} cannot be written: {error.strerror}.") from None
        with _locked(self.folder / "work.lock", PATIENCE_S, "The queue is being worked through by another process."):
            (self.folder / LEAVE).unlink(missing_ok=True)
            yield

    def ask_to_leave(self) -> None:
        """Ask the process that works through the queue to start no more entries and to exit. Active runs continue."""
        if self.is_worked():
            with contextlib.suppress(OSError):
                write_atomically(self.folder / LEAVE, b"")

    def is_to_be_left(self) -> bool:
        """Return whether `ask_to_leave` was called for the process at work."""
        return (self.folder / LEAVE).exists()


def is_due(entry: Entry) -> bool:
    """Return whether an entry can start: it waits, and the run in `after`, if any, has ended, or is paused and has
    released its memory."""
    if not entry.is_waiting:
        return False
    folder = RunFolder(Path(entry.after))
    try:
        return not entry.after or not folder.info.is_file() or folder.state() in ENDS or folder.has_released()
    except (UserError, OSError):
        return True  # a deleted or damaged run will never end


def _read_text(path: Path) -> str:
    with contextlib.suppress(OSError, ValueError):
        return read_file(path, PROJECT_LIMIT_BYTES).decode("utf-8")
    return ""


def _object_in(text: str) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(text)
        return value if isinstance(value, dict) else None
    return None


def _without_seed(project: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """Return the network and the options of a run without its seed; they determine its numbers."""
    return network_in(project), {path: value for path, value in options_in(project).items() if path != SEED}


def _seed_of(project: dict[str, Any]) -> int:
    seed = options_in(project).get(SEED, 0)
    return seed if isinstance(seed, int) else 0


def _left(entry: Entry) -> Entry:
    """Return a started entry whose process is gone, with the state of its run: waiting again if there is no run."""
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
    """Hold a file lock. Raises `RunError` with the text `busy` if another process holds it, `UserError` if it cannot be
    locked."""
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


def start(queue: Queue, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start a process of the queue in a new session, so that it outlives its parent. Its output goes to `work.log` in
    the queue folder. Raises `UserError`."""
    try:
        make_private_folder(queue.folder)
        return start_detached_module(queue.folder / "work.log", module, *arguments)
    except OSError as error:
        raise UserError(f"The queue in {queue.folder} cannot be worked: {error.strerror}.") from None


def start_work(queue: Queue, *arguments: str) -> None:
    """Start a process that works through the queue unless there is one. Raises `UserError`."""
    with contextlib.suppress(OSError):
        (queue.folder / LEAVE).unlink(missing_ok=True)
    if not queue.is_worked():
        start(queue, "netwright.engine.launch.queue_runner", str(queue.folder), *arguments)


def start_entry(queue: Queue, id: int, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start training or computing an entry now, regardless of other active runs. Raises `UserError`."""
    entry = queue.entry(id)
    is_answer = entry is not None and bool(entry.operation)
    module = "netwright.engine.cli.queued_answer" if is_answer else "netwright.engine.launch.queued_run"
    return start(queue, module, str(queue.folder), str(id), *arguments)
