"""What was read of the runs of a folder, kept in the user's cache so that thousands of them are listed at once.

Everything in it is told by the folders too: it is made again where it is missing, damaged or cannot be used, and nobody
is told. Several programs may use it at the same time.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.fields import is_unicode

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
    """Where indexes are kept. Raises `RuntimeError` where the user has no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netwright" / "runs"


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
