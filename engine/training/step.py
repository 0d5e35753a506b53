"""One training step: forward, loss, backward, and the solver's update of the weights."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace

import torch

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.batches import Batch, Tensors, as_tuple
from netwright.engine.parallel.strategies.single import Single
from netwright.engine.parallel.sync_batch_norm import Share
from netwright.engine.training.distillation import Distillation
from netwright.engine.training.fast.manual_backward import LossAndOutput, ManualBackward, manual_backward
from netwright.engine.training.gradient_clipping import Clip
from netwright.engine.training.layer_statistics import Watch
from netwright.engine.training.levenberg_marquardt import LevenbergMarquardt
from netwright.engine.training.losses import Loss, OutputAdapters
from netwright.engine.training.model import TrainedModel
from netwright.engine.training.nan_check import NanCheck
from netwright.engine.training.solvers import Solver
from netwright.engine.training.state import StepResult, concatenated
from netwright.engine.training.user_step import UserStep


@dataclass(frozen=True)
class StepOptions:
    """Optional parts of a training step."""

    clip: Clip | None = None
    user_step: str = ""
    """Name of a user's function that returns the loss of a batch."""
    nan_check: NanCheck | None = None
    distillation: Distillation | None = None
    """Adds the answers of a teacher to the loss."""
    watch: Watch | None = None
    """Records norms of gradients, and layers."""
    adapters: OutputAdapters | None = None
    """Bring outputs and targets into the form that metrics take."""
    manual_backward: bool = True
    """Whether autograd may be left out. Not where code of the user's is handed the network, and may change layers."""


class TrainStep:
    """Trains a model on one batch after the other."""

    def __init__(
        self,
        model: TrainedModel,
        loss: Loss,
        learn_rate: Callable[[int], float],
        share: Share | None = None,
        options: StepOptions | None = None,
    ) -> None:
        """`learn_rate` gives that of each step, from 0; `share` tells batch normalisation of this worker's shard.

        Raises `UserError` for a user's step that cannot be used.
        """
        settings = options or StepOptions()
        self.model = model
        self.loss = loss
        self.learn_rate = learn_rate
        self.adapters = settings.adapters or OutputAdapters(())
        self.watch = settings.watch or Watch(model.network.parameters(), model.group)
        self.nan_check = settings.nan_check
        self.num_skipped = 0
        """Steps that were skipped in a row, because loss or gradients are not finite."""
        self.skipped_batch: Batch | None = None
        """The batch of the last of them."""
        self._share = share or Share()
        self._clip = settings.clip
        self._distillation = settings.distillation
        self._user_step: UserStep | None = None
        if settings.user_step:
            self._user_step = UserStep(settings.user_step, model.network, model.training_output, loss)
        self._manual_backward: ManualBackward | None = None
        is_plain = type(model.strategy) is Single and model.strategy.module is model.network
        is_plain = is_plain and not settings.user_step and settings.distillation is None
        if settings.manual_backward and is_plain and model.precision.name in ("fp32", "fp64"):
            self._manual_backward = manual_backward(model.network, loss)

    @property
    def skips(self) -> bool:
        """Return whether steps without finite loss and gradients are skipped, and the run goes on."""
        return self.nan_check is not None and self.nan_check.skips

    @property
    def finished(self) -> str:
        """Return the reason why the solver is at an end; empty while it is not. The same on all workers."""
        return self.model.solver.finished

    def __call__(self, batch: Batch, step: int) -> StepResult:
        """Train on this worker's shard of a batch; steps count from 0. A collective."""
        model, solver = self.model, self.model.solver
        if isinstance(solver, LevenbergMarquardt):
            loss, output = solver.step(batch)
            targets = tuple(x[: batch.count] for x in batch.targets)
            model.after_step(step)
            return StepResult(loss, (output,), targets, batch.count, batch.total)
        if self.nan_check is not None:
            self.nan_check.before()
        self.watch.before(step + 1)
        result = self._processed(self.compute_gradients(batch))
        if self._is_update_safe(result, batch):
            search = None
            if solver.searches:
                results = [result]  # the solver's first request is answered already

                def search() -> float:
                    there = results.pop() if results else self._processed(self.compute_gradients(batch))
                    return float(model.group.all_reduce(there.loss.clone()))

            solver.step(self.learn_rate(step), search, model.precision.scale)
        model.after_step(step)
        return result

    def compute_gradients(self, batch: Batch, *, uses_autograd: bool = False) -> StepResult:
        """Compute forward, loss and backward of all micro-batches. A collective."""
        strategy, scale = self.model.strategy, self.model.precision.scale
        strategy.zero_grad()
        self._share.part = batch.count / batch.total
        micro_batches = list(batch.micro_batches())
        is_manual = not uses_autograd and len(micro_batches) == 1 and not self.watch.sees_layers
        if self._manual_backward is not None and is_manual:
            return self._computed_manually(self._manual_backward, micro_batches[0])
        results = []
        for micro_batch in micro_batches:
            with nullcontext() if micro_batch is micro_batches[-1] else strategy.no_sync():
                loss, outputs, targets = self._forward(micro_batch)
                strategy.backward(loss if scale is None else scale.scale(loss))
            outputs, targets = self.adapters(tuple(x.detach() for x in outputs), targets)
            results.append(StepResult(loss.detach(), outputs, targets, micro_batch.count, micro_batch.total))
        return concatenated(results)

    def _computed_manually(self, backward: ManualBackward, batch: Batch) -> StepResult:
        """Compute the same without autograd."""

        def by_autograd() -> LossAndOutput:
            result = self.compute_gradients(batch, uses_autograd=True)
            return LossAndOutput(result.loss, result.outputs[0])

        answer = backward(batch, by_autograd)
        outputs, targets = self.adapters((answer.output,), batch.targets)
        return StepResult(answer.loss, outputs, targets, batch.count, batch.total)

    def _forward(self, batch: Batch) -> tuple[torch.Tensor, Tensors, Tensors]:
        """Return this worker's part of the loss of the whole batch, outputs and targets."""
        self._share.is_empty = batch.count == 0
        if self._user_step is not None:
            loss, outputs, targets = self._user_step(batch)
        else:
            outputs, targets = as_tuple(self.model.training_output(*batch.inputs)), batch.targets
            if batch.count == 0:
                outputs, targets = tuple(x[:0] for x in outputs), tuple(x[:0] for x in targets)
            loss = self.loss(outputs, targets)
            if self._distillation is not None:
                loss = self._distillation(loss, outputs, batch.inputs, targets)
            loss = loss / batch.total
        refuse_without_gradient(loss)
        return loss, outputs, targets

    def _processed(self, result: StepResult) -> StepResult:
        """Unscale, record, regularise and clip the gradients. A collective."""
        solver, scale = self.model.solver, self.model.precision.scale
        assert isinstance(solver, Solver)
        if scale is not None:
            solver.unscale(scale)
        if (square := self.watch.after()) is not None:
            result = replace(result, squared_gradient=square.to(result.loss.device))  # offloaded weights lie on the CPU
        solver.regularize()
        if self._clip is not None:
            self._clip()
        return result

    def _is_update_safe(self, result: StepResult, batch: Batch) -> bool:
        """Return whether the solver may update the weights; undoes the step where it may not. A collective."""
        if self.nan_check is None:
            return True
        # Where fp16 scales the loss, gradients that overflow are the scaler's own matter.
        scale = self.model.precision.scale
        if self.nan_check.is_finite(result.loss, with_gradients=scale is None):
            self.num_skipped = 0
            return True
        self.nan_check.undo()
        if scale is not None:
            scale.keep()
        self.skipped_batch = batch
        self.num_skipped += 1
        return False


def refuse_without_gradient(loss: torch.Tensor) -> None:
    """Raise `UserError` for a loss that no weight has a part in."""
    if not loss.requires_grad:
        raise UserError(
            "No gradient comes back to any weight: every way from a layer with weights to the output passes one "
            "that stops it, such as a stop gradient or an arg max. Remove it, or add a layer with weights behind."
        )
