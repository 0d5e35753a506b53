"""Where data lies: found, not found, not readable, too large; each in words."""

import contextlib
from collections.abc import Hashable
from pathlib import Path

import psutil

from engine.errors import UserError, did_you_mean

CGROUP = Path("/sys/fs/cgroup")


def locate(text: str, base: Path) -> Path:
    """The path that the options name. Relative ones start at the project's folder. Raises `UserError`."""
    try:
        path = base / Path(text).expanduser()
    except RuntimeError:
        user = Path(text).parts[0]
        raise UserError(f"There is no home folder {user} for the data to lie in. Choose the data anew.") from None
    try:
        path.lstat()
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        message = f"There is no file or folder {path}."
        if not Path(text).expanduser().is_absolute():
            message += f" The project says '{text}', which starts at the project's folder, {base}."
        raise UserError(f"{message}{_near(path)} Put it there, or choose the data anew.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    return path


def _near(path: Path) -> str:
    try:
        return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return ""


def unreadable(path: Path, error: OSError) -> UserError:
    """The error for a file or folder that the system does not hand out."""
    if isinstance(error, PermissionError):
        return UserError(f"{path} may not be read. Give yourself permission to read it, or choose other data.")
    return UserError(f"{path} cannot be read: {error.strerror or error}.")


def file_stamp(path: Path, expected: str) -> Hashable:
    """Changes when the file does. Raises `UserError` where it is no file; `expected` says what it should be."""
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder. Expected {expected}.")
        status = path.stat()
    except OSError as error:
        raise unreadable(path, error) from None
    if status.st_size == 0:
        raise UserError(f"{path} is empty: it has 0 bytes. Expected {expected}.")
    return status.st_mtime_ns, status.st_size, status.st_ino


def free_memory() -> int:
    """Bytes that this process may still take: of the machine, or of the container that it runs in."""
    free = int(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        limit = int((CGROUP / "memory.max").read_text())
        rows = (line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
        files = next(int(count) for name, count in rows if name == "file")  # given up where memory is short
        free = min(free, max(0, limit - int((CGROUP / "memory.current").read_text()) + files))
    return free


def refuse_too_large(needed_bytes: int, what: str, way_out: str) -> None:
    """Raise `UserError` if so much memory is not free: the alternative is that the system ends the process."""
    free = free_memory()
    if needed_bytes > free:
        raise UserError(
            f"{what} need {needed_bytes / 2**30:,.1f} GiB of memory; {free / 2**30:,.1f} GiB are free. {way_out}"
        )


def listed(names: list[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
