"""Which network is kept: the best by validation or the last one, in memory and, now and then, in the run's folder."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import torch

from engine.lowering import weights
from engine.project.training import TrainingOptions
from engine.runs.checkpoints import Checkpoint
from engine.training.checkpoints import Piece, distribute, gathered, is_finite, read, write
from engine.training.metrics import Metric
from engine.training.state import Evaluation
from engine.training.step import State, Unit

BEST_EVERY_S = 2.0
LAST_EVERY_S = 30.0
MOST_OF_TIME = 0.05


class ModelStore(Protocol):
    """Where states of the network are put down."""

    def put(self, name: str, state: State, moment: Mapping[str, Any]) -> None:
        """Replace the folder `best` or `last`, whole."""


class NullStore:
    """Of all workers but the first."""

    def put(self, name: str, state: State, moment: Mapping[str, Any]) -> None:
        """Nothing is put down."""


class FolderStore:
    """Weights folders in the run's folder. `known` goes into each manifest: classes, task, layers."""

    def __init__(self, folder: Path, known: Mapping[str, Any]) -> None:
        self._folder = folder
        self._known = known

    def put(self, name: str, state: State, moment: Mapping[str, Any]) -> None:
        """Replace the folder, whole. Raises `RunError`."""
        weights.save(state, self._folder / name, {**self._known, **moment})


class Throttle:
    """Whether it is time again: at most so often, and never for more than a small share of all time."""

    def __init__(
        self, every_s: float, now: Callable[[], float] = time.monotonic, most_of_time: float = MOST_OF_TIME
    ) -> None:
        self._every_s = every_s
        self._most_of_time = most_of_time
        self._now = now
        self._next = now() + every_s

    @property
    def is_due(self) -> bool:
        """Whether it may be done now."""
        return self._now() >= self._next

    def took(self, seconds: float) -> None:
        """It was done and took so long."""
        self._next = self._now() + max(self._every_s, seconds / self._most_of_time)


class BestModelTracker:
    """Judges validations, remembers the best network, and puts down what must not be lost.

    Every worker judges alike and remembers for itself, since all see the same scores; the first one has a shelf.
    """

    def __init__(
        self, unit: Unit, options: TrainingOptions, metric: Metric, shelf: ModelStore, *, has_validation: bool
    ) -> None:
        self.objective = "loss" if options.objective_metric == "loss" else metric.name
        self.keeps_best = has_validation and options.output_network != "last-iteration"
        self.best_value = math.nan
        self.best_scores: Evaluation | None = None
        self.best_step = 0
        self.is_settled = False
        """Whether the kept network got other statistics in the end than those it was judged with."""
        self._unit = unit
        self._patience = options.validation_patience
        self._sign = -1.0 if self.objective == metric.name and metric.higher_is_better else 1.0
        self._shelf = shelf
        self._worse_in_a_row = 0
        self._best: State | None = None
        self._best_moment: dict[str, Any] = {}
        self._best_waits = False
        self._best_time, self._last_time = Throttle(BEST_EVERY_S), Throttle(LAST_EVERY_S)

    @property
    def is_out_of_patience(self) -> bool:
        """Whether the last validations, as many as the option says, were not better than the best."""
        return 0 < self._patience <= self._worse_in_a_row

    @property
    def higher_is_better(self) -> bool:
        """Which way the objective is up."""
        return self._sign < 0

    def value(self, scores: Evaluation) -> float:
        """The objective of a validation."""
        return scores.named[self.objective]

    def consider(self, step: int, epoch: int, scores: Evaluation) -> bool:
        """Whether the network of now is the best so far; it is remembered then."""
        value = self.value(scores)
        is_better = not math.isnan(value) and not self.best_value * self._sign <= value * self._sign
        if not is_better:
            self._worse_in_a_row += 1
            return False
        self.best_value, self.best_scores, self.best_step, self._worse_in_a_row = value, scores, step, 0
        if self.keeps_best:
            self._best = self._unit.state()
            self._best_moment = self._moment(step, epoch, value)
            self._best_waits = True
        return True

    def put_down_sometimes(self, step: int, epoch: int) -> None:
        """Save what would be lost if the run broke off now, if it is time."""
        if self._best_waits and self._best_time.is_due:
            self._timed(self._best_time, self.put_down_best)
        if self._last_time.is_due and self._unit.is_whole:
            self._timed(self._last_time, lambda: self._put_down_last(step, epoch))

    def put_down_best(self) -> None:
        """Save the best network, if it is not there yet."""
        if self._best is not None and self._best_waits:
            self._shelf.put("best", self._best, self._best_moment)
            self._best_waits = False

    def finish(self, step: int, epoch: int) -> str:
        """Save best and last network; the unit then holds the one that is kept. Returns `best` or `last`."""
        self.is_settled = self._unit.settle()
        self._put_down_last(step, epoch)
        if self._best is None:
            return "last"
        self._unit.load(self._best)
        if self._unit.settle():
            self._best, self._best_waits = self._unit.state(), True
        self.put_down_best()
        return "best"

    def state_dict(self) -> dict[str, Any]:
        """What was best, with its network, and the patience used up."""
        return {
            "best_value": self.best_value,
            "best_scores": None if self.best_scores is None else asdict(self.best_scores),
            "best_step": self.best_step,
            "worse": self._worse_in_a_row,
            "best": self._best,
            "best_moment": self._best_moment,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there. What stands in the run's folder may be of a later moment, and is replaced."""
        scores = state["best_scores"]
        self.best_value, self.best_step = float(state["best_value"]), int(state["best_step"])
        self.best_scores = None if scores is None else Evaluation(**scores)
        self._worse_in_a_row = int(state["worse"])
        self._best, self._best_moment = state["best"], dict(state["best_moment"])
        self._best_waits = self._best is not None

    def _put_down_last(self, step: int, epoch: int) -> None:
        state = self._unit.state()
        if all(bool(torch.isfinite(value).all()) for value in state.values()):
            self._shelf.put("last", state, self._moment(step, epoch, None))

    def _moment(self, step: int, epoch: int, value: float | None) -> dict[str, Any]:
        moment: dict[str, Any] = {"iteration": step, "epoch": epoch}
        return moment if value is None else {**moment, "objective": self.objective, "value": value}

    @staticmethod
    def _timed(times: Throttle, work: Callable[[], None]) -> None:
        began = time.monotonic()
        work()
        times.took(time.monotonic() - began)


MOST_OF_TIME = 0.01


class Desk(Protocol):
    """Where a checkpoint is written: the place of the first worker, or nowhere."""

    def __call__(self, iteration: int) -> Path | None:
        """The folder to write it into, or None."""


def nowhere(iteration: int) -> Path | None:
    """Of all workers but the first, and where there is no run folder."""
    return None


class CheckpointSaver:
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
        self._time = Throttle(float(self._every), now, MOST_OF_TIME)

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
