"""Progress of long work, reported to whoever waits for it: a process has one listener at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[int, int, str], object]
"""Takes how much is done, how much there is in all (0: unknown), and the plural of the unit, such as `files`."""

_listener: Listener | None = None


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
