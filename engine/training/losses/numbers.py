"""Losses of numbers. Where a target is NaN, nothing counts."""

import torch
from torch.nn import functional

from engine.training.losses.counting import known, over_samples


def half_mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """MATLAB's mse: half the squared error, summed over the responses of a sample, mean over its steps or pixels."""
    if target.dim() == 2:
        return 0.5 * (output - target).square().sum()
    output, target, counted = known(output, target)
    return 0.5 * over_samples((output - target).square(), counted.any(1))


def mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """torch's MSELoss: the squared error, mean over all numbers of a sample."""
    if target.dim() == 2:
        return (output - target).square().sum() / target.shape[1]
    output, target, counted = known(output, target)
    return over_samples((output - target).square(), counted)


def mae(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The absolute error, mean over all numbers of a sample."""
    if target.dim() == 2:
        return (output - target).abs().sum() / target.shape[1]
    output, target, counted = known(output, target)
    return over_samples((output - target).abs(), counted)


def huber(output: torch.Tensor, target: torch.Tensor, delta: float = 1.0) -> torch.Tensor:
    """Half the squared error where it is below delta, a line of that slope beyond, mean over all numbers of a
    sample."""
    if target.dim() == 2:
        return functional.huber_loss(output, target, reduction="sum", delta=delta) / target.shape[1]
    output, target, counted = known(output, target)
    return over_samples(functional.huber_loss(output, target, reduction="none", delta=delta), counted)
