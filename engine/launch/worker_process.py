"""Worker processes of a run on this machine: starting them, and how each of them ended. Needs no torch itself.

A worker is forked where torch is imported already, which takes milliseconds, and started as a fresh interpreter
elsewhere. Either way it has a pipe for its reports, one for requests to it, prints into the run's log, and dies with
the coordinator. Call from a thread that lives as long as the workers: the parent-death signal fires when it ends.
"""

import contextlib
import faulthandler
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from netwright.engine.core.child_process import die_with_parent, fork, module_command
from netwright.engine.core.errors import RunError
from netwright.engine.core.files import ROOT
from netwright.engine.parallel.worker_spec import WorkerSpec

EXIT_BROKEN = 70
PIPE_BYTES = 2**20
_F_SETPIPE_SZ = 1031
_DRIVERS = ("/dev/nvidia", "/dev/kfd", "/dev/dri/", "/dev/dxg")
"""Devices that a process holds open once a driver of NVIDIA, AMD or Intel is initialised; the last is that of WSL."""
_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@dataclass
class WorkerProcess:
    """Handle of a started worker in the coordinator."""

    rank: int
    pid: int
    reports: int
    requests: int
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)
    ended: int | None = None
    host = ""
    memory_ran_out = False

    def poll(self) -> int | None:
        """Return the exit code (negative: the signal that killed it), or None while the worker runs."""
        if self.ended is None and self.process is not None:
            self.ended = self.process.poll()
        elif self.ended is None:
            self.ended = self._wait(os.WNOHANG)
        return self.ended

    def why_lost(self) -> str:
        """Return an empty text: a process of this machine ends by itself, or is killed."""
        return ""

    def why_silent(self) -> str:
        """Return the reason why it is silent, from its process status."""
        return _WHY_SILENT.get(_process_status(self.pid), "it hangs")

    def send_request(self, request: Mapping[str, Any]) -> None:
        """Send a request. Does nothing if the worker has ended."""
        with contextlib.suppress(OSError):
            os.write(self.requests, f"{json.dumps(request)}\n".encode())

    def kill(self) -> None:
        """Kill the process and wait until it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            if self.process is not None:
                self.ended = self.process.wait()
            else:
                self.ended = self._wait(0)

    def _wait(self, options: int) -> int | None:
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:  # where SIGCHLD is ignored the system reaps children by itself
            return EXIT_BROKEN
        return os.waitstatus_to_exitcode(status) if pid else None

    def close(self) -> None:
        """Close the coordinator's ends of the pipes."""
        for descriptor in (self.reports, self.requests):
            os.close(descriptor)


_WHY_SILENT = {
    "stopped": "it is paused, as by SIGSTOP",
    "tracing-stop": "it is held by a debugger",
    "disk-sleep": "it waits for a disk or a device that does not answer",
}


def _process_status(pid: int) -> str:
    import psutil  # only here, so that a coordinator starts without it

    try:
        return str(psutil.Process(pid).status())
    except (psutil.Error, OSError):  # it has ended, or Linux has no /proc
        return ""


def can_fork() -> bool:
    """Return whether workers can be forked: torch is imported, and no accelerator is initialised."""
    torch = sys.modules.get("torch")
    return sys.platform == "linux" and torch is not None and not _is_touched(torch)


def _is_touched(torch: Any) -> bool:
    """Return whether an accelerator was initialised in this process: after a fork it cannot be used."""
    is_initialized = any(module.is_initialized() for name in ("cuda", "xpu") if (module := getattr(torch, name, None)))
    return is_initialized or has_driver_open()


def has_driver_open(descriptors: Path = Path("/proc/self/fd")) -> bool:
    """Return whether this process has a driver of an accelerator open.

    `torch.cuda.is_available()` alone opens it, which a user's file may call at its top level; torch still reports that
    it is not initialised then. psutil lists regular files only.
    """
    opened = []
    with contextlib.suppress(OSError):  # not available on every system
        opened = list(descriptors.iterdir())
    for descriptor in opened:
        with contextlib.suppress(OSError):  # the descriptor of the listing itself is closed again
            if os.readlink(descriptor).startswith(_DRIVERS):
                return True
    return False


def start(spec: WorkerSpec, work: Callable[[WorkerSpec], int], *, log: Path) -> WorkerProcess:
    """Start one worker. Descriptors and parent of the spec are filled in here. `work` is called in a forked one.

    Raises `RunError` if the system cannot start another process.
    """
    reports_in, reports_out = os.pipe()
    requests_in, requests_out = os.pipe()
    widen(reports_out)
    spec = replace(spec, reports=reports_out, requests=requests_in, parent=os.getpid())
    printing = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if can_fork():
            pid = _fork(spec, work, printing)
            return WorkerProcess(spec.rank, pid, reports_in, requests_out)
        process = _spawn(spec, printing)
        return WorkerProcess(spec.rank, process.pid, reports_in, requests_out, process)
    except OSError as error:
        for descriptor in (reports_in, requests_out):
            os.close(descriptor)
        raise RunError(
            f"Worker {spec.rank} could not be started: {error.strerror}.",
            hint="Close other programs, or use fewer workers.",
        ) from None
    finally:
        for descriptor in (reports_out, requests_in, printing):
            os.close(descriptor)


def _spawn(spec: WorkerSpec, printing: int) -> "subprocess.Popen[bytes]":
    """Start a fresh interpreter as a worker."""
    return subprocess.Popen(
        module_command("netwright.engine.launch.worker", spec.write()),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=printing,
        stderr=printing,
        pass_fds=_descriptors(spec),
    )


def widen(pipe: int) -> None:
    """Enlarge the buffer of a pipe, so that a coordinator that waits for the disk does not hold up training."""
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.fcntl(pipe, _F_SETPIPE_SZ, PIPE_BYTES)


def _descriptors(spec: WorkerSpec) -> list[int]:
    """Return the sockets and pipes that a worker uses."""
    return [descriptor for descriptor in (spec.reports, spec.requests, spec.listener) if descriptor >= 0]


def _fork(spec: WorkerSpec, work: Callable[[WorkerSpec], int], printing: int) -> int:
    """Fork a child that runs `work` and never returns. Signals wait until the child has its own handlers."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        return fork(partial(_be_child, spec, work, printing), EXIT_BROKEN, keep=_descriptors(spec))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _be_child(spec: WorkerSpec, work: Callable[[WorkerSpec], int], printing: int) -> int:
    """Run a forked child and return its exit code."""
    gc.freeze()  # garbage of the parent must not be finalised here, and shared pages stay shared
    null = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, null), (1, printing), (2, printing)):
        os.dup2(source, target)
    begin(spec)
    return work(spec)


def begin(spec: WorkerSpec) -> None:
    """Prepare a worker process, forked or fresh: end with the coordinator, ignore Ctrl-C, print crashes."""
    die_with_parent(spec.parent)
    for number in _SIGNALS:
        # Ctrl-C, a closed terminal and a service manager signal the whole process group; the coordinator handles it.
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    faulthandler.enable(file=2)
