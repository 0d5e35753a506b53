"""A limit for the memory of this process, so that what a stranger's file asks for cannot exhaust the machine's.

Only Linux counts all memory that a process asks for, and no other module sets this limit.
"""

import contextlib
import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


def restrict_memory(limit_bytes: int) -> None:
    """Let this process, and each that is forked from it, take `limit_bytes` of memory more than now, or what it might
    take before where that is less: beyond that, Python raises `MemoryError`, and libraries have errors of their own."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        now = next(int(row.split()[1]) for row in STATUS.read_text().splitlines() if row.startswith("VmData:")) * 1024
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = now + limit_bytes if soft == resource.RLIM_INFINITY else min(soft, now + limit_bytes)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def lift_memory_limit() -> None:
    """Let this process take all memory again."""
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
