"""Tracks the best network by validation, and writes the best and the last one into the run's folder now and then."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from netwright.engine.core.errors import RunError
from netwright.engine.core.files import write_atomically
from netwright.engine.lowering import weights_folder
from netwright.engine.parallel.strategies.strategy import State
from netwright.engine.project.preparation import FILE, Preparation
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.checkpoints import is_finite, refuse_other_form
from netwright.engine.training.metrics import Metric
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.state import Evaluation, evaluation_from

BEST_EVERY_S = 2.0
LAST_EVERY_S = 30.0
TIME_SHARE = 0.05
"""At most this share of the time goes into writing each of the two."""


class Throttle:
    """Limits how often something is done: at most every so many seconds, and for a small share of all time."""

    def __init__(self, every_s: float, time_share: float, now: Callable[[], float] = time.monotonic) -> None:
        self._every_s = every_s
        self._time_share = time_share
        self._now = now
        self._next_s = now() + every_s

    @property
    def is_due(self) -> bool:
        """Return whether it may be done now."""
        return self._now() >= self._next_s

    def ran_for(self, seconds: float) -> None:
        """Note that it was done, and how long that took."""
        self._next_s = self._now() + max(self._every_s, seconds / self._time_share)


class ModelStore(Protocol):
    """Where states of the network are written."""

    def put(self, name: str, state: State, moment: Mapping[str, Any]) -> None:
        """Replace the folder `best` or `last` as a whole."""


class NullStore:
    """The store of all workers but the first."""

    def put(self, name: str, state: State, moment: Mapping[str, Any]) -> None:
        """Do nothing."""


class FolderStore:
    """Writes folders of weights into the run's folder, each with a manifest (classes, task, layers) and the preparation
    of the data, which `record` returns for a state of the network."""

    def __init__(
        self, folder: Path, manifest: Mapping[str, Any], record: Callable[[State], Preparation] | None = None
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._record = record

    def begin(self, state: State) -> None:
        """Write the preparation into the run's folder, for whoever follows the run. Raises `RunError`."""
        if self._record is None:
            return
        try:
            write_atomically(self._folder / FILE, self._record(state).content(), mode=0o600, follow_link=False)
        except OSError as error:
            raise RunError(f"{self._folder / FILE} cannot be written: {error.strerror or error}.") from None

    def put(self, name: str, state: State, moment: Mapping[str, Any]) -> None:
        """Replace the folder as a whole. Raises `RunError`."""
        files = {FILE: self._record(state).content()} if self._record is not None else {}
        weights_folder.save(state, self._folder / name, {**self._manifest, **moment}, files)


class BestModelTracker:
    """Compares validations, remembers the best network, and writes what must not be lost.

    Every worker compares and remembers for itself, since all get the same evaluations; the first one has a store.
    """

    def __init__(
        self, model: TrainedModel, options: TrainingOptions, metric: Metric, store: ModelStore, *, has_validation: bool
    ) -> None:
        self.objective = "loss" if options.objective_metric == "loss" else metric.name
        self.keeps_best = has_validation and options.output_network != "last-iteration"
        self.best_value = math.nan
        self.best_evaluation: Evaluation | None = None
        self.best_step = 0
        self.has_new_statistics = False
        """Whether the kept network got other batch statistics in the end than those it was evaluated with."""
        self._model = model
        self._patience = options.validation_patience
        self._sign = -1.0 if self.objective == metric.name and metric.higher_is_better else 1.0
        self._store = store
        self._worse_in_a_row = 0
        self._best: State | None = None
        self._best_moment: dict[str, Any] = {}
        self._is_best_unwritten = False
        self._best_throttle = Throttle(BEST_EVERY_S, TIME_SHARE)
        self._last_throttle = Throttle(LAST_EVERY_S, TIME_SHARE)

    @property
    def is_out_of_patience(self) -> bool:
        """Return whether as many validations in a row as the option allows were not better than the best."""
        return 0 < self._patience <= self._worse_in_a_row

    @property
    def higher_is_better(self) -> bool:
        """Return whether higher values of the objective are better."""
        return self._sign < 0

    def value(self, evaluation: Evaluation) -> float:
        """Return the objective of a validation."""
        return evaluation.values[self.objective]

    def update(self, step: int, epoch: int, evaluation: Evaluation) -> bool:
        """Return whether the network is the best so far, and remember it if it is."""
        value = self.value(evaluation)
        is_better = not math.isnan(value) and not self.best_value * self._sign <= value * self._sign
        if not is_better:
            self._worse_in_a_row += 1
            return False
        self.best_value, self.best_evaluation, self.best_step, self._worse_in_a_row = value, evaluation, step, 0
        if self.keeps_best:
            self._best = self._model.state()
            self._best_moment = {"iteration": step, "epoch": epoch, "objective": self.objective, "value": value}
            self._is_best_unwritten = True
        return True

    def write_if_due(self, step: int, epoch: int) -> None:
        """Write what would be lost if the run were interrupted now, if it is time."""
        if self._is_best_unwritten and self._best_throttle.is_due:
            self._timed(self._best_throttle, self.write_best)
        if self._last_throttle.is_due and self._model.strategy.is_replicated:
            self._timed(self._last_throttle, lambda: self._write_last(step, epoch))

    def write_best(self) -> None:
        """Write the best network, if it is not written yet."""
        if self._best is not None and self._is_best_unwritten:
            self._store.put("best", self._best, self._best_moment)
            self._is_best_unwritten = False

    def finish(self, step: int, epoch: int) -> str:
        """Write best and last network; the model then holds the one that is kept. Returns `best` or `last`."""
        self.has_new_statistics = self._model.finalize()
        self._write_last(step, epoch)
        if self._best is None:
            return "last"
        self._model.load(self._best)
        if self._model.finalize():
            self._best, self._is_best_unwritten = self._model.state(), True
        self.write_best()
        return "best"

    def state_dict(self) -> dict[str, Any]:
        """Return the best network, its evaluation, and the patience used up."""
        return {
            "best_value": self.best_value,
            "best_scores": None if self.best_evaluation is None else asdict(self.best_evaluation),
            "best_step": self.best_step,
            "worse": self._worse_in_a_row,
            "best": self._best,
            "best_moment": self._best_moment,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state of a checkpoint. What the run's folder holds may be newer, and is replaced.

        Raises `ValueError` for the weights of another network. A collective where workers hold shards.
        """
        evaluation = state["best_scores"]
        self.best_value, self.best_step = float(state["best_value"]), int(state["best_step"])
        self.best_evaluation = None if evaluation is None else evaluation_from(evaluation)
        self._worse_in_a_row = int(state["worse"])
        if state["best"] is not None:
            own = self._model.state()
            refuse_other_form(state["best"], own, "best")
            if missing := sorted(own.keys() - state["best"].keys()):
                raise ValueError(f"best has no {missing[0]}")
        self._best, self._best_moment = state["best"], dict(state["best_moment"])
        self._is_best_unwritten = self._best is not None

    def _write_last(self, step: int, epoch: int) -> None:
        state = self._model.state()
        if is_finite(state):
            self._store.put("last", state, {"iteration": step, "epoch": epoch})

    @staticmethod
    def _timed(throttle: Throttle, write: Callable[[], None]) -> None:
        start_s = time.monotonic()
        write()
        throttle.ran_for(time.monotonic() - start_s)
