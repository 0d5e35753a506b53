"""Augmentation of sequences of numbers: shift in time, noise, and masking of steps.

Sequences are (N, T, C), floating point, with `kept` (N) real steps each; padding stays as it is.
"""

from dataclasses import dataclass

import torch

from netwright.engine.data.loading.augment_colours import Noise
from netwright.engine.data.loading.counter_rng import CounterRng
from netwright.engine.project.options.augmentation_options import AugmentationOptions


@dataclass(frozen=True, eq=False)
class Sequences:
    """An input of sequences: its index among the inputs and the steps of its longest sequence.

    `lengths` are the real steps of each training sample (N), None where all have `steps`. With `is_left` padding stands
    before the sequence.
    """

    place: int
    steps: int
    lengths: torch.Tensor | None = None
    is_left: bool = False

    def kept(self, x: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Return the real steps (N) of some samples, which may have been cut to the steps of `x`."""
        if self.lengths is None:
            return torch.full((len(x),), x.shape[1], device=x.device)
        return self.lengths.to(numbers.device)[numbers].clamp(max=x.shape[1]).to(x.device)


@dataclass(frozen=True, eq=False)
class Steps:
    """Where the steps of some padded samples are: `number` (N, T) counts the real ones from 0."""

    number: torch.Tensor
    first: torch.Tensor
    kept: torch.Tensor

    @classmethod
    def of(cls, sequences: Sequences, x: torch.Tensor, numbers: torch.Tensor) -> "Steps":
        """Return the steps of samples x (N, T, C) with these indices in the training split."""
        lengths = sequences.kept(x, numbers)
        first = x.shape[1] - lengths if sequences.is_left else torch.zeros_like(lengths)
        return cls(torch.arange(x.shape[1], device=x.device) - first.unsqueeze(1), first, lengths)

    @property
    def is_real(self) -> torch.Tensor:
        """Whether each step (N, T) is one of the sequence, and not padding."""
        return (self.number >= 0) & (self.number < self.kept.unsqueeze(1))

    def moved(self, x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        """Return x (N, T, ...) moved later by these numbers of steps (N); free steps repeat the value at that end."""
        last = (self.kept - 1).clamp(min=0).unsqueeze(1)
        places = (self.number - by.unsqueeze(1)).clamp(min=0).minimum(last) + self.first.unsqueeze(1)
        places = torch.where(self.is_real, places, torch.arange(x.shape[1], device=x.device))
        wide = (*places.shape, *[1] * (x.dim() - 2))
        return x.gather(1, places.view(wide).expand(*places.shape, *x.shape[2:]))


class SequenceChanges:
    """Random changes of one input of sequences."""

    def __init__(self, options: AugmentationOptions, sequences: Sequences, seed: int) -> None:
        self.given = sequences
        self._shift = options.rand_time_shift if options.does("rand_time_shift") else None
        self._noise = Noise(options.sequence_noise, seed) if options.does("sequence_noise") else None
        self._longest_mask = options.time_mask if options.does("time_mask") else 0

    def shift(self, draws: CounterRng) -> torch.Tensor | None:
        """Return the number of steps by which each sample is moved (N); None where none is."""
        return None if self._shift is None else draws.between("time_shift", *self._shift).round().long()

    def __call__(self, x: torch.Tensor, steps: Steps, draws: CounterRng) -> torch.Tensor:
        """Return changed sequences."""
        shift = self.shift(draws)
        if shift is not None:
            x = steps.moved(x, shift.to(x.device))
        if self._noise is not None:
            # Of the longest sequence: a step has the same noise however long the batch is.
            noise = self._noise.drawn((self.given.steps, x.shape[2]), x, draws)
            own = steps.number.clamp(0, noise.shape[1] - 1).unsqueeze(2).expand(*x.shape)
            x = torch.where(steps.is_real.unsqueeze(2), x + noise.gather(1, own), x)
        if self._longest_mask:
            x = self._masked(x, steps, draws)
        return x

    def _masked(self, x: torch.Tensor, steps: Steps, draws: CounterRng) -> torch.Tensor:
        """Return sequences with one stretch replaced by the mean of the sequence, per channel. Park et al., 2019."""
        length = (draws.unit("time_mask") * (self._longest_mask + 1)).floor().long().to(x.device).minimum(steps.kept)
        first = (draws.unit("time_mask_at").to(x.device) * (steps.kept - length + 1)).floor().long()
        real = steps.is_real.unsqueeze(2)
        mean = (x * real).sum(1, keepdim=True) / steps.kept.clamp(min=1).view(-1, 1, 1)
        is_hidden = (steps.number >= first.unsqueeze(1)) & (steps.number < (first + length).unsqueeze(1))
        return torch.where(is_hidden.unsqueeze(2) & real, mean.to(x.dtype), x)
