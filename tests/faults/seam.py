"""What a run does to its folder, operation by operation, and a fault at any one of them.

As SQLite is tested: the first, the second, the third operation fails, and so on. Python tells an audit hook of each
file that it opens, renames or removes before it does so, and a hook that raises prevents it. What a library writes by
itself (safetensors) is met at the operations around it, and by a disk that is really full.
"""

import hashlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_OF_PATHS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_TAKES_ROOM = {"open", "write", "os.mkdir", "fsync"}


class Seam:
    """Counts the operations of this process, and of those forked from it, on the files of one folder.

    `at` is the operation, from 1, where it happens (0: never), `who` is `coordinator` or `worker`, `what` is `kill` or
    `error`: then nothing that writes succeeds for as many operations as `lasts` says, for the reason `error` gives.
    """

    def __init__(self, folder: Path, *, at: int = 0, who: str = "", what: str = "", error: int = 0, lasts: int = 1):
        self.count = 0
        self._folder = f"{folder}{os.sep}"
        self._at, self._who, self._what, self._error, self._lasts = at, who, what, error, lasts
        self._coordinator = os.getpid()
        self._pid = os.getpid()
        self._is_inside = False

    def install(self) -> None:
        """From now on. It stays for as long as the process lives."""
        sys.addaudithook(self._hook)
        os.write = self._wrapped("write", os.write)
        os.fsync = self._wrapped("fsync", os.fsync)

    def _wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(descriptor: int, *given: Any) -> Any:
            if not self._is_inside and self._is_ours(os.readlink(f"/proc/self/fd/{descriptor}")):
                self._meet(name)
            return call(descriptor, *given)

        return wrapped

    def _hook(self, name: str, given: tuple[Any, ...]) -> None:
        if self._is_inside or not given or not (name in _OF_PATHS or name == "open"):
            return
        if name == "open" and not (len(given) > 2 and isinstance(given[2], int) and given[2] & _WRITING):
            return
        if isinstance(given[0], (str, Path)) and self._is_ours(os.fspath(given[0])):
            self._meet(name)

    def _is_ours(self, path: str) -> bool:
        return path.startswith(self._folder)

    def _meet(self, name: str) -> None:
        """One operation is about to happen."""
        if os.getpid() != self._pid:  # a worker counts for itself
            self._pid, self.count = os.getpid(), 0
        self.count += 1
        who = "coordinator" if self._pid == self._coordinator else "worker"
        if who != self._who or not self._at <= self.count < self._at + self._lasts or not self._at:
            return
        if self._what == "kill":
            os.kill(self._pid, signal.SIGKILL)
        if self._what == "error" and name in _TAKES_ROOM:
            raise OSError(self._error, os.strerror(self._error))


class Durability:
    """Sees to it that whatever is renamed into place in a folder was flushed to the disk before, as it is.

    So that after a loss of power a name stands for a whole file, the old one or the new one. What is found to be
    otherwise is written into a file `found` of a folder for that, beside what was flushed, by inode: one process
    flushes, another one renames.
    """

    def __init__(self, folder: Path, notes: Path) -> None:
        self._folder = folder
        self._notes = notes

    def install(self) -> None:
        """From now on, also in the processes that are forked."""
        fsync, rename, replace = os.fsync, os.rename, os.replace

        def flush(descriptor: int) -> None:
            fsync(descriptor)
            path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
            if path.is_file():
                (self._notes / str(path.stat().st_ino)).write_bytes(_digest(path))

        def checked(move: Callable[..., None]) -> Callable[..., None]:
            def moved(source: Any, target: Any, **named: Any) -> None:
                self._check(Path(source), Path(target))
                move(source, target, **named)

            return moved

        os.fsync = flush  # type: ignore[assignment]  # nothing of ours gives it anything but a number
        os.rename, os.replace = checked(rename), checked(replace)

    def _check(self, source: Path, target: Path) -> None:
        """Something is about to get its name. What only goes out of the way may be as it is."""
        if target.name.startswith(".") or not target.is_relative_to(self._folder):
            return
        for file in [source] if source.is_file() else source.rglob("*"):
            if not file.is_file():
                continue
            note = self._notes / str(file.stat().st_ino)
            if not note.exists() or note.read_bytes() != _digest(file):
                with open(self._notes / "found", "a", encoding="utf-8") as found:
                    found.write(f"{target.name}: {file.name} was not flushed\n")


def _digest(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()
