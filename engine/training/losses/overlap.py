"""Losses of overlap: how far what is found and what is there lie on each other. The outputs are logits.

Each sample is looked at by itself. p are probabilities, t is 1 where the class is and 0 elsewhere; sums go over the
places that count.
"""

import torch
from torch.nn import functional

from engine.data.facts import IGNORED

EPSILON = 1e-6
"""Keeps a class that is neither found nor there from dividing zero by zero: it overlaps entirely."""


def dice(output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
    """1 - the mean over classes, weighted, of 2 Σ p t / (Σ p² + Σ t²).

    Milletari et al., V-Net, 2016, section 3.
    """
    both, each = _sums(output, target)
    overlap = (2 * both + EPSILON) / (each + EPSILON)
    if weight is None:
        return (1 - overlap.mean(1)).sum()
    return (1 - (overlap * weight).sum(1) / weight.sum()).sum()


def generalized_dice(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """1 - 2 Σ w Σ p t / Σ w (Σ p² + Σ t²) over classes, w being 1 / (Σ t)²: small classes count as much as large ones.
    A class that is not there has the largest weight of those that are. MATLAB's generalizedDice.

    Sudre et al., Generalised Dice overlap as a deep learning loss function, 2017; squared as in Crum et al., 2006.
    """
    both, each = _sums(output, target)
    _, _, there = _places(output, target)
    weight = torch.where(there > 0, there.clamp(min=1), torch.inf).square().reciprocal()
    weight = torch.where(there > 0, weight, weight.amax(1, keepdim=True).expand_as(weight))
    overlap = (2 * (weight * both).sum(1) + EPSILON) / ((weight * each).sum(1) + EPSILON)
    return (1 - overlap).sum()


def _sums(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Σ p t and Σ p² + Σ t² of each sample and class."""
    p, t, there = _places(output, target)
    return (p * t).sum(2), p.square().sum(2) + there


def _places(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """p and t (samples × classes × places), zero at places that do not count, and Σ t. Targets that are no class
    numbers are labels, each by itself."""
    if target.is_floating_point():
        counted = ~target.isnan()
        p, t = torch.sigmoid(output), torch.where(counted, target, 0.0)
    else:
        counted = (target != IGNORED).unsqueeze(1)
        p = torch.softmax(output, 1)
        t = functional.one_hot(target.clamp(min=0), output.shape[1]).movedim(-1, 1).to(p.dtype) * counted
    # Behind the end of a sequence an output may be anything, even no number.
    p = torch.where(counted, p, 0.0)
    shape = (len(p), p.shape[1], p[0, 0].numel() if len(p) else 1)
    p, t = p.reshape(shape), t.reshape(shape)
    return p, t, t.sum(2)
