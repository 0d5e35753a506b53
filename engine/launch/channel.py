"""The pipes between a worker and its coordinator: JSON, one message per line. Needs no torch.

{"event": {...}}                                            for the run's log
{"done": {...}}                                             the outcome; empty but for the first worker
{"error": {"cause", "exit_code", "defect", "is_peer_failure", "detail", "code"}}
{"chosen": {"choice", "threads"}}                           where the run executes: see `candidates.decided`
{"alive": true}                                             once per second, from a thread of its own

and to the first worker the requests of the run's folder: {"do": "set", "rate_factor": 0.1}
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from netwright.engine.core.process import MessageReader, MessageWriter
from netwright.engine.runs.events import Event
from netwright.engine.runs.requests import PendingRequests

HEARTBEAT_S = 1.0
SILENCE_S = 30.0
"""Seconds without a message before a worker counts as hung. A heartbeat thread is only held up if its process is paused
or stuck in the kernel."""
MAX_TICK_S = 1.0


class HeartbeatMonitor:
    """Measures the time since each worker's last message, by the coordinator's own running time.

    After a pause of the whole run (Ctrl-Z, suspend to RAM) all workers are late through no fault of theirs, so each
    turn of the coordinator counts at most `MAX_TICK_S`.
    """

    def __init__(self, patience_s: float = SILENCE_S, now: Callable[[], float] = time.monotonic) -> None:
        self._patience_s = patience_s
        self._now = now
        self._last_tick = now()
        self._awake_s = 0.0
        self._heard: dict[int, float] = {}

    def tick(self) -> None:
        """Advance the time. Called at every turn of the coordinator, before it reads reports."""
        now = self._now()
        self._awake_s += min(now - self._last_tick, MAX_TICK_S)
        self._last_tick = now

    def record(self, rank: int) -> None:
        """Record a message of this worker. Before its first one a worker never counts as silent."""
        self._heard[rank] = self._awake_s

    def silent_ranks(self, share: float = 1.0) -> list[int]:
        """Return the workers that have been silent for more than this share of the allowed time."""
        return [rank for rank, heard in self._heard.items() if self._awake_s - heard > share * self._patience_s]


CHUNK_BYTES = 2**16


class ReportPipe(MessageWriter):
    """The worker's end of its report pipe."""

    @contextlib.contextmanager
    def heartbeat(self, every_s: float = HEARTBEAT_S) -> Iterator[None]:
        """Send heartbeats from a thread in this context."""
        stop = threading.Event()

        def beat() -> None:
            with contextlib.suppress(OSError):  # the coordinator has ended, and this process is about to
                self.send({"alive": True})
                while not stop.wait(every_s):
                    self.send({"alive": True})

        thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def put(self, *events: Event) -> None:
        """Send events for the run's log."""
        if events:
            self.send(*({"event": event.write()} for event in events))


class RequestPipe:
    """The first worker's end of the pipe for requests."""

    def __init__(self, descriptor: int, waiting: str = "") -> None:
        """`waiting`: requests that arrived before the worker started, one per line."""
        self._reader = MessageReader(descriptor, waiting)

    def pending(self) -> PendingRequests:
        """Return the requests that have arrived since the last call."""
        return PendingRequests.of(*self._reader.read())
