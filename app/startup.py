"""Comes before everything else of the window, because what a start costs is in the order of things.

Modules without Qt come before Qt, whose import hook reads the source of each module that comes after it. No garbage is
looked for before the window is on screen: there is none yet, and looking took a tenth of the time.
"""

import gc

_collects = gc.isenabled()
gc.disable()

import subprocess  # noqa: E402, F401  # to have them imported is the point

from engine.network import blocks  # noqa: E402, F401
from engine.project import check, user_code  # noqa: E402, F401


def imported() -> None:
    """Everything is imported: garbage is looked for again."""
    if _collects:
        gc.enable()


def begin() -> None:
    """The window is about to be made."""
    gc.disable()


def shown() -> None:
    """The window is on screen. What is there now stays: garbage is looked for only among what comes later, which keeps
    the window from standing still meanwhile."""
    gc.freeze()
    gc.enable()


def over() -> None:
    """The window is gone, and takes what it held with it."""
    gc.unfreeze()
    gc.collect()
