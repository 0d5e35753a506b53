"""Streamed datasets: samples are read from disk by threads, a few batches ahead of the training step.

The batches equal those of resident data bit for bit, and have the same alignment in memory, so that sums round alike.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import torch

from netwright.engine.data.loading.batches import ResidentDataset, Tensors, select
from netwright.engine.data.loading.sequences import Padding, ignored_value
from netwright.engine.data.sources.bad_samples import BadSamples
from netwright.engine.data.sources.prefetch import ALIGNMENT, LazyArray, ReadJob, prefetch, read_tasks
from netwright.engine.data.sources.source import Array, BadSampleError

SPAN_NUMBERS = 2**20
KINDS = {np.dtype(np.float32): torch.float32, np.dtype(np.float64): torch.float64, np.dtype(np.int64): torch.int64}
Change = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False)
class _Read:
    """Samples that are read: their places as asked for (a slice or indices) and as numbers, the places of the samples
    that are used for them, their inputs, and the errors by row."""

    chosen: slice | torch.Tensor
    places: Array
    used: Array
    inputs: Tensors
    bad: dict[int, BadSampleError]


def _as_it_is(x: torch.Tensor) -> torch.Tensor:
    return x


@dataclass(frozen=True)
class StreamedDataset(ResidentDataset):
    """One split of the data whose inputs are read batch by batch; targets and lengths are resident.

    `inputs` are empty tensors, which only carry the dtypes.
    """

    stored: tuple[LazyArray, ...] = ()
    change: Change = _as_it_is
    bad: BadSamples | None = None
    """Replaces samples that cannot be read; None where they are an error."""

    @property
    def sample_bytes(self) -> int:
        """Memory of one sample when resident, in bytes."""
        sizes = [x.element_size() for x in self.inputs]
        inputs = sum(size * prod(x.shape[1:]) for size, x in zip(sizes, self.stored, strict=True))
        return inputs + sum(x[:1].nbytes for x in self.targets)

    def span(self, number: int) -> tuple[float, float]:
        """Return the smallest and the largest value of an input; reads all of it once."""
        step = max(1, SPAN_NUMBERS // prod(self.stored[number].shape[1:]))
        edges = [(float(piece.min()), float(piece.max())) for piece in self.stored[number].chunks(step)]
        return min(low for low, _ in edges), max(high for _, high in edges)

    def longest_of(self, number: int) -> int:
        """Return the length of the second axis of an input: the steps of the longest sequence."""
        return self.stored[number].shape[1]

    def converted(self, change: Change) -> "StreamedDataset":
        """Return a copy that applies `change` to inputs as they are read, and to targets immediately."""
        inputs, targets = (tuple(map(change, xs)) for xs in (self.inputs, self.targets))
        return replace(self, inputs=inputs, targets=targets, change=change)

    def places(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return the sample indices unchanged, on the CPU, for the readers."""
        return numbers

    def gather(self, batches: Iterable[slice | torch.Tensor]) -> Iterator[tuple[Tensors, Tensors]]:
        """Yield inputs and targets of the samples at each item of `batches`, reading the next ones meanwhile. Raises
        `UserError` for samples that cannot be read."""
        for block in prefetch(self._job(indices) for indices in batches):
            indices = block.chosen
            rows = self._replace_bad(block)
            on_device = indices if isinstance(indices, slice) else indices.to(self.device)
            inputs = tuple(self._placed(x, like, indices) for x, like in zip(block.inputs, self.inputs, strict=True))
            targets = tuple(select(x, on_device) for x in self.targets)
            yield inputs, self._targets_of(block, rows, targets) if len(rows) else targets

    def _replace_bad(self, block: _Read) -> Array:
        """Read the samples that stand in for bad ones, cut to the lengths of those. Return the rows of stand-ins."""
        if self.bad is None:
            return np.empty(0, np.int64)
        for row, error in sorted(block.bad.items()):
            block.used[row] = self.bad.replace(int(block.used[row]), error)
            for array, x in zip(self.stored, block.inputs, strict=True):
                array.stored.read(array.numbers[block.used[row : row + 1]], x.numpy()[row : row + 1])
        rows = np.flatnonzero(block.used != block.places)
        for x, lengths in zip(block.inputs, self.lengths or (None,) * len(block.inputs), strict=True):
            for row in rows.tolist() if lengths is not None else ():
                assert lengths is not None
                x[row, int(lengths[block.places[row]]) :] = 0
        return rows

    def _targets_of(self, block: _Read, rows: Array, targets: Tensors) -> Tensors:
        """Return the targets with those of stand-ins in these rows, without the steps behind the lengths."""
        where = torch.from_numpy(rows).to(self.device)
        readable = torch.from_numpy(block.used[rows]).to(self.device)
        result = []
        for number, (target, every) in enumerate(zip(targets, self.targets, strict=True)):
            target = target.clone()
            target[where] = every.index_select(0, readable)
            followed = self.follows[number] if self.follows else None
            if followed is not None and (lengths := self.lengths[followed]) is not None:
                for row in rows.tolist():
                    target[row, int(lengths[block.places[row]]) :] = ignored_value(target)
            result.append(target)
        return tuple(result)

    def _job(self, indices: slice | torch.Tensor) -> ReadJob[_Read]:
        """Return a job with buffers for the samples and the tasks that fill them.

        For GPUs but those of Apple the buffers are pinned memory. Except on the CPU, samples stored as uint8 are
        copied as uint8.
        """
        on_cpu = self.device.type == "cpu"
        room: list[torch.Tensor] = []
        work: list[Callable[[], None]] = []
        places = np.arange(*indices.indices(len(self))) if isinstance(indices, slice) else indices.numpy()
        readable = places if self.bad is None else self.bad.used(places)
        bad: dict[int, BadSampleError] = {}
        for array in self.stored:
            numbers = array.numbers[readable]
            is_bytes = not on_cpu and array.stored.kind == np.uint8 and array.dtype == np.float32
            kind = torch.uint8 if is_bytes else KINDS[array.dtype]
            shape = (len(numbers), *array.shape[1:])
            room.append(torch.empty(shape, dtype=kind, pin_memory=self.device.type not in ("cpu", "mps")))
            note = None if self.bad is None else bad.__setitem__
            work += read_tasks(array.stored, numbers, room[-1].numpy(), note)
        block = _Read(indices, places, readable, tuple(room), bad)
        return ReadJob(block, work, sum(x.nbytes for x in room), self.stored[0].stored.where)

    def _placed(self, x: torch.Tensor, like: torch.Tensor, indices: slice | torch.Tensor) -> torch.Tensor:
        """Return `x` on the device, in the dtype of `like`."""
        x = self.change(x.to(self.device, non_blocking=True).to(like.dtype))
        return x if self.device.type != "cpu" or not isinstance(indices, slice) else _as_a_view(x, indices.start or 0)


def streamed(
    inputs: Sequence[LazyArray],
    kinds: Sequence[str],
    targets: Sequence[np.ndarray],
    device: torch.device,
    lengths: Sequence[np.ndarray | None],
    padding: Padding,
    follows: Sequence[int | None],
) -> StreamedDataset:
    """Build a streamed dataset like `ResidentDataset.of`, from lazy inputs."""
    empty = ResidentDataset.of(
        [np.empty(0, array.dtype) for array in inputs], kinds, targets, device, lengths, padding, follows
    )
    bad = None
    if any(array.skips_bad for array in inputs):
        bad = BadSamples([array.stored for array in inputs], inputs[0].numbers, lengths)
    return StreamedDataset(empty.inputs, empty.targets, empty.lengths, padding, empty.follows, tuple(inputs), bad=bad)


def _as_a_view(x: torch.Tensor, start: int) -> torch.Tensor:
    """Return the samples aligned like the same slice of resident data, so that sums round alike."""
    lead = start * (x[:1].nbytes) % ALIGNMENT // x.element_size()
    if not lead:
        return x
    room = x.new_empty(lead + x.numel())[lead:].view(x.shape)
    return room.copy_(x)
