"""Where a loss that is no number came from, found after the fact: the steps before it are gone through once more, from
the newest state there is, with a guard that looks at each. A run that is in order pays nothing for it."""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping

import torch

from engine.data.batches import Batch, BatchLoader
from engine.parallel.process_group import ProcessGroup
from engine.runs.checkpoints import Checkpoint
from engine.training.checkpoints import JsonState, Piece, read
from engine.training.step import State, Unit

MOST_S = 10.0
"""So long is looked at most."""
TAKEN_BACK = ("unit", "schedule", "random")
"""What of a checkpoint decides how the steps go. The rest, which says where the run is and what was best, stays."""


class NanReplay:
    """Goes through the steps again, all workers together. Nothing of the run is of use afterwards: it has failed.

    Workers that have a part of the network each, or go their own way for some steps, do here what they did there.
    """

    def __init__(
        self,
        unit: Unit,
        batches: BatchLoader,
        group: ProcessGroup,
        pieces: Mapping[str, Piece],
        initial: Callable[[], State],
        checkpoints: Callable[[], list[Checkpoint]] = list,
        *,
        most_s: float = MOST_S,
    ) -> None:
        """`initial` makes the first weights and random numbers again; `checkpoints` tells those in place, newest first;
        `pieces` are those of the run that a checkpoint holds."""
        self._unit = unit
        self._batches = batches
        self._group = group
        self._pieces = pieces
        self._initial = initial
        self._checkpoints = checkpoints
        self._most_s = most_s
        self._scale: JsonState = unit.scale_state()
        self.why_not = ""
        """In words, why nothing was found."""
        self.broke_off = False
        """Whether this worker left the others while they looked, who may wait for it until it has ended."""

    def look(self, bad: int) -> str:
        """In words, what is the first that is no number, where the loss of this step (from 1) is none; nothing where
        that cannot be found in the time or does not come again. A collective."""
        try:
            return self._look(bad)
        except Exception as error:  # the run has failed already, and is to say why, not what went wrong in looking
            self.broke_off = True
            self.why_not = f"the steps before it could not be gone through again ({type(error).__name__})"
            return ""

    def _look(self, bad: int) -> str:
        ends = time.monotonic() + self._most_s
        start = self._take_back(bad)
        if start is None:
            self.why_not = "the state before it could not be taken back"
            return ""
        for step, batch in zip(range(start, bad), self._from(start), strict=False):
            done = self._unit.train(batch, step)
            if self._unit.left_out:
                # Near by: what only rounding brought about somewhere else is another story than that of the run.
                if step + 1 >= bad - 1:
                    return self._words(step + 1, batch, done.loss)
                self.why_not = "it came at another step when the steps before it were gone through once more"
                return ""
            if self._count(time.monotonic() > ends):
                self.why_not = (
                    f"in {self._most_s:g} seconds the steps from iteration {start + 1:,} on could not be gone through "
                    "again up to there; more checkpoints make that way shorter"
                )
                return ""
        self.why_not = "it did not come again when the steps before it were gone through once more"
        return ""

    def _take_back(self, bad: int) -> int | None:
        """Be as after the newest checkpoint before this step, or as at the beginning: after how many steps that is, or
        None where a worker could not."""
        mine = self._newest(bad) if self._group.rank == 0 else 0
        start = int(self._group.all_reduce(torch.tensor([mine], dtype=torch.int64, device=self._batches.device)).item())
        failed = False
        try:
            if start:
                state = read(next(c for c in self._checkpoints() if c.iteration == start))
                for name in TAKEN_BACK:
                    self._pieces[name].load_state_dict(state[name])
                self._unit.keep_guard()
            else:
                self._unit.begin_again(self._initial(), self._scale)
        except Exception:  # the others are to hear of it: they would wait for this one
            failed = True
        return None if self._count(failed) else start

    def _newest(self, bad: int) -> int:
        """After how many steps, fewer than these, the newest whole checkpoint was made; 0 where there is none."""
        with contextlib.suppress(OSError):
            return next((c.iteration for c in self._checkpoints() if c.iteration < bad and not c.damage()), 0)
        return 0

    def _from(self, start: int) -> Iterator[Batch]:
        """The batches after so many steps."""
        epoch, first = divmod(start, self._batches.order.steps_per_epoch)
        yield from self._batches.of_epoch(epoch + 1, first)
        for later in itertools.count(epoch + 2):
            yield from self._batches.of_epoch(later)

    def _words(self, step: int, batch: Batch, loss: torch.Tensor) -> str:
        if where := self._unit.first_bad(batch):
            return where
        if self._count(not bool(torch.isfinite(loss).all())):
            return f"At iteration {step:,} all that the layers give are numbers, but the loss of it is none."
        layer = self._unit.last_bad_gradient()
        named = f"; the last layer that has such gradients is {layer}" if layer else ""
        return f"At iteration {step:,} the loss is a number still, but its gradients are none{named}."

    def _count(self, mine: bool) -> int:
        """On how many workers it is so."""
        told = torch.tensor([float(mine)], device=self._batches.device)
        return int(self._group.all_reduce(told).item())
