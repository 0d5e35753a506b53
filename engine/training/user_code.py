"""A user's own callbacks, losses and metrics in a training. See docs/hooks.md."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from engine.core.errors import RunError, UserError
from engine.data.batches import Tensors, unwrap_single
from engine.lowering.user_code import defined, find, in_running_words
from engine.parallel.process_group import ProcessGroup, is_peer_failure
from engine.project.user_code import HOOKS, STATE
from engine.training.checkpoints import to_json_state
from engine.training.metrics import ratio, sums_of_runs
from engine.training.state import Evaluation, StepResult
from engine.user_code.expression import split_code


def failure(error: BaseException, file: str) -> BaseException:
    """What a run fails with where code of the user's in this file went wrong: with the line of it, unless the fault is
    not its own."""
    if not isinstance(error, Exception | SystemExit) or isinstance(error, UserError | MemoryError):
        return error
    if isinstance(error, torch.OutOfMemoryError) or is_peer_failure(error):
        return error
    return RunError(in_running_words(error, file))


class Hooks(Protocol):
    """What the trainer tells. Each answer says whether the run is to end."""

    watches_steps: bool

    def ended_by(self, moment: str) -> str:
        """Why the run ends, where the function of this moment ends it."""

    def on_step(self, epoch: int, step: int, done: StepResult) -> bool:
        """After a step: this worker's answer alone."""

    def on(self, moment: str, epoch: int, step: int, **seen: Any) -> bool:
        """At another moment: the answer of all workers together."""


class NoHooks:
    """Of a project without any."""

    watches_steps = False

    def ended_by(self, moment: str) -> str:
        """Never asked."""
        return moment

    def on_step(self, epoch: int, step: int, done: StepResult) -> bool:
        """Never called."""
        return False

    def on(self, moment: str, epoch: int, step: int, **seen: Any) -> bool:
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
    done: StepResult | None = None

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

    def __init__(self, file: str, run: Run, group: ProcessGroup) -> None:
        """Raises `UserError` where the file goes wrong."""
        self._file = file
        self._functions = defined(file, (*HOOKS, *STATE))
        self._run = run
        self._group = group
        self._kept: dict[str, Any] = {}
        self._on_step = self._functions.get("on_step")
        self.watches_steps = self._on_step is not None

    def ended_by(self, moment: str) -> str:
        """Why the run ends, where the function of this moment ends it."""
        return f"ended by {moment} of {self._file}"

    def on_step(self, epoch: int, step: int, done: StepResult) -> bool:
        """This worker's answer after a step."""
        run = self._run
        run.epoch, run.step, run.done = epoch, step, done
        try:
            answer = self._on_step(run) if self._on_step is not None else None
        except BaseException as error:
            raise failure(error, self._file) from error
        return answer is not None and self._is_end("on_step", answer)

    def on(self, moment: str, epoch: int, step: int, **seen: Any) -> bool:
        """The answer of all workers together. A collective where the file has such a function."""
        function = self._functions.get(moment)
        run = self._run
        run.epoch, run.step = epoch, step
        for name, value in seen.items():
            setattr(run, name, value.values if isinstance(value, Evaluation) else value)
        answer = self._call(moment, run) if function is not None else None
        if moment == "on_start" and self._kept:
            self._call("load_state_dict", self._kept["own"])
        if function is None:
            return False
        ends = answer is not None and self._is_end(moment, answer)
        if self._group.size > 1:
            device = next(run.network.parameters()).device
            ends = bool(self._group.all_reduce(torch.tensor([float(ends)], device=device)).item())
        return ends

    def state_dict(self) -> dict[str, Any]:
        """What the file keeps, for a checkpoint."""
        if "state_dict" not in self._functions:
            return {}
        state = self._call("state_dict")
        try:
            to_json_state(state, [])
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


class UserLoss:
    """The sum over samples of what the user's function gives: one number a sample, or their mean."""

    def __init__(self, target: str) -> None:
        """`target` names the function. Raises `UserError`."""
        self._file, self._name = split_code(target)
        self._function = find(target)

    def __call__(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """Raises `RunError` for a function that gives something else. No samples give zero, with gradients of zero."""
        count = len(targets[0])
        if count == 0:
            return torch.stack([output.sum() for output in outputs]).sum()
        try:
            found = self._function(unwrap_single(outputs), unwrap_single(targets))
        except BaseException as error:
            raise failure(error, self._file) from error
        if not isinstance(found, torch.Tensor) or found.dim() > 1 or found.numel() not in (1, count):
            got = (
                f"a tensor of {tuple(found.shape)}" if isinstance(found, torch.Tensor) else f"a {type(found).__name__}"
            )
            raise RunError(
                f"{self._file}: {self._name} returned {got} for {count} samples. Return one number, the mean over the "
                "samples, or one number a sample."
            )
        return found.sum() if found.dim() == 1 and count > 1 else found.reshape(()) * count


class UserMetric:
    """The mean over samples of what the user's function gives: one number a sample, or their mean."""

    name = "custom"
    width = 2

    def __init__(self, target: str, *, higher_is_better: bool) -> None:
        """`target` names the function. Raises `UserError`."""
        self.higher_is_better = higher_is_better
        self._file, self._function_name = split_code(target)
        self._function = find(target)
        self._gives_mean = False

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """The sum over samples, and over how many. Raises `RunError` for a function that gives something else."""
        if not self._gives_mean:
            found = self._of(outputs, targets)
            if found.dim() == 1:
                return sums_of_runs(torch.stack([found, torch.ones_like(found)], dim=1), counts)
            self._gives_mean = True
        sizes = counts.tolist()
        parts = [zip(*(torch.split(x, sizes) for x in given), strict=True) for given in (outputs, targets)]
        means = [self._of(*part).mean() for part in zip(*parts, strict=True)]
        return torch.stack([torch.stack(means) * counts, counts.double()], dim=1)

    def _of(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """What the function gives; zero for no samples."""
        count = len(targets[0])
        if count == 0:
            return torch.zeros((0,) if not self._gives_mean else (1,), dtype=torch.double, device=targets[0].device)
        try:
            found = self._function(unwrap_single(outputs), unwrap_single(targets))
        except BaseException as error:
            raise failure(error, self._file) from error
        if isinstance(found, int | float):
            found = torch.tensor(found, dtype=torch.double, device=targets[0].device)
        if not isinstance(found, torch.Tensor) or tuple(found.shape) not in ((), (count,)):
            got = (
                f"a tensor of {tuple(found.shape)}" if isinstance(found, torch.Tensor) else f"a {type(found).__name__}"
            )
            raise RunError(
                f"{self._file}: {self._function_name} returned {got} for {count} samples. Return one number, the mean "
                "over the samples, or one number a sample."
            )
        return found.detach().double()

    def value(self, sums: Sequence[float]) -> float:
        """The mean."""
        return ratio(*sums)
