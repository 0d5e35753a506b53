"""What a worker and its coordinator say to each other: JSON lines over pipes. Needs no torch.

{"event": {...}}                                            for the run's log
{"done": {...}}                                             the outcome; empty but for the first worker
{"error": {"cause", "exit_code", "defect", "is_peer_failure", "detail"}}
{"chosen": {"choice", "threads"}}                           where the run executes: see `candidates.decided`
{"alive": true}                                             once a second, from a thread of its own

and the other way, to the first worker, requests as they stand in the run's folder: {"do": "set", "rate_factor": 0.1}
"""

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from engine.runs.events import Event
from engine.runs.requests import PendingRequests

HEARTBEAT_S = 1.0
SILENCE_S = 30.0
"""A thread that only says that it lives is held up by nothing but a process that is paused, or stuck in the system."""
MOST_A_TURN_S = 1.0


class HeartbeatMonitor:
    """How long each worker has been silent, in time that the coordinator itself has lived through.

    After a pause of the whole run (Ctrl-Z, a machine that slept) everybody is late and nobody is to blame, so a turn of
    the coordinator counts for a moment at most.
    """

    def __init__(self, patience_s: float = SILENCE_S, now: Callable[[], float] = time.monotonic) -> None:
        self._patience_s = patience_s
        self._now = now
        self._last_turn = now()
        self._awake_s = 0.0
        self._heard: dict[int, float] = {}

    def turn(self) -> None:
        """Let time pass. Called at every turn of the coordinator, before it listens."""
        now = self._now()
        self._awake_s += min(now - self._last_turn, MOST_A_TURN_S)
        self._last_turn = now

    def heard(self, rank: int) -> None:
        """This worker said something. Before its first word nothing is expected of it."""
        self._heard[rank] = self._awake_s

    def silent(self, share: float = 1.0) -> list[int]:
        """The workers that have been silent for longer than they may, or for longer than this share of it."""
        return [rank for rank, heard in self._heard.items() if self._awake_s - heard > share * self._patience_s]


CHUNK_BYTES = 2**16


class ReportPipe:
    """The worker's end of the pipe for reports."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._writing = threading.Lock()

    def send(self, *messages: dict[str, Any]) -> None:
        """Write these whole, one a line."""
        data = "".join(json.dumps(m, separators=(",", ":"), ensure_ascii=False) + "\n" for m in messages).encode()
        with self._writing:
            while data:
                data = data[os.write(self._descriptor, data) :]

    @contextlib.contextmanager
    def heartbeat(self, every_s: float = HEARTBEAT_S) -> Iterator[None]:
        """In here a thread says again and again that this process lives."""
        done = threading.Event()

        def beat() -> None:
            with contextlib.suppress(OSError):  # the coordinator is gone, and this process is about to follow
                self.send({"alive": True})
                while not done.wait(every_s):
                    self.send({"alive": True})

        thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def put(self, *events: Event) -> None:
        """Send events for the run's log."""
        if events:
            self.send(*({"event": event.write()} for event in events))


class RequestPipe:
    """The first worker's end of the pipe for requests."""

    def __init__(self, descriptor: int, waiting: str = "") -> None:
        """`waiting` are lines that were there before the worker was."""
        self._descriptor = descriptor
        self._rest = waiting.encode()
        os.set_blocking(descriptor, False)

    def pending(self) -> PendingRequests:
        """What has come in since the last call."""
        with contextlib.suppress(BlockingIOError):
            self._rest += os.read(self._descriptor, CHUNK_BYTES)
        *lines, self._rest = self._rest.split(b"\n")
        return PendingRequests.of(*map(json.loads, lines))


class ReportReader:
    """The coordinator's end of a worker's reports."""

    def __init__(self, descriptor: int) -> None:
        self.is_open = True
        self._descriptor = descriptor
        self._rest = b""
        os.set_blocking(descriptor, False)

    def read(self) -> list[dict[str, Any]]:
        """The messages that are there. At the end of the pipe `is_open` becomes false."""
        try:
            data = os.read(self._descriptor, 2**20)
        except BlockingIOError:
            return []
        self.is_open = bool(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]
