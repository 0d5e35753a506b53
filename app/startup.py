"""Tunes the start of the window: the order of imports, and garbage collection. Imported before everything else.

Modules without Qt come before Qt, whose import hook reads the source of each module that is imported after it. Garbage
is not collected before the window is on screen: there is none yet, and looking took a tenth of the time.
"""

import gc

_collects = gc.isenabled()
gc.disable()

import subprocess  # noqa: E402, F401  # to have them imported is the point

from netwright.engine.network import blocks  # noqa: E402, F401
from netwright.engine.project import check, user_code  # noqa: E402, F401


def imported() -> None:
    """Collect garbage again: everything is imported."""
    if _collects:
        gc.enable()


def begin() -> None:
    """Pause garbage collection: the window is about to be made."""
    gc.disable()


def shown() -> None:
    """Collect garbage again: the window is on screen. Objects that exist now are frozen, so that later collections are
    short and the window does not stall."""
    gc.freeze()
    gc.enable()


def over() -> None:
    """Unfreeze and collect: the window is gone."""
    gc.unfreeze()
    gc.collect()
