"""Advisory locks on files (`flock`), which end with the process that holds them."""

import fcntl
import os
import time
from pathlib import Path

POLL_S = 0.01


class LockHeldError(Exception):
    """Somebody else holds the lock."""


def take_lock(path: Path, *, patience_s: float = 0.0, create: bool = True) -> int:
    """Hold the exclusive lock of a file until the returned descriptor is closed or the process ends.

    Waits up to `patience_s` for whoever holds it: readers do for an instant. A forked child inherits the descriptor and
    must close it. Raises `LockHeldError`, and `OSError` where the file cannot be opened or its disk has no locks.
    """
    flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY | os.O_NONBLOCK
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + patience_s
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockHeldError(str(path)) from None
                time.sleep(POLL_S)
    except BaseException:
        os.close(descriptor)
        raise


def restore_lock(path: Path, descriptor: int, *, patience_s: float = 0.0) -> bool:
    """Make sure that a held lock is the one of the file at `path`, which may have been deleted or replaced.

    Returns whether it was restored: the descriptor then holds the lock of the new file. Raises `LockHeldError` if
    somebody else has locked that file, and `OSError` where it cannot be created.
    """
    own = os.fstat(descriptor)
    try:
        found = os.stat(path, follow_symlinks=False)
        if (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino):
            return False
    except FileNotFoundError:
        pass
    restored = take_lock(path, patience_s=patience_s)
    try:
        os.dup2(restored, descriptor, inheritable=False)
    finally:
        os.close(restored)
    return True


def is_locked(path: Path) -> bool:
    """Return whether somebody holds the lock of a file; False where it is missing or its file system has no locks."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
