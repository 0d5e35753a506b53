"""Sequences of different lengths in one tensor: how they are padded and cut, and pieces of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from engine.data.facts import IGNORED
from engine.data.sources.source import Array
from engine.project.options.batches import BatchOptions


@dataclass(frozen=True)
class Padding:
    """How sequences are padded and cut. Where layers see the padding, it stands on the side it is asked for and has the
    value; else it stands at the end, and the side only says which end of a sequence is cut off."""

    is_seen: bool = False
    is_left: bool = False
    value: float = 0.0

    @classmethod
    def of(cls, options: BatchOptions) -> "Padding":
        """As the options say."""
        is_left = options.sequence_padding_direction == "left"
        return cls(options.sequence_padding == "seen", is_left, options.sequence_padding_value)

    @property
    def is_plain(self) -> bool:
        """Whether stored sequences are only cut at their ends."""
        return not self.is_left and not (self.is_seen and self.value)

    def arrange(
        self, x: torch.Tensor, lengths: torch.Tensor, kept: torch.Tensor, steps: int, fill: float
    ) -> torch.Tensor:
        """So many steps of each of these sequences, which are padded at their ends: `kept` of its real ones, `fill`
        elsewhere. Lengths are on the CPU."""
        first = lengths - kept if self.is_left else torch.zeros_like(kept)
        start = lengths - steps if self.is_left and self.is_seen else first
        taken = start.unsqueeze(1) + torch.arange(steps)
        is_real = (taken >= first.unsqueeze(1)) & (taken < (first + kept).unsqueeze(1))
        places = taken.clamp(0, x.shape[1] - 1).to(x.device)
        wide = (*places.shape, *[1] * (x.dim() - 2))
        found = x.gather(1, places.view(wide).expand(*places.shape, *x.shape[2:]))
        return found.masked_fill(~is_real.to(x.device).view(wide), fill)


def nothing(target: torch.Tensor) -> float:
    """What stands in a target where nothing counts."""
    return torch.nan if target.is_floating_point() else IGNORED


def in_pieces(
    lengths: Array,
    most: int,
    *,
    is_left: bool,
    sequences: Sequence[tuple[Array, float]],
    others: Sequence[Array],
) -> tuple[Array, list[Array], list[Array]]:
    """Every sequence in pieces of so many steps, each a sample of its own; the last one is shorter, or the first where
    sequences end together.

    `sequences` have these lengths and stand with what fills them up; of `others` each piece has those of its sample.
    The lengths of the pieces, the sequences in pieces, and the others.
    """
    counts = -(-lengths // most)
    sample = np.repeat(np.arange(len(lengths)), counts)
    number = np.arange(len(sample)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = number * most - (np.repeat(counts * most - lengths, counts) if is_left else 0)
    first, end = np.maximum(start, 0), np.minimum(start + most, lengths[sample])
    taken = first[:, np.newaxis] + np.arange(min(most, int(lengths.max())))
    is_real = taken < end[:, np.newaxis]
    cut = []
    for array, fill in sequences:
        pieces = array[sample[:, np.newaxis], np.minimum(taken, array.shape[1] - 1)]
        pieces[~is_real] = fill
        cut.append(pieces)
    return end - first, cut, [array[sample] for array in others]
