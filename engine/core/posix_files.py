"""Files as Linux and macOS have them."""

import contextlib
import fcntl
import math
import os
import select
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

assert sys.platform != "win32"  # a type checker for Windows leaves out the rest

_FLAGS = {
    "r": os.O_RDONLY | os.O_NONBLOCK,
    "r+": os.O_RDWR,
    "w": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "x": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "a": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "a+": os.O_RDWR | os.O_CREAT | os.O_APPEND,
}
PIPE_BYTES = 2**20
_SET_PIPE_SIZE = 1031
"""Linux's request to `fcntl`, which Python names on Linux alone."""
CAN_SHARE_MEMORY = hasattr(os, "memfd_create")
"""Whether `make_shared_memory` works."""
CAN_READ_INTO = hasattr(os, "preadv")
"""Whether the system fills memory from an offset of a file, see `read_into`."""


def open_descriptor(
    path: Path | str,
    mode: Literal["r", "r+", "w", "x", "a", "a+"],
    *,
    permissions: int = 0o600,
    follow_link: bool = True,
) -> int:
    """Open a file and return its descriptor, which child processes do not inherit. Raises `OSError`.

    `mode` is that of `open`, for bytes; `r` never waits for the writer of a pipe. Without `follow_link` a symbolic link
    is refused, so that a link in an untrusted folder cannot redirect the access.
    """
    return os.open(path, _FLAGS[mode] | (0 if follow_link else os.O_NOFOLLOW), permissions)


def open_to_flush(path: Path | str) -> int:
    """Open a file or a folder so that `os.fsync` works on it. Raises `OSError`."""
    return os.open(path, os.O_RDONLY)


def open_locked(path: Path, *, create: bool = True) -> int | None:
    """Open a file and lock it until the descriptor, and those that child processes inherit, are closed. Return None
    where another process has locked it. Raises `OSError`, also where the disk has no locks."""
    descriptor = open_descriptor(path, "a+" if create else "r")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_file_locked(path: Path) -> bool:
    """Return whether a process holds a file by `open_locked`. Raises `OSError` where it cannot be opened, or the disk
    has no locks."""
    descriptor = open_descriptor(path, "r")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def touch(descriptor: int) -> None:
    """Set the time of an open file to now. Raises `OSError`."""
    os.utime(descriptor)


def replace_file(source: Path, target: Path) -> None:
    """Give a file the name of another one, which it replaces at once. Raises `OSError`."""
    os.replace(source, target)


def rename(source: Path, target: Path) -> None:
    """Rename a file or a folder to a name that is free. Raises `OSError`."""
    os.rename(source, target)


def copy_permissions(source: Path, descriptor: int, *, follow_link: bool = True) -> None:
    """Give an open file the permissions of another one. Raises `OSError`."""
    os.fchmod(descriptor, stat.S_IMODE(source.stat(follow_symlinks=follow_link).st_mode))


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Return at most `size` bytes at an offset of an open file, whose position stays. Raises `OSError`."""
    return os.pread(descriptor, size, offset)


def read_into(descriptor: int, memory: memoryview, offset: int) -> int:
    """Fill memory from an offset of an open file, whose position stays; return the number of bytes. Needs
    `CAN_READ_INTO`. Raises `OSError`."""
    return os.preadv(descriptor, [memory], offset)


# ---- pipes ----


def name_for_child(descriptor: int) -> int:
    """Return the number by which a child process that inherits a descriptor opens it: see `inherited`."""
    return descriptor


def inherited(number: int) -> int:
    """Return the descriptor of a number that `name_for_child` gave to the process that started this one; its own
    children do not inherit it. A number below 0 stands for none."""
    if number >= 0:
        os.set_inheritable(number, False)
    return number


def write(descriptor: int, data: bytes | memoryview) -> int:
    """Write bytes and return the number of those written. Raises `BrokenPipeError` for a pipe that nobody reads any
    more, and `OSError`."""
    return os.write(descriptor, data)


def do_not_wait(pipe: int) -> None:
    """Let `os.read` and `os.write` of a pipe raise `BlockingIOError` rather than wait."""
    os.set_blocking(pipe, False)


def read_available(pipe: int, size: int) -> bytes | None:
    """Return the content of a pipe, at most `size` bytes: None where that is nothing yet, empty where it is closed.
    Needs `do_not_wait`."""
    try:
        return os.read(pipe, size)
    except BlockingIOError:
        return None
    except ConnectionError:
        return b""


def wait_readable(pipes: Sequence[int], patience_s: float | None) -> list[int]:
    """Wait until something can be read from pipes, or one is closed, for a time, and return which."""
    poll = select.poll()
    for pipe in pipes:
        poll.register(pipe, select.POLLIN)
    return [pipe for pipe, _ in poll.poll(None if patience_s is None else math.ceil(1000 * max(0.0, patience_s)))]


def widen_pipe(pipe: int) -> None:
    """Enlarge the buffer of a pipe to `PIPE_BYTES` where the system lets us."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, _SET_PIPE_SIZE, PIPE_BYTES)


def has_no_reader(pipe: Any) -> bool:
    """Return whether a stream is a pipe whose reading end was closed, as by `| head -1`."""
    try:
        poll = select.poll()
        poll.register(pipe.fileno(), 0)  # errors are always reported
        return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))
    except (OSError, ValueError, AttributeError):
        return False


# ---- memory, and what the system tells of open files ----


def make_shared_memory(name: str, size: int = 0) -> tuple[int, str]:
    """Create memory with no name in any folder; return its descriptor, and the path by which other processes open it
    while that is open. Unused pages take no memory. Raises `OSError`."""
    if sys.platform == "linux":
        descriptor = os.memfd_create(name)
        os.ftruncate(descriptor, size)
        return descriptor, path_of_descriptor(descriptor)
    raise OSError("only Linux has descriptors of memory")


def path_of_descriptor(descriptor: int) -> str:
    """Return the path by which other processes open a file that this process has open, also one that was deleted."""
    return f"/proc/{os.getpid()}/fd/{descriptor}"


def open_descriptors() -> list[int]:
    """Return the descriptors of this process, and that of the listing itself, which is closed. Raises `OSError` where
    the system does not list them."""
    return [int(name) for name in os.listdir("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")]


OPEN_FILES = Path("/proc/self/fd")


def opened_paths() -> Iterator[str]:
    """Yield the paths of the files and devices that this process has open; none where the system does not tell."""
    with contextlib.suppress(OSError):
        for link in OPEN_FILES.iterdir():
            with contextlib.suppress(OSError):  # the descriptor of the listing itself is closed again
                yield os.readlink(link)


def has_open(pid: int, path: Path) -> bool:
    """Return whether another process has a file open; False where the system does not tell."""
    with contextlib.suppress(OSError):
        file = path.stat()
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.path.samestat(os.stat(f"/proc/{pid}/fd/{descriptor}"), file):
                    return True
    return False
