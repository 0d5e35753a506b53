"""One attempt at a run: its workers from their start to their end. The coordinator may make several. Needs no torch."""

import time
from collections.abc import Callable
from typing import Any

from netwright.engine.core.platform import out_of_memory_kills
from netwright.engine.core.process import MessageReader, readable
from netwright.engine.launch import outcome
from netwright.engine.launch.channel import SILENCE_S, HeartbeatMonitor
from netwright.engine.launch.launcher import Launcher, StartPoint, Worker
from netwright.engine.launch.outcome import AttemptOutcome
from netwright.engine.runs.events import Event, Message, read_event
from netwright.engine.runs.folder import RunFolder, update_info, write_info

POLL_S = 0.1
END_POLL_S = 0.002
"""The same once all workers have closed their pipes, which they do as they end."""
GRACE_S = 10.0
"""Seconds that a failed run waits for workers that have not reported yet: the first one may be saving."""
DEATH_GRACE_S = 1.5
"""Grace period in seconds if a worker has died: its death is the cause, whatever the others report."""
WARNING_SHARE = 0.25
"""Share of the time that a worker may be silent after which the log warns of it."""
SHUTDOWN_S = 10.0
"""Seconds that a complete run waits for its workers to end."""


class WorkerAttempt:
    """Workers of one attempt. `write` is called with their events; `forward_requests` regularly, and its outcome, if
    any, ends the attempt."""

    def __init__(
        self,
        folder: RunFolder,
        launcher: Launcher,
        start: StartPoint,
        write: Callable[[Event], None],
        forward_requests: Callable[["WorkerAttempt"], AttemptOutcome | None],
        *,
        patience_s: float = SILENCE_S,
    ) -> None:
        self._folder = folder
        self._launcher = launcher
        self._start_point = start
        self._write = write
        self._forward_requests = forward_requests
        self._monitor = HeartbeatMonitor(patience_s)
        self._patience_s = patience_s
        self._warned: set[int] = set()
        self._workers: list[Worker] = []
        self._waiting: list[dict[str, Any]] = []
        self._open_pipes: dict[int, int] = {}
        """The pipes of reports that are open, and the worker of each."""
        self._lines: dict[int, MessageReader] = {}
        self._outcome: dict[str, Any] | None = None
        self._errors: list[tuple[int, dict[str, Any]]] = []
        self._silent: list[int] = []
        self._reported: set[int] = set()
        self._done_at = 0.0
        self._kills_before = out_of_memory_kills()

    @property
    def is_complete(self) -> bool:
        """Return whether the first worker has reported the outcome; later failures do not matter."""
        return self._outcome is not None

    def send_request(self, request: dict[str, Any]) -> None:
        """Pass a request on to the first worker, or keep it until there is one."""
        if self._workers:
            self._workers[0].send_request(request)
        else:
            self._waiting.append(request)

    def run(self) -> AttemptOutcome:
        """Start the workers, watch them until the end, and return the outcome. No worker is left running."""
        try:
            self._launcher.begin()
            while not self._launcher.is_ready():
                if (ending := self._forward_requests(self)) is not None:
                    return ending
            info = self._folder.read_info()
            self._start_up_to(1 if info.is_undecided else len(info.placement.places))
            for request in self._waiting:
                self.send_request(request)
            return self._watch()
        finally:
            for worker in self._workers:
                worker.kill()
                worker.close()
            self._launcher.end()

    def _start_up_to(self, count: int) -> None:
        """Start workers until there are `count`."""
        for rank in range(len(self._workers), count):
            worker = self._launcher.start(rank, self._start_point)
            self._workers.append(worker)
            self._lines[rank] = MessageReader(worker.reports)
            self._open_pipes[worker.reports] = rank
        self._launcher.await_started()
        update_info(self._folder, workers=tuple(worker.pid for worker in self._workers))

    def _watch(self) -> AttemptOutcome:
        """Watch until all workers have ended or the attempt has to end; return its outcome."""
        failed_at: float | None = None
        while True:
            self._monitor.tick()
            self._launcher.watch()
            for pipe in readable(list(self._open_pipes), POLL_S if self._open_pipes else END_POLL_S):
                rank = self._open_pipes[pipe]
                self._read_reports(rank)
                if not self._lines[rank].is_open:
                    del self._open_pipes[pipe]
            if (ending := self._forward_requests(self)) is not None:
                return ending
            if self._outcome is not None:
                # All workers took part in the last collective, so later failures of the others do not matter.
                all_ended = all(worker.poll() is not None for worker in self._workers) and not self._open_pipes
                if all_ended or time.monotonic() - self._done_at > SHUTDOWN_S:
                    return outcome.well(self._outcome)
                continue
            self._find_ended_workers()
            self._warn_of_silence()
            if (ending := self._find_hung()) is not None:
                return ending
            if failed_at is None and (self._errors or self._silent):
                failed_at = time.monotonic()
            if failed_at is not None and (
                self._all_have_ended_or_reported or time.monotonic() - failed_at > self._grace_s
            ):
                return self._cause()

    def _read_reports(self, rank: int) -> None:
        """Handle the reports of a worker."""
        for message in self._lines[rank].read():
            self._monitor.record(rank)
            self._warned.discard(rank)
            if "event" in message:
                self._write(read_event(message["event"]))
            elif "chosen" in message:
                info = self._folder.read_info().decided(**message["chosen"])
                write_info(self._folder, info)
                self._start_up_to(len(info.placement.places))
            elif "error" in message:
                self._reported.add(rank)
                self._errors.append((rank, message["error"]))
            elif "done" in message:
                self._reported.add(rank)
                if rank == 0:
                    self._outcome = message["done"]
                    self._done_at = time.monotonic()

    @property
    def _all_have_ended_or_reported(self) -> bool:
        """Return whether every worker has reported its end or has ended without a report."""
        return len(self._reported.union(self._silent)) == len(self._workers)

    @property
    def _grace_s(self) -> float:
        return DEATH_GRACE_S if self._silent else GRACE_S

    def _find_ended_workers(self) -> None:
        """Find workers that have ended without a report."""
        for worker in self._workers:
            is_known = worker.rank in self._reported or worker.rank in self._silent
            if not is_known and worker.poll() is not None and not self._lines[worker.rank].is_open:
                self._silent.append(worker.rank)

    def _find_hung(self) -> AttemptOutcome | None:
        """Return the outcome of a worker that runs and sends no heartbeat, if there is one."""
        for rank in self._monitor.silent_ranks():
            worker = self._workers[rank]
            if rank not in self._reported and worker.poll() is None:
                return outcome.hung(rank, _who(worker), worker.why_silent(), self._folder.log)
        return None

    def _warn_of_silence(self) -> None:
        """Warn once of a worker that sends no heartbeat, long before the attempt is ended for it."""
        for rank in self._monitor.silent_ranks(WARNING_SHARE):
            worker = self._workers[rank]
            if rank in self._warned or rank in self._reported or worker.poll() is not None:
                continue
            self._warned.add(rank)
            text = f"Worker {rank} ({_who(worker)}) gives no sign of life: {worker.why_silent()}."
            end = f"It is ended after {self._patience_s:g} seconds of that."
            self._write(Message(severity="warning", text=f"{text} {end}"))

    def _cause(self) -> AttemptOutcome:
        """Return why the attempt failed: a worker that died, else an error of a worker's own, else a peer failure."""
        ran_out = out_of_memory_kills() > self._kills_before
        for rank in self._silent:
            worker = self._workers[rank]
            code = worker.poll()
            if why := worker.why_lost():
                return outcome.lost(rank, why, self._folder.log)
            if code is not None:
                ran_out_there = worker.memory_ran_out if worker.host else ran_out
                return outcome.death(rank, code, self._folder, memory_ran_out=ran_out_there)
        rank, error = next(((r, e) for r, e in self._errors if not e["is_peer_failure"]), self._errors[0])
        return outcome.failed(
            error["cause"],
            worker=rank,
            detail=error["detail"],
            defect=error["defect"],
            exit_code=error["exit_code"],
            remedy="again" if error["is_peer_failure"] else error.get("remedy", ""),
            offer=error.get("offer", ""),
            code=error.get("code", ""),
        )


def _who(worker: Worker) -> str:
    """Return the process of a worker in words."""
    return f"process {worker.pid}{f' on {worker.host}' if worker.host else ''}"
