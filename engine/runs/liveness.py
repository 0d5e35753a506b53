"""Signs of life of a run on another host, whose folder is seen here over a network file system.

Its lock says nothing here, and its process ids are those of another machine. What counts is the time of the lock file,
which the coordinator sets several times per second, on the clock of that file system.
"""

import contextlib
import os
import platform
import secrets
import time
from pathlib import Path

from netwright.engine.core.platform import boot_id
from netwright.engine.core.platform_files import open_descriptor
from netwright.engine.runs.info import RunInfo

SILENCE_S = 90.0
"""Seconds after which a run on another host counts as lost: network file systems show times up to 60 s late."""


def is_elsewhere(info: RunInfo) -> bool:
    """Return whether a run has its coordinator on another host. Old runs, which name none, are of this one."""
    is_other_machine = bool(info.boot and boot_id()) and info.boot != boot_id()
    return bool(info.host) and (info.host != platform.node() or is_other_machine)


def silent_s(lock: Path, control: Path) -> float:
    """Return the seconds since the coordinator has set the time of its lock file; infinite where there is none.

    The file system is asked for its time by a file in the folder of requests, since clocks of hosts differ; this
    machine's clock has to do where that cannot be written.
    """
    try:
        heard = lock.stat().st_mtime
    except OSError:
        return float("inf")
    now, mark = time.time(), control / f".{secrets.token_hex(4)}.tmp"
    with contextlib.suppress(OSError):
        os.close(open_descriptor(mark, "x"))
        try:
            now = mark.stat().st_mtime
        finally:
            mark.unlink()
    return max(0.0, now - heard)
