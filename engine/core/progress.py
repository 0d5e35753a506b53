"""Progress of long work, reported to whoever waits for it: a process has one listener at a time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from netwright.engine.core.text import format_bytes, format_percent

Listener = Callable[[int, int, str], object]
"""Takes how much is done, how much there is in all (0: unknown), and the plural of the unit, such as `files`."""

TOLD_S = 0.1
"""Least time between two reports that a `Throttle` passes on, in seconds."""

_listener: Listener | None = None
_notices: list[str] | None = None


@dataclass
class Throttle:
    """Passes reports on to a listener, at most one every `every_s` seconds, the first after `after_s`."""

    listener: Listener
    every_s: float = field(default_factory=lambda: TOLD_S)
    after_s: float = 0.0
    _last: float = field(init=False)

    def __post_init__(self) -> None:
        self._last = time.monotonic() + self.after_s - self.every_s

    def __call__(self, count: int, total: int, unit: str) -> None:
        if time.monotonic() - self._last >= self.every_s:
            self._last = time.monotonic()
            self.listener(count, total, unit)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Context in which `listener` is called by `report`."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def report(count: int, total: int, unit: str) -> None:
    """Report progress; cheap where nobody listens, so that readers may call it once per piece."""
    if _listener is not None:
        _listener(count, total, unit)


def forget_listener() -> None:
    """Report to nobody: in a forked process, the listener is its parent's."""
    global _listener
    _listener = None


def in_words(count: int, total: int, unit: str) -> str:
    """Return progress in words: `45 % (1,234 of 2,700 rows)`."""
    amount, whole = (format_bytes(n) if unit == "bytes" else f"{n:,}" for n in (count, total))
    end = "" if unit == "bytes" else f" {unit}"
    return f"{format_percent(min(1.0, count / total))} ({amount} of {whole}{end})" if total else f"{amount}{end}"


@contextmanager
def noticing() -> Iterator[list[str]]:
    """Context that collects the texts of `notice` in a list."""
    global _notices
    before, _notices = _notices, []
    try:
        yield _notices
    finally:
        _notices = before


def notice(*texts: str) -> None:
    """Say something about what was asked that belongs to no result, such as an option without effect; to nobody, where
    nobody collects it."""
    if _notices is not None:
        _notices.extend(texts)
