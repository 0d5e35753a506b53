"""Worker processes of a run on this machine: starting them, and how each of them ended. Needs no torch itself.

A worker is forked where torch is imported already, which takes milliseconds, and started as a fresh interpreter
elsewhere. Either way it has a pipe for its reports, one for requests to it, prints into the run's log, and dies with
the coordinator. Call from a thread that lives as long as the workers: the parent-death signal fires when it ends.
"""

import contextlib
import faulthandler
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from netwright.engine.core.errors import RunError
from netwright.engine.core.files import ROOT
from netwright.engine.core.fork import fork
from netwright.engine.core.platform import (
    CAN_FORK,
    STOP_SIGNALS,
    end_process,
    end_with_parent,
    ended_process,
    held_stop_signals,
    ignore_signals,
    release_stop_signals,
    start_process,
    wait_for_process,
)
from netwright.engine.core.platform_files import name_for_child, open_descriptor, opened_paths, widen_pipe
from netwright.engine.core.process import module_command
from netwright.engine.parallel.worker_spec import WorkerSpec

EXIT_BROKEN = 70
_DRIVERS = ("/dev/nvidia", "/dev/kfd", "/dev/dri/", "/dev/dxg")
"""Devices that a process holds open once a driver of NVIDIA, AMD or Intel is initialised; the last is that of WSL."""


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
            self.ended = ended_process(self.pid, otherwise=EXIT_BROKEN)
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
            end_process(self.pid)
            code = self.process.wait() if self.process is not None else wait_for_process(self.pid)
            # None where SIGCHLD is ignored: the system collects children by itself.
            self.ended = EXIT_BROKEN if code is None else code

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
    return CAN_FORK and torch is not None and not _is_touched(torch)


def _is_touched(torch: Any) -> bool:
    """Return whether an accelerator was initialised in this process: after a fork it cannot be used."""
    kind = torch.accelerator.current_accelerator()  # the type torch is built for, available or not
    is_initialized = getattr(torch.get_device_module(kind), "is_initialized", bool) if kind is not None else bool
    return is_initialized() or has_driver_open()


def has_driver_open() -> bool:
    """Return whether this process has a driver of an accelerator open.

    `torch.cuda.is_available()` alone opens it, which a user's file may call at its top level; torch still reports that
    it is not initialised then. psutil lists regular files only.
    """
    return any(path.startswith(_DRIVERS) for path in opened_paths())


def start(spec: WorkerSpec, work: Callable[[WorkerSpec], int], *, log: Path) -> WorkerProcess:
    """Start one worker. Descriptors and parent of the spec are filled in here. `work` is called in a forked one.

    Raises `RunError` if the system cannot start another process.
    """
    reports_in, reports_out = os.pipe()
    requests_in, requests_out = os.pipe()
    widen_pipe(reports_out)  # a coordinator that waits for the disk does not hold up training
    spec = replace(spec, reports=reports_out, requests=requests_in, parent=os.getpid())
    printing = open_descriptor(log, "a")
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
    return start_process(
        module_command("netwright.engine.launch.worker", _for_child(spec).write()),
        (subprocess.DEVNULL, printing, printing),
        folder=ROOT,
        inherits=_descriptors(spec),
    )


def _for_child(spec: WorkerSpec) -> WorkerSpec:
    """Return the spec with the numbers by which a fresh interpreter opens the descriptors."""
    reports, requests, listener = map(name_for_child, (spec.reports, spec.requests, spec.listener))
    return replace(spec, reports=reports, requests=requests, listener=listener)


def _descriptors(spec: WorkerSpec) -> list[int]:
    """Return the sockets and pipes that a worker uses."""
    return [descriptor for descriptor in (spec.reports, spec.requests, spec.listener) if descriptor >= 0]


def _fork(spec: WorkerSpec, work: Callable[[WorkerSpec], int], printing: int) -> int:
    """Fork a child that runs `work` and never returns. Signals wait until the child has its own handlers."""
    with held_stop_signals():
        return fork(partial(_be_child, spec, work, printing), EXIT_BROKEN, keep=_descriptors(spec))


def _be_child(spec: WorkerSpec, work: Callable[[WorkerSpec], int], printing: int) -> int:
    """Run a forked child and return its exit code."""
    null = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, null), (1, printing), (2, printing)):
        os.dup2(source, target)
    begin(spec)
    return work(spec)


def begin(spec: WorkerSpec) -> None:
    """Prepare a worker process, forked or fresh: end with the coordinator, ignore Ctrl-C, print crashes."""
    end_with_parent(spec.parent)
    # Ctrl-C, a closed terminal and a service manager signal the whole process group; the coordinator handles it.
    ignore_signals(STOP_SIGNALS)
    release_stop_signals()
    faulthandler.enable(file=2)
