"""Progress of long work, reported to whoever waits for it: a process has one listener at a time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Listener = Callable[[int, int, str], object]
"""Takes how much is done, how much there is in all (0: unknown), and the plural of the unit, such as `files`."""

TOLD_S = 0.1
"""Least time between two reports that a `Throttle` passes on, in seconds."""

_listener: Listener | None = None


@dataclass
class Throttle:
    """Passes reports on to a listener, at most one every `TOLD_S` seconds."""

    listener: Listener
    _last: float = 0.0

    def __call__(self, done: int, total: int, unit: str) -> None:
        if time.monotonic() - self._last >= TOLD_S:
            self._last = time.monotonic()
            self.listener(done, total, unit)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Context in which `listener` is called by `report`."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def report(done: int, total: int, unit: str) -> None:
    """Report progress; cheap where nobody listens, so that readers may call it once per piece."""
    if _listener is not None:
        _listener(done, total, unit)


def forget_listener() -> None:
    """Report to nobody: in a forked process, the listener is its parent's."""
    global _listener
    _listener = None
