"""Messages between a process and its parent: JSON, one value per line."""

import json
import os
import select
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netwright.engine.core.lines import LineBuffer
from netwright.engine.core.platform.files import do_not_wait

CHUNK_BYTES = 2**20


def readable(descriptors: Sequence[int], patience_s: float | None = None) -> list[int]:
    """Wait until something can be read, for a time, and return where: data or the end."""
    return select.select(descriptors, [], [], None if patience_s is None else max(0.0, patience_s))[0]


class MessageReader:
    """The reading end of a pipe of messages. `is_open` is false once the other end was closed."""

    def __init__(self, descriptor: int, waiting: str = "") -> None:
        """`waiting`: messages that arrived before, one per line."""
        self.is_open = True
        self.descriptor = descriptor
        self._buffer = LineBuffer()
        self._lines = self._buffer.take(waiting.encode())
        do_not_wait(descriptor)

    def read(self) -> list[Any]:
        """Return the messages that have arrived. Raises `ValueError` for what is not JSON."""
        self._fill()
        lines, self._lines = self._lines, []
        return [json.loads(line) for line in lines]

    def receive(self, patience_s: float | None = None) -> Any:
        """Wait for the next message and return it; None where the pipe is closed before. Raises `TimeoutError`, and
        `ValueError` for what is not JSON."""
        deadline = None if patience_s is None else time.monotonic() + patience_s
        while not self._lines and self.is_open:
            if not readable([self.descriptor], None if deadline is None else deadline - time.monotonic()):
                raise TimeoutError
            self._fill()
        return json.loads(self._lines.pop(0)) if self._lines else None

    def messages(self, patience_s: float | None = None) -> Iterator[Any]:
        """Yield messages until the pipe is closed. Raises `TimeoutError` where none comes for so long, and `ValueError`
        for what is not JSON."""
        while (message := self.receive(patience_s)) is not None:
            yield message

    def _fill(self) -> None:
        """Take what has arrived, as much as one call gives: an end that never pauses does not hold up the caller."""
        if not self.is_open:
            return
        try:
            data = os.read(self.descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return
        self.is_open = bool(data)
        self._lines += self._buffer.take(data)


class MessageWriter:
    """The writing end of a pipe of messages, for several threads."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._writing = threading.Lock()

    def send(self, *messages: Mapping[str, Any]) -> None:
        """Write messages, one per line. Raises `OSError` where nobody reads any more."""
        lines = (json.dumps(each, separators=(",", ":"), ensure_ascii=False) + "\n" for each in messages)
        data = memoryview("".join(lines).encode("utf-8", "surrogatepass"))
        with self._writing:
            while data:
                data = data[os.write(self._descriptor, data) :]


def keep_output() -> MessageWriter:
    """Return a writer that has the standard output of this process to itself: whatever else is printed, by libraries or
    user code, goes to standard error from now on."""
    output = MessageWriter(os.dup(1))
    os.dup2(2, 1)
    return output


def print_line(message: object) -> None:
    """Print a JSON value as a line, for the process that started this one; end where that one has ended.

    Raises `SystemExit` then: to whom nobody listens, there is nothing more to do.
    """
    try:
        print(json.dumps(message, separators=(",", ":")), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python flushes once more, and complains
        raise SystemExit(0) from None
