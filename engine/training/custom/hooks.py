"""Functions of the user's that are called at moments of a training: see docs/hooks.md.

Every worker calls them, so that what they change in the network or keep for the training step is the same everywhere.
One that returns True ends the run. After a step that is known to all workers at the next report point, at the other
moments at once.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from engine.build.user_code import defined
from engine.environments.gang import Gang
from engine.errors import RunError
from engine.project.extent import Extent
from engine.project.own_code import HOOKS, STATE
from engine.project.training import TrainingOptions
from engine.training.checkpoints.checkpoint import plain
from engine.training.custom.own_code import failure
from engine.training.steps.results import Done, Scores


class Hooks(Protocol):
    """What the trainer tells. Each answer says whether the run is to end."""

    watches_steps: bool

    def ended_by(self, moment: str) -> str:
        """Why the run ends, where the function of this moment ends it."""

    def step(self, epoch: int, step: int, done: Done) -> bool:
        """After a step: this worker's answer alone."""

    def at(self, moment: str, epoch: int, step: int, **seen: Any) -> bool:
        """At another moment: the answer of all workers together."""


class NoHooks:
    """Of a project without any."""

    watches_steps = False

    def ended_by(self, moment: str) -> str:
        """Never asked."""
        return moment

    def step(self, epoch: int, step: int, done: Done) -> bool:
        """Never called."""
        return False

    def at(self, moment: str, epoch: int, step: int, **seen: Any) -> bool:
        """Nobody listens."""
        return False


class Clock(Protocol):
    """Says how long the run takes."""

    @property
    def elapsed_s(self) -> float:
        """Since training began."""


@dataclass
class Run:
    """What a hook sees of the run: the one argument of each. It is the same object all the time.

    `step` and `epoch` count from 1 and are 0 before the first one. `network` is the module that is trained, `folder`
    the run's own folder. `validation` and `test` hold the last scores by name, as `{"loss": 0.3, "accuracy": 0.9}`, and
    are None before. `reason` says in the end why it ended.
    """

    network: nn.Module
    folder: Path
    epochs: int
    steps_per_epoch: int
    rank: int
    workers: int
    rate_at: Callable[[int], float]
    clock: Clock
    epoch: int = 0
    step: int = 0
    validation: Mapping[str, float] | None = None
    test: Mapping[str, float] | None = None
    reason: str = ""
    done: Done | None = None

    @property
    def is_first(self) -> bool:
        """Whether this is the first worker: the one that prints and writes, where one is enough."""
        return self.rank == 0

    @property
    def loss(self) -> float:
        """The loss of the last step, mean over the samples of this worker. Asking waits for the device."""
        if self.done is None or self.done.count == 0:
            return math.nan
        return float(self.done.loss) * self.done.total / self.done.count

    @property
    def learn_rate(self) -> float:
        """The rate of the last step."""
        return self.rate_at(max(0, self.step - 1))

    @property
    def elapsed_s(self) -> float:
        """Seconds since training began."""
        return self.clock.elapsed_s


class FileHooks:
    """The functions of a file."""

    def __init__(self, file: str, run: Run, gang: Gang) -> None:
        """Raises `UserError` where the file goes wrong."""
        self._file = file
        self._functions = defined(file, (*HOOKS, *STATE))
        self._run = run
        self._gang = gang
        self._kept: dict[str, Any] = {}
        self._on_step = self._functions.get("on_step")
        self.watches_steps = self._on_step is not None

    def ended_by(self, moment: str) -> str:
        """Why the run ends, where the function of this moment ends it."""
        return f"ended by {moment} of {self._file}"

    def step(self, epoch: int, step: int, done: Done) -> bool:
        """This worker's answer after a step."""
        run = self._run
        run.epoch, run.step, run.done = epoch, step, done
        try:
            answer = self._on_step(run) if self._on_step is not None else None
        except BaseException as error:
            raise failure(error, self._file) from error
        return answer is not None and self._is_end("on_step", answer)

    def at(self, moment: str, epoch: int, step: int, **seen: Any) -> bool:
        """The answer of all workers together. A collective where the file has such a function."""
        function = self._functions.get(moment)
        run = self._run
        run.epoch, run.step = epoch, step
        for name, value in seen.items():
            setattr(run, name, value.named if isinstance(value, Scores) else value)
        answer = self._call(moment, run) if function is not None else None
        if moment == "on_start" and self._kept:
            self._call("load_state_dict", self._kept["own"])
        if function is None:
            return False
        ends = answer is not None and self._is_end(moment, answer)
        if self._gang.size > 1:
            device = next(run.network.parameters()).device
            ends = bool(self._gang.sum(torch.tensor([float(ends)], device=device)).item())
        return ends

    def state_dict(self) -> dict[str, Any]:
        """What the file keeps, for a checkpoint."""
        if "state_dict" not in self._functions:
            return {}
        state = self._call("state_dict")
        try:
            plain(state, [])
        except TypeError as error:
            raise RunError(f"{self._file}: state_dict returned what cannot be saved. {error}") from None
        return {"own": state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Give it back, once `on_start` was called."""
        self._kept = state

    def _call(self, name: str, *given: object) -> Any:
        try:
            return self._functions[name](*given)
        except BaseException as error:
            raise failure(error, self._file) from error

    def _is_end(self, name: str, answer: object) -> bool:
        if isinstance(answer, torch.Tensor) and answer.dtype == torch.bool and answer.numel() == 1:
            answer = bool(answer)
        if not isinstance(answer, bool | np.bool_):
            kind = type(answer).__name__
            raise RunError(f"{self._file}: {name} returned a {kind}. Return True to end the run, or nothing.")
        return bool(answer)


def hooks_for(
    options: TrainingOptions,
    network: nn.Module,
    folder: Path,
    whole: Extent,
    gang: Gang,
    *,
    rate: Callable[[int], float],
    clock: Clock,
) -> FileHooks | None:
    """The user's functions, if the options name a file of them. Raises `UserError` where the file goes wrong."""
    if not options.hooks_file:
        return None
    run = Run(network, folder, whole.epochs, whole.steps_per_epoch, gang.rank, gang.size, rate_at=rate, clock=clock)
    return FileHooks(options.hooks_file, run, gang)
