"""When Python looks for reference cycles in a worker: at report points, when nothing of the steps is held any more.

By itself it looks after every few hundred new objects, and what steps leave behind for the next report are such
objects: the looking finds nothing and takes a few per cent of short steps. A report looks at what is new since the last
one, and at all there is where that is quick: code of the user's may hold millions of objects.
"""

import contextlib
import gc
import math
import time
from collections.abc import Callable, Iterator

MOST_NEW = 200_000
"""So many new objects make Python look in between all the same: code of the user's may make cycles in one long step."""
MOST_OF_TIME = 0.01
"""No more than this share of it goes to looking at all there is."""
NEW = 1
"""The generations of objects that `gc` counts from 0 to this are those since the last look."""

_may_look_at_all = math.inf
"""From this moment on; infinite where Python looks by itself."""


@contextlib.contextmanager
def looked_for_at_reports(now: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """In here Python leaves the looking to `look`. What exists already is never looked at again."""
    global _may_look_at_all
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(MOST_NEW, *before[1:])
    _may_look_at_all = now()
    try:
        yield
    finally:
        _may_look_at_all = math.inf
        gc.set_threshold(*before)
        gc.unfreeze()


def look(now: Callable[[], float] = time.monotonic) -> None:
    """Free the cycles that nobody refers to any more, where Python leaves that to us."""
    global _may_look_at_all
    if math.isinf(_may_look_at_all):
        return
    began = now()
    if began < _may_look_at_all:
        gc.collect(NEW)
        return
    gc.collect()
    ended = now()
    _may_look_at_all = ended + (ended - began) / MOST_OF_TIME
