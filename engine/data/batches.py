"""Data on the training device, and the batches made of it by index.

Here all data is resident: held whole as tensors by every worker. What does not fit is in `streaming`.
"""

import copy
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import torch

from engine.data.sequences import Padding, nothing
from engine.placement.choose import shares

EPOCHS_LIMIT = 2**20  # above the largest number of epochs, so that each pair of seed and epoch has its own order

BUCKETED = 50
"""So many batches are sorted by length together."""


@dataclass(frozen=True)
class SampleOrder:
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


def shard_range(start: int, end: int, rank: int, size: int, loads: Sequence[float] = ()) -> tuple[int, int]:
    """Where one worker's contiguous part of a range begins and ends; it may be empty. `loads`: see `shares`."""
    parts = shares(end - start, size, loads)
    begin = start + sum(parts[:rank])
    return begin, begin + parts[rank]


GATHERED_BYTES = 2**20
"""So much is gathered at once where batches are smaller: that stays in the processor's cache."""

Tensors = tuple[torch.Tensor, ...]
"""One for each input, output or target, samples first, in the network's order; behind them the lengths of sequences
that are padded."""


class WorkerRank(Protocol):
    """Which worker of how many: all that batches need of a process group."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...


class Change(Protocol):
    """Makes others of samples of the training split in an epoch (from 1). What comes of one does not depend on those
    beside it."""

    def wanted(self, places: torch.Tensor, epoch: int, /) -> torch.Tensor:
        """The places of all samples that it takes to make these: first these."""

    def __call__(
        self, inputs: Tensors, targets: Tensors, places: torch.Tensor, epoch: int, /
    ) -> tuple[Tensors, Tensors]:
        """What becomes of the samples at these places, from all that are wanted for them."""


def as_tuple(given: torch.Tensor | Tensors) -> Tensors:
    """What a network gives, which is a tensor where it has a single output."""
    return given if isinstance(given, tuple) else (given,)


def plain(given: Tensors) -> torch.Tensor | Tensors:
    """A tensor where there is only one, as a network gives it."""
    return given[0] if len(given) == 1 else given


@dataclass(frozen=True)
class Batch:
    """One worker's share of a batch. `count` of its samples are its own, `total` belong to the whole batch.

    An empty share holds one sample all the same, since the worker takes part in every step; `count` is then 0. Behind
    the inputs stand the lengths of those whose sequences are padded, which are cut to the longest of this share.

    `pieces` says how many of the samples belong to each piece that is computed by itself; empty where it is one.
    """

    inputs: Tensors
    targets: Tensors
    count: int
    total: int
    micro_batch_sizes: tuple[int, ...] = ()

    def micro_batches(self) -> Iterator["Batch"]:
        """The pieces, one after the other; an empty one holds a sample all the same."""
        if len(self.micro_batch_sizes) < 2:
            yield self
            return
        start = 0
        for count in self.micro_batch_sizes:
            chosen = slice(start, start + count) if count else slice(1)
            inputs, targets = (tuple(x[chosen] for x in tensors) for tensors in (self.inputs, self.targets))
            yield Batch(inputs, targets, count, self.total)
            start += count


PLAIN = Padding()
Share = tuple[slice | torch.Tensor, tuple[int, ...], int]
"""Which samples of an epoch's order one worker has of a batch, in what pieces, and how many the batch has."""


@dataclass(frozen=True)
class ResidentDataset:
    """One part of the data as tensors on the device, samples first, inputs in the network's order."""

    inputs: Tensors
    targets: Tensors
    lengths: tuple[torch.Tensor | None, ...] = ()
    """Of each input, on the CPU: how many steps of each sample are real; None where lengths do not matter."""
    padding: Padding = PLAIN
    follows: tuple[int | None, ...] = ()
    """Of each target the input whose steps it has one by one; None where it has no such steps."""

    @classmethod
    def of(
        cls,
        inputs: Sequence[np.ndarray],
        kinds: Sequence[str],
        targets: Sequence[np.ndarray],
        device: torch.device,
        lengths: Sequence[np.ndarray | None] = (),
        padding: Padding = PLAIN,
        follows: Sequence[int | None] = (),
    ) -> "ResidentDataset":
        """From arrays; inputs of the kind `index` become whole numbers."""
        tensors = [torch.from_numpy(array).to(device) for array in inputs]
        typed = [x.long() if kind == "index" else x for x, kind in zip(tensors, kinds, strict=True)]
        steps = tuple(None if given is None else torch.from_numpy(given) for given in lengths)
        wanted = tuple(torch.from_numpy(array).to(device) for array in targets)
        return cls(tuple(typed), wanted, steps, padding, tuple(follows))

    def __len__(self) -> int:
        return len(self.targets[0])

    @property
    def sample_bytes(self) -> int:
        """What one sample takes."""
        return sum(x[:1].nbytes for x in (*self.inputs, *self.targets))

    def converted(self, change: Callable[[torch.Tensor], torch.Tensor]) -> "ResidentDataset":
        """Inputs and targets in other types of number."""
        return replace(self, inputs=tuple(map(change, self.inputs)), targets=tuple(map(change, self.targets)))

    def places(self, numbers: torch.Tensor) -> torch.Tensor:
        """Numbers of samples where `gather` takes them."""
        return numbers.to(self.device)

    def gather(self, wanted: Iterable[slice | torch.Tensor]) -> Iterator[tuple[Tensors, Tensors]]:
        """Inputs and targets of some samples after the other, as they are held; tensors of `places`."""
        for chosen in wanted:
            yield tuple(taken(x, chosen) for x in self.inputs), tuple(taken(x, chosen) for x in self.targets)

    def span(self, number: int) -> tuple[float, float]:
        """The smallest and the largest number of an input."""
        return float(self.inputs[number].min()), float(self.inputs[number].max())

    @property
    def device(self) -> torch.device:
        """Where it is held."""
        return self.targets[0].device

    @property
    def longest(self) -> torch.Tensor | None:
        """How long the longest sequence of each sample is, where that is known."""
        known = [steps for steps in self.lengths if steps is not None]
        return torch.stack(known).amax(0) if known else None

    def shortest(self, chosen: torch.Tensor) -> tuple[int | None, ...]:
        """Of each input, how long the shortest sequence of these samples is, where that is known."""
        return tuple(None if steps is None else int(steps[chosen].min()) for steps in self.lengths)

    def reach(self, chosen: slice | torch.Tensor, most: Sequence[int | None] = ()) -> tuple[int | None, ...]:
        """Of each input, how many steps these samples have together, `most` at most."""
        longest = (None if steps is None else int(steps[chosen].max()) for steps in self.lengths)
        return tuple(n if n is None or not most else min(n, most[i] or n) for i, n in enumerate(longest))

    def at(self, chosen: slice | torch.Tensor) -> tuple[Tensors, Tensors]:
        """Inputs and targets of some samples, as `arranged` gives them."""
        (found,) = self.gather([chosen if isinstance(chosen, slice) else self.places(chosen)])
        return self.arranged(*found, chosen)

    def arranged(
        self,
        given: Tensors,
        wanted: Tensors,
        chosen: slice | torch.Tensor,
        most: Sequence[int | None] = (),
        reach: Sequence[int | None] = (),
    ) -> tuple[Tensors, Tensors]:
        """Inputs and targets of some samples as the network takes them; `chosen` are their places on the CPU. Behind
        the inputs stand the lengths of those whose padding no layer is to see; `most` at most. Sequences are as long as
        the longest of these samples; where their padding is seen, as long as `reach` says."""
        inputs, targets = list(given), list(wanted)
        behind = []
        for number, every in enumerate(self.lengths):
            if every is None:
                continue
            lengths = every[chosen]
            kept = lengths.clamp(max=most[number]) if most else lengths
            steps = int(kept.max()) if not self.padding.is_seen or not reach else reach[number] or int(kept.max())
            fill = self.padding.value if self.padding.is_seen else 0.0
            inputs[number] = self._arranged(inputs[number], lengths, kept, steps, fill)
            for place, followed in enumerate(self.follows):
                if followed == number and not self.padding.is_plain:
                    target = targets[place]
                    targets[place] = self.padding.arrange(target, lengths, kept, steps, nothing(target))
            if not self.padding.is_seen:
                behind.append(kept.to(self.device))
        return (*inputs, *behind), tuple(targets)

    def _arranged(
        self, x: torch.Tensor, lengths: torch.Tensor, kept: torch.Tensor, steps: int, fill: float
    ) -> torch.Tensor:
        if self.padding.is_plain:
            return x[:, :steps]
        return self.padding.arrange(x, lengths, kept, steps, fill)

    def shard_batches(self, rank: int, size: int, most: int, loads: Sequence[float] = ()) -> Iterator[Batch]:
        """One worker's share of all samples, in their order, in pieces of at most so many. Every worker gets as many
        pieces, since some networks are computed together; what is missing holds one sample and counts none."""
        begin, end = shard_range(0, len(self), rank, size, loads)
        largest = max(shares(len(self), size, loads))
        reach = self.reach(slice(None)) if self.padding.is_seen else ()
        ends = [(start, min(start + most, end)) for start in range(begin, begin + largest, most)]
        chosen = [slice(start, stop) if stop > start else slice(0, 1) for start, stop in ends]
        for (start, stop), places, found in zip(ends, chosen, self.gather(chosen), strict=True):
            yield Batch(*self.arranged(*found, places, reach=reach), max(0, stop - start), len(self))


def taken(x: torch.Tensor, places: slice | torch.Tensor) -> torch.Tensor:
    """Some samples of a tensor: a view where they are a slice."""
    return x[places] if isinstance(places, slice) else x.index_select(0, places)


class BatchLoader:
    """The training split, batch by batch, in the order of each epoch."""

    def __init__(
        self,
        part: ResidentDataset,
        order: SampleOrder,
        group: WorkerRank,
        *,
        cut: bool = False,
        micro_batches: int = 1,
        loads: Sequence[float] = (),
        change: Change | None = None,
    ) -> None:
        """`cut` ends all sequences of a batch where the shortest of them ends. `pieces`: so many are computed one after
        the other. The whole batch is divided into pieces first and each of these over the workers, so that a piece
        holds the same samples on any number of workers. `loads`: what the workers' shares are in proportion to.
        `change` is applied to all that an epoch trains with."""
        self.order = order
        self._micro_batches = micro_batches
        self._cut = cut
        self._part = part
        self._change = change
        self._rank, self._size, self._loads = group.rank, group.size, loads
        self._at_once = max(1, GATHERED_BYTES // (order.batch_size * part.sample_bytes))

    def of_epoch(self, epoch: int, first: int = 0) -> Iterator[Batch]:
        """This worker's share of each batch of an epoch (from 1), beginning with this one (from 0)."""
        numbers = self.order.of_epoch(epoch)
        if any(steps is not None for steps in self._part.lengths):
            return self._one_by_one(numbers, first, epoch)
        return self._several_at_once(numbers, first, epoch)

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return self._part.device

    def one_pass(self) -> Iterator[Batch]:
        """This worker's share of batches that hold every sample once, in the order of the first epoch, as it is."""
        whole = copy.copy(self)
        whole._change = None
        whole.order = replace(self.order, keep_last=True)
        return whole.of_epoch(1)

    def _share(self, step: int) -> Share:
        """Where this worker's samples of a batch are, at least one; how many of them belong to each piece, and how many
        samples the batch has."""
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

    def _changed(self, inputs: Tensors, targets: Tensors, places: torch.Tensor, epoch: int) -> tuple[Tensors, Tensors]:
        if self._change is None:
            return inputs, targets
        return self._change(inputs, targets, places.to(self.device), epoch)

    def _one_by_one(self, numbers: torch.Tensor, first: int, epoch: int) -> Iterator[Batch]:
        """Batches of sequences, each of a length of its own."""
        places = self._part.places(numbers)
        shares: deque[Share] = deque()

        def wanted() -> Iterator[slice | torch.Tensor]:
            for step in range(first, self.order.steps_per_epoch):
                shares.append(self._share(step))
                yield places[shares[-1][0]]

        for step, found in enumerate(self._part.gather(wanted()), first):
            chosen, pieces, total = shares.popleft()
            whole = numbers[slice(*self.order.batch(step))]
            most = self._part.shortest(whole) if self._cut else ()
            reach = self._part.reach(whole, most)
            given = self._part.arranged(*found, numbers[chosen], most, reach)
            yield Batch(*self._changed(*given, places[chosen], epoch), sum(pieces), total, pieces)

    def _several_at_once(self, numbers: torch.Tensor, first: int, epoch: int) -> Iterator[Batch]:
        """Batches that are views into what was gathered for several, which costs small ones a fraction each.

        What is gathered together does not depend on `first`: numbers that lie elsewhere in memory may be added up in
        another order, and an epoch that is resumed is to give the same bits.
        """
        all_steps = self.order.steps_per_epoch
        places, begins = self._part.places(numbers), range(first - first % self._at_once, all_steps, self._at_once)
        groups: deque[tuple[list[Share], torch.Tensor]] = deque()

        def wanted() -> Iterator[slice | torch.Tensor]:
            for begin in begins:
                shares = [self._share(step) for step in range(begin, min(begin + self._at_once, all_steps))]
                groups.append((shares, torch.cat([places[share] for share, _, _ in shares])))
                yield groups[-1][1] if self._change is None else self._change.wanted(groups[-1][1], epoch)

        for begin, (inputs, targets) in zip(begins, self._part.gather(wanted()), strict=True):
            (shares, together), num_inputs = groups.popleft(), len(inputs)
            whole = self._changed(inputs, targets, together, epoch)
            sizes = [sum(pieces) or 1 for _, pieces, _ in shares]
            columns = [torch.split(x, sizes) for xs in whole for x in xs]
            batches = zip(shares, zip(*columns, strict=True), strict=True)
            for (_, pieces, total), tensors in itertools.islice(batches, max(0, first - begin), None):
                yield Batch(tensors[:num_inputs], tensors[num_inputs:], sum(pieces), total, pieces)
