"""Event log of a run: written by its coordinator, read by followers. One JSON object per line."""

import contextlib
import errno
import json
import os
import time
from dataclasses import replace
from typing import Any

from engine.core.files import open_file
from engine.runs.events import LINE_LIMIT_BYTES, Event, read_event
from engine.runs.folder import RunFolder

TAIL_BYTES = 2**16


class EventLog:
    """Appends events to the log: numbered, one write each. Raises `OSError` (a full disk, say).

    A log that is there already is continued; a half-written last line is cut off first.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._path = folder.events
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._n = self._repair()

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
        tail = os.pread(self._descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
        whole, newline, torn = tail.rpartition(b"\n")
        if torn:
            os.ftruncate(self._descriptor, size - len(torn))
        for line in reversed(whole.split(b"\n") if newline else []):
            with contextlib.suppress(ValueError, AttributeError, RecursionError):
                if n := read_event(json.loads(line)).n:
                    return n
        return 0

    @property
    def last(self) -> int:
        """The number of the last event; 0 before there is one."""
        return self._n

    def append(self, event: Event) -> Event:
        """Write one event and return it with its number and time. A text too long for a line loses its middle."""
        event = replace(event, n=self._n + 1, time=round(time.time(), 3))
        line = _line(event.write())
        written = os.write(self._descriptor, line)
        if written != len(line):  # disk full: remove the partial line
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._n += 1
        return event

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def _line(body: dict[str, Any]) -> bytes:
    """Return the encoded line of an event, within the size limit."""
    line = _encoded(body)
    while len(line) > LINE_LIMIT_BYTES:
        name = max((key for key, value in body.items() if isinstance(value, str)), key=lambda key: len(body[key]))
        text = body[name]
        if len(text) < 64:
            raise ValueError(f"An event of kind {body['kind']} has {len(line)} bytes; the limit is {LINE_LIMIT_BYTES}.")
        part = len(text) * 2 // 5
        body = {**body, name: f"{text[:part]} ... {text[-part:]}"}
        line = _encoded(body)
    return line


def _encoded(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")  # lone surrogates become JSON escapes


class EventReader:
    """Reads the new events of a run, incrementally from the start of its log.

    A partial last line is left until it is complete, and then read from its beginning: the writer truncates a partial
    line before it continues a log.
    """

    def __init__(self, folder: RunFolder, limit_bytes: int = 2**20) -> None:
        self._path = folder.events
        self._limit = max(limit_bytes, TAIL_BYTES)
        self._offset = 0
        self._is_within = False
        """True if the offset is within a line of more than `TAIL_BYTES`, which is skipped as invalid."""

    def read(self) -> list[Event]:
        """Return the events since the last call, at most about `limit_bytes` of the log. Damaged lines are skipped."""
        return [event for line in self.lines() if (event := event_in(line)) is not None]

    def lines(self) -> list[bytes]:
        """Return the lines since the last call, for callers that parse them later in parts."""
        try:
            with open_file(self._path) as file:
                file.seek(self._offset)
                data = file.read(self._limit)
        except OSError:
            return []
        *lines, rest = data.split(b"\n")
        if lines and self._is_within:
            self._is_within = False
            del lines[0]
        if self._is_within or len(rest) >= TAIL_BYTES:
            self._is_within = True
            rest = b""
        self._offset += len(data) - len(rest)
        return lines


def event_in(line: bytes) -> Event | None:
    """Parse a line of the log. Returns None if it is damaged."""
    with contextlib.suppress(ValueError, RecursionError, AttributeError):
        return read_event(json.loads(line))
    return None


def read_all(folder: RunFolder) -> list[Event]:
    """Return all events of a run so far."""
    reader, found = EventReader(folder), []
    while events := reader.read():
        found += events
    return found
