"""What a worker and its coordinator say to each other: JSON lines over pipes. Needs no torch.

{"event": {...}}                                            for the run's log
{"done": {...}}                                             the outcome; empty but for the first worker
{"error": {"cause", "exit_code", "defect", "is_lost_peer", "detail"}}
{"chosen": {"choice", "threads"}}                           where the run executes: see `candidates.decided`
{"alive": true}                                             once a second, from a thread of its own

and the other way, to the first worker, requests as they stand in the run's folder: {"do": "set", "rate_factor": 0.1}
"""

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

from engine.runs.events import Event
from engine.training.progress.requests import Asked, asked
from engine.training.supervision.vigil import BEAT_S

CHUNK_BYTES = 2**16


class Reports:
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
    def beating(self, every_s: float = BEAT_S) -> Iterator[None]:
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

    def pending(self) -> Asked:
        """What has come in since the last call."""
        with contextlib.suppress(BlockingIOError):
            self._rest += os.read(self._descriptor, CHUNK_BYTES)
        *lines, self._rest = self._rest.split(b"\n")
        return asked(json.loads(line) for line in lines)


class Lines:
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
