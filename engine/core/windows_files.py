"""Files as Windows has them, by kernel32; `posix_files` says what each function does.

Files are opened so that others may delete or replace them. Where another program did not, such as a virus scanner, what
it refuses is tried again for a while.
"""

import contextlib
import ctypes
import errno
import locale
import msvcrt
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from ctypes import wintypes
from pathlib import Path
from typing import Any, Literal

assert sys.platform == "win32"  # a type checker for another system leaves out the rest

PIPE_BYTES = 2**20
CAN_SHARE_MEMORY = False
CAN_READ_INTO = True
_PATIENCE_S = 2.5
"""How long a file that another program has open is tried again."""
_READ_PATIENCE_S = 0.3
"""The same for opening a file to read it, which its writer is just replacing."""
_POLL_S, _LONGEST_POLL_S = 0.001, 0.02
_DENIED, _SHARED, _LOCKED = 5, 32, 33
_HELD = (_DENIED, _SHARED, _LOCKED)
"""Errors where a file is open elsewhere: of a rename, of opening it, of a part that is locked."""
_END_OF_FILE, _BROKEN_PIPE = 38, 109
_READ, _WRITE, _APPEND, _ATTRIBUTES = 0x80000000, 0x40000000, 0x0004, 0x00100080
_CREATE_NEW, _CREATE_ALWAYS, _OPEN_EXISTING, _OPEN_ALWAYS = 1, 2, 3, 4
_SHARE_READ, _SHARE_ALL = 1, 7
_MODES = {
    "r": (_READ, _OPEN_EXISTING, os.O_RDONLY),
    "r+": (_READ | _WRITE, _OPEN_EXISTING, os.O_RDWR),
    "w": (_WRITE, _CREATE_ALWAYS, os.O_WRONLY),
    "x": (_WRITE, _CREATE_NEW, os.O_WRONLY),
    "a": (_APPEND | _ATTRIBUTES, _OPEN_ALWAYS, os.O_WRONLY | os.O_APPEND),
    "a+": (_READ | _WRITE, _OPEN_ALWAYS, os.O_RDWR | os.O_APPEND),
}
"""Rights, what becomes of an existing file, and flags of the descriptor. What several processes append is written at
the end of the file by the system."""
_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_kernel.CreateFileW.restype = wintypes.HANDLE
_kernel.CreateFileW.argtypes = (
    wintypes.LPCWSTR,
    wintypes.DWORD,
    wintypes.DWORD,
    ctypes.c_void_p,
    wintypes.DWORD,
    wintypes.DWORD,
    wintypes.HANDLE,
)
_NO_HANDLE = wintypes.HANDLE(-1).value
with contextlib.suppress(locale.Error):  # before Windows 10 1803
    # torch gives C paths in UTF-8, which takes them as of the system's code page otherwise: neither a program of
    # torch.export nor the meeting place of workers could lie in a folder whose name is not ASCII.
    locale.setlocale(locale.LC_CTYPE, ".UTF8")


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("internal", ctypes.c_size_t * 2),
        ("offset", wintypes.DWORD),
        ("offset_high", wintypes.DWORD),
        ("event", wintypes.HANDLE),
    )


def _persist(work: Callable[[], Any], patience_s: float, numbers: Sequence[int] = _HELD) -> Any:
    """Return the result of `work`, called again for a while where a file is open elsewhere. Raises `OSError`."""
    deadline, pause = time.monotonic() + patience_s, _POLL_S
    while True:
        try:
            return work()
        except OSError as error:
            if error.winerror not in numbers or time.monotonic() >= deadline:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 0.1)


def open_descriptor(
    path: Path | str,
    mode: Literal["r", "r+", "w", "x", "a", "a+"],
    *,
    permissions: int = 0o600,
    follow_link: bool = True,
) -> int:
    """Open a file and return its descriptor, for bytes; child processes do not inherit it. Raises `OSError`.

    `permissions` do not exist here: what is in the user's profile is the user's alone.
    """
    if not follow_link and os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if mode != "r":
        return _open(path, *_MODES[mode])
    try:
        descriptor: int = _persist(lambda: _open(path, *_MODES[mode]), _READ_PATIENCE_S, (_SHARED,))
        return descriptor
    except PermissionError:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path)) from None
        raise


def _open(path: Path | str, access: int, disposition: int, flags: int, share: int = _SHARE_ALL) -> int:
    handle = _kernel.CreateFileW(str(path), access, share, None, disposition, 0x80, None)
    if handle == _NO_HANDLE:
        raise _error(path)
    return msvcrt.open_osfhandle(handle, flags | os.O_BINARY | os.O_NOINHERIT)


def _error(path: Path | str = "") -> OSError:
    number = ctypes.get_last_error()
    name = str(path) or None
    return OSError(None, ctypes.FormatError(number).strip().rstrip("."), name, number)


def open_to_flush(path: Path | str) -> int:
    """Open a file so that `os.fsync` works on it. Raises `OSError`, also for a folder, which cannot be flushed."""
    return _open(path, *_MODES["r+"])


def open_locked(path: Path, *, create: bool = True) -> int | None:
    """Open a file that nobody else may then write, rename or delete until the descriptor, and those that child
    processes inherit, are closed. Return None where another process has done so, and raise `OSError`."""
    try:
        return _open(path, _READ | _WRITE, _OPEN_ALWAYS if create else _OPEN_EXISTING, os.O_RDWR, _SHARE_READ)
    except OSError as error:
        if error.winerror in (_SHARED, _LOCKED):
            return None
        raise


def is_file_locked(path: Path) -> bool:
    """Return whether a process holds a file by `open_locked`. Raises `OSError` where it cannot be opened."""
    try:
        os.close(_open(path, _WRITE, _OPEN_EXISTING, os.O_WRONLY))
    except OSError as error:
        if error.winerror in (_SHARED, _LOCKED):
            return True
        raise
    return False


def touch(descriptor: int) -> None:
    """Set the time of an open file to now. Raises `OSError`."""
    now = wintypes.FILETIME()
    _kernel.GetSystemTimeAsFileTime(ctypes.byref(now))
    if not _kernel.SetFileTime(_handle(descriptor), None, None, ctypes.byref(now)):
        raise _error()


def replace_file(source: Path, target: Path) -> None:
    """Give a file the name of another one, which it replaces at once. Raises `OSError`."""
    _persist(lambda: os.replace(source, target), _PATIENCE_S)


def rename(source: Path, target: Path) -> None:
    """Rename a file or a folder to a name that is free. Raises `OSError`."""
    _persist(lambda: os.rename(source, target), _PATIENCE_S)


def copy_permissions(source: Path, descriptor: int, *, follow_link: bool = True) -> None:
    """Do nothing: a file has those of its folder."""


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Return at most `size` bytes at an offset of an open file, whose position stays. Raises `OSError`."""
    memory = bytearray(size)
    count = read_into(descriptor, memoryview(memory), offset)
    return bytes(memory[:count])


def read_into(descriptor: int, memory: memoryview, offset: int) -> int:
    """Fill memory from an offset of an open file, whose position stays; return the number of bytes. Raises
    `OSError`."""
    if not memory.nbytes:
        return 0
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    buffer = (ctypes.c_char * memory.nbytes).from_buffer(memory)
    count, at = wintypes.DWORD(), _Overlapped(offset=offset & 0xFFFFFFFF, offset_high=offset >> 32)
    is_read = _kernel.ReadFile(
        _handle(descriptor), buffer, wintypes.DWORD(memory.nbytes), ctypes.byref(count), ctypes.byref(at)
    )
    number = ctypes.get_last_error()
    os.lseek(descriptor, place, os.SEEK_SET)
    if not is_read and number != _END_OF_FILE:
        ctypes.set_last_error(number)
        raise _error()
    return count.value


def _handle(descriptor: int) -> wintypes.HANDLE:
    return wintypes.HANDLE(msvcrt.get_osfhandle(descriptor))


# ---- pipes ----


def name_for_child(descriptor: int) -> int:
    """Return the number by which a child process that inherits a descriptor opens it: see `inherited`."""
    return msvcrt.get_osfhandle(descriptor) if descriptor >= 0 else descriptor


def inherited(number: int) -> int:
    """Return the descriptor of a number that `name_for_child` gave to the process that started this one."""
    return msvcrt.open_osfhandle(number, os.O_RDWR | os.O_BINARY | os.O_NOINHERIT) if number >= 0 else number


def write(descriptor: int, data: bytes | memoryview) -> int:
    """Write bytes and return the number of those written. Raises `BrokenPipeError` and `OSError`."""
    try:
        return os.write(descriptor, data)
    except OSError as error:
        if error.errno != errno.EINVAL:  # which the C library makes of "the pipe is being closed"
            raise
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None


def do_not_wait(pipe: int) -> None:
    """Do nothing: `read_available` does not wait."""


def read_available(pipe: int, size: int) -> bytes | None:
    """Return the content of a pipe, at most `size` bytes: None where that is nothing yet, empty where it is closed."""
    if not _has_news(pipe):
        return None
    try:
        return os.read(pipe, size)
    except OSError as error:
        if error.errno == errno.EPIPE or error.winerror == _BROKEN_PIPE:
            return b""
        raise


def wait_readable(pipes: Sequence[int], patience_s: float | None) -> list[int]:
    """Wait until something can be read from pipes, or one is closed, for a time, and return which. The system has no
    wait for that: they are looked at, more and more rarely."""
    deadline = None if patience_s is None else time.monotonic() + patience_s
    pause = _POLL_S
    while True:
        if ready := [pipe for pipe in pipes if _has_news(pipe)]:
            return ready
        left_s = pause if deadline is None else min(pause, deadline - time.monotonic())
        if left_s <= 0:
            return []
        time.sleep(left_s)
        pause = min(1.5 * pause, _LONGEST_POLL_S)


def _has_news(pipe: int) -> bool:
    """Return whether a read returns at once: with data, the end, or an error."""
    count = wintypes.DWORD()
    is_pipe = _kernel.PeekNamedPipe(_handle(pipe), None, 0, None, ctypes.byref(count), None)
    return not is_pipe or count.value > 0


def widen_pipe(pipe: int) -> None:
    """Do nothing: the size of a pipe is that which it was made with."""


def has_no_reader(pipe: Any) -> bool:
    """Return False: only a write tells."""
    return False


# ---- what other systems tell of open files ----

OPEN_FILES = Path(os.devnull, "missing")


def make_shared_memory(name: str, size: int = 0) -> tuple[int, str]:
    """Raise `OSError`: memory has no descriptor."""
    raise OSError("Windows has no descriptor of memory")


def path_of_descriptor(descriptor: int) -> str:
    """Raise `OSError`: an open file has no other path."""
    raise OSError("Windows has no path of a descriptor")


def open_descriptors() -> list[int]:
    """Raise `OSError`: they are not listed."""
    raise OSError("Windows does not list descriptors")


def opened_paths() -> Iterator[str]:
    """Yield nothing: the system does not tell."""
    yield from ()


def has_open(pid: int, path: Path) -> bool:
    """Return False: the system does not tell, and a file that is locked cannot be deleted."""
    return False
