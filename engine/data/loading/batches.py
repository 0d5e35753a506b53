"""Datasets on the training device, and the batches made of them by index.

Here all data is resident: every worker holds it whole, as tensors. Larger data is in
`netwright.engine.data.loading.streaming`.
"""

import copy
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import torch

from netwright.engine.data.loading.sequences import Padding, ignored_value
from netwright.engine.placement.choose import shares

EPOCHS_LIMIT = 2**20  # above the largest number of epochs, so that each pair of seed and epoch has its own order
BUCKETED = 50
"""Number of batches sorted by length together."""
GATHERED_BYTES = 2**20
"""Bytes gathered at once where batches are smaller: they stay in the processor's cache."""
DEFAULT_PADDING = Padding()

Tensors = tuple[torch.Tensor, ...]
"""One tensor per input, output or target, samples first, in the network's order; followed by the lengths of padded
sequences."""
Shard = tuple[slice | torch.Tensor, tuple[int, ...], int]
"""One worker's samples of a batch, as indices into the epoch's order; its micro-batch sizes; the size of the batch."""


@dataclass(frozen=True)
class SampleOrder:
    """Order of the training samples by epoch. `shuffle` and `keep_last` are the options `shuffle`, `last_batch`."""

    num_samples: int
    batch_size: int
    shuffle: str
    seed: int
    keep_last: bool = True
    lengths: torch.Tensor | None = field(default=None, compare=False)
    """Length of each sample's sequences (N), where samples of similar length share a batch."""
    shards: torch.Tensor | None = field(default=None, compare=False)
    """Index of the file that holds each sample (N), where samples are shuffled within `window` files at a time."""
    window: int = 0

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches per epoch."""
        whole, rest = divmod(self.num_samples, self.batch_size)
        return whole + (1 if rest and self.keep_last else 0)

    def of_epoch(self, epoch: int) -> torch.Tensor:
        """Return the indices of all samples in the order of this epoch (from 1), in 32 bits where these suffice."""
        kind = torch.int32 if self.num_samples <= 2**31 else torch.int64  # the same numbers are drawn for both
        if self.shuffle == "never":
            return torch.arange(self.num_samples, dtype=kind)
        number = epoch if self.shuffle == "every-epoch" else 1
        generator = torch.Generator().manual_seed(self.seed * EPOCHS_LIMIT + number)
        numbers = torch.randperm(self.num_samples, generator=generator, dtype=kind)
        if self.shards is not None and self.window:
            return self._windowed(numbers.long(), self.shards, generator)
        return numbers if self.lengths is None else self._bucketed(numbers.long(), self.lengths, generator)

    def _bucketed(self, numbers: torch.Tensor, lengths: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Sort samples by length within `BUCKETED` batches at a time, then shuffle the whole batches."""
        windows = torch.split(numbers, BUCKETED * self.batch_size)
        near = torch.cat([window[lengths[window].argsort(stable=True)] for window in windows])
        count = self.num_samples // self.batch_size
        whole, rest = near[: count * self.batch_size], near[count * self.batch_size :]
        shuffled = whole.view(count, self.batch_size)[torch.randperm(count, generator=generator)]
        return torch.cat([shuffled.flatten(), rest])

    def _windowed(self, numbers: torch.Tensor, shards: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Draw the order of the files, mix the samples of `window` files at a time, and sort each batch by file.

        The samples of a file are spread evenly over its window, so that every batch has some of each, and a worker,
        whose part of a batch is contiguous, reads the same few files throughout the window. A batch holds the same
        samples on any number of workers.
        """
        files, index = torch.unique(shards, return_inverse=True)
        places = torch.randperm(len(files), generator=generator)[index]
        numbers = numbers[places[numbers].argsort(stable=True)]
        of_file = places[numbers]
        counts = torch.bincount(places, minlength=len(files))
        within = torch.arange(len(numbers)) - (counts.cumsum(0) - counts)[of_file]
        noise = torch.rand(len(numbers), generator=generator, dtype=torch.float64)
        when = of_file // self.window + ((within + noise) / counts[of_file]).clamp(max=1 - 1e-9)
        order = when.argsort(stable=True)
        batches = torch.arange(len(order)) // self.batch_size
        return numbers[order][(batches * len(files) + of_file[order]).argsort(stable=True)]

    def batch(self, step: int) -> tuple[int, int]:
        """Return start and end of the batch of a step (from 0) in the epoch's order."""
        start = step * self.batch_size
        return start, min(start + self.batch_size, self.num_samples)


def shard_range(start: int, end: int, rank: int, size: int, loads: Sequence[float] = ()) -> tuple[int, int]:
    """Return start and end of one worker's contiguous shard of a range; it may be empty. `loads`: see `shares`."""
    parts = shares(end - start, size, loads)
    begin = start + sum(parts[:rank])
    return begin, begin + parts[rank]


class WorkerRank(Protocol):
    """Rank and size of a worker in its process group."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...


class Transform(Protocol):
    """Random transform of training samples per epoch (from 1), independent of the batch a sample is in."""

    def wanted(self, places: torch.Tensor, epoch: int, /) -> torch.Tensor:
        """Return the indices of all samples needed for those at `places`: these first."""

    def __call__(
        self, inputs: Tensors, targets: Tensors, places: torch.Tensor, epoch: int, /
    ) -> tuple[Tensors, Tensors]:
        """Return the transformed samples at these places, from those of all indices that `wanted` returns."""


def as_tuple(outputs: torch.Tensor | Tensors) -> Tensors:
    """Wrap the output of a network with a single output."""
    return outputs if isinstance(outputs, tuple) else (outputs,)


def unwrap_single(tensors: Tensors) -> torch.Tensor | Tensors:
    """Return the tensor of a tuple of one, as a network returns it, else the tuple: the reverse of `as_tuple`."""
    return tensors[0] if len(tensors) == 1 else tensors


@dataclass(frozen=True)
class Batch:
    """One worker's shard of a batch. `count` of its samples are its own, `total` belong to the whole batch.

    An empty shard holds one sample and has `count` 0, since the worker takes part in every step. The inputs are
    followed by the lengths of those with padded sequences, which are cut to the longest of this shard.
    `micro_batch_sizes` is empty where the shard is computed at once.
    """

    inputs: Tensors
    targets: Tensors
    count: int
    total: int
    micro_batch_sizes: tuple[int, ...] = ()

    def micro_batches(self) -> Iterator["Batch"]:
        """Yield the micro-batches; an empty one holds one sample and has `count` 0."""
        if len(self.micro_batch_sizes) < 2:
            yield self
            return
        start = 0
        for count in self.micro_batch_sizes:
            part = slice(start, start + count) if count else slice(1)
            inputs, targets = (tuple(x[part] for x in tensors) for tensors in (self.inputs, self.targets))
            yield Batch(inputs, targets, count, self.total)
            start += count


@dataclass(frozen=True)
class ResidentDataset:
    """One split of the data as tensors on the device, samples first, inputs in the network's order."""

    inputs: Tensors
    targets: Tensors
    lengths: tuple[torch.Tensor | None, ...] = ()
    """Number of real steps of each sample (N) per input, on the CPU; None where lengths do not matter."""
    padding: Padding = DEFAULT_PADDING
    follows: tuple[int | None, ...] = ()
    """Index of the input whose steps a target has values for, per target; None for a target without steps."""

    @classmethod
    def of(
        cls,
        inputs: Sequence[np.ndarray],
        kinds: Sequence[str],
        targets: Sequence[np.ndarray],
        device: torch.device,
        lengths: Sequence[np.ndarray | None] = (),
        padding: Padding = DEFAULT_PADDING,
        follows: Sequence[int | None] = (),
    ) -> "ResidentDataset":
        """Build a dataset from arrays; inputs of the kind `index` become int64."""
        tensors = [torch.from_numpy(array).to(device) for array in inputs]
        typed = [x.long() if kind == "index" else x for x, kind in zip(tensors, kinds, strict=True)]
        steps = tuple(None if counts is None else torch.from_numpy(counts) for counts in lengths)
        labels = tuple(torch.from_numpy(array).to(device) for array in targets)
        return cls(tuple(typed), labels, steps, padding, tuple(follows))

    def __len__(self) -> int:
        return len(self.targets[0])

    @property
    def sample_bytes(self) -> int:
        """Memory of one sample in bytes."""
        return sum(x[:1].nbytes for x in (*self.inputs, *self.targets))

    def converted(self, change: Callable[[torch.Tensor], torch.Tensor]) -> "ResidentDataset":
        """Return a copy with `change` applied to inputs and targets, such as a cast to another dtype."""
        return replace(self, inputs=tuple(map(change, self.inputs)), targets=tuple(map(change, self.targets)))

    def places(self, numbers: torch.Tensor) -> torch.Tensor:
        """Return sample indices on the device where `gather` takes them."""
        return numbers.to(self.device)

    def gather(self, batches: Iterable[slice | torch.Tensor]) -> Iterator[tuple[Tensors, Tensors]]:
        """Yield inputs and targets of the samples at each item, a slice or a tensor of `places`."""
        for indices in batches:
            yield tuple(select(x, indices) for x in self.inputs), tuple(select(x, indices) for x in self.targets)

    def span(self, number: int) -> tuple[float, float]:
        """Return the smallest and the largest value of an input."""
        return float(self.inputs[number].min()), float(self.inputs[number].max())

    def longest_of(self, number: int) -> int:
        """Return the length of the second axis of an input: the steps of the longest sequence."""
        return self.inputs[number].shape[1]

    @property
    def device(self) -> torch.device:
        """Device that holds the data."""
        return self.targets[0].device

    @property
    def longest(self) -> torch.Tensor | None:
        """Length of the longest sequence of each sample (N); None where it is not known."""
        lengths = [steps for steps in self.lengths if steps is not None]
        return torch.stack(lengths).amax(0) if lengths else None

    def shortest(self, indices: torch.Tensor) -> tuple[int | None, ...]:
        """Return, per input, the length of the shortest sequence of these samples, or None."""
        return tuple(None if steps is None else int(steps[indices].min()) for steps in self.lengths)

    def reach(self, indices: slice | torch.Tensor, most: Sequence[int | None] = ()) -> tuple[int | None, ...]:
        """Return, per input, the length of the longest sequence of these samples, at most `most`."""
        longest = (None if steps is None else int(steps[indices].max()) for steps in self.lengths)
        return tuple(n if n is None or not most else min(n, most[i] or n) for i, n in enumerate(longest))

    def at(self, indices: slice | torch.Tensor) -> tuple[Tensors, Tensors]:
        """Return inputs and targets of some samples, collated."""
        (gathered,) = self.gather([indices if isinstance(indices, slice) else self.places(indices)])
        return self.collate(*gathered, indices)

    def collate(
        self,
        samples: Tensors,
        labels: Tensors,
        indices: slice | torch.Tensor,
        most: Sequence[int | None] = (),
        reach: Sequence[int | None] = (),
    ) -> tuple[Tensors, Tensors]:
        """Pad or cut gathered samples as the network takes them; `indices` are their indices on the CPU.

        The inputs are followed by the lengths of those whose padding is hidden from the layers. Sequences are cut to
        `most` steps per input and padded to the longest of these samples; to `reach` steps where padding is seen.
        """
        inputs, targets = list(samples), list(labels)
        behind = []
        for number, every in enumerate(self.lengths):
            if every is None:
                continue
            lengths = every[indices]
            counts = lengths.clamp(max=most[number]) if most else lengths
            steps = int(counts.max()) if not self.padding.is_seen or not reach else reach[number] or int(counts.max())
            fill = self.padding.value if self.padding.is_seen else 0.0
            inputs[number] = self._pad(inputs[number], lengths, counts, steps, fill)
            for place, followed in enumerate(self.follows):
                if followed == number and not self.padding.is_plain:
                    target = targets[place]
                    targets[place] = self.padding.arrange(target, lengths, counts, steps, ignored_value(target))
            if not self.padding.is_seen:
                behind.append(counts.to(self.device, non_blocking=True))
        return (*inputs, *behind), tuple(targets)

    def _pad(self, x: torch.Tensor, lengths: torch.Tensor, real: torch.Tensor, steps: int, fill: float) -> torch.Tensor:
        if self.padding.is_plain:
            return x[:, :steps]
        return self.padding.arrange(x, lengths, real, steps, fill)

    def shard_batches(self, rank: int, size: int, most: int, loads: Sequence[float] = ()) -> Iterator[Batch]:
        """Yield one worker's shard of all samples, in their order, in batches of at most `most`.

        Every worker gets the same number of batches, since workers may compute a network together; a batch beyond the
        shard holds one sample and has `count` 0.
        """
        begin, end = shard_range(0, len(self), rank, size, loads)
        largest = max(shares(len(self), size, loads))
        reach = self.reach(slice(None)) if self.padding.is_seen else ()
        ends = [(start, min(start + most, end)) for start in range(begin, begin + largest, most)]
        batches = [slice(start, stop) if stop > start else slice(0, 1) for start, stop in ends]
        for (start, stop), places, gathered in zip(ends, batches, self.gather(batches), strict=True):
            yield Batch(*self.collate(*gathered, places, reach=reach), max(0, stop - start), len(self))


def select(x: torch.Tensor, places: slice | torch.Tensor) -> torch.Tensor:
    """Return the samples of a tensor at `places`; a view for a slice."""
    return x[places] if isinstance(places, slice) else x.index_select(0, places)


class BatchLoader:
    """Loader of the training split, batch by batch, in the order of each epoch."""

    def __init__(
        self,
        dataset: ResidentDataset,
        order: SampleOrder,
        group: WorkerRank,
        *,
        cut: bool = False,
        micro_batches: int = 1,
        loads: Sequence[float] = (),
        transform: Transform | None = None,
    ) -> None:
        """Load batches of `dataset` for one worker of the group.

        `cut` ends all sequences of a batch where the shortest of them ends. The whole batch is divided into
        `micro_batches` first and each of these over the workers, so that it holds the same samples on any number of
        workers. The workers' shards are in proportion to `loads`. `transform` is applied to every training sample.
        """
        self.order = order
        self._micro_batches = micro_batches
        self._cut = cut
        self._dataset = dataset
        self._transform = transform
        self._rank, self._size, self._loads = group.rank, group.size, loads
        self._at_once = max(1, GATHERED_BYTES // (order.batch_size * dataset.sample_bytes))

    def of_epoch(self, epoch: int, first: int = 0) -> Iterator[Batch]:
        """Yield this worker's shard of each batch of an epoch (from 1), beginning with batch `first` (from 0)."""
        numbers = self.order.of_epoch(epoch)
        if any(steps is not None for steps in self._dataset.lengths):
            return self._one_by_one(numbers.long(), first, epoch)
        return self._several_at_once(numbers, first, epoch)

    @property
    def device(self) -> torch.device:
        """Device of the batches."""
        return self._dataset.device

    def one_pass(self) -> Iterator[Batch]:
        """Yield this worker's shard of batches that hold every sample once, unchanged, in the first epoch's order."""
        whole = copy.copy(self)
        whole._transform = None
        whole.order = replace(self.order, keep_last=True)
        return whole.of_epoch(1)

    def _shard(self, step: int) -> Shard:
        """Return this worker's samples of a batch, at least one."""
        start, end = self.order.batch(step)
        parts = min(self._micro_batches, end - start)
        wholes = [shard_range(start, end, number, parts) for number in range(parts)]
        mine = [shard_range(*whole, self._rank, self._size, self._loads) for whole in wholes]
        counts = tuple(stop - begin for begin, stop in mine)
        if not any(counts):
            return slice(start, start + 1), counts, end - start
        if parts == 1:
            return slice(*mine[0]), counts, end - start
        return torch.cat([torch.arange(*where) for where in mine]), counts, end - start

    def _transformed(
        self, inputs: Tensors, targets: Tensors, places: torch.Tensor, epoch: int
    ) -> tuple[Tensors, Tensors]:
        if self._transform is None:
            return inputs, targets
        return self._transform(inputs, targets, places.to(self.device), epoch)

    def _one_by_one(self, numbers: torch.Tensor, first: int, epoch: int) -> Iterator[Batch]:
        """Yield batches of sequences, each as long as its longest."""
        places = self._dataset.places(numbers)
        shards: deque[Shard] = deque()

        def wanted() -> Iterator[slice | torch.Tensor]:
            for step in range(first, self.order.steps_per_epoch):
                shards.append(self._shard(step))
                yield places[shards[-1][0]]

        for step, tensors in enumerate(self._dataset.gather(wanted()), first):
            part, sizes, total = shards.popleft()
            whole = numbers[slice(*self.order.batch(step))]
            most = self._dataset.shortest(whole) if self._cut else ()
            reach = self._dataset.reach(whole, most)
            batch = self._dataset.collate(*tensors, numbers[part], most, reach)
            yield Batch(*self._transformed(*batch, places[part], epoch), sum(sizes), total, sizes)

    def _several_at_once(self, numbers: torch.Tensor, first: int, epoch: int) -> Iterator[Batch]:
        """Yield batches as views of samples gathered for several batches at once, which is faster for small batches.

        The groups of batches do not depend on `first`: sums over numbers at other places in memory may round
        differently, and a resumed epoch must give the same bits.
        """
        all_steps = self.order.steps_per_epoch
        places, begins = self._dataset.places(numbers), range(first - first % self._at_once, all_steps, self._at_once)
        groups: deque[tuple[list[Shard], torch.Tensor]] = deque()

        def wanted() -> Iterator[slice | torch.Tensor]:
            for begin in begins:
                shards = [self._shard(step) for step in range(begin, min(begin + self._at_once, all_steps))]
                groups.append((shards, torch.cat([places[part] for part, _, _ in shards]).long()))
                yield groups[-1][1] if self._transform is None else self._transform.wanted(groups[-1][1], epoch)

        for begin, (inputs, targets) in zip(begins, self._dataset.gather(wanted()), strict=True):
            (shards, together), num_inputs = groups.popleft(), len(inputs)
            gathered = self._transformed(inputs, targets, together, epoch)
            lengths = [sum(sizes) or 1 for _, sizes, _ in shards]
            columns = [torch.split(x, lengths) for xs in gathered for x in xs]
            batches = zip(shards, zip(*columns, strict=True), strict=True)
            for (_, sizes, total), tensors in itertools.islice(batches, max(0, first - begin), None):
                yield Batch(tensors[:num_inputs], tensors[num_inputs:], sum(sizes), total, sizes)
