"""Files and folders that can be made again, in the user's cache folder: one way for all that is kept there in bulk.

An entry is made under another name, by one process while others wait, and renamed, so that it is whole. Those used
least recently are removed where room is needed; what is open then stays readable until it is closed.
"""

import hashlib
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from netwright.engine.core.errors import UserError
from netwright.engine.core.files import make_private_folder, remove, write_atomically
from netwright.engine.core.folders import cache_folder
from netwright.engine.core.locks import LockHeldError, take_lock
from netwright.engine.core.platform_files import open_descriptor, replace_file
from netwright.engine.core.text import format_bytes

T = TypeVar("T")
TEMPORARY = ".tmp"
LEFT_BEHIND_S = 86400.0
"""Age at which an unfinished entry was left by a process that was killed, in seconds."""
PATIENCE_S = 3600.0
"""Time limit for another process that makes the same entry, in seconds."""
ATTEMPTS = 3
"""Attempts at an entry that another process removes before it has been read."""
WAY_OUT = (
    "Set NETWRIGHT_HOME to a folder with room."
    if sys.platform == "win32"
    else "Set XDG_CACHE_HOME to a folder with room."
)


@dataclass(frozen=True)
class Cache:
    """Entries of a folder. `name` is that of the folder, `purpose` says in errors what it is for: `Shards are kept in`.

    Above `most_bytes` or `most_entries`, and below `spare_bytes` of free disk, entries are removed that were not used
    for `unused_s`.
    """

    name: str
    purpose: str
    most_bytes: float = float("inf")
    most_entries: float = float("inf")
    unused_s: float = 0.0
    spare_bytes: int = 0

    @property
    def folder(self) -> Path:
        """Folder of the entries. Raises `UserError` for a user without one."""
        try:
            return cache_folder() / self.name
        except RuntimeError as error:
            raise self._unusable(error) from None

    def entry(self, *key: Any) -> Path:
        """Return the path of an entry by its key, a value of JSON."""
        text = json.dumps(key).encode("utf-8", "surrogatepass")
        return self.folder / hashlib.sha256(text).hexdigest()[:40]

    def obtain(
        self, entry: Path, read: Callable[[Path], T], write: Callable[[Path], object], subject: str, size: int = 0
    ) -> T:
        """Return `read(entry)` and mark the entry as used. One that is missing or damaged, so that `read` fails, is
        made by `write` first, at the path that it gets. `subject` with about `size` bytes is named in errors.

        Raises `UserError`, also where the folder cannot be used, or has no room.
        """
        for _ in range(ATTEMPTS):
            with suppress(Exception):
                return _used(entry, read)
            with self._errors(), self._locked(entry, subject):
                with suppress(Exception):
                    return _used(entry, read)
                self.make_room(subject, size)
                self._write(entry, write)
                with suppress(FileNotFoundError):
                    return read(entry)
        raise self._unusable(FileNotFoundError("entries are removed by another process"))

    def put(self, entry: Path, content: bytes) -> None:
        """Write a file as an entry. Raises `UserError`."""
        with self._errors():
            make_private_folder(self.folder)
            self.make_room("An entry", len(content))
            self._write(entry, lambda path: write_atomically(path, content, mode=0o600))

    def make_room(self, subject: str, size: int, way_out: str = WAY_OUT) -> None:
        """Remove entries until another one of about `size` bytes has room. Raises `UserError` where it has none."""
        self._remove_unused(size, None)
        if (free := shutil.disk_usage(self.folder).free) < size + self.spare_bytes:
            raise UserError(
                f"{subject} needs about {format_bytes(size)} in the cache folder {self.folder}; {format_bytes(free)} "
                "are free.",
                hint=way_out,
            )

    def _write(self, entry: Path, write: Callable[[Path], object]) -> None:
        """Have an entry written under another name, then renamed."""
        temporary = entry.with_name(f".{secrets.token_hex(8)}{TEMPORARY}")
        try:
            write(temporary)
            if entry.is_dir():
                remove(entry)
            replace_file(temporary, entry)
            self._remove_unused(0, entry)
        finally:
            with suppress(OSError):
                remove(temporary)

    def _remove_unused(self, size: int, protected: Path | None) -> None:
        """Remove the entries used least recently until another one of `size` bytes is within the limits, and unfinished
        ones of processes that were killed."""
        now = time.time()
        used = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                with suppress(OSError):
                    used.append((path.stat().st_mtime, path))
        for when, path in used:
            if path.suffix == TEMPORARY and now - when > LEFT_BEHIND_S:
                with suppress(OSError):
                    remove(path)
        entries = sorted(item for item in used if item[1].suffix != TEMPORARY)
        sizes = {path: _size(path) for _, path in entries if self.most_bytes < float("inf")}
        total, count = sum(sizes.values()) + size, len(entries) + (protected is None)
        for when, path in entries:
            is_full = self.spare_bytes and shutil.disk_usage(self.folder).free < size + self.spare_bytes
            if not (is_full or total > self.most_bytes or count > self.most_entries):
                break
            if path != protected and now - when >= self.unused_s:
                with suppress(OSError):
                    remove(path)
                total, count = total - sizes.get(path, 0), count - 1

    @contextmanager
    def _locked(self, entry: Path, subject: str) -> Iterator[None]:
        """Context in which no other process makes the entry. Few files are locks, so that entries may share one."""
        make_private_folder(self.folder)
        locks = cache_folder() / "locks"
        make_private_folder(locks)
        try:
            lock = take_lock(locks / f"{self.name.replace('/', '-')}-{entry.name[:2]}", patience_s=PATIENCE_S)
        except LockHeldError:
            raise UserError(f"{subject} is fetched by another process, which does not end.") from None
        try:
            yield
        finally:
            os.close(lock)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of the folder into `UserError`."""
        try:
            yield
        except OSError as error:
            raise self._unusable(error) from None

    def _unusable(self, error: OSError | RuntimeError) -> UserError:
        reason = getattr(error, "strerror", None) or error
        return UserError(f"{self.purpose} the cache folder, which cannot be used: {reason}. {WAY_OUT}")


def open_new(path: Path) -> BinaryIO:
    """Open a file that is not there, for writing by the user alone. Raises `OSError`."""
    return open(open_descriptor(path, "x"), "wb")


def _used(entry: Path, read: Callable[[Path], T]) -> T:
    value = read(entry)
    os.utime(entry)
    return value


def _size(path: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    with suppress(OSError):
        if path.is_dir():
            return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return path.stat().st_size
    return 0
