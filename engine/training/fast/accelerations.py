"""The accelerations of a run: those that its project switches on and that work with this version of torch."""

import ctypes
import functools
from collections.abc import Callable, Mapping

from netwright.engine.project.project import RunOptions
from netwright.engine.training.fast import fused_optimizers, manual_backward

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4
"""Parameters of mallopt, from glibc's malloc.h."""


@functools.cache
def reuse_refusal() -> str:
    """Return why freed memory cannot be kept here, or nothing."""
    try:
        has_mallopt = hasattr(ctypes.CDLL(None), "mallopt")
    except (OSError, TypeError):  # Windows has no library that is all of the process
        has_mallopt = False
    return "" if has_mallopt else "it needs Linux with the C library glibc"


def keep_freed_memory() -> None:
    """Keep all memory that this process frees, until it ends, for its next allocations.

    glibc gives blocks above 32 MiB back to the system once they are freed, and the end of its heap, too. A step that
    asks for them anew pays for every page that the system clears: a third of the time of an LSTM whose batch makes the
    workspace pass that size. Batches of other sizes do not fit into the blocks of those before: memory would grow.
    """
    library = ctypes.CDLL(None)
    library.mallopt(_M_MMAP_MAX, 0)
    library.mallopt(_M_TRIM_THRESHOLD, -1)  # -1: never


CHECKS: Mapping[str, Callable[[], str]] = {
    "manual-backward": lambda: manual_backward.refusal(),
    "fused-optimizers": lambda: fused_optimizers.refusal(),
    "memory-reuse": lambda: reuse_refusal(),
}
"""Return why an acceleration cannot be used here, or nothing. Shared memory and placement trials are tried by all
workers together, when the process group is made and before the first step."""


class Accelerations:
    """Answers which accelerations to use. Each is checked when it is first asked for."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._refusals: dict[str, str] = {}

    def uses(self, name: str) -> bool:
        """Return whether the acceleration is switched on and works here."""
        if not self._options.accelerates(name):
            return False
        if name not in self._refusals:
            self._refusals[name] = CHECKS[name]() if name in CHECKS else ""
        return not self._refusals[name]

    def notes(self) -> list[str]:
        """Return a sentence for each acceleration that was asked for, and does not work here."""
        return [f"The acceleration {name} is not used: {why}." for name, why in self._refusals.items() if why]
