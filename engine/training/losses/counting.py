"""Means over what counts."""

import torch


def over_samples(each: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    """The sum over samples of the mean over what counts of each; nothing where nothing counts. Where it does not
    count, `each` holds zeros."""
    count = counted.flatten(1).sum(1).clamp(min=1)
    return (each.flatten(1).sum(1) / count).sum()


def known(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Output and target with zeros where the target is NaN, and where it is not. No gradient goes where it is."""
    counted = ~target.isnan()
    return torch.where(counted, output, 0.0), torch.where(counted, target, 0.0), counted
