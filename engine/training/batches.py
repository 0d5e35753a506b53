"""Data on the training device, and the batches made of it by index.

All data is resident: held whole as tensors by every worker. Data that does not fit is not supported yet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from engine.environments.gang import Gang
from engine.training.order import Order, share_of


@dataclass(frozen=True)
class Batch:
    """One worker's share of a batch. `count` of its samples are its own, `total` belong to the whole batch.

    An empty share holds one sample all the same, since the worker takes part in every step; `count` is then 0.
    """

    inputs: tuple[torch.Tensor, ...]
    targets: torch.Tensor
    count: int
    total: int


@dataclass(frozen=True)
class Resident:
    """One part of the data as tensors on the device, samples first, inputs in the network's order."""

    inputs: tuple[torch.Tensor, ...]
    targets: torch.Tensor

    @classmethod
    def of(
        cls, inputs: Sequence[np.ndarray], kinds: Sequence[str], targets: np.ndarray, device: torch.device
    ) -> "Resident":
        """From arrays; inputs of the kind `index` become whole numbers."""
        tensors = [torch.from_numpy(array).to(device) for array in inputs]
        typed = [x.long() if kind == "index" else x for x, kind in zip(tensors, kinds, strict=True)]
        return cls(tuple(typed), torch.from_numpy(targets).to(device))

    def __len__(self) -> int:
        return len(self.targets)

    def pieces(self, rank: int, size: int, most: int) -> Iterator[Batch]:
        """One worker's share of all samples, in their order, in pieces of at most so many."""
        begin, end = share_of(0, len(self), rank, size)
        for start in range(begin, end, most):
            stop = min(start + most, end)
            inputs = tuple(x[start:stop] for x in self.inputs)
            yield Batch(inputs, self.targets[start:stop], stop - start, len(self))


class Batches:
    """The training part, batch by batch, in the order of each epoch."""

    def __init__(self, part: Resident, order: Order, gang: Gang) -> None:
        self.order = order
        self._part = part
        self._rank, self._size = gang.rank, gang.size

    def of_epoch(self, epoch: int) -> Iterator[Batch]:
        """This worker's share of each batch of an epoch (from 1)."""
        numbers = self.order.of_epoch(epoch).to(self._part.targets.device)
        for step in range(self.order.steps_per_epoch):
            start, end = self.order.batch(step)
            begin, stop = share_of(start, end, self._rank, self._size)
            chosen = numbers[begin:stop] if stop > begin else numbers[start : start + 1]
            inputs = tuple(x.index_select(0, chosen) for x in self._part.inputs)
            yield Batch(inputs, self._part.targets.index_select(0, chosen), stop - begin, end - start)
