"""When checkpoints are made, and making them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from engine.project.training import TrainingOptions
from engine.runs.checkpoints import Checkpoint
from engine.training.checkpoints.checkpoint import Piece, distribute, gathered, is_finite, read, write
from engine.training.checkpoints.keeping import Sometimes

MOST_OF_TIME = 0.01


class Desk(Protocol):
    """Where a checkpoint is written: the place of the first worker, or nowhere."""

    def __call__(self, iteration: int) -> Path | None:
        """The folder to write it into, or None."""


def nowhere(iteration: int) -> Path | None:
    """Of all workers but the first, and where there is no run folder."""
    return None


class Saver:
    """All pieces of a training, and when they are saved together.

    By count all workers know it by themselves; by time the first one does and tells the others at a report point.
    """

    def __init__(
        self, options: TrainingOptions, desk: Desk = nowhere, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.last_step = -1
        self.pieces: dict[str, Piece] = {}
        self._unit = options.checkpoint_unit
        self._every = options.checkpoint_frequency
        self._desk = desk
        self._time = Sometimes(float(self._every), now, MOST_OF_TIME)

    def register(self, **pieces: Piece) -> None:
        """These change while the run trains."""
        self.pieces.update(pieces)

    @property
    def is_on(self) -> bool:
        """Whether checkpoints are made at all."""
        return self._unit != "never"

    @property
    def is_time(self) -> bool:
        """Whether one is due by time. The workers do not agree on it."""
        return self._unit == "seconds" and self._time.is_due

    def is_due(self, step: int, epochs_done: int, *, at_epoch_end: bool) -> bool:
        """Whether one is due by count. The same on all workers."""
        if self._unit == "epochs":
            return at_epoch_end and epochs_done % self._every == 0
        return self._unit == "iterations" and step % self._every == 0

    def save(self, step: int) -> float | None:
        """Write a checkpoint, called by all workers. How many seconds it took, or None where none was written: by
        another worker, or because the weights are no numbers. Raises `RunError`."""
        began = time.monotonic()
        state = gathered(self.pieces)
        self.last_step = step
        path = self._desk(step)
        try:
            if path is None or not is_finite(state["unit"]["network"]):
                return None
            write(state, path, step)
            return time.monotonic() - began
        finally:
            self._time.took(time.monotonic() - began)

    def go_on(self, checkpoint: Checkpoint) -> None:
        """Give all pieces the state of a checkpoint. Raises `UserError`."""
        distribute(read(checkpoint), self.pieces)
        self.last_step = checkpoint.iteration
