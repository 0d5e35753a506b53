"""Data that stays where it lies: read by threads a few batches ahead of the step that wants it.

The batches are those of resident data, number for number, and lie in memory as those do, so that a run rounds alike.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import torch

from engine.data.batches import ResidentDataset, Tensors, taken
from engine.data.prefetch import ALIGNMENT, LazyArray, ReadJob, prefetch, read_tasks
from engine.data.sequences import Padding

SPAN_NUMBERS = 2**20
Change = Callable[[torch.Tensor], torch.Tensor]


def _as_it_is(x: torch.Tensor) -> torch.Tensor:
    return x


@dataclass(frozen=True)
class StreamedDataset(ResidentDataset):
    """One part of the data whose inputs are read when they are wanted; targets and lengths are held. `inputs` are empty
    tensors, which say the types of number."""

    stored: tuple[LazyArray, ...] = ()
    change: Change = _as_it_is

    @property
    def sample_bytes(self) -> int:
        """What one sample takes as a resident one."""
        sizes = [x.element_size() for x in self.inputs]
        inputs = sum(size * prod(x.shape[1:]) for size, x in zip(sizes, self.stored, strict=True))
        return inputs + sum(x[:1].nbytes for x in self.targets)

    def span(self, number: int) -> tuple[float, float]:
        """The smallest and the largest number of an input, for which all of it is read once."""
        step = max(1, SPAN_NUMBERS // prod(self.stored[number].shape[1:]))
        edges = [(float(piece.min()), float(piece.max())) for piece in self.stored[number].chunks(step)]
        return min(low for low, _ in edges), max(high for _, high in edges)

    def converted(self, change: Change) -> "StreamedDataset":
        """Inputs in other types of number from the next reading on, targets at once."""
        inputs, targets = (tuple(map(change, xs)) for xs in (self.inputs, self.targets))
        return replace(self, inputs=inputs, targets=targets, change=change)

    def places(self, numbers: torch.Tensor) -> torch.Tensor:
        """Numbers of samples for the readers."""
        return numbers

    def gather(self, wanted: Iterable[slice | torch.Tensor]) -> Iterator[tuple[Tensors, Tensors]]:
        """Inputs and targets of some samples after the other; those of `wanted` that come next are read meanwhile.
        Raises `UserError` for what cannot be read."""
        for chosen, read in prefetch(self._job(chosen) for chosen in wanted):
            on_device = chosen if isinstance(chosen, slice) else chosen.to(self.device)
            inputs = tuple(self._placed(x, like, chosen) for x, like in zip(read, self.inputs, strict=True))
            yield inputs, tuple(taken(x, on_device) for x in self.targets)

    def _job(self, chosen: slice | torch.Tensor) -> ReadJob[tuple[slice | torch.Tensor, Tensors]]:
        """Room for the samples, and what fills it. What goes to a device goes there in bytes, where it came in bytes,
        and from memory that the device can take it from by itself."""
        on_cpu = self.device.type == "cpu"
        room: list[torch.Tensor] = []
        work: list[Callable[[], None]] = []
        for given in self.stored:
            numbers = given.numbers[chosen if isinstance(chosen, slice) else chosen.numpy()]
            kind = torch.uint8 if not on_cpu and given.stored.kind == np.uint8 else torch.float32
            shape = (len(numbers), *given.shape[1:])
            room.append(torch.empty(shape, dtype=kind, pin_memory=self.device.type == "cuda"))
            work += read_tasks(given.stored, numbers, room[-1].numpy())
        return ReadJob((chosen, tuple(room)), work, sum(x.nbytes for x in room), self.stored[0].stored.where)

    def _placed(self, x: torch.Tensor, like: torch.Tensor, chosen: slice | torch.Tensor) -> torch.Tensor:
        """On the device, in its type of number."""
        x = self.change(x.to(self.device, non_blocking=True).to(like.dtype))
        return x if self.device.type != "cpu" or not isinstance(chosen, slice) else _as_a_view(x, chosen.start or 0)


def streamed(
    inputs: Sequence[LazyArray],
    kinds: Sequence[str],
    targets: Sequence[np.ndarray],
    device: torch.device,
    lengths: Sequence[np.ndarray | None],
    padding: Padding,
    follows: Sequence[int | None],
) -> StreamedDataset:
    """As `ResidentDataset.of`, of inputs that stay where they are."""
    held = ResidentDataset.of(
        [np.empty(0, np.float32) for _ in inputs], kinds, targets, device, lengths, padding, follows
    )
    return StreamedDataset(held.inputs, held.targets, held.lengths, padding, held.follows, tuple(inputs))


def _as_a_view(x: torch.Tensor, start: int) -> torch.Tensor:
    """The samples in memory as they would lie as a slice of all: sums may round in another way elsewhere."""
    lead = start * (x[:1].nbytes) % ALIGNMENT // x.element_size()
    if not lead:
        return x
    room = x.new_empty(lead + x.numel())[lead:].view(x.shape)
    return room.copy_(x)
