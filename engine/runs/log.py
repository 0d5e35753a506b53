"""Event log of a run: written by its coordinator, read by followers. One JSON object per line."""

import errno
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from netwright.engine.core.files import open_file, write_atomically
from netwright.engine.core.platform_files import open_descriptor, read_at
from netwright.engine.runs.checkpoint_files import all_checkpoints
from netwright.engine.runs.events import Event, Points
from netwright.engine.runs.folder import RunFolder
from netwright.engine.runs.log_lines import event_in, line_of
from netwright.engine.runs.thinning import LOG_LIMIT_BYTES, Thinning

TAIL_BYTES = 2**16
SLICE_BYTES = 2**18
"""Bytes of the log that are thinned after each event, which takes some 20 ms."""
LAST_BYTES = 64
_NUMBER = re.compile(rb'\{"n":(\d{1,18}),')


class EventLog:
    """Appends events to the log: numbered, one write each. Raises `OSError` (a full disk, say).

    A log that is there already is continued; a half-written last line is cut off first. One of more than
    `limit_bytes` is thinned, a slice after each further event, so that the coordinator is never held up: at the end
    another file takes its place.
    """

    def __init__(self, folder: RunFolder, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
        self._folder = folder
        self._path = folder.events
        self._descriptor = self._open()
        self._n = self._repair()
        self._size = os.fstat(self._descriptor).st_size
        self._limit = self._thin_at = limit_bytes
        self._thinning: Iterator[None] | None = None

    def _open(self) -> int:
        return open_descriptor(self._path, "a+")

    @property
    def is_in_place(self) -> bool:
        """Return whether the log still exists at its path; False if its folder was moved or deleted."""
        try:
            self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:  # the file system does not answer: assume that it exists
            return True
        return True

    def _repair(self) -> int:
        """Cut off a half-written line, and return the number of the last whole one."""
        size = os.fstat(self._descriptor).st_size
        tail = read_at(self._descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
        whole, newline, torn = tail.rpartition(b"\n")
        if torn:
            os.ftruncate(self._descriptor, size - len(torn))
        for line in reversed(whole.split(b"\n") if newline else []):
            if n := number_of(line):
                return n
        return 0

    @property
    def last(self) -> int:
        """The number of the last event; 0 before there is one."""
        return self._n

    def append(self, event: Event) -> Event:
        """Write one event and return it with its number and time. A text too long for a line loses its middle."""
        event = replace(event, n=self._n + 1, time=round(time.time(), 3))
        line = line_of(event)
        written = os.write(self._descriptor, line)
        if written != len(line):  # disk full: remove the partial line
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._n += 1
        self._size += written
        if self._thinning is not None:
            self._advance(self._thinning)
        elif self._size >= self._thin_at and isinstance(event, Points) and event.split == "training":
            self._thinning = self._thin(event.first_step)
        return event

    def _advance(self, thinning: Iterator[None]) -> None:
        """Thin the next slice. If the thinned log cannot be written, the log stays as it is."""
        try:
            next(thinning)
            return
        except (StopIteration, OSError, ValueError):  # a full disk; numbers of another program that fit in no line
            self._thinning = None
        self._thin_at = max(self._limit, 2 * self._size)

    def _thin(self, newest_step: int) -> Iterator[None]:
        """Put a thinned log in place of this one, with what was written meanwhile. Readers notice, and go on where they
        were. Yields after each slice."""
        thinning = Thinning(newest_step, {checkpoint.iteration for checkpoint in all_checkpoints(self._folder)})
        size = self._size
        with open_file(self._path) as file:
            for lines in _slices(file, size):
                thinning.learn(lines)
                yield
            file.seek(0)
            for lines in _slices(file, size):
                thinning.add(lines)
                yield
            content = b"".join((*thinning.lines(), file.read()))
        write_atomically(self._path, content, mode=0o600, follow_link=False)
        replaced, self._descriptor, self._size = self._descriptor, self._open(), len(content)
        os.close(replaced)

    def close(self) -> None:
        """Close the file. A log that is being thinned stays as it is."""
        self._thinning = None
        os.close(self._descriptor)


def _slices(file: BinaryIO, size: int) -> Iterator[list[bytes]]:
    """Yield the whole lines of the first `size` bytes of a log, about `SLICE_BYTES` at a time."""
    while file.tell() < size:
        yield file.readlines(min(SLICE_BYTES, size - file.tell()))


class EventReader:
    """Reads the new events of a run, incrementally from the start of its log.

    A partial last line is left until it is complete, and then read from its beginning: the writer truncates a partial
    line before it continues a log. Where a thinned log has taken the place of the log, the events that were read before
    are passed over.
    """

    def __init__(self, folder: RunFolder, limit_bytes: int = 2**20) -> None:
        self._path = folder.events
        self._limit = max(limit_bytes, TAIL_BYTES)
        self._offset = 0
        self._last_bytes = b""
        """Bytes before the offset, by which a thinned log is told from the one that was read."""
        self._last_number, self._read_before = 0, 0
        self._is_within = False
        """True if the offset is within a line of more than `TAIL_BYTES`, which is skipped as invalid."""

    def read(self) -> list[Event]:
        """Return the events since the last call, at most about `limit_bytes` of the log. Damaged lines are skipped."""
        return [event for line in self.lines() if (event := event_in(line)) is not None]

    def lines(self) -> list[bytes]:
        """Return the lines since the last call, for callers that parse them later in parts."""
        while True:
            try:
                with open_file(self._path) as file:
                    file.seek(self._offset - len(self._last_bytes))
                    data = file.read(len(self._last_bytes) + self._limit)
            except OSError:
                return []
            if not data.startswith(self._last_bytes):
                self._offset, self._last_bytes, self._is_within = 0, b"", False
                self._read_before = self._last_number
                continue
            lines = self._split(data[len(self._last_bytes) :])
            is_end = not lines
            if lines := self._unread(lines):
                self._last_number = next(filter(None, map(number_of, reversed(lines))), self._last_number)
            if lines or is_end:
                return lines

    def _split(self, data: bytes) -> list[bytes]:
        """Return the whole lines in what follows the offset, and move that behind them."""
        *lines, rest = data.split(b"\n")
        if lines and self._is_within:
            self._is_within = False
            del lines[0]
        if self._is_within or len(rest) >= TAIL_BYTES:
            self._is_within = True
            rest = b""
        self._offset += len(data) - len(rest)
        self._last_bytes = (self._last_bytes + data[: len(data) - len(rest)])[-LAST_BYTES:]
        return lines

    def _unread(self, lines: list[bytes]) -> list[bytes]:
        """Return the lines but those of a thinned log that were read before it was thinned."""
        if not self._read_before:
            return lines
        for index, line in enumerate(lines):
            if number_of(line) > self._read_before:
                self._read_before = 0
                return lines[index:]
        return []


def number_of(line: bytes) -> int:
    """Return the number of the event in a line; 0 if it has none."""
    if match := _NUMBER.match(line):
        return int(match[1])
    event = event_in(line)
    return event.n if event is not None else 0


def read_all(folder: RunFolder) -> list[Event]:
    """Return all events of a run so far."""
    reader, history = EventReader(folder), []
    while events := reader.read():
        history += events
    return history
