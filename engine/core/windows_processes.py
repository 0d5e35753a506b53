"""Processes as Windows has them, by kernel32; `posix_processes` says what each function does.

A process that leads a group is in a job, which ends with this process unless the other one is to outlive it. There is
no fork, no signal that can be sent, and no limit of addresses.
"""

import _thread
import contextlib
import ctypes
import msvcrt
import os
import platform as _machine
import re
import signal
import subprocess
import sys
import time
import winreg
from collections.abc import Collection, Iterator, Mapping, Sequence
from ctypes import wintypes
from functools import cache
from pathlib import Path
from typing import IO, Any

if sys.platform == "win32":  # a type checker for another system leaves out this and the rest
    from netwright.engine.core.windows_jobs import (
        KILL_ON_CLOSE,
        KILLED,
        MEMORY_LIMIT,
        close,
        end_job,
        kernel,
        new_job,
        put_in_job,
        set_limits,
    )

assert sys.platform == "win32"

CAN_FORK = CAN_WATCH = False
_FOREVER = 0xFFFFFFFF
_TIMED_OUT = 258
_ACCESS_DENIED = 5
_TERMINATE, _SYNCHRONIZE, _QUERY = 0x0001, 0x00100000, 0x1000
"""Rights to a process."""
_NO_WINDOW, _NEW_GROUP, _BREAKAWAY = 0x08000000, 0x00000200, 0x01000000
"""Flags of a new process."""
_ONCE = 8
"""Of `RegisterWaitForSingleObject`: call once."""
_BELOW_NORMAL, _IDLE = 0x4000, 0x0040
"""Classes of priority."""
_IDLE_STEPS = 15

Stream = int | IO[bytes] | None
kernel.RegisterWaitForSingleObject.argtypes = (
    ctypes.c_void_p,
    wintypes.HANDLE,
    ctypes.c_void_p,
    ctypes.c_void_p,
    wintypes.ULONG,
    wintypes.ULONG,
)
_jobs: dict[int, int] = {}
"""The job of each leader of a group that this process started."""


class _ProcessMemory(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("faults", wintypes.DWORD),
        ("peak_resident", ctypes.c_size_t),
        ("resident", ctypes.c_size_t),
        ("pools", ctypes.c_size_t * 4),
        ("committed", ctypes.c_size_t),
        ("peak_committed", ctypes.c_size_t),
    )


class _MachineMemory(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("load", wintypes.DWORD),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("others", ctypes.c_uint64 * 5),
    )


# ---- start and end ----


def start_process(
    command: Sequence[str],
    streams: tuple[Stream, Stream, Stream],
    *,
    folder: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    has_own_group: bool = False,
    outlives: bool = False,
    inherits: Collection[int] = (),
) -> "subprocess.Popen[bytes]":
    """Start a process, without a console on the screen, and with UTF-8 as its encoding of text. Raises `OSError`."""
    stdin, stdout, stderr = streams
    startup = subprocess.STARTUPINFO()
    handles = [msvcrt.get_osfhandle(descriptor) for descriptor in inherits]
    for handle in handles:
        os.set_handle_inheritable(handle, True)
    if handles:
        startup.lpAttributeList = {"handle_list": handles}

    def start(flags: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env={**(os.environ if environment is None else environment), "PYTHONUTF8": "1"},
            creationflags=flags,
            startupinfo=startup,
        )

    flags = _NO_WINDOW | (_NEW_GROUP if has_own_group else 0)
    try:
        process = start(flags | (_BREAKAWAY if outlives else 0))
    except FileNotFoundError as error:
        error.filename = command[0]
        raise
    except PermissionError:
        if not outlives:
            raise
        process = start(flags)  # the job of this process lets nobody go: it ends what is in it when it likes
    finally:
        for handle in handles:
            os.set_handle_inheritable(handle, False)
    if has_own_group and not outlives:
        _put_in_job(process)
    return process


def _put_in_job(process: "subprocess.Popen[bytes]") -> None:
    job = new_job(KILL_ON_CLOSE)
    if put_in_job(job, int(process._handle)):  # type: ignore[attr-defined]
        for pid in [pid for pid in _jobs if not is_alive(pid) and pid != process.pid]:
            close(_jobs.pop(pid))
        _jobs[process.pid] = job
    else:  # it has ended already
        close(job)


def fork_process() -> int:
    """Raise `OSError`: there is no fork."""
    raise OSError("Windows cannot fork a process")


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends.

    A thread of the system waits for that and calls TerminateProcess, so that it happens while this process computes and
    Python's lock is taken.
    """
    handle = _open(parent, _SYNCHRONIZE)
    if handle is None:
        os._exit(1)
    wait = wintypes.HANDLE()
    terminate = ctypes.cast(kernel.TerminateProcess, ctypes.c_void_p)
    own = kernel.GetCurrentProcess()
    kernel.RegisterWaitForSingleObject(ctypes.byref(wait), handle, terminate, own, _FOREVER, _ONCE)


def lead_group(*, leaves_terminal: bool = False) -> None:
    """Do nothing: a group is made when its leader is started."""


def _open(pid: int, rights: int) -> int | None:
    handle: int | None = kernel.OpenProcess(rights, False, pid)
    return handle


def end_process(pid: int) -> None:
    """End a process by force; nothing happens where it is gone."""
    if (handle := _open(pid, _TERMINATE)) is not None:
        kernel.TerminateProcess(wintypes.HANDLE(handle), KILLED)
        close(handle)


def end_process_tree(pid: int) -> None:
    """End the leader of a group by force, with the processes that it has started, also after it has ended itself."""
    if (job := _jobs.pop(pid, None)) is None:
        end_process(pid)
        return
    end_job(job)


def was_ended_by_force(code: int) -> bool:
    """Return whether an exit code is that of a process which `end_process` has ended."""
    return code == KILLED


def is_alive(pid: int) -> bool:
    """Return whether a process runs."""
    if (handle := _open(pid, _SYNCHRONIZE)) is None:
        return ctypes.get_last_error() == _ACCESS_DENIED
    state = kernel.WaitForSingleObject(wintypes.HANDLE(handle), 0)
    close(handle)
    return bool(state == _TIMED_OUT)


def wait_for_process(pid: int) -> int | None:
    """Wait for a process to end and return its exit code; None where it is gone."""
    return _exit_code(pid, _FOREVER)


def ended_process(pid: int, *, otherwise: int) -> int | None:
    """Return the exit code of a process, None while it runs, `otherwise` where it is gone."""
    if not is_alive(pid):
        code = _exit_code(pid, 0)
        return otherwise if code is None else code
    return None


def _exit_code(pid: int, patience_ms: int) -> int | None:
    handle = _open(pid, _SYNCHRONIZE | _QUERY)
    if handle is None:
        return None
    code = wintypes.DWORD()
    kernel.WaitForSingleObject(wintypes.HANDLE(handle), patience_ms)
    kernel.GetExitCodeProcess(wintypes.HANDLE(handle), ctypes.byref(code))
    close(handle)
    return code.value


def watch_process(pid: int) -> int:
    """Raise `OSError`: a process has no descriptor."""
    raise OSError("Windows has no descriptor of a process")


def collect_orphans() -> None:
    """Do nothing: a process that has ended leaves nothing to be collected."""


def collect_ended(others: Collection[int]) -> bool:
    """Return False: there is nothing to be collected."""
    return False


# ---- signals ----

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)
"""Only those of a console arrive; other programs stop a run by a request in its folder."""
TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGBREAK)


def ignore_signals(numbers: Sequence[signal.Signals]) -> None:
    """Ignore signals in this process."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def hold_stop_signals() -> None:
    """Do nothing: a signal cannot wait, and none arrives while a process is forked."""


def release_stop_signals() -> None:
    """Do nothing."""


@contextlib.contextmanager
def held_stop_signals() -> Iterator[None]:
    """Do nothing."""
    yield


def interrupt_main_thread() -> None:
    """Interrupt the main thread of this process as Ctrl-C does, once it no longer waits for the system."""
    _thread.interrupt_main()


# ---- processor ----


def lower_priority(steps: int) -> None:
    """Let other programs go before this process."""
    kind = _IDLE if steps >= _IDLE_STEPS else _BELOW_NORMAL
    kernel.SetPriorityClass(wintypes.HANDLE(kernel.GetCurrentProcess()), kind)


def cores() -> tuple[int, ...]:
    """Return the indices of the cores this process may use, of the first 64."""
    own, machine = ctypes.c_size_t(), ctypes.c_size_t()
    process = wintypes.HANDLE(kernel.GetCurrentProcess())
    if not kernel.GetProcessAffinityMask(process, ctypes.byref(own), ctypes.byref(machine)):
        return ()
    return tuple(index for index in range(own.value.bit_length()) if own.value >> index & 1)


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(cores()) or os.cpu_count() or 1


def keep_to(indices: Sequence[int]) -> None:
    """Pin this process to these cores; an empty sequence means all cores. Failures are ignored."""
    if indices:
        mask = ctypes.c_size_t(sum(1 << index for index in indices))
        kernel.SetProcessAffinityMask(wintypes.HANDLE(kernel.GetCurrentProcess()), mask)


def let_others_run() -> None:
    """Give the rest of this thread's time to others that wait for the core."""
    time.sleep(0)


# ---- memory ----

CONTROL_GROUPS = Path(os.devnull, "missing")
_memory_job: list[int] = []
"""The job that limits the memory of this process; it cannot leave that again, only be given other limits."""


def limit_memory(more_bytes: int) -> None:
    """Let this process, and each that it starts, take so much more memory than now, of what is to be kept in memory or
    in the page file: beyond that, Python raises `MemoryError`, and libraries have errors of their own."""
    _limit(_process_memory().committed + more_bytes)


def limit_private_memory(most_bytes: int) -> None:
    """Limit the private memory of this process."""
    _limit(most_bytes)


def lift_memory_limit() -> None:
    """Let this process take all memory again."""
    if _memory_job:
        set_limits(_memory_job[0], 0, 0)


def _limit(most_bytes: int) -> None:
    if _memory_job:
        set_limits(_memory_job[0], MEMORY_LIMIT, most_bytes)
        return
    job = new_job(MEMORY_LIMIT, most_bytes)
    if put_in_job(job, kernel.GetCurrentProcess()):
        _memory_job.append(job)
    else:
        close(job)


def memory_left_bytes() -> float:
    """Return infinity: a shell sets no limits."""
    return float("inf")


def address_limit_bytes() -> int | None:
    """Return None: there is no limit of addresses."""
    return None


def _process_memory() -> _ProcessMemory:
    memory = _ProcessMemory(size=ctypes.sizeof(_ProcessMemory))
    process = wintypes.HANDLE(kernel.GetCurrentProcess())
    kernel.K32GetProcessMemoryInfo(process, ctypes.byref(memory), memory.size)
    return memory


def _machine_memory() -> _MachineMemory:
    memory = _MachineMemory(size=ctypes.sizeof(_MachineMemory))
    kernel.GlobalMemoryStatusEx(ctypes.byref(memory))
    return memory


def peak_resident_bytes() -> int:
    """Return the most memory that this process has taken."""
    return int(_process_memory().peak_resident)


def total_memory_bytes() -> int:
    """Return the memory of the machine."""
    return int(_machine_memory().total)


def unused_memory_bytes() -> int:
    """Return the memory of the machine that nobody uses."""
    return int(_machine_memory().available)


def out_of_memory_kills() -> int:
    """Return 0: the system ends no process for want of memory."""
    return 0


# ---- facts ----

PROCESSES = Path(os.devnull, "missing")
_PLAIN = re.compile(r"[\w.:=+/\\-]+")
"""Words that neither cmd nor PowerShell reads in another way; the latter splits at a comma."""


def command_line(*words: str) -> str:
    """Return words as a line for cmd or PowerShell, which has them as they are but for `%`, `$` and backquotes."""
    # A space at the beginning asks for quotes around a word, whatever is in it.
    quoted = (word if _PLAIN.fullmatch(word) else subprocess.list2cmdline([f" {word}"]) for word in words)
    return " ".join(word.replace('" ', '"', 1) for word in quoted)


def _registry(key: str, name: str) -> str:
    """Return a text of the registry for all users; empty where there is none."""
    with contextlib.suppress(OSError), winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
        value: Any = winreg.QueryValueEx(opened, name)[0]
        return " ".join(str(value).split())
    return ""


@cache
def boot_id() -> str:
    """Return an identifier of this machine among others of its name; empty where the system has none."""
    return _registry(r"SOFTWARE\Microsoft\Cryptography", "MachineGuid")


def cpu_model() -> str:
    """Return the model name of the processor."""
    key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
    return _registry(key, "ProcessorNameString") or _machine.processor() or "CPU"


def is_paused(pid: int) -> bool:
    """Return False: the system does not tell."""
    return False


def age_s() -> float:
    """Return the seconds since this process was started."""
    created, *others = (wintypes.FILETIME() for _ in range(4))
    process = wintypes.HANDLE(kernel.GetCurrentProcess())
    if not kernel.GetProcessTimes(process, ctypes.byref(created), *map(ctypes.byref, others)):
        return time.process_time()
    now = wintypes.FILETIME()
    kernel.GetSystemTimeAsFileTime(ctypes.byref(now))
    return (_ticks(now) - _ticks(created)) / 1e7


def _ticks(when: wintypes.FILETIME) -> int:
    return int(when.dwHighDateTime) << 32 | int(when.dwLowDateTime)


def command_lines() -> Iterator[list[bytes]]:
    """Yield nothing: the system does not list processes as files."""
    yield from ()
