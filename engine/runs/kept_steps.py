"""Records of a run at some of its steps, beside its log: within a share of the time, bounded on disk, and read with
care, as the files may be a stranger's. Answers, distributions of layers and pictures of hooks are such records."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
COST_SHARE = 0.02
"""Largest share of the run's time that a recorder takes, beyond its first fraction of a second."""
LIMIT_BYTES = 2**24
"""Of a file of records; larger ones are not read."""
LARGEST_STEP = 2**53


class TimeBudget:
    """The time that a recorder may take: `COST_SHARE` of the run's, beyond the first `free_s` seconds."""

    def __init__(self, free_s: float) -> None:
        self._free_s = free_s
        self._start_s, self._spent_s = time.monotonic(), 0.0

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count the time in this context."""
        start_s = time.monotonic()
        try:
            yield
        finally:
            self._spent_s += time.monotonic() - start_s

    @property
    def is_left(self) -> bool:
        """Whether there is time for one more record."""
        return self._spent_s <= self._free_s + COST_SHARE * (time.monotonic() - self._start_s)


def thin(steps: list[T], most: int) -> list[T]:
    """Remove every second one of more than `most` steps, but neither the first nor the last. Return those removed."""
    if len(steps) <= most:
        return []
    removed = steps[1:-1:2]
    del steps[1:-1:2]
    return removed


def has_place(step: Mapping[str, Any]) -> bool:
    """Return whether a record has an iteration and an epoch."""
    return all(type(number := step.get(key)) is int and 0 <= number < LARGEST_STEP for key in ("iteration", "epoch"))


def path_inside(folder: Path, name: object) -> str:
    """Return the path of a file that a record names in its folder; empty where it leads out of it."""
    if not isinstance(name, str) or not name:
        return ""
    path = Path(name)
    return "" if path.is_absolute() or ".." in path.parts else str(folder / path)
