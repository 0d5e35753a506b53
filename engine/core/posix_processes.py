"""Processes as Linux and macOS have them."""

import contextlib
import os
import resource
import shlex
import signal
import sys
import threading
import time
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

assert sys.platform != "win32"  # a type checker for Windows leaves out the rest

# ---- start and end ----

CAN_FORK = sys.platform == "linux" and not os.environ.get("NETWRIGHT_NO_FORK")
"""Whether processes are forked, rather than started as fresh interpreters. On macOS libraries may crash in a fork."""
CAN_WATCH = hasattr(os, "pidfd_open")
"""Whether `watch_process` works."""
_PARENT_POLL_S = 1.0
_END_WITH_PARENT = 1
_COLLECT_ORPHANS = 36
"""Options of Linux's `prctl`."""
_KILLED = -signal.SIGKILL

Stream = int | IO[bytes] | None
"""One of the standard streams of a new process, as `subprocess` takes it."""


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
    """Start a process. `streams`: its standard input, output and error. Raises `OSError`.

    With `has_own_group` the terminal's Ctrl-C does not reach it, and `end_process_tree` ends it with all that it
    starts. `outlives`: it has a group, and goes on when this process ends, which may end others. `inherits` are
    descriptors that it keeps open.
    """
    import subprocess  # as `ctypes` below: light commands, which ask only what the system tells, do without

    stdin, stdout, stderr = streams
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=folder,
        env=environment,
        start_new_session=has_own_group or outlives,
        pass_fds=tuple(inherits),
    )


def fork_process() -> int:
    """Fork this process; return 0 in the child, and the id of the child here. Raises `OSError`."""
    with warnings.catch_warnings():
        # Later Pythons warn of threads; the only ones here are those of BLAS, which support forking.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends: it may be computing, and would not see a pipe close."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    elif os.getppid() == parent:
        threading.Thread(target=_wait_for_end, args=(parent,), name="parent", daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)  # it ended before the option was set


def _wait_for_end(parent: int) -> None:
    """Wait until the parent ends, and end this process then: Python's lock is free often enough while it computes."""
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_S)
    os._exit(1)


def lead_group(*, leaves_terminal: bool = False) -> None:
    """Let this process lead a group, which `end_process_tree` ends and Ctrl-C in the terminal does not reach. With
    `leaves_terminal` it also outlives the terminal."""
    if leaves_terminal:
        os.setsid()
    else:
        os.setpgid(0, 0)


def end_process(pid: int) -> None:
    """End a process by force; nothing happens where it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def end_process_tree(pid: int) -> None:
    """End the leader of a group by force, with the processes that it has started, also after it has ended itself."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def was_ended_by_force(code: int) -> bool:
    """Return whether an exit code is that of a process which `end_process`, or the system, has ended."""
    return code == _KILLED


def is_alive(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def wait_for_process(pid: int) -> int | None:
    """Wait for a child process to end and return its exit code, negative for a signal; None where it is no child, or
    was collected."""
    with contextlib.suppress(ChildProcessError):
        return _status(pid, 0)
    return None


def ended_process(pid: int, *, otherwise: int) -> int | None:
    """Return the exit code of a child process, None while it runs, `otherwise` where it is no child or was
    collected."""
    try:
        return _status(pid, os.WNOHANG)
    except ChildProcessError:
        return otherwise


def _status(pid: int, options: int) -> int | None:
    ended, status = os.waitpid(pid, options)
    return os.waitstatus_to_exitcode(status) if ended else None


def watch_process(pid: int) -> int:
    """Return a descriptor that becomes readable when a process ends. Needs `CAN_WATCH`. Raises `OSError`."""
    if sys.platform == "linux":
        return os.pidfd_open(pid)
    raise OSError("only Linux has descriptors of processes")


def collect_orphans() -> None:
    """Make this process the parent of those whose parent ends, where the system can."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_COLLECT_ORPHANS, 1, 0, 0, 0)


def collect_ended(others: Collection[int]) -> bool:
    """Collect a child process that has ended; return False where none has, or the first is one of the `others`. Raises
    `ChildProcessError` where there is no child."""
    if sys.platform == "linux":
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is not None and ended.si_pid not in others:
            os.waitpid(ended.si_pid, 0)
            return True
    return False


# ---- signals ----

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ask a process to stop: Ctrl-C, a service manager, a closed terminal."""
TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGHUP)


def ignore_signals(numbers: Sequence[signal.Signals]) -> None:
    """Ignore signals in this process."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def hold_stop_signals() -> None:
    """Let stop signals wait, in this thread, until `release_stop_signals`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)


def release_stop_signals() -> None:
    """Handle stop signals in this thread again, first those that have waited."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)


@contextlib.contextmanager
def held_stop_signals() -> Iterator[None]:
    """Let stop signals wait in this context; a process that is forked in it calls `release_stop_signals`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def interrupt_main_thread() -> None:
    """Interrupt the main thread of this process as Ctrl-C does, also where it waits for the system."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


# ---- processor ----


def lower_priority(steps: int) -> None:
    """Let other programs go before this process, by so many steps of 19."""
    os.nice(steps)


def cores() -> tuple[int, ...]:
    """Return the indices of the cores this process may use; empty where the system has no CPU affinity."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(cores()) or os.cpu_count() or 1


def keep_to(indices: Sequence[int]) -> None:
    """Pin this thread, and those it starts, to these cores; an empty sequence means all cores.

    Failures, such as cores that no longer exist, are ignored, since pinning affects speed only.
    """
    if indices and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, indices)


def let_others_run() -> None:
    """Give the rest of this thread's time to others that wait for the core."""
    os.sched_yield()


# ---- memory ----

_STATUS = Path("/proc/self/status")
_OUT_OF_MEMORY_COUNTS = ("/sys/fs/cgroup/memory.events", "/proc/vmstat")
CONTROL_GROUPS = Path("/proc/self/cgroup")
"""The control groups of this process, which limit its memory in a container."""


def limit_memory(more_bytes: int) -> None:
    """Let this process, and each that is forked from it, take so much more memory than now, or what it might take
    before where that is less: beyond that, Python raises `MemoryError`, and libraries have errors of their own.

    Only Linux counts all memory that a process asks for.
    """
    with contextlib.suppress(OSError, KeyError, ValueError):
        now = _used_bytes()["VmData:"]
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = now + more_bytes if soft == resource.RLIM_INFINITY else min(soft, now + more_bytes)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def limit_private_memory(most_bytes: int) -> None:
    """Limit the private memory of this process, where the system enforces that, and let a crash write no dump."""
    kinds = [(resource.RLIMIT_CORE, 0)]
    if sys.platform == "linux":  # elsewhere the limit is not enforced, or counts mapped memory only
        kinds.append((resource.RLIMIT_DATA, most_bytes))
    for kind, most in kinds:
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def lift_memory_limit() -> None:
    """Let this process take all memory again."""
    with contextlib.suppress(OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def memory_left_bytes() -> float:
    """Return how much more memory the limits of the shell (ulimit -d, ulimit -v) leave this process; infinite where it
    has none."""
    room = float("inf")
    with contextlib.suppress(OSError, ValueError, KeyError):  # no limit is told elsewhere than on Linux
        usage = _used_bytes()
        for limit, name in ((resource.RLIMIT_DATA, "VmData:"), (resource.RLIMIT_AS, "VmSize:")):
            if (most := resource.getrlimit(limit)[0]) != resource.RLIM_INFINITY:
                room = min(room, max(0, most - usage[name]))
    return room


def address_limit_bytes() -> int | None:
    """Return the limit of this process's addresses (ulimit -v); None where there is none."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most


def _used_bytes() -> dict[str, int]:
    """Return the memory of this process by Linux's names. Raises `OSError`, also on other systems."""
    rows = (line.split() for line in _STATUS.read_text().splitlines())
    return {row[0]: int(row[1]) * 1024 for row in rows if len(row) == 3 and row[2] == "kB"}


def peak_resident_bytes() -> int:
    """Return the most memory that this process has taken."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def total_memory_bytes() -> int:
    """Return the memory of the machine; 0 where it is not known."""
    with contextlib.suppress(OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 0


def unused_memory_bytes() -> int:
    """Return the memory of the machine that nobody uses, without what caches could release."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")


def out_of_memory_kills() -> int:
    """Return the number of out-of-memory kills that the system reports, which psutil does not know; 0 if none."""
    count = 0
    for path in _OUT_OF_MEMORY_COUNTS:
        with contextlib.suppress(OSError, ValueError):
            for line in Path(path).read_text(encoding="ascii").splitlines():
                if line.startswith("oom_kill "):
                    count += int(line.split()[1])
    return count


# ---- facts ----

PROCESSES = Path("/proc")


def command_line(*words: str) -> str:
    """Return words as a line for the shell of this system, quoted where it must be."""
    return shlex.join(words)


@cache
def boot_id() -> str:
    """Return an identifier of this machine among others of its name; empty where the system has none."""
    if sys.platform == "darwin":
        import ctypes

        text, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
        ctypes.CDLL(None).sysctlbyname(b"kern.bootsessionuuid", text, ctypes.byref(size), None, ctypes.c_size_t(0))
        return text.value.decode("ascii", "replace")
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def cpu_model() -> str:
    """Return the model name of the processor, which psutil does not know."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return " ".join(value.split())
    return "CPU"


def is_paused(pid: int) -> bool:
    """Return whether a process was stopped, as by SIGSTOP or a debugger; False where the system does not tell."""
    with contextlib.suppress(OSError, IndexError):
        return _after_name(str(pid))[0] in "Tt"
    return False


def age_s() -> float:
    """Return the seconds since this process was started, as the kernel knows them; else since Python was.

    psutil adds the whole seconds of the system's start, and so is up to a second off.
    """
    try:
        ticks = int(_after_name("self")[19])
        uptime = float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return time.process_time()
    return uptime - ticks / os.sysconf("SC_CLK_TCK")


def _after_name(process: str) -> list[str]:
    """Return the fields of a process behind its name, as Linux lists them: first its state. Raises `OSError`."""
    text = Path("/proc", process, "stat").read_text(encoding="utf-8", errors="replace")
    return text.rpartition(")")[2].split()


def command_lines() -> Iterator[list[bytes]]:
    """Yield the command lines of the processes of this machine; none where the system does not list them as files."""
    for file in PROCESSES.glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield file.read_bytes().split(b"\0")
