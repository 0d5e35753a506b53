"""Garbage-collector timing: a worker collects reference cycles at report points, not in the middle of steps.

By itself Python collects after every few hundred new objects. What steps leave for the next report are such objects, so
these collections find nothing and take a few per cent of short steps. A report collects what is new since the last
one, and everything where that is quick: a user's code may hold millions of objects.
"""

import contextlib
import gc
import math
import time
from collections.abc import Callable, Iterator

NEW_OBJECTS = 200_000
"""After so many new objects Python collects in any case: a user's code may make many cycles in one long step."""
FULL_COLLECTION_SHARE = 0.01
"""At most this share of the time goes to collections of everything."""
YOUNG = 1
"""The generations of `gc` from 0 to this hold the objects that are new since the last report."""

_next_full_collection = math.inf
"""The earliest time of the next full collection; infinite where Python collects by itself."""


def refusal() -> str:
    """Return why this Python cannot leave collections to reports, or nothing."""
    return "" if hasattr(gc, "freeze") and hasattr(gc, "set_threshold") else "this Python's gc module cannot freeze"


@contextlib.contextmanager
def collected_at_reports(now: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Leave collections to `collect` inside this context. Objects that exist already are never examined in it."""
    global _next_full_collection
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *before[1:])
    _next_full_collection = now()
    try:
        yield
    finally:
        _next_full_collection = math.inf
        gc.set_threshold(*before)
        gc.unfreeze()


def collect(now: Callable[[], float] = time.monotonic) -> None:
    """Free reference cycles, inside `collected_at_reports`; nothing elsewhere."""
    global _next_full_collection
    if math.isinf(_next_full_collection):
        return
    began = now()
    if began < _next_full_collection:
        gc.collect(YOUNG)
        return
    gc.collect()
    ended = now()
    _next_full_collection = ended + (ended - began) / FULL_COLLECTION_SHARE
