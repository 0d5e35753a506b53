"""The runs of a folder or of a project, newest first. The folders are the truth; an index spares reading them again."""

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
"""Goes up when records are made in another way: older ones are then not used."""
PATIENCE_S = 2.0
MOST_FOLDERS = 100
_TABLE = "CREATE TABLE IF NOT EXISTS runs (name TEXT PRIMARY KEY, stamp TEXT NOT NULL, record TEXT NOT NULL)"


@dataclass(frozen=True)
class Known:
    """What was read of a run, and the stamp that its files had then."""

    stamp: str
    record: dict[str, Any]


def index_folder() -> Path:
    """Return where indexes are kept. Raises `RuntimeError` where the user has no home."""
    return cache_folder() / "runs"


def index_path(folder: Path) -> Path:
    """The file of the index of a folder of runs."""
    key = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:24]
    return index_folder() / f"{key}.sqlite"


class Index:
    """The index of one folder of runs; without any where the cache cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._connection: sqlite3.Connection | None = None
        with contextlib.suppress(OSError, RuntimeError):
            path = index_path(folder)
            path.parent.mkdir(0o700, parents=True, exist_ok=True)
            path.parent.chmod(0o700)
            self._connection = _opened(path)

    def read(self) -> dict[str, Known]:
        """All that is known, by the names of runs."""
        found: dict[str, Known] = {}
        if self._connection is None:
            return found
        try:
            for name, stamp, record in self._connection.execute("SELECT name, stamp, record FROM runs"):
                with contextlib.suppress(ValueError, TypeError, RecursionError):
                    value = json.loads(record)
                    if isinstance(value, dict):
                        found[str(name)] = Known(str(stamp), value)
        except sqlite3.Error:
            self.close()
        return found

    def write(self, learned: Mapping[str, Known], forgotten: Iterable[str]) -> None:
        """Keep what was learned; forget what is gone. A name that is no text is not kept."""
        if self._connection is None:
            return
        gone = [(name,) for name in forgotten if is_unicode(name)]
        rows = [(name, known.stamp, json.dumps(known.record)) for name, known in learned.items() if is_unicode(name)]
        if not (rows or gone):
            return
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", rows)
                self._connection.executemany("DELETE FROM runs WHERE name = ?", gone)
        except sqlite3.Error:  # a full disk, or somebody else at work for long
            self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _opened(path: Path) -> sqlite3.Connection | None:
    """The database, made anew where it is damaged; None where it cannot be used now."""
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
                    connection.execute("BEGIN IMMEDIATE")  # who comes at the same time waits, and finds it made
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
            if "no such" not in str(error):  # locked for long, read only, a full disk: do without
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
    """Keep the indexes of the folders that were looked at last."""
    with contextlib.suppress(OSError):
        kept = sorted(path.parent.glob("*.sqlite"), key=lambda one: one.stat().st_mtime, reverse=True)
        for old in kept[MOST_FOLDERS:]:
            _remove(old)


CLOCKS_APART_S = 60.0
"""How far the clock of a disk in the network may be behind."""


def list_runs(folder: Path) -> list[RunSummary]:
    """The runs in this folder, newest first; what is not a run, or cannot be read, is left out. Raises `UserError`."""
    try:
        candidates = [entry.path for entry in os.scandir(folder) if not entry.name.startswith(".")]
    except OSError as error:
        raise UserError(f"{folder} cannot be listed: {error.strerror}. Name the folder that holds the runs.") from None
    index = Index(folder)
    try:
        known = index.read()
        found: list[RunSummary] = []
        learned: dict[str, Known] = {}
        for path in candidates:
            with contextlib.suppress(OSError):  # somebody else's, or just deleted
                _look_at(path, known, found, learned)
        index.write(learned, known.keys() - {run.path.name for run in found})
    finally:
        index.close()
    return in_order(with_state_now(run) for run in found)


def _look_at(path: str, known: dict[str, Known], found: list[RunSummary], learned: dict[str, Known]) -> None:
    """Find a run as it is known, or read it."""
    stamp = stamp_of(path)  # before the files are read: a change meanwhile is then seen the next time
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
    """Newest first, each with what differs from the one before it."""
    return with_changes(sorted(runs, key=lambda run: (run.created, run.path.name), reverse=True))


def own_runs() -> Path | None:
    """The folder of runs in the user's data directory: of projects without a file, of shipped ones, and of those beside
    which nobody may write."""
    with contextlib.suppress(RuntimeError):
        return data_folder() / "runs"
    return None


def is_of(run: RunSummary, project_path: Path | None) -> bool:
    """Whether a run is of this project; runs beside a project that was moved with them count by its name."""
    if project_path is None or run.path.parent == own_runs():
        return run.project_path == (str(project_path) if project_path else "")
    return Path(run.project_path).name == project_path.name


def runs_of(project_path: Path | None) -> list[RunSummary]:
    """Every run of a project, wherever runs are put by themselves, newest first; of one without a file for None."""
    folders = [runs_beside(project_path)] if project_path is not None else []
    own = own_runs()
    found: list[RunSummary] = []
    for folder in dict.fromkeys([*folders, *([own] if own is not None else [])]):
        if folder.is_dir():
            with contextlib.suppress(UserError):
                found += [run for run in list_runs(folder) if is_of(run, project_path)]
    return in_order(found)


def last_run(project_path: Path) -> RunFolder | None:
    """The newest run of a project among those beside it, of a shipped one among those in the user's data, or None. Runs
    of a project that was moved with them count.

    Of thousands only those are read that can be the newest: no `run.json` was written before its run was made.
    """
    written: list[tuple[float, str]] = []
    own = own_runs() if is_shipped(project_path) else None
    with contextlib.suppress(OSError):
        for entry in os.scandir(own or runs_beside(project_path)):
            with contextlib.suppress(OSError):
                written.append((os.stat(f"{entry.path}/run.json").st_mtime, entry.path))
    best: tuple[float, str] | None = None
    for when, path in sorted(written, reverse=True):
        if best is not None and when + CLOCKS_APART_S < best[0]:
            break
        with contextlib.suppress(UserError, OSError):
            info = RunFolder(Path(path)).read_info()
            known = info.project_path or ""
            if known == str(project_path) or (own is None and Path(known).name == project_path.name):
                best = max(best or (-1.0, ""), (info.created, path))
    return RunFolder(Path(best[1])) if best is not None else None
