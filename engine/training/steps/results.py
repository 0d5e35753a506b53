"""What one step gives, and what one look at a part of the data says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from engine.training.batching.batches import Tensors


@dataclass(frozen=True)
class Done:
    """What one step gave, left on the device: this worker's part of the loss of the whole batch, and its outputs.
    `count` of the samples are this worker's, `total` those of all."""

    loss: torch.Tensor
    outputs: Tensors
    targets: Tensors
    count: int
    total: int
    squared_gradient: torch.Tensor | None = None
    """This worker's part of the square of the gradients' norm, before they are limited, where that is watched."""


@dataclass(frozen=True)
class Scores:
    """How good the network is on a part of the data, all of its samples: the loss, and each metric by its name.

    `confusion` counts how often each class (rows) was taken for each (columns), where the data has not too many.
    """

    loss: float
    metrics: Mapping[str, float]
    confusion: Sequence[Sequence[int]] = ()

    @property
    def named(self) -> dict[str, float]:
        """All figures by their names."""
        return {"loss": self.loss, **self.metrics}


def together(pieces: Sequence[Done]) -> Done:
    """What a step gave that was computed in pieces."""
    if len(pieces) == 1:
        return pieces[0]
    return Done(
        torch.stack([done.loss for done in pieces]).sum(),
        tuple(torch.cat(parts) for parts in zip(*(done.outputs for done in pieces), strict=True)),
        tuple(torch.cat(parts) for parts in zip(*(done.targets for done in pieces), strict=True)),
        sum(done.count for done in pieces),
        pieces[0].total,
    )
