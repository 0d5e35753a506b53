"""Jobs of Windows: groups of processes that end together, or have a limit of memory. By kernel32."""

import ctypes
import sys
from ctypes import wintypes

assert sys.platform == "win32"  # a type checker for another system leaves out the rest

KILLED = 137
"""Exit code of a process that was ended by force: that of a shell for SIGKILL."""
MEMORY_LIMIT, KILL_ON_CLOSE = 0x0100, 0x2000
"""Kinds of limits of a job."""
_BREAKAWAY_OK = 0x0800
_LIMITS = 9
kernel = ctypes.WinDLL("kernel32", use_last_error=True)
for _name in ("OpenProcess", "CreateJobObjectW", "GetCurrentProcess"):
    getattr(kernel, _name).restype = wintypes.HANDLE


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("kinds", wintypes.DWORD),
        ("least_working_set", ctypes.c_size_t),
        ("most_working_set", ctypes.c_size_t),
        ("processes", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("priority", wintypes.DWORD),
        ("scheduling", wintypes.DWORD),
    )


class _JobLimits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("transfers", ctypes.c_uint64 * 6),
        ("process_bytes", ctypes.c_size_t),
        ("job_bytes", ctypes.c_size_t),
        ("peak_process_bytes", ctypes.c_size_t),
        ("peak_job_bytes", ctypes.c_size_t),
    )


def new_job(kinds: int, process_bytes: int = 0) -> int:
    """Make a job and return its handle. Processes that are to outlive it can leave it."""
    job: int = kernel.CreateJobObjectW(None, None)
    set_limits(job, kinds, process_bytes)
    return job


def set_limits(job: int, kinds: int, process_bytes: int) -> None:
    """Give a job other limits. `process_bytes`: the memory that each of its processes may take."""
    limits = _JobLimits(basic=_BasicLimits(kinds=kinds | _BREAKAWAY_OK), process_bytes=process_bytes)
    kernel.SetInformationJobObject(wintypes.HANDLE(job), _LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))


def put_in_job(job: int, process: int) -> bool:
    """Put a process, by its handle, in a job, and return whether that succeeded: it may have ended. Processes that it
    starts from then on are in the job too."""
    return bool(kernel.AssignProcessToJobObject(wintypes.HANDLE(job), wintypes.HANDLE(process)))


def end_job(job: int) -> None:
    """End all processes of a job, and the job."""
    kernel.TerminateJobObject(wintypes.HANDLE(job), KILLED)
    close(job)


def close(handle: int) -> None:
    """Close a handle of the system."""
    kernel.CloseHandle(wintypes.HANDLE(handle))
