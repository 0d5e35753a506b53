"""Processes that this one starts: a module of Netwright as a program, and messages with it in JSON, one per line."""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from netwright.engine.core.files import ROOT
from netwright.engine.core.platform import CALM_THREADS, end_process_tree, start_process
from netwright.engine.core.platform_files import (
    do_not_wait,
    open_descriptor,
    read_at,
    read_available,
    wait_readable,
    write,
)

STARTER = "netwright.engine.core.child"
NO_VARIABLES: Mapping[str, str] = {}
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For processes that import a user's files."""
ERRORS_BYTES = 4000
_detached: list["subprocess.Popen[bytes]"] = []
"""Referenced, so that Python does not warn of processes that are meant to outlive it."""
CHUNK_BYTES = 2**20


def readable(descriptors: Sequence[int], patience_s: float | None = None) -> list[int]:
    """Wait until something can be read, for a time, and return where: data or the end."""
    return wait_readable(descriptors, patience_s)


class LineBuffer:
    """Collects the pieces of a stream and returns its whole lines. The end of a line is looked for in the new bytes
    alone, so that a long line takes no longer than its bytes."""

    def __init__(self, limit_bytes: int = 0) -> None:
        """`limit_bytes`: what a line has beyond that is left out; 0 for no limit."""
        self._limit_bytes = limit_bytes
        self._rest = bytearray()

    def take(self, data: bytes) -> list[bytes]:
        """Return the lines that end in `data`, the next piece, without their ends."""
        first, end, more = data.partition(b"\n")
        self._rest += first[: max(0, self._limit_bytes - len(self._rest))] if self._limit_bytes else first
        if not end:
            return []
        whole = bytes(self._rest)
        *lines, rest = more.split(b"\n")
        self._rest = bytearray(rest)
        return [whole, *lines]


class MessageReader:
    """The reading end of a pipe of messages. `is_open` is false once the other end was closed."""

    def __init__(self, descriptor: int, waiting: str = "", *, limit_bytes: int = 0) -> None:
        """`waiting`: messages that arrived before, one per line. `limit_bytes`: what a line has beyond that is left
        out; 0 for no limit."""
        self.is_open = True
        self.descriptor = descriptor
        self._buffer = LineBuffer(limit_bytes)
        self._lines = self._buffer.take(waiting.encode())
        do_not_wait(descriptor)

    def read(self) -> list[Any]:
        """Return the messages that have arrived. Raises `ValueError` for what is not JSON."""
        return [json.loads(line) for line in self.read_lines()]

    def read_lines(self) -> list[bytes]:
        """Return the lines that have arrived, of an end that may also send what is no message."""
        self._fill()
        lines, self._lines = self._lines, []
        return lines

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
        if (data := read_available(self.descriptor, CHUNK_BYTES)) is None:
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
                try:
                    data = data[write(self._descriptor, data) :]
                except BlockingIOError:  # a reader of the same socket does not wait
                    select.select([], [self._descriptor], [])


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
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python flushes once more, and complains
        raise SystemExit(0) from None


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command line that calls `main` of a module with these arguments, in a process of its own."""
    return [sys.executable, *module_words(module), *arguments]


def module_words(module: str) -> list[str]:
    """Return the arguments with which any Python that has Netwright calls `main` of a module."""
    return ["-m", STARTER, module]


def engine_command(*arguments: str) -> list[str]:
    """Return the command line of `netwright-engine` of this installation."""
    return [sys.executable, "-m", "netwright.engine", *arguments]


def module_environment() -> dict[str, str]:
    """Return our environment variables, with which `module_command` finds this installation from any folder, and idle
    threads sleep soon: a module that imports torch cannot ask for that itself, since its imports come first."""
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**CALM_THREADS, **os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def start_detached_module(
    log: Path, module: str, *arguments: str, descriptors: Sequence[int] = ()
) -> "subprocess.Popen[bytes]":
    """Start a module so that it outlives this process and its terminal.

    Its output is appended to the file `log`; it inherits the descriptors. Raises `OSError`.
    """
    _detached[:] = [process for process in _detached if process.poll() is None]
    output = open_descriptor(log, "a")
    try:
        process = start_process(
            module_command(module, *arguments),
            (subprocess.DEVNULL, output, output),
            folder=ROOT,
            environment=module_environment(),
            outlives=True,
            inherits=descriptors,
        )
    finally:
        os.close(output)
    _detached.append(process)
    return process


class MessageProcess:
    """A process that speaks JSON with this one, a message per line. `end` must be called.

    It leads a group, which ends with it; Ctrl-C in the terminal is not for it. What it prints on standard error is kept
    for `last_words`. It is to end when its input is closed, so that it does not outlive this process.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | str | None = None,
        environment: Mapping[str, str] = NO_VARIABLES,
        hears: bool = True,
        keeps_errors: bool = True,
    ) -> None:
        """`folder`: that in which it starts. `environment`: what it has beside ours. `hears`: it is sent messages.
        Without `keeps_errors` standard error is ours. Raises `OSError`."""
        self._errors = tempfile.TemporaryFile() if keeps_errors else None  # noqa: SIM115  # closed by `end`
        self._words = b""
        streams = (subprocess.PIPE if hears else subprocess.DEVNULL, subprocess.PIPE, self._errors)
        variables = {**module_environment(), **environment}
        try:
            self.process = start_process(command, streams, folder=folder, environment=variables, has_own_group=True)
        except OSError:
            if self._errors is not None:
                self._errors.close()
            raise
        assert self.process.stdout is not None
        self._reader = MessageReader(self.process.stdout.fileno())

    @property
    def is_open(self) -> bool:
        """Whether its output is open: there may be more messages."""
        return self._reader.is_open

    @property
    def descriptors(self) -> list[int]:
        """The pipes that lead to it and are open."""
        return [pipe.fileno() for pipe in (self.process.stdout, self.process.stdin) if pipe and not pipe.closed]

    def say(self, **values: Any) -> None:
        """Send a message of these values. One that has ended, which reading tells, does not get it."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.write(json.dumps(values).encode() + b"\n")
            self.process.stdin.flush()

    def read(self) -> list[Any]:
        """Return the messages that have arrived. Raises `ValueError` for what is not JSON."""
        return self._reader.read()

    def messages(self, patience_s: float | None = None) -> Iterator[Any]:
        """Yield messages until it ends. Raises `TimeoutError` where none comes for so long, and `ValueError`."""
        return self._reader.messages(patience_s)

    def ask(self, message: Mapping[str, Any], patience_s: float) -> Any:
        """Send a message and return the next one that comes; None where it has ended. Raises `TimeoutError`, and
        `ValueError`."""
        self.say(**message)
        return self._reader.receive(patience_s)

    def end(self, patience_s: float = 0.0) -> bool:
        """Close its input, wait so long for its end, and end it by force, with what it has started. Return whether it
        has ended by itself."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(patience_s)
            has_ended = True
        except subprocess.TimeoutExpired:
            has_ended = False
        end_process_tree(self.process.pid)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        if self._errors is not None and not self._errors.closed:
            self._words = self._end_of_errors()
            self._errors.close()
        return has_ended

    def last_words(self, most: int = 300) -> str:
        """Return the last line on its standard error, at most so many characters."""
        words = self._words if self._errors is None or self._errors.closed else self._end_of_errors()
        return words.decode(errors="replace").strip().rpartition("\n")[2][:most]

    def _end_of_errors(self) -> bytes:
        assert self._errors is not None
        size = os.fstat(self._errors.fileno()).st_size
        return read_at(self._errors.fileno(), ERRORS_BYTES, max(0, size - ERRORS_BYTES))
