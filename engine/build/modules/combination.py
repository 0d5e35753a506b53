"""Several tensors into one."""

import torch


def add_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The sum of any number of tensors, from left to right."""
    for other in others:
        first = first + other
    return first


def multiply_all(first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """The product of any number of tensors, from left to right."""
    for other in others:
        first = first * other
    return first
