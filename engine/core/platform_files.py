"""Files as the operating system has them: open, lock, replace, read at an offset; pipes; shared memory."""

import contextlib
import os
import select
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

if sys.platform != "win32":
    import fcntl

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


def lock_file(descriptor: int, *, is_shared: bool = False) -> bool:
    """Lock an open file until the descriptor is closed or the process ends. Return False where another process holds a
    lock that excludes it. Raises `OSError` where the disk has no locks."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def replace_file(source: Path, target: Path) -> None:
    """Give a file the name of another one, which it replaces at once. Raises `OSError`."""
    os.replace(source, target)


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


def do_not_wait(pipe: int) -> None:
    """Let `os.read` and `os.write` of a pipe raise `BlockingIOError` rather than wait."""
    os.set_blocking(pipe, False)


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


def make_shared_memory(name: str, size: int = 0) -> tuple[int, str]:
    """Create memory with no name in any folder; return its descriptor, and the path by which other processes open it
    while that is open. Unused pages take no memory. Raises `OSError`."""
    descriptor = os.memfd_create(name)
    os.ftruncate(descriptor, size)
    return descriptor, path_of_descriptor(descriptor)


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
