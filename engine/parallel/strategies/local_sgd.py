"""Local SGD (Stich, 2019): each worker makes steps of its own, and the weights are averaged at intervals.

Between averages there is no communication, so slow connections and workers of unequal speed cost little; in return, the
results differ from those of a single worker. The solver's moments are averaged with the weights, so that with sgdm and
an interval of one the result is that of data parallel. Batch normalisation uses the statistics of each worker's own
share.
"""

import contextlib
from collections.abc import Iterator
from itertools import chain

import torch
from torch import nn

from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.strategies.strategy import Replicated, SolverState, State
from netwright.engine.parallel.sync_batch_norm import Share


class LocalSgd(Replicated):
    """Local SGD strategy. Averages are weighted by the samples that each worker has seen since the last average."""

    def __init__(self, network: nn.Module, module: nn.Module, group: ProcessGroup, share: Share, interval: int) -> None:
        super().__init__(network)
        self.module = module
        self._group = group
        self._share = share
        self._interval = interval
        self._steps = 0
        self._seen = 0.0
        self._parameters = [p for p in network.parameters() if p.requires_grad]
        self._is_accumulating = False

    @property
    def is_synchronized(self) -> bool:
        """Return whether all workers hold equal weights, because the last step ended with an average."""
        return self._steps == 0

    def zero_grad(self) -> None:
        """Clear the gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate the gradients of all micro-batches but the last in this context."""
        self._is_accumulating = True
        try:
            yield
        finally:
            self._is_accumulating = False

    def backward(self, loss: torch.Tensor) -> None:
        """Accumulate the gradients of the mean loss over this worker's own samples.

        `loss` is this worker's part of the mean over the whole batch; the gradients are rescaled by the share.
        """
        torch.autograd.backward(loss)
        gradients = [p.grad for p in self._parameters if p.grad is not None]
        if not self._is_accumulating and self._share.part and gradients:
            torch._foreach_mul_(gradients, 1 / self._share.part)

    def after_step(self, solver: SolverState) -> None:
        """Average weights and moments after every `averaging_interval` steps."""
        self._steps += 1
        self._seen += self._share.part
        if self._steps >= self._interval:
            self.synchronize(solver)

    def load_state_dict(self, state: State) -> None:
        """Load weights and statistics that are equal on all workers, and reset the count of local steps."""
        super().load_state_dict(state)
        self._steps, self._seen = 0, 0.0

    @torch.no_grad()
    def synchronize(self, solver: SolverState) -> None:
        """Average weights, statistics and moments over the workers. A collective."""
        if self.is_synchronized:
            return
        shared = self._statistics()
        tensors = [*self._parameters, *shared, *solver.moments()]
        for same in _by_type(tensors):
            flat = torch.cat([tensor.flatten() for tensor in same])
            weighted = self._group.all_reduce(torch.cat([flat * self._seen, flat.new_tensor([self._seen])]))
            mean = weighted[:-1] / weighted[-1]
            for tensor, part in zip(same, torch.split(mean, [t.numel() for t in same]), strict=True):
                tensor.copy_(part.view_as(tensor))
        self._steps, self._seen = 0, 0.0

    def _statistics(self) -> list[torch.Tensor]:
        trained = {id(p) for p in self._parameters}
        both = chain(self._network.parameters(), self._network.buffers())
        return [x for x in both if x.is_floating_point() and id(x) not in trained and not isinstance(x, nn.Parameter)]


def _by_type(tensors: list[torch.Tensor]) -> list[list[torch.Tensor]]:
    groups: dict[torch.dtype, list[torch.Tensor]] = {}
    for tensor in tensors:
        groups.setdefault(tensor.dtype, []).append(tensor)
    return list(groups.values())
