"""Atomic file writes (after a crash the old or the new content is there, never a part) and safe reads.

A path in an untrusted folder may be a pipe that blocks forever, or a device without an end.
"""

import contextlib
import errno
import hashlib
import json
import math
import os
import secrets
import shutil
import stat
from collections.abc import Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import UserError
from netwright.engine.core.platform_files import copy_permissions, open_descriptor, open_to_flush, rename, replace_file

_PACKAGES = Path(__file__).parents[2]
ROOT = _PACKAGES if (_PACKAGES / "netwright").is_dir() else _PACKAGES.parent  # in a checkout, in a wheel
"""Folder that `netwright` is imported from: the root of a checkout, or site-packages."""
RESOURCES = _PACKAGES / "resources"
"""Folder of the files that come with Netwright."""
DOCS = _PACKAGES / "docs"
"""Folder of the pages of the documentation, which come with Netwright as well."""


def open_file(path: Path | str) -> BufferedReader:
    """Open a regular file for reading, without blocking on a pipe. Raises `OSError`, also for anything but a regular
    file."""
    descriptor = open_descriptor(path, "r")
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "It is not a file but a device or a pipe", str(path))
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(path: Path | str, limit_bytes: int) -> bytes:
    """Return the content of a file of at most `limit_bytes`. Raises `OSError`, also for a larger file."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size  # a buffer of `limit_bytes` would cost more than the read
        data = file.read(min(size, limit_bytes) + 1)
    if len(data) > limit_bytes:
        raise OSError(errno.EFBIG, f"It has more than {limit_bytes:,} bytes", str(path))
    return data


def path_from(path: Path, base: Path) -> str:
    """Return a path as a project in the folder `base` stores it: relative where it lies inside, so that both can be
    moved together, else absolute; without `..`, with slashes."""
    whole, folder = _plain(path), _plain(base)
    if not whole.is_relative_to(folder):
        resolved, real_folder = whole.resolve(), folder.resolve()
        if not resolved.is_relative_to(real_folder):
            return whole.as_posix()
        whole, folder = resolved, real_folder
    return whole.relative_to(folder).as_posix()


def _plain(path: Path) -> Path:
    """Return the absolute path without `..`, which behind a link is not the folder before it."""
    whole = path.absolute()
    if ".." not in whole.parts:
        return whole
    plain = Path(os.path.normpath(whole))
    with contextlib.suppress(OSError):
        if os.path.samefile(plain, whole):
            return plain
    return whole.resolve()


def write_atomically(path: Path, content: bytes, *, mode: int = 0o666, follow_link: bool = True) -> None:
    """Write a temporary file in the same folder, flush it to disk and rename it. Raises `OSError`; no temporary file is
    left.

    The target of a symbolic link is written, and an existing file keeps its permissions. Without `follow_link` the link
    itself is replaced, so that a link in an untrusted folder cannot redirect the write.
    """
    path = Path(os.path.realpath(path)) if follow_link else path
    # Not derived from the name of the file, which may have the maximum length.
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    descriptor = open_descriptor(temporary, "x", permissions=mode)
    try:
        with open(descriptor, "wb") as file:
            with contextlib.suppress(OSError):
                copy_permissions(path, descriptor, follow_link=follow_link)
            file.write(content)
            file.flush()
            flush(descriptor)
        replace_file(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


_is_flushing = True


def flush(descriptor: int) -> None:
    """Wait until a file is on disk, but in a process that leaves that to another one. Raises `OSError`."""
    if _is_flushing:
        os.fsync(descriptor)


def flush_path(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on disk, as `flush` does. Raises `OSError`, also where the
    file system flushes no folders."""
    if _is_flushing:
        _flush(path)


def _flush(path: Path | str) -> None:
    descriptor = open_to_flush(path)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def leave_flushing() -> None:
    """Write files without waiting for the disk, in this process and in those forked from it: for short runs, which wait
    longer for that than they train. Their parent calls `flush_folder` once they have ended."""
    global _is_flushing
    _is_flushing = False


def flush_folder(path: Path) -> None:
    """Wait until all files in a folder, and in those inside it, are on disk; those that cannot be read are left out."""
    for folder, _, names in os.walk(path):
        for file in (*(os.path.join(folder, name) for name in names), folder):
            with contextlib.suppress(OSError):  # some file systems flush no folders
                if not os.path.islink(file):
                    _flush(file)


def make_private_folder(path: Path) -> None:
    """Make a folder that belongs to the user alone, whatever the umask, with those around it that are missing. One that
    is there becomes private. Raises `OSError`."""
    for folder in (*reversed(path.parents), path):
        try:
            folder.mkdir(0o700)
        except OSError:  # it exists, whatever the reason that is given
            if not folder.is_dir():
                raise
            continue
        folder.chmod(0o700)  # a umask takes bits away
    path.chmod(0o700)


def remove(path: Path) -> None:
    """Remove a file, a folder with its content, or a symbolic link, which is not followed. Raises `OSError`."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_json(path: Path, value: Any, *, mode: int = 0o600, follow_link: bool = True) -> None:
    """Write a value as JSON with `write_atomically`. Raises `OSError`."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode("utf-8", "backslashreplace"), mode=mode, follow_link=follow_link)


CHECKSUM = "sha256"
"""Key of the checksum in a JSON object that `write_checked_json` wrote."""


class ChecksumError(ValueError):
    """The checksum of a JSON object does not fit its content."""


def write_checked_json(path: Path, value: Mapping[str, Any], *, follow_link: bool = True) -> None:
    """Write an object as JSON with the checksum of its content, which `without_checksum` verifies. Raises `OSError`."""
    body = json.loads(json.dumps(value))
    write_json(path, {**body, CHECKSUM: _checksum_of(body)}, follow_link=follow_link)


def without_checksum(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as it was passed to `write_checked_json`. Raises `ChecksumError` if it was changed since.

    An object without a checksum is returned unchanged: it was written by hand or by an older version.
    """
    body = {key: item for key, item in value.items() if key != CHECKSUM}
    if CHECKSUM in value and value[CHECKSUM] != _checksum_of(body):
        raise ChecksumError("its checksum does not fit its content")
    return body


def _checksum_of(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


DEPTH_LIMIT = 64


def read_object(path: Path, limit_bytes: int, *, may_be_deep: bool = False) -> dict[str, Any] | None:
    """Return the JSON object in a file of at most `limit_bytes` and `DEPTH_LIMIT` levels; None if missing or damaged.

    `may_be_deep` skips the check of the depth, which takes longer than reading for a large object.
    Raises `OSError` for an existing file that cannot be read.
    """
    try:
        data = read_file(path, limit_bytes)
        value = json.loads(data)
        value = without_checksum(value) if isinstance(value, dict) else value
        if b"\\ud" in data.lower():  # a lone surrogate cannot be written or displayed
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    except OSError as error:
        if error.errno in (errno.EFBIG, errno.EINVAL, errno.EISDIR):  # too large, or not a regular file
            return None
        raise
    may_be_deep = may_be_deep or data.count(b"{") + data.count(b"[") <= DEPTH_LIMIT
    return value if isinstance(value, dict) and (may_be_deep or not is_deeper(value, DEPTH_LIMIT)) else None


def object_to_change(path: Path, limit_bytes: int, subject: str) -> dict[str, Any]:
    """Return the JSON object in a file of the user that is to be written with changes; empty where there is none.
    Raises `UserError` where it cannot be read: it would be lost. `subject` names its content, as in `note and tags`."""
    try:
        data = read_object(path, limit_bytes)
        if data is None and os.path.lexists(path):
            raise UserError(
                f"{path} is damaged: {subject} in it cannot be read, and are not changed.",
                hint="Restore the file from a copy, or rename it; a new one is then written.",
            )
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    return data or {}


def set_aside(path: Path) -> Path:
    """Rename a file or folder that is replaced to `NAME.1`, or the next number that is free, and return that path; one
    that does not exist is passed over. Raises `OSError`."""
    number = 1
    while os.path.lexists(beside := path.with_name(f"{path.name}.{number}")):
        number += 1
    with contextlib.suppress(FileNotFoundError):
        rename(path, beside)
    return beside


def number_in(value: Any) -> float | None:
    """Convert a JSON number to float, overflow to ±infinity. Returns None for other values and booleans."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_deeper(value: Any, levels: int) -> bool:
    """Return whether lists and dictionaries are nested more than `levels` deep."""
    layer = [value]
    for _ in range(levels):
        layer = [
            item
            for parent in layer
            if isinstance(parent, (dict, list))
            for item in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not layer:
            return False
    return True


def refuse_destination(to: Path) -> None:
    """Raise `UserError`, with the reason, if a file cannot be written at `to`."""
    folder = to.parent
    try:
        is_folder = to.is_dir()
    except OSError as error:
        raise not_written(to, error) from None
    if is_folder:
        raise UserError(f"{to} is a folder.", hint=f"Name a file in it, such as {to / 'network'}.")
    if not folder.exists():
        raise UserError(
            f"The folder {folder} does not exist.", hint="Make it first, or name another one.", code="not_found"
        )
    if not folder.is_dir():
        raise UserError(f"{folder} is a file, so nothing can be written into it.", hint="Name a folder.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"The folder {folder} cannot be written to: permission denied.", hint="Name another one.")


def refuse_overwriting(paths: Sequence[Path]) -> None:
    """Refuse files that the export writes beside the one that was named. Raises `UserError`."""
    if paths:
        names = " and ".join(str(path) for path in paths)
        many = "s" if len(paths) > 1 else ""
        raise UserError(
            f"The export would overwrite the file{many} {names}. Name another file, or add --force to replace what is "
            "there."
        )


def not_written(to: Path, error: OSError) -> UserError:
    """Return the error for a write that failed: for example a full disk, or a name that is too long."""
    return UserError(f"{to} cannot be written: {error.strerror or error}.")


PAGE_SUFFIXES = (".html", ".htm")


def checked_destination(to: Path) -> Path:
    """Return the path of a report. Raises `UserError` where it cannot be written there, or has another ending."""
    if to.suffix.lower() not in PAGE_SUFFIXES:
        received = f"'{to.suffix}'" if to.suffix else "no ending"
        raise UserError(f"{to}: a report ends in {' or '.join(PAGE_SUFFIXES)}, received {received}.")
    refuse_destination(to)
    return to
