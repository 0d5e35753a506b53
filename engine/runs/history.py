"""List the runs of a folder or of a project, newest first. An index caches summaries; the run folders are
authoritative."""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import UserError
from engine.core.fields import is_unicode
from engine.core.folders import cache_folder, data_folder
from engine.runs.create import is_shipped, runs_beside
from engine.runs.folder import RunFolder
from engine.runs.summary import (
    RunSummary,
    read_summary,
    stamp_of,
    summary_from,
    with_changes,
    with_state_now,
)

VERSION = 1
"""Version of the index records. An index of another version is discarded."""
PATIENCE_S = 2.0
MOST_FOLDERS = 100
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
        indexes = sorted(path.parent.glob("*.sqlite"), key=lambda one: one.stat().st_mtime, reverse=True)
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
        raise UserError(f"{folder} cannot be listed: {error.strerror}. Name the folder that holds the runs.") from None
    index = Index(folder)
    try:
        known = index.read()
        runs: list[RunSummary] = []
        learned: dict[str, Known] = {}
        for path in candidates:
            with contextlib.suppress(OSError):  # no permission, or just deleted
                _look_at(path, known, runs, learned)
        index.write(learned, known.keys() - {run.path.name for run in runs})
    finally:
        index.close()
    return in_order(with_state_now(run) for run in runs)


def _look_at(path: str, known: dict[str, Known], found: list[RunSummary], learned: dict[str, Known]) -> None:
    """Append the run at `path` to `found`, from the index if its stamp matches, else read from its files."""
    stamp = stamp_of(path)  # taken before reading: a change during the read is noticed next time
    if not stamp:
        return
    name = os.path.basename(path)
    if name in known and known[name].stamp == stamp:
        with contextlib.suppress(ValueError):
            found.append(summary_from({**known[name].record, "run_dir": path}))
            return
    run = read_summary(Path(path))
    learned[name] = Known(stamp, run.write())
    found.append(run)


def in_order(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Sort runs newest first and set the changes of each relative to the previous run of the same project."""
    return with_changes(sorted(runs, key=lambda run: (run.created, run.path.name), reverse=True))


def own_runs() -> Path | None:
    """Return the folder of runs in the user's data directory, for projects without a file, shipped projects, and
    projects in folders that are not writable. None if the user has no home folder."""
    with contextlib.suppress(RuntimeError):
        return data_folder() / "runs"
    return None


def is_of(run: RunSummary, project_path: Path | None) -> bool:
    """Return whether a run belongs to a project. Runs beside the project match by file name, as both may have been
    moved."""
    if project_path is None or run.path.parent == own_runs():
        return run.project_path == (str(project_path) if project_path else "")
    return Path(run.project_path).name == project_path.name


def runs_of(project_path: Path | None) -> list[RunSummary]:
    """Return the runs of a project in the default folders, newest first. None selects projects without a file."""
    folders = [runs_beside(project_path)] if project_path is not None else []
    own = own_runs()
    runs: list[RunSummary] = []
    for folder in dict.fromkeys([*folders, *([own] if own is not None else [])]):
        if folder.is_dir():
            with contextlib.suppress(UserError):
                runs += [run for run in list_runs(folder) if is_of(run, project_path)]
    return in_order(runs)


def last_run(project_path: Path) -> RunFolder | None:
    """Return the newest run of a project, or None. Searches beside the project, for a shipped project in the user's
    data directory. Runs that were moved together with their project are included.

    Reads only runs that can be the newest: the modification time of `run.json` is not earlier than the creation of
    its run.
    """
    candidates: list[tuple[float, str]] = []
    own = own_runs() if is_shipped(project_path) else None
    with contextlib.suppress(OSError):
        for entry in os.scandir(own or runs_beside(project_path)):
            with contextlib.suppress(OSError):
                candidates.append((os.stat(f"{entry.path}/run.json").st_mtime, entry.path))
    best: tuple[float, str] | None = None
    for when, path in sorted(candidates, reverse=True):
        if best is not None and when + CLOCKS_APART_S < best[0]:
            break
        with contextlib.suppress(UserError, OSError):
            info = RunFolder(Path(path)).read_info()
            known_path = info.project_path or ""
            if known_path == str(project_path) or (own is None and Path(known_path).name == project_path.name):
                best = max(best or (-1.0, ""), (info.created, path))
    return RunFolder(Path(best[1])) if best is not None else None
