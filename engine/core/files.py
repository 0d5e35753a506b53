"""Writing files so that a crash leaves the old one or the new one, never half of either; and opening those of others.

What a stranger calls a file may be a pipe, which nobody ever writes to, or a device without an end.
"""

import contextlib
import errno
import json
import math
import os
import secrets
import shutil
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
"""The folder that holds `engine`, `app`, `docs` and `resources`."""


def open_file(path: Path | str) -> BufferedReader:
    """Open for reading what is a file indeed; a pipe is not waited for. Raises `OSError`, for all else too."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "It is not a file but a device or a pipe", str(path))
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(path: Path | str, limit_bytes: int) -> bytes:
    """The bytes of a file, of which no more than these are read. Raises `OSError`, for a larger one too."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size  # a buffer of the limit's size would cost more than the reading
        data = file.read(min(size, limit_bytes) + 1)
    if len(data) > limit_bytes:
        raise OSError(errno.EFBIG, f"It has more than {limit_bytes:,} bytes", str(path))
    return data


def write_atomically(path: Path, content: bytes, *, mode: int = 0o666, follow_link: bool = True) -> None:
    """Write beside, flush to disk, rename. Raises `OSError`; nothing is left behind then.

    A link keeps pointing where it does, and a file that is there keeps its permissions. Without `follow_link` a link is
    replaced: nothing that a stranger put into a folder may lead out of it.
    """
    path = Path(os.path.realpath(path)) if follow_link else path
    beside = path.with_name(f".{secrets.token_hex(8)}.tmp")  # a name of its own: the file's may already be the longest
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with open(descriptor, "wb") as file:
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, stat.S_IMODE(path.stat(follow_symlinks=follow_link).st_mode))
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def remove(path: Path) -> None:
    """Remove a file, a folder with all in it, or a link, which is not followed. Raises `OSError`."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_json(path: Path, value: Any, *, mode: int = 0o600, follow_link: bool = True) -> None:
    """Write one JSON value atomically, as `write_atomically` does."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode("utf-8", "backslashreplace"), mode=mode, follow_link=follow_link)


DEPTH_LIMIT = 64


def read_object(path: Path, limit_bytes: int, *, may_be_deep: bool = False) -> dict[str, Any] | None:
    """The object in a file of at most so many bytes and 64 levels, or None where there is none, or it is damaged.

    `may_be_deep` leaves levels to who uses it: looking at all of a large object takes longer than reading it.
    Raises `OSError` for a file that is there and cannot be read.
    """
    try:
        data = read_file(path, limit_bytes)
        value = json.loads(data)
        if b"\\ud" in data.lower():  # half of a pair of characters, which no file and no screen takes
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    except OSError as error:
        if error.errno in (errno.EFBIG, errno.EINVAL, errno.EISDIR):  # too large, or no file
            return None
        raise
    return value if isinstance(value, dict) and (may_be_deep or not is_deeper(value, DEPTH_LIMIT)) else None


def number_in(value: Any) -> float | None:
    """A number of JSON as a float, or None for what is none, or has no place in a float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects lie in each other over more levels than these."""
    layer = [value]
    for _ in range(levels):
        layer = [
            item
            for one in layer
            if isinstance(one, (dict, list))
            for item in (one.values() if isinstance(one, dict) else one)
        ]
        if not layer:
            return False
    return True
