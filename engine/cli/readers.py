"""Child processes that answer requests, as `serve` and the commands that read strangers' files see them: what each is
asked, its limits, and how it ended."""

import contextlib
import math
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from netwright.engine.cli.limits import Limits, ended, over_memory, over_work, silent
from netwright.engine.cli.request_handlers import Answer, serve_jobs
from netwright.engine.cli.serve_job import Job, job_of
from netwright.engine.core import progress
from netwright.engine.core.errors import UserError, read_error
from netwright.engine.core.fork import start_child
from netwright.engine.core.platform import end_process, end_process_tree, wait_for_process, was_ended_by_force
from netwright.engine.core.process import MessageReader, MessageWriter, readable

WATCH_S = 0.25
"""Time between two looks at the memory and the work of child processes, in seconds."""


@dataclass
class Reader:
    """A child process that answers one request at a time."""

    key: str
    pid: int
    pipe: int
    """Its answers come through it."""
    requests_end: int
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
        self._answers = MessageReader(self.pipe)
        self._requests = MessageWriter(self.requests_end)

    def ask(self, job: Job) -> None:
        """Send a request to the process, which answers none now."""
        self.current = job
        self.begun_at = self.active_at = self.seen_at = time.monotonic()
        self.work_limit_s, self.worked_s = job.request.work_limit_s, 0.0
        with contextlib.suppress(OSError):  # it has died: the end of its connection says so
            self._requests.send(job.write())

    def finish(self) -> None:
        """Note that the request was answered."""
        self.spent_s += time.monotonic() - self.begun_at
        self.current = None

    def ask_no_more(self) -> None:
        """Let the process end once it has answered."""
        if self.requests_end >= 0:
            os.close(self.requests_end)
            self.requests_end = -1

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
            self.kill(over_memory(self.current, self.limit_bytes))
        elif self.worked_s > self.work_limit_s:
            self.kill(over_work(self.current, self.work_limit_s))
        elif now - self.active_at > limits.silence_s and not self.current.operation.waits_for_hosts:
            self.kill(silent(self.current, limits.silence_s))
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
        """Collect the process, which has closed its pipe, and return the reason in words."""
        self.ask_no_more()
        os.close(self.pipe)
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
        return ended(self.current, how, cause)


def start(job: Job, limits: Limits, warm_up: Callable[[], object] | None) -> Reader:
    """Start a child process for a request, which may answer others with the same key after it."""
    limit = limits.memory()
    requests_in, requests_out = os.pipe()
    answers_in, answers_out = os.pipe()
    folder = Path(tempfile.mkdtemp(prefix="netwright-")) if job.operation.is_foreign else None
    work = partial(_serve, os.getpid(), limit, warm_up, folder)
    pid = start_child(work, (requests_in, answers_out), group="own")
    for theirs in (requests_in, answers_out):
        os.close(theirs)
    return Reader(job.key, pid, answers_in, requests_out, limit, is_cold=warm_up is not None, folder=folder)


def _serve(
    parent: int,
    limit_bytes: int,
    warm_up: Callable[[], object] | None,
    folder: Path | None,
    requests: int,
    answers: int,
) -> int:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return serve_jobs((requests, answers), parent, limit_bytes, warm_up, folder)


def ask(do: str, values: Mapping[str, Any], limits: Limits | None = None) -> Answer:
    """Return the result of a request that a child process of its own answers, within the limits of those of `serve`.

    Its progress is reported here. Raises `UserError` where it does, or where a limit is reached; `RuntimeError` for a
    defect, whose traceback the child prints.
    """
    limits = limits or Limits()
    job = job_of({"id": 0, "do": do, "with": values})
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
        if not readable([reader.pipe], WATCH_S):
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
