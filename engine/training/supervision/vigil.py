"""Which workers are silent for too long. Every worker says that it lives once a second, however long its steps are."""

import time
from collections.abc import Callable

BEAT_S = 1.0
SILENCE_S = 30.0
"""A thread that only says that it lives is held up by nothing but a process that is paused, or stuck in the system."""
MOST_A_TURN_S = 1.0


class Vigil:
    """How long each worker has been silent, in time that the coordinator itself has lived through.

    After a pause of the whole run (Ctrl-Z, a machine that slept) everybody is late and nobody is to blame, so a turn of
    the coordinator counts for a moment at most.
    """

    def __init__(self, patience_s: float = SILENCE_S, now: Callable[[], float] = time.monotonic) -> None:
        self._patience_s = patience_s
        self._now = now
        self._last_turn = now()
        self._awake_s = 0.0
        self._heard: dict[int, float] = {}

    def turn(self) -> None:
        """Let time pass. Called at every turn of the coordinator, before it listens."""
        now = self._now()
        self._awake_s += min(now - self._last_turn, MOST_A_TURN_S)
        self._last_turn = now

    def heard(self, rank: int) -> None:
        """This worker said something. Before its first word nothing is expected of it."""
        self._heard[rank] = self._awake_s

    def silent(self, share: float = 1.0) -> list[int]:
        """The workers that have been silent for longer than they may, or for longer than this share of it."""
        return [rank for rank, heard in self._heard.items() if self._awake_s - heard > share * self._patience_s]
