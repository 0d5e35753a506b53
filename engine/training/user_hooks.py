"""A user's own callbacks, losses and metrics in a training. See docs/hooks.md."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from netwright.engine.core.errors import RunError, UserError
from netwright.engine.data.loading.batches import Tensors, unwrap_single
from netwright.engine.lowering.run_user_code import defined, find, in_running_words
from netwright.engine.parallel.process_group import ProcessGroup, is_peer_failure
from netwright.engine.project.user_code import HOOKS, STATE
from netwright.engine.training.checkpoints import to_json_state
from netwright.engine.training.hook_reports import HookReports
from netwright.engine.training.metrics import ratio, sums_of_runs
from netwright.engine.training.state import Evaluation, StepResult
from netwright.engine.user_code.expression import split_code


def failure(error: BaseException, file: str) -> BaseException:
    """Return the error that a run fails with when user code of this file raises: with its line, unless the error is not
    its own."""
    if not isinstance(error, Exception | SystemExit) or isinstance(error, UserError | MemoryError):
        return error
    if isinstance(error, torch.OutOfMemoryError) or is_peer_failure(error):
        return error
    return RunError(in_running_words(error, file))


class Hooks(Protocol):
    """Callbacks of the trainer. Each returns whether the run ends."""

    watches_steps: bool

    def ended_by(self, moment: str) -> str:
        """Return the reason why the run ends, where the function of this moment ends it."""

    def on_step(self, epoch: int, step: int, result: StepResult) -> bool:
        """Call after a step; returns the answer of this worker alone."""

    def on(self, moment: str, epoch: int, step: int, **values: Any) -> bool:
        """Call at another moment; returns the answer of all workers together."""


class NoHooks:
    """The hooks of a project without any."""

    watches_steps = False

    def ended_by(self, moment: str) -> str:
        """Return the moment."""
        return moment

    def on_step(self, epoch: int, step: int, result: StepResult) -> bool:
        """Return False."""
        return False

    def on(self, moment: str, epoch: int, step: int, **values: Any) -> bool:
        """Return False."""
        return False


class Clock(Protocol):
    """Measures the time of the run."""

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since training began."""


@dataclass
class Run:
    """The run as a hook sees it: the argument of each hook, the same object all the time.

    `step` and `epoch` count from 1 and are 0 before the first. `network` is the module that is trained, `folder` the
    run's own folder. `validation` and `test` hold the last evaluation by name, as `{"loss": 0.3, "accuracy": 0.9}`, and
    are None before. `reason` is set at the end: why the run ended.
    """

    network: nn.Module
    folder: Path
    epochs: int
    steps_per_epoch: int
    rank: int
    workers: int
    rate_at: Callable[[int], float]
    clock: Clock
    reports: HookReports
    epoch: int = 0
    step: int = 0
    validation: Mapping[str, float] | None = None
    test: Mapping[str, float] | None = None
    reason: str = ""
    result: StepResult | None = None

    @property
    def is_first(self) -> bool:
        """Return whether this is the first worker: the one that prints and writes, where one is enough."""
        return self.rank == 0

    @property
    def loss(self) -> float:
        """Return the loss of the last step, mean over the samples of this worker. Waits for the device."""
        if self.result is None or self.result.count == 0:
            return math.nan
        return float(self.result.loss) * self.result.total / self.result.count

    @property
    def learn_rate(self) -> float:
        """Return the learn rate of the last step."""
        return self.rate_at(max(0, self.step - 1))

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since training began."""
        return self.clock.elapsed_s

    def report(self, name: str, value: object) -> None:
        """Add a number to the curve of this name, which the run then has. Raises `TypeError` and `ValueError`."""
        self.reports.value(self.step, name, value)

    def report_picture(self, name: str, array: object) -> None:
        """Show a picture under this name beside the answers of the run: (H, W), or (C, H, W) or (H, W, C) with 1 or 3
        channels, as a tensor or an array. Raises `TypeError` and `ValueError`."""
        self.reports.picture(self.step, self.epoch, name, array)


class FileHooks:
    """The functions of a user's file."""

    def __init__(self, file: str, run: Run, group: ProcessGroup) -> None:
        """Raises `UserError` where the file cannot be used."""
        self._file = file
        self._functions = defined(file, (*HOOKS, *STATE))
        self._run = run
        self._group = group
        self._restored: dict[str, Any] = {}
        self._on_step = self._functions.get("on_step")
        self.watches_steps = self._on_step is not None

    def ended_by(self, moment: str) -> str:
        """Return the reason why the run ends, where the function of this moment ends it."""
        return f"ended by {moment} of {self._file}"

    def on_step(self, epoch: int, step: int, result: StepResult) -> bool:
        """Call `on_step`; returns the answer of this worker."""
        run = self._run
        run.epoch, run.step, run.result = epoch, step, result
        try:
            answer = self._on_step(run) if self._on_step is not None else None
        except BaseException as error:
            raise failure(error, self._file) from error
        return answer is not None and self._is_end("on_step", answer)

    def on(self, moment: str, epoch: int, step: int, **values: Any) -> bool:
        """Call the function of a moment; returns the answer of all workers. A collective where the file has it."""
        function = self._functions.get(moment)
        run = self._run
        run.epoch, run.step = epoch, step
        for name, value in values.items():
            setattr(run, name, value.values if isinstance(value, Evaluation) else value)
        answer = self._call(moment, run) if function is not None else None
        if moment == "on_start" and self._restored:
            self._call("load_state_dict", self._restored["own"])
        if function is None:
            return False
        ends = answer is not None and self._is_end(moment, answer)
        if self._group.size > 1:
            device = next(run.network.parameters()).device
            ends = bool(self._group.all_reduce(torch.tensor([float(ends)], device=device)).item())
        return ends

    def state_dict(self) -> dict[str, Any]:
        """Return the state that the file keeps, for a checkpoint."""
        if "state_dict" not in self._functions:
            return {}
        state = self._call("state_dict")
        try:
            to_json_state(state, [])
        except TypeError as error:
            raise RunError(f"{self._file}: state_dict returned what cannot be saved. {error}") from None
        return {"own": state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state of the file, once `on_start` was called."""
        self._restored = state

    def _call(self, name: str, *arguments: object) -> Any:
        try:
            return self._functions[name](*arguments)
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
    """A user's loss, summed over samples. The function returns one number per sample, or their mean."""

    def __init__(self, target: str) -> None:
        """`target` is the function's name. Raises `UserError`."""
        self._file, self._name = split_code(target)
        self._function = find(target)

    def __call__(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """Return the sum; zero, with zero gradients, for no samples. Raises `RunError` for another return value."""
        count = len(targets[0])
        if count == 0:
            return torch.stack([output.sum() for output in outputs]).sum()
        try:
            value = self._function(unwrap_single(outputs), unwrap_single(targets))
        except BaseException as error:
            raise failure(error, self._file) from error
        if not isinstance(value, torch.Tensor) or value.dim() > 1 or value.numel() not in (1, count):
            got = (
                f"a tensor of {tuple(value.shape)}" if isinstance(value, torch.Tensor) else f"a {type(value).__name__}"
            )
            raise RunError(
                f"{self._file}: {self._name} returned {got} for {count} samples. Return one number, the mean over the "
                "samples, or one number per sample."
            )
        return value.sum() if value.dim() == 1 and count > 1 else value.reshape(()) * count


class UserMetric:
    """A user's metric, mean over samples. The function returns one number per sample, or their mean."""

    name = "custom"
    width = 2

    def __init__(self, target: str, *, higher_is_better: bool, single: Mapping[int, int] | None = None) -> None:
        """`target` is the function's name, `single` the channel axis of each output that has a single logit for two
        classes. Raises `UserError`."""
        self._single = single or {}
        self.higher_is_better = higher_is_better
        self._file, self._function_name = split_code(target)
        self._function = find(target)
        self._gives_mean = False

    def sums(self, outputs: Tensors, targets: Tensors, counts: torch.Tensor) -> torch.Tensor:
        """Return sum and count of each run of samples `(runs, 2)`. Raises `RunError` for another return value."""
        if not self._gives_mean:
            value = self._of(outputs, targets)
            if value.dim() == 1:
                return sums_of_runs(torch.stack([value, torch.ones_like(value)], dim=1), counts)
            self._gives_mean = True
        sizes = counts.tolist()
        parts = [zip(*(torch.split(x, sizes) for x in tensors), strict=True) for tensors in (outputs, targets)]
        means = [self._of(*part).mean() for part in zip(*parts, strict=True)]
        return torch.stack([torch.stack(means) * counts, counts.double()], dim=1)

    def _of(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """Return the values of the function; zero for no samples. It gets outputs as the loss gets them: without the
        logit of 0 that other metrics take for the first of two classes."""
        outputs = tuple(
            x.narrow(self._single[number], 1, 1) if number in self._single else x for number, x in enumerate(outputs)
        )
        count = len(targets[0])
        if count == 0:
            return torch.zeros((0,) if not self._gives_mean else (1,), dtype=torch.double, device=targets[0].device)
        try:
            value = self._function(unwrap_single(outputs), unwrap_single(targets))
        except BaseException as error:
            raise failure(error, self._file) from error
        if isinstance(value, int | float):
            value = torch.tensor(value, dtype=torch.double, device=targets[0].device)
        if not isinstance(value, torch.Tensor) or tuple(value.shape) not in ((), (count,)):
            got = (
                f"a tensor of {tuple(value.shape)}" if isinstance(value, torch.Tensor) else f"a {type(value).__name__}"
            )
            raise RunError(
                f"{self._file}: {self._function_name} returned {got} for {count} samples. Return one number, the mean "
                "over the samples, or one number per sample."
            )
        return value.detach().double()

    def value(self, sums: Sequence[float]) -> float:
        """Return the mean."""
        return ratio(*sums)
