"""Losses of several labels at once, each true or not. Outputs are logits; targets are 0 or 1, NaN does not count."""

import torch
from torch.nn import functional

from engine.project.training import TrainingOptions
from engine.training.losses.counting import known, over_samples


def binary_cross_entropy(
    output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, smoothing: float = 0.0
) -> torch.Tensor:
    """Negative log likelihood of each label, mean over labels and places. Where a label is true it counts as often as
    its weight says. Smoothing draws targets towards one half: 1 becomes 1 - s / 2, 0 becomes s / 2."""
    output, target, counted = known(output, target)
    wide = None if weight is None else weight.to(output.dtype).view(-1, *[1] * (output.dim() - 2))
    soft = target * (1 - smoothing) + smoothing / 2 if smoothing else target
    each = functional.binary_cross_entropy_with_logits(output, soft, pos_weight=wide, reduction="none")
    return over_samples(torch.where(counted, each, 0.0), counted)


def positive_weights(options: TrainingOptions, targets: torch.Tensor, axis: int) -> torch.Tensor | None:
    """How much each label counts where it is true. Balanced: as often as it is false for each time it is true, which
    is 1 for a label that is never true."""
    if options.class_weighting == "given":
        return torch.tensor(options.class_weights, dtype=torch.float32, device=targets.device)
    if options.class_weighting == "none":
        return None
    flat = targets.movedim(axis, 0).flatten(1)
    true, false = (flat == 1).sum(1), (flat == 0).sum(1)
    return torch.where(true > 0, false / true.clamp(min=1), 1.0).to(torch.float32)
