"""Datasets of windows of series: only the rows are on the device, and each batch gathers its windows from them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from netwright.engine.data.batches import DEFAULT_PADDING, ResidentDataset, Tensors, select
from netwright.engine.data.prefetch import LazyArray
from netwright.engine.data.sources.source import Array
from netwright.engine.data.sources.windows import Windows


@dataclass(frozen=True)
class WindowedDataset(ResidentDataset):
    """One split of the data whose inputs are windows of rows.

    `inputs` are the rows (T, C) themselves; `starts` holds, per input, the first row of each sample's window (N),
    and `steps` the number of rows of a window.
    """

    starts: Tensors = ()
    steps: tuple[int, ...] = ()

    @property
    def sample_bytes(self) -> int:
        """Memory of one gathered sample in bytes."""
        inputs = sum(x[:1].nbytes * steps for x, steps in zip(self.inputs, self.steps, strict=True))
        return inputs + sum(x[:1].nbytes for x in self.targets)

    def longest_of(self, number: int) -> int:
        """Return the steps of the windows of an input."""
        return self.steps[number]

    def gather(self, batches: Iterable[slice | torch.Tensor]) -> Iterator[tuple[Tensors, Tensors]]:
        """Yield inputs and targets of the samples at each item, a slice or a tensor of `places`."""
        ahead = [torch.arange(steps, device=self.device) for steps in self.steps]
        for indices in batches:
            # A lookup of rows is 16 times as fast as indexing a strided view of all windows.
            inputs = (
                functional.embedding(starts[indices].unsqueeze(1) + steps, rows)
                for rows, starts, steps in zip(self.inputs, self.starts, ahead, strict=True)
            )
            yield tuple(inputs), tuple(select(x, indices) for x in self.targets)


def are_windows(arrays: Sequence[object]) -> bool:
    """Return whether all inputs are windows of one length each, gathered from rows in memory."""
    return bool(arrays) and all(
        isinstance(x, LazyArray) and isinstance(x.stored, Windows) and x.stored.lengths is None for x in arrays
    )


def windowed(inputs: Sequence[LazyArray], targets: Sequence[Array], device: torch.device) -> WindowedDataset:
    """Build a dataset from lazy inputs that `are_windows`."""
    rows, starts, steps = [], [], []
    for source in inputs:
        windows = source.stored
        assert isinstance(windows, Windows)
        window_rows, first = windows.compact(source.numbers)
        rows.append(torch.from_numpy(np.ascontiguousarray(window_rows, source.dtype)).to(device))
        starts.append(torch.from_numpy(first).to(device))
        steps.append(windows.steps)
    labels = tuple(torch.from_numpy(array).to(device) for array in targets)
    lengths, follows = (None,) * len(rows), (None,) * len(labels)
    return WindowedDataset(tuple(rows), labels, lengths, DEFAULT_PADDING, follows, tuple(starts), tuple(steps))
