"""List the runs of a folder or of a project, newest first. An index caches summaries; the run folders are
authoritative."""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import is_unicode
from netwright.engine.core.files import make_private_folder, read_object, write_json
from netwright.engine.core.folders import cache_folder, data_folder, state_folder
from netwright.engine.core.locks import LockHeldError, take_lock
from netwright.engine.runs.create import is_shipped, runs_beside
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.summary import RunSummary, read_summary, stamp_of, summary_from, with_changes, with_state_now

VERSION = 3
"""Version of the index records. An index of another version is discarded."""
PATIENCE_S = 2.0
NUMBERING_PATIENCE_S = 10.0
MOST_FOLDERS = 100
MOST_REGISTERED = 500
REGISTER_LIMIT_BYTES = 2**14
_TABLE = "CREATE TABLE IF NOT EXISTS runs (name TEXT PRIMARY KEY, stamp TEXT NOT NULL, record TEXT NOT NULL)"


@dataclass(frozen=True)
class Known:
    """Cached record of a run, and the stamp of its files at the time of reading."""

    stamp: str
    record: dict[str, Any]


def index_folder() -> Path:
    """Return the folder of the indexes. Raises `RuntimeError` if the user has no home folder."""
    return cache_folder() / "runs"


def index_path(folder: Path) -> Path:
    """Return the path of the index file for a folder of runs."""
    key = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:24]
    return index_folder() / f"{key}.sqlite"


class Index:
    """SQLite index of one folder of runs; empty if the cache cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._connection: sqlite3.Connection | None = None
        with contextlib.suppress(OSError, RuntimeError):
            path = index_path(folder)
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            path.parent.chmod(0o700)
            self._connection = _opened(path)

    def read(self) -> dict[str, Known]:
        """Return the cached records by run name."""
        records: dict[str, Known] = {}
        if self._connection is None:
            return records
        try:
            for name, stamp, record in self._connection.execute("SELECT name, stamp, record FROM runs"):
                with contextlib.suppress(ValueError, TypeError, RecursionError):
                    value = json.loads(record)
                    if isinstance(value, dict):
                        records[str(name)] = Known(str(stamp), value)
        except sqlite3.Error:
            self.close()
        return records

    def write(self, learned: Mapping[str, Known], forgotten: Iterable[str]) -> None:
        """Store the records in `learned` and delete those in `forgotten`. Names that are not valid Unicode are
        skipped."""
        if self._connection is None:
            return
        removed_rows = [(name,) for name in forgotten if is_unicode(name)]
        rows = [(name, entry.stamp, json.dumps(entry.record)) for name, entry in learned.items() if is_unicode(name)]
        if not (rows or removed_rows):
            return
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", rows)
                self._connection.executemany("DELETE FROM runs WHERE name = ?", removed_rows)
        except sqlite3.Error:  # a full disk, or a lock that another process holds too long
            self.close()

    def close(self) -> None:
        """Close the database."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _opened(path: Path) -> sqlite3.Connection | None:
    """Open the database, recreating it if it is damaged. Returns None if it cannot be used now."""
    is_new = not path.exists()
    for _ in range(2):
        connection = None
        try:
            path.touch(0o600)
            connection = sqlite3.connect(path, timeout=PATIENCE_S)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            if not _is_ours(connection):
                with connection:
                    connection.execute("BEGIN IMMEDIATE")  # a concurrent process waits here, then finds the table
                    if not _is_ours(connection):
                        connection.execute("DROP TABLE IF EXISTS runs")
                        connection.execute(_TABLE)
                        connection.execute(f"PRAGMA user_version={VERSION}")
            if connection.execute("PRAGMA quick_check").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("damaged")
            connection.execute("SELECT name, stamp, record FROM runs LIMIT 1")
        except sqlite3.OperationalError as error:
            if connection is not None:
                connection.close()
            if "no such" not in str(error):  # locked too long, read-only, full disk: use no index
                return None
            _remove(path)
        except sqlite3.DatabaseError:
            if connection is not None:
                connection.close()
            _remove(path)
        else:
            if is_new:
                _tidy(path)
            return connection
    return None


def _is_ours(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA user_version").fetchone() == (VERSION,))


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _tidy(path: Path) -> None:
    """Delete all but the `MOST_FOLDERS` most recently modified indexes."""
    with contextlib.suppress(OSError):
        indexes = sorted(path.parent.glob("*.sqlite"), key=lambda index: index.stat().st_mtime, reverse=True)
        for old in indexes[MOST_FOLDERS:]:
            _remove(old)


CLOCKS_APART_S = 60.0
"""Maximum lag of the clock of a network file system, in seconds."""


def list_runs(folder: Path) -> list[RunSummary]:
    """Return the runs in a folder, newest first. Entries that are not runs or cannot be read are skipped.

    Raises `UserError` if the folder cannot be listed.
    """
    try:
        candidates = [entry.path for entry in os.scandir(folder) if not entry.name.startswith(".")]
    except OSError as error:
        raise UserError(
            f"{folder} cannot be listed: {error.strerror}.", hint="Name the folder that holds the runs."
        ) from None
    index = Index(folder)
    try:
        entries = index.read()
        runs: list[RunSummary] = []
        learned: dict[str, Known] = {}
        for path in candidates:
            with contextlib.suppress(OSError):  # no permission, or just deleted
                _look_at(path, entries, runs, learned)
        index.write(learned, entries.keys() - {run.path.name for run in runs})
    finally:
        index.close()
    return in_order(with_state_now(run) for run in runs)


def _look_at(path: str, entries: dict[str, Known], runs: list[RunSummary], learned: dict[str, Known]) -> None:
    """Append the run at `path` to `runs`, from the index if its stamp matches, else read from its files."""
    stamp = stamp_of(path)  # taken before reading: a change during the read is noticed next time
    if not stamp:
        return
    name = os.path.basename(path)
    if name in entries and entries[name].stamp == stamp:
        with contextlib.suppress(ValueError):
            runs.append(summary_from({**entries[name].record, "run_dir": path}))
            return
    run = read_summary(Path(path))
    learned[name] = Known(stamp, run.write())
    runs.append(run)


def in_order(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Sort runs newest first and set the changes of each relative to the previous run of the same project."""
    return with_changes(sorted(runs, key=lambda run: (run.created, run.path.name), reverse=True))


def own_runs() -> Path | None:
    """Return the folder of runs in the user's data directory, for projects without a file, shipped projects, and
    projects in folders that are not writable. None if the user has no home folder."""
    with contextlib.suppress(RuntimeError):
        return data_folder() / "runs"
    return None


class OfProject(Protocol):
    """A run, or an entry of the queue, that was made from a project."""

    @property
    def project_path(self) -> str | None:
        """The file of the project."""

    @property
    def project_id(self) -> str:
        """The identity of the project."""


@dataclass(frozen=True)
class ProjectKey:
    """Key of the runs of a project: its identity, and its file. Either may be missing."""

    path: Path | None = None
    """The file; for an unsaved copy of an example or of a run, that of the original."""
    identity: str = ""

    def owns(self, run: OfProject, folder: Path) -> bool:
        """Return whether the run in a folder, or an entry of the queue, belongs to the project.

        It does if it carries the identity, or was started from this file. Where one of them has no identity, a run
        beside the project matches by file name, as both may have been moved, and a run without a file matches a project
        without one.
        """
        if self.identity and run.project_id == self.identity:
            return True
        project_path = run.project_path or ""
        if self.path is not None and project_path == str(self.path):
            return True
        if self.identity and run.project_id:
            return False
        if self.path is None:
            return not project_path and not self.identity
        return folder.parent != own_runs() and bool(project_path) and Path(project_path).name == self.path.name


def roots_of(project: ProjectKey) -> list[Path]:
    """Return the folders of runs in which those of a project may be: beside it, in the user's data directory, and
    wherever a run of it was started."""
    beside = [runs_beside(project.path)] if project.path is not None and not is_shipped(project.path) else []
    own = own_runs()
    elsewhere = [run.parent for run in registered(project.identity)] if project.identity else []
    return list(dict.fromkeys([*beside, *([own] if own is not None else []), *elsewhere]))


def runs_of(project: ProjectKey) -> list[RunSummary]:
    """Return the runs of a project, newest first."""
    runs: list[RunSummary] = []
    for folder in roots_of(project):
        if folder.is_dir():
            with contextlib.suppress(UserError):
                runs += [run for run in list_runs(folder) if project.owns(run, run.path)]
    return in_order(runs)


def last_run(project: ProjectKey) -> RunFolder | None:
    """Return the newest run of a project, or None. Runs that were moved together with their project are included.

    Reads only runs that can be the newest: the modification time of `run.json` is not earlier than the creation of
    its run.
    """
    candidates: list[tuple[float, str]] = []
    for root in roots_of(project):
        with contextlib.suppress(OSError):
            for entry in os.scandir(root):
                with contextlib.suppress(OSError):
                    candidates.append((os.stat(f"{entry.path}/run.json").st_mtime, entry.path))
    best: tuple[float, int, str] | None = None
    for when, path in sorted(candidates, reverse=True):
        if best is not None and when + CLOCKS_APART_S < best[0]:
            break
        with contextlib.suppress(UserError, OSError):
            info = RunFolder(Path(path)).read_info()
            if project.owns(info, Path(path)):
                best = max(best or (-1.0, 0, ""), (info.created, info.number, path))
    return RunFolder(Path(best[2])) if best is not None else None


@contextlib.contextmanager
def numbering() -> Iterator[None]:
    """Let no other process of this user number a run in this context, from `next_number` to the run's `run.json`.

    Where the state folder cannot be written, or another process holds it for long, runs are numbered all the same.
    """
    lock = None
    with contextlib.suppress(OSError, RuntimeError, LockHeldError):
        make_private_folder(state_folder())
        lock = take_lock(state_folder() / "numbering.lock", patience_s=NUMBERING_PATIENCE_S)
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def next_number(project: ProjectKey) -> int:
    """Return the number of the next run of a project, from 1. It is free only within `numbering`."""
    newest = last_run(project)
    if newest is None:
        return 1
    with contextlib.suppress(UserError):
        if number := newest.read_info().number:
            return number + 1
    return len(runs_of(project)) + 1


# ---- the register ----


def register(folder: RunFolder, project_id: str) -> None:
    """Note where a run was started, so that its project and the start page find it wherever it lies.

    A failure is ignored: the run is found beside its project all the same.
    """
    with contextlib.suppress(OSError, RuntimeError):
        place = register_folder()
        make_private_folder(place)
        path = str(folder.path.absolute())
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:24]
        if is_unicode(path):
            write_json(place / f"{name}.json", {"run_dir": path, "project_id": project_id})
        for old in _newest_first(place)[MOST_REGISTERED:]:
            os.unlink(old)


def register_folder() -> Path:
    """Return the folder of the register. Raises `RuntimeError` if the user has no home folder."""
    return state_folder() / "runs"


def registered(project_id: str | None = None) -> list[Path]:
    """Return the folders of the registered runs of a project, or of all, latest first. They may be gone meanwhile."""
    folders: list[Path] = []
    with contextlib.suppress(OSError, RuntimeError):
        for entry in _newest_first(register_folder()):
            with contextlib.suppress(OSError):
                data = read_object(entry, REGISTER_LIMIT_BYTES) or {}
                run_dir = data.get("run_dir")
                if isinstance(run_dir, str) and project_id in (None, data.get("project_id")):
                    folders.append(Path(run_dir))
    return folders


def _newest_first(place: Path) -> list[Path]:
    with_times: list[tuple[float, str]] = []
    for entry in os.scandir(place):
        with contextlib.suppress(OSError):
            with_times.append((entry.stat().st_mtime, entry.path))
    return [Path(path) for _, path in sorted(with_times, reverse=True)]
