"""Losses of one class a sample, step, pixel or voxel. The outputs are logits."""

import torch
from torch.nn import functional

from engine.data.facts import IGNORED
from engine.project.training import TrainingOptions
from engine.training.losses.counting import over_samples


def cross_entropy(
    output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, smoothing: float = 0.0
) -> torch.Tensor:
    """Negative log likelihood of the right class, weighted by class; mean over the places of a sample that count.
    Smoothing spreads so much of each label evenly over all classes. Of a sample as a whole the target may be shares of
    classes, N C, which each count as often."""
    weight = weight if weight is None else weight.to(output.dtype)
    if target.is_floating_point():
        target = target.to(output.dtype)
        return functional.cross_entropy(output, target, weight, label_smoothing=smoothing, reduction="sum")
    if target.dim() == 1:
        return functional.cross_entropy(output, target, weight, label_smoothing=smoothing, reduction="sum")
    each = functional.cross_entropy(
        output, target, weight, ignore_index=IGNORED, label_smoothing=smoothing, reduction="none"
    )
    return over_samples(each, target != IGNORED)


def focal(
    output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, gamma: float = 2.0
) -> torch.Tensor:
    """Cross-entropy times (1 - p) ^ gamma, p being the probability given to the right class.

    Lin et al., Focal Loss for Dense Object Detection, 2017, equation 5.
    """
    numbers, counted = target.clamp(min=0), target != IGNORED
    log_p = functional.log_softmax(output, dim=1).gather(1, numbers.unsqueeze(1)).squeeze(1)
    # Not down to zero: the slope of a power below one is infinite there.
    each = -((-torch.expm1(log_p)).clamp(min=1e-12) ** gamma) * log_p
    each = each if weight is None else each * weight[numbers]
    return each.sum() if target.dim() == 1 else over_samples(each.masked_fill(~counted, 0.0), counted)


def class_weights(options: TrainingOptions, targets: torch.Tensor, classes: int = 0) -> torch.Tensor | None:
    """How much a sample of each class counts. Balanced: samples / (classes · samples of the class), over the classes
    that have samples, as scikit-learn has it; those without any do not count. Of steps, pixels and voxels likewise."""
    if options.class_weighting == "given":
        return torch.tensor(options.class_weights, dtype=torch.float32, device=targets.device)
    if options.class_weighting == "none":
        return None
    there = targets[targets != IGNORED]
    counts = torch.bincount(there, minlength=classes)
    weights = len(there) / ((counts > 0).sum() * counts.clamp(min=1)) * (counts > 0)
    return weights.to(torch.float32)
