"""Locks on files, which end with the process that holds them."""

import os
import time
from pathlib import Path

from netwright.engine.core.platform_files import inherited, is_file_locked, open_locked

POLL_S = 0.01
_files: dict[int, tuple[int, int]] = {}
"""Device and inode of the locked file, per descriptor that was returned."""


class LockHeldError(Exception):
    """Somebody else holds the lock."""


def take_lock(path: Path, *, patience_s: float = 0.0, create: bool = True) -> int:
    """Hold the exclusive lock of a file until the returned descriptor is closed or the process ends.

    Waits up to `patience_s` for whoever holds it: readers do for an instant. A forked child does not hold it (see
    `netwright.engine.core.fork`). Raises `LockHeldError`, and `OSError` where the file cannot be opened
    or its disk has no locks.
    """
    deadline = time.monotonic() + patience_s
    while (descriptor := open_locked(path, create=create)) is None:
        if time.monotonic() >= deadline:
            raise LockHeldError(str(path))
        time.sleep(POLL_S)
    _files[descriptor] = _identity(descriptor)
    return descriptor


def restore_lock(path: Path, descriptor: int, *, patience_s: float = 0.0) -> bool:
    """Make sure that a held lock is the one of the file at `path`, which may have been deleted or replaced.

    Returns whether it was restored: the descriptor then holds the lock of the new file. Raises `LockHeldError` if
    somebody else has locked that file, and `OSError` where it cannot be created.
    """
    own = os.fstat(descriptor)
    try:
        status = os.stat(path, follow_symlinks=False)
        if (status.st_dev, status.st_ino) == (own.st_dev, own.st_ino):
            return False
    except FileNotFoundError:
        pass
    restored = take_lock(path, patience_s=patience_s)
    try:
        os.dup2(restored, descriptor, inheritable=False)
        _files[descriptor] = _identity(descriptor)
    finally:
        os.close(restored)
    return True


def adopt_lock(number: int) -> int:
    """Hold the lock of a descriptor that came from the program that this process ran, or was started by, before, which
    knows it by this number (`name_for_child`); return the descriptor."""
    descriptor = inherited(number)
    _files[descriptor] = _identity(descriptor)
    return descriptor


def locked_descriptors() -> list[int]:
    """Return the descriptors with which this process holds locks."""
    for descriptor, identity in list(_files.items()):
        try:
            is_held = _identity(descriptor) == identity
        except OSError:
            is_held = False
        if not is_held:  # it was closed since, which released the lock
            del _files[descriptor]
    return list(_files)


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def is_locked(path: Path) -> bool:
    """Return whether somebody holds the lock of a file; False where it is missing or its file system has no locks."""
    try:
        return is_file_locked(path)
    except OSError:
        return False
