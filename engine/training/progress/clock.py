"""How long a run takes, and where the time goes."""

import contextlib
import math
import time
from collections.abc import Callable, Iterator

from engine.training.batching.batches import Batch


class Clock:
    """How long the run takes, pauses left out, and how much of that is training rather than validating and
    saving; and its limit. Of the training it knows what went to waiting for data and for other workers."""

    def __init__(self, limit_s: float = math.inf, sending: Callable[[], float] = lambda: 0.0) -> None:
        """`sending` tells the seconds that have gone to other workers so far, whatever for; NaN where nobody knows."""
        self._limit_s = limit_s
        self._sending = sending
        self._sent_aside = 0.0
        self.data_s = 0.0
        self._began = time.perf_counter()
        self._aside = 0.0

    @property
    def elapsed_s(self) -> float:
        """Since training began."""
        return time.perf_counter() - self._began

    @property
    def training_s(self) -> float:
        """Of that, training."""
        return self.elapsed_s - self._aside

    @property
    def left_s(self) -> float:
        """Until the time limit."""
        return self._limit_s - self.elapsed_s

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Time in here is not training."""
        began, sent = time.perf_counter(), self._sending()
        try:
            yield
        finally:
            self._aside += time.perf_counter() - began
            self._sent_aside += self._sending() - sent

    @property
    def sending_s(self) -> float:
        """Seconds of training that went to other workers; NaN where that is not known."""
        return self._sending() - self._sent_aside

    def fetching(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches, with the time that each lets wait counted."""
        while True:
            began = time.perf_counter()
            batch = next(batches, None)
            self.data_s += time.perf_counter() - began
            if batch is None:
                return
            yield batch

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Time in here does not count at all."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._began += time.perf_counter() - began

    def go_on(self, elapsed_s: float, aside_s: float, data_s: float = 0.0, sending_s: float = 0.0) -> None:
        """So much was counted before the run was broken off."""
        self._began -= elapsed_s
        self._aside += aside_s
        self.data_s += data_s
        self._sent_aside -= sending_s
