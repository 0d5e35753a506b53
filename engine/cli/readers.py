"""Child processes that answer requests, as `serve` and the commands that read strangers' files see them: what each is
asked, its limits, and how it ended."""

import contextlib
import json
import math
import os
import select
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from netwright.engine.cli.limits import FOREIGN, Limits, ended, over_memory, over_work, silent, work_limit_s
from netwright.engine.cli.request_handlers import Answer, serve_jobs
from netwright.engine.core import progress
from netwright.engine.core.errors import UserError, read_error
from netwright.engine.core.fork import fork
from netwright.engine.core.platform import end_process, end_process_tree, wait_for_process, was_ended_by_force
from netwright.engine.core.process import MessageReader, MessageWriter
from netwright.engine.operations.operation import operation
from netwright.engine.project.data import NOT_READING

WATCH_S = 0.25
"""Time between two looks at the memory and the work of child processes, in seconds."""

KEYED = ("facts", "preview", "train")
"""Requests about a data set: they go to the process that has read it."""
OF_NETWORKS = ("predictor", "samples")
"""Requests about a trained network: they go to the process that has loaded it."""


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

    @property
    def may_be_silent(self) -> bool:
        """Whether it may wait for other machines, for as long as they are silent."""
        declared = operation(self.do)
        return declared is not None and declared.waits_for_hosts

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
        if (declared := operation(self.do)) is not None:
            return json.dumps(["network", str(values.get(declared.shares))]) if declared.shares else ""
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
    active_at: float = field(default_factory=time.monotonic)
    begun_at: float = 0.0
    stopped_because: str = ""
    first_rss: int = 0
    processor_s: float = 0.0
    folder: Path | None = None
    """The place of its temporary files, which goes with it."""
    work_limit_s: float = math.inf
    worked_s: float = 0.0
    """Seconds that it, and the processes that it started, worked on what it was asked."""
    seen_at: float = 0.0

    def __post_init__(self) -> None:
        self._answers = MessageReader(self.connection.fileno())
        self._requests = MessageWriter(self.connection.fileno())

    def ask(self, job: Job) -> None:
        """Send a request to the process, which answers none now."""
        self.current = job
        self.begun_at = self.active_at = self.seen_at = time.monotonic()
        self.work_limit_s, self.worked_s = work_limit_s(job.request), 0.0
        with contextlib.suppress(OSError):  # it has died: the end of its connection says so
            self._requests.send(job.request)

    def finish(self) -> None:
        """Note that the request was answered."""
        self.spent_s += time.monotonic() - self.begun_at
        self.current = None

    def read(self) -> list[Answer] | None:
        """Return the messages that have arrived; None where the process has ended."""
        answers = self._answers.read()
        if not self._answers.is_open:
            return None
        self.active_at = time.monotonic()
        return answers

    def watch(self, limits: Limits) -> bool:
        """Kill the process where it takes more memory than it may, works or has been silent for too long. Return
        whether."""
        if self.current is None:
            return False
        try:
            process = psutil.Process(self.pid)
            with process.oneshot():
                memory, worked_s = process.memory_info(), self._worked_s(process)
        except psutil.Error:
            return False
        now, spent_s = time.monotonic(), max(0.0, worked_s - self.processor_s)
        if spent_s:
            self.active_at = now
        self.worked_s += min(now - self.seen_at, spent_s)  # several threads, or other programs, make neither longer
        self.seen_at, self.processor_s = now, max(worked_s, self.processor_s)
        self.first_rss = self.first_rss or memory.rss
        if memory.rss - self.first_rss > self.limit_bytes:
            self.kill(over_memory(self.current.request, self.limit_bytes))
        elif self.worked_s > self.work_limit_s:
            self.kill(over_work(self.current.request, self.work_limit_s))
        elif now - self.active_at > limits.silence_s and not self.current.may_be_silent:
            self.kill(silent(self.current.request, limits.silence_s))
        return bool(self.stopped_because)

    def _worked_s(self, process: psutil.Process) -> float:
        """Return the time of the processor that the process took; with its children where its work is limited."""
        times = process.cpu_times()
        if math.isinf(self.work_limit_s):
            return float(times.user + times.system)
        total = sum(times[:4])  # with the children that have ended
        for child in process.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                total += sum(child.cpu_times()[:4])
        return float(total)

    def kill(self, because: str = "") -> None:
        """Kill the process and its children; `because` is the error of what it was asked."""
        self.stopped_because = because or self.stopped_because
        end_process_tree(self.pid)
        end_process(self.pid)  # it may not lead its group yet

    def ended(self) -> str:
        """Collect the process, which has closed its connection, and return the reason in words."""
        self.connection.close()
        self.kill()
        number = wait_for_process(self.pid) or 0
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self.stopped_because or self.current is None:
            return self.stopped_because
        how = f"ended with code {number}"
        if number < 0:
            how = f"was ended by signal {-number} ({signal.Signals(-number).name})"
        cause = "A damaged file can do that to a library that reads it"
        if was_ended_by_force(number):
            cause = "Another program ended it, or the system did because memory was short"
        return ended(self.current.request, how, cause)


def start(job: Job, limits: Limits, warm_up: Callable[[], object] | None) -> Reader:
    """Fork a child process for a request, which may answer others with the same key after it."""
    limit, parent = limits.memory(), os.getpid()
    ours, theirs = socket.socketpair()
    folder = Path(tempfile.mkdtemp(prefix="netwright-")) if job.do in FOREIGN else None

    def work() -> int:
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        return serve_jobs(theirs, parent, limit, warm_up, folder)

    pid = fork(work, keep=(theirs.fileno(),))
    theirs.close()
    return Reader(job.key, pid, ours, limit, is_cold=warm_up is not None, folder=folder)


def ask(do: str, values: Mapping[str, Any], limits: Limits | None = None) -> Answer:
    """Return the result of a request that a child process of its own answers, within the limits of those of `serve`.

    Its progress is reported here. Raises `UserError` where it does, or where a limit is reached; `RuntimeError` for a
    defect, whose traceback the child prints.
    """
    limits = limits or Limits()
    job = Job({"id": 0, "do": do, "with": values})
    reader = start(job, limits, None)
    try:
        reader.ask(job)
        message = _answer_of(reader, limits)
    finally:
        because = reader.ended()
    if message is None:
        raise UserError(because)
    if "result" in message:
        result: Answer = message["result"]
        return result
    error = message["error"]
    if error["defect"]:
        raise RuntimeError(error["message"])
    raise read_error({**error, "error": error["message"]})


def _answer_of(reader: Reader, limits: Limits) -> Answer | None:
    """Return what a process answers; None where it ends before, or is ended because of a limit."""
    while not reader.watch(limits):
        if not select.select([reader.connection], [], [], WATCH_S)[0]:
            continue
        messages = reader.read()
        if messages is None:
            return None
        for message in messages:
            if "progress" not in message:
                reader.finish()
                return message
            progress.report(*message["progress"].values())
    return None
