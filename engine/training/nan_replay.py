"""Finds where a non-finite loss came from after the weights are lost, by replaying steps from the newest checkpoint.

Each replayed step has a NaN check. A run without non-finite losses pays nothing for it.
"""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping

import torch

from netwright.engine.data.loading.batches import Batch, BatchLoader
from netwright.engine.parallel.strategies.strategy import State
from netwright.engine.runs.checkpoint_files import Checkpoint
from netwright.engine.training.checkpoints import JsonState, Stateful, read
from netwright.engine.training.nan_check import NanCheck
from netwright.engine.training.nan_diagnosis import NanDiagnosis
from netwright.engine.training.solvers import Solver
from netwright.engine.training.step import TrainStep

MAX_REPLAY_S = 10.0
RESTORED = ("unit", "schedule", "random")
"""Parts of a checkpoint that later steps depend on. The others, progress and the best model, are left as they are."""

Initial = Callable[[], tuple[State, Solver]]
"""Creates the initial weights and solver again, and seeds random numbers as at the start of the run."""


class NanReplay:
    """Replays steps, all workers together. The run has failed: its model is of no use afterwards.

    Pipeline stages and workers of local SGD compute here what they computed then.
    """

    def __init__(
        self,
        step: TrainStep,
        diagnosis: NanDiagnosis,
        batches: BatchLoader,
        parts: Mapping[str, Stateful],
        initial: Initial,
        checkpoints: Callable[[], list[Checkpoint]] = list,
    ) -> None:
        """`parts` are the parts of a checkpoint by name; `checkpoints` lists those there are, newest first."""
        self.max_s = MAX_REPLAY_S
        self.why_not = ""
        """Why nothing was found."""
        self.is_group_broken = False
        """Whether this worker left a collective, which the others may wait in until it has ended."""
        self._step = step
        self._diagnosis = diagnosis
        self._batches = batches
        self._group = step.model.group
        self._pieces = parts
        self._initial = initial
        self._checkpoints = checkpoints
        self._initial_scale: JsonState = step.model.precision.state_dict()

    def search(self, bad_step: int) -> str:
        """Describe where the non-finite loss of this step (from 1) came from. A collective.

        Empty where that is not found in time, or does not occur again: see `why_not`.
        """
        try:
            return self._search(bad_step)
        except Exception as error:  # the run has failed already, and reports why, not what failed in the search
            self.is_group_broken = True
            self.why_not = f"the steps before it could not be replayed ({type(error).__name__})"
            return ""

    def _search(self, bad_step: int) -> str:
        deadline_s = time.monotonic() + self.max_s
        start = self._restore_before(bad_step)
        if start is None:
            self.why_not = "the state before it could not be restored"
            return ""
        for step, batch in zip(range(start, bad_step), self._batches_from(start), strict=False):
            result = self._step(batch, step)
            if self._step.num_skipped:
                # At most one step apart: rounding may bring it about elsewhere, which says nothing about this run.
                if step + 1 >= bad_step - 1:
                    return self._describe(step + 1, batch, result.loss)
                self.why_not = "it occurred at another step when the steps before it were replayed"
                return ""
            if self._count(time.monotonic() > deadline_s):
                self.why_not = (
                    f"the steps from iteration {start + 1:,} on could not be replayed within {self.max_s:g} seconds; "
                    "more frequent checkpoints shorten the replay"
                )
                return ""
        self.why_not = "it did not occur again when the steps before it were replayed"
        return ""

    def _restore_before(self, bad_step: int) -> int | None:
        """Restore the newest checkpoint before this step, or the initial state.

        Returns the number of steps done before it, or None where a worker failed. A collective.
        """
        newest = self._newest_checkpoint(bad_step) if self._group.rank == 0 else 0
        start = int(self._group.all_reduce(torch.tensor([newest], dtype=torch.int64, device=self._batches.device)))
        model, has_failed = self._step.model, False
        try:
            if start:
                state = read(next(c for c in self._checkpoints() if c.iteration == start))
                for name in RESTORED:
                    self._pieces[name].load_state_dict(state[name])
            else:
                model.restart(*self._initial(), self._initial_scale)
            self._step.nan_check = NanCheck(model.network, self._group, skips=False, is_exact=True)
        except Exception:  # the others must hear of it: they would wait for this one
            has_failed = True
        return None if self._count(has_failed) else start

    def _newest_checkpoint(self, bad_step: int) -> int:
        """Return the iteration of the newest undamaged checkpoint before this step; 0 where there is none."""
        with contextlib.suppress(OSError):
            return next((c.iteration for c in self._checkpoints() if c.iteration < bad_step and not c.damage()), 0)
        return 0

    def _batches_from(self, start: int) -> Iterator[Batch]:
        """Yield the batches after this many steps."""
        epoch, first = divmod(start, self._batches.order.steps_per_epoch)
        yield from self._batches.of_epoch(epoch + 1, first)
        for later in itertools.count(epoch + 2):
            yield from self._batches.of_epoch(later)

    def _describe(self, step: int, batch: Batch, loss: torch.Tensor) -> str:
        if layer := self._diagnosis.first_layer(batch):
            return layer
        if self._count(not bool(torch.isfinite(loss).all())):
            return f"At iteration {step:,} all layer outputs are finite, but the loss is not."
        layer = self._diagnosis.last_gradient()
        where = f"; the last layer with non-finite gradients is {layer}" if layer else ""
        return f"At iteration {step:,} the loss is still finite, but its gradients are not{where}."

    def _count(self, condition: bool) -> int:
        """Return on how many workers the condition holds. A collective."""
        votes = torch.tensor([float(condition)], device=self._batches.device)
        return int(self._group.all_reduce(votes).item())
