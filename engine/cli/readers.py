"""Child processes of `serve` as the server sees them: what each is asked, its limits, and how it ended."""

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import psutil

from engine.cli.jobs import Answer, over_limit, serve_jobs, subject_of
from engine.core.child_process import fork
from engine.core.lines import LineBuffer
from engine.core.text import format_duration
from engine.project.data import NOT_READING

MOST_OF_FREE = 0.75
LEAST_BYTES = 2**30
WORKING_PER_CORE = 2
KEYED = ("facts", "preview", "train")
"""Requests about a data set: they go to the process that has read it."""
OF_NETWORKS = ("evaluate", "explain", "predictor", "predict", "samples", "compare_runs")
"""Requests about a trained network: they go to the process that has loaded it."""


@dataclass(frozen=True)
class Limits:
    """Limits of child processes.

    memory_bytes: memory per process; 0: three quarters of what is free when it starts. silence_s: seconds without
    progress and without work of the processor after which a request is given up. idle_s: seconds after which a process
    that is asked nothing ends. kept: idle processes that keep their data. working: processes that work at the same
    time, while other requests wait; 0: two per core.
    """

    memory_bytes: int = 0
    silence_s: float = 120.0
    idle_s: float = 1800.0
    kept: int = 2
    working: int = 0

    @property
    def most_working(self) -> int:
        """Number of processes that may work at the same time."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return self.working or WORKING_PER_CORE * cores

    def memory(self) -> int:
        """Return the limit of a process that starts now."""
        if self.memory_bytes:
            return self.memory_bytes
        from engine.data.sources.source import free_memory

        return max(LEAST_BYTES, int(MOST_OF_FREE * free_memory()))


@dataclass(frozen=True)
class Job:
    """A request that a child process answers."""

    request: Mapping[str, Any]

    @property
    def id(self) -> Any:
        """The id that the window gave it."""
        return self.request.get("id")

    @property
    def do(self) -> str:
        """What is asked."""
        return str(self.request.get("do"))

    @property
    def starts_run(self) -> bool:
        """Whether it starts a run, which goes before other requests and is not cancelled once begun."""
        return self.do in ("train", "resume")

    def with_inventory(self, inventory: Mapping[str, Any] | None) -> "Job":
        """Return the request with the devices of this machine, where they are known."""
        return Job({**self.request, "with": {**self.request["with"], "inventory": inventory}})

    @property
    def key(self) -> str:
        """The data set or trained network that the request is about, as a text; empty for requests that take a process
        of their own.

        The options of the split, and how samples are loaded, do not count: they do not change what is read.
        """
        values = self.request.get("with") or {}
        data, base = values.get("data"), values.get("base")
        if self.do in OF_NETWORKS:
            return json.dumps(["network", str(values.get("path"))])
        if self.do not in KEYED or not isinstance(data, Mapping) or base is None:
            return ""
        kept = {name: data[name] for name in sorted(data) if name not in NOT_READING}
        return json.dumps([kept, str(base)])


@dataclass
class Reader:
    """A child process that answers one request at a time."""

    key: str
    pid: int
    connection: socket.socket
    limit_bytes: int
    is_cold: bool = False
    """Whether it was forked before the server had imported what a run needs."""
    spent_s: float = 0.0
    """Seconds that its answers took in all."""
    current: Job | None = None
    lines: LineBuffer = field(default_factory=LineBuffer)
    active_at: float = field(default_factory=time.monotonic)
    begun_at: float = 0.0
    stopped_because: str = ""
    first_rss: int = 0
    processor_s: float = 0.0

    def ask(self, job: Job) -> None:
        """Send a request to the process, which answers none now."""
        self.current = job
        self.begun_at = self.active_at = time.monotonic()
        with contextlib.suppress(OSError):  # it has died: the end of its connection says so
            self.connection.sendall((json.dumps(job.request) + "\n").encode())

    def finish(self) -> None:
        """Note that the request was answered."""
        self.spent_s += time.monotonic() - self.begun_at
        self.current = None

    def read(self) -> list[Answer] | None:
        """Return the messages that have arrived; None where the process has ended."""
        try:
            chunk = self.connection.recv(2**16)
        except ConnectionError:
            chunk = b""
        if not chunk:
            return None
        self.active_at = time.monotonic()
        return [json.loads(line) for line in self.lines.take(chunk)]

    def watch(self, limits: Limits) -> bool:
        """Kill the process where it takes more memory than it may, or has been silent for too long. Return whether."""
        if self.current is None:
            return False
        try:
            process = psutil.Process(self.pid)
            with process.oneshot():
                memory, times = process.memory_info(), process.cpu_times()
        except psutil.Error:
            return False
        worked = times.user + times.system
        if worked > self.processor_s:
            self.processor_s, self.active_at = worked, time.monotonic()
        self.first_rss = self.first_rss or memory.rss
        subject = subject_of(self.current.request)
        if memory.rss - self.first_rss > self.limit_bytes:
            self.kill(over_limit(subject, self.limit_bytes))
        elif time.monotonic() - self.active_at > limits.silence_s:
            self.kill(
                f"{subject[:1].upper()}{subject[1:]} was stopped: nothing came from there for "
                f"{format_duration(limits.silence_s)}. Check that the disk or network drive it lies on answers, and "
                "try again."
            )
        return bool(self.stopped_because)

    def kill(self, because: str = "") -> None:
        """Kill the process and its children; `because` is the error of what it was asked."""
        self.stopped_because = because or self.stopped_because
        for kill in (os.killpg, os.kill):  # it may not lead its group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)

    def ended(self) -> str:
        """Collect the process, which has closed its connection, and return the reason in words."""
        self.connection.close()
        self.kill()
        status = 0
        with contextlib.suppress(ChildProcessError):
            _, status = os.waitpid(self.pid, 0)
        if self.stopped_because or self.current is None:
            return self.stopped_because
        subject = subject_of(self.current.request)
        number = os.waitstatus_to_exitcode(status)
        how = f"ended with code {number}"
        if number < 0:
            how = f"was ended by signal {-number} ({signal.Signals(-number).name})"
        cause = "A damaged file can do that to a library that reads it"
        if number == -signal.SIGKILL:
            cause = "Another program ended it, or the system did because memory was short"
        return (
            f"The process for {subject} {how} before it answered. {cause}. Try again; if it happens again, leave out "
            "the files that were added last, or choose other data."
        )


def start(key: str, limits: Limits, warm_up: Callable[[], object] | None) -> Reader:
    """Fork a child process."""
    limit, parent = limits.memory(), os.getpid()
    ours, theirs = socket.socketpair()

    def work() -> int:
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        return serve_jobs(theirs, parent, limit, warm_up)

    pid = fork(work, keep=(theirs.fileno(),))
    theirs.close()
    return Reader(key, pid, ours, limit, is_cold=warm_up is not None)
