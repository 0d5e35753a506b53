"""Which samples make up which step: a pure function of seed, epoch, step and worker, never of a loader's state."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from engine.environments.choose import shares

EPOCHS_LIMIT = 2**20  # above the largest number of epochs, so that each pair of seed and epoch has its own order

BUCKETED = 50
"""So many batches are sorted by length together."""


@dataclass(frozen=True)
class Order:
    """The order of the training samples. `shuffle` and `keep_last` are the options `shuffle` and `last_batch`."""

    num_samples: int
    batch_size: int
    shuffle: str
    seed: int
    keep_last: bool = True
    lengths: torch.Tensor | None = field(default=None, compare=False)
    """How long each sample's sequences are, where samples of like length are to come into the same batch."""

    @property
    def steps_per_epoch(self) -> int:
        """How many batches an epoch has."""
        whole, rest = divmod(self.num_samples, self.batch_size)
        return whole + (1 if rest and self.keep_last else 0)

    def of_epoch(self, epoch: int) -> torch.Tensor:
        """The numbers of all samples in the order of this epoch (from 1)."""
        if self.shuffle == "never":
            return torch.arange(self.num_samples)
        drawn = epoch if self.shuffle == "every-epoch" else 1
        generator = torch.Generator().manual_seed(self.seed * EPOCHS_LIMIT + drawn)
        numbers = torch.randperm(self.num_samples, generator=generator)
        return numbers if self.lengths is None else self._bucketed(numbers, self.lengths, generator)

    def _bucketed(self, numbers: torch.Tensor, lengths: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """The samples sorted by length within so many batches at a time, and the whole batches shuffled."""
        windows = torch.split(numbers, BUCKETED * self.batch_size)
        near = torch.cat([window[lengths[window].argsort(stable=True)] for window in windows])
        count = self.num_samples // self.batch_size
        whole, rest = near[: count * self.batch_size], near[count * self.batch_size :]
        shuffled = whole.view(count, self.batch_size)[torch.randperm(count, generator=generator)]
        return torch.cat([shuffled.flatten(), rest])

    def batch(self, step: int) -> tuple[int, int]:
        """Where the batch of a step of an epoch (from 0) begins and ends."""
        start = step * self.batch_size
        return start, min(start + self.batch_size, self.num_samples)


def share_of(start: int, end: int, rank: int, size: int, loads: Sequence[float] = ()) -> tuple[int, int]:
    """Where one worker's contiguous part of a range begins and ends; it may be empty. `loads`: see `shares`."""
    parts = shares(end - start, size, loads)
    begin = start + sum(parts[:rank])
    return begin, begin + parts[rank]
