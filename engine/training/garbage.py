"""When Python looks for reference cycles in a worker: at report points, when nothing of the steps is held any more.

By itself it looks after every few hundred new objects, and what steps leave behind for the next report are such
objects: the looking finds nothing and takes a few per cent of short steps.
"""

import contextlib
import gc
from collections.abc import Iterator

MOST_NEW = 200_000
"""So many new objects make Python look in between all the same: code of the user's may make cycles in one long step."""


@contextlib.contextmanager
def looked_for_at_reports() -> Iterator[None]:
    """In here Python leaves the looking to `look`. What exists already is never looked at again."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(MOST_NEW, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def look() -> None:
    """Free the cycles that nobody refers to any more."""
    gc.collect()
