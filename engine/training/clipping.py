"""Limits for gradients: the norm of each, the norm of all, or each element. Never waits for the device."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import nn

from engine.project.training import TrainingOptions

Clip = Callable[[], None]


def clipping(options: TrainingOptions, parameters: Iterable[nn.Parameter]) -> Clip | None:
    """What clips the gradients of these parameters in place, or None where there is no limit."""
    limit = options.gradient_threshold
    if math.isinf(limit):
        return None
    clip = {"l2norm": each_norm, "global-l2norm": global_norm, "absolute-value": each_element}
    method, chosen = clip[options.gradient_threshold_method], list(parameters)

    def run() -> None:
        gradients = [p.grad for p in chosen if p.grad is not None]
        if gradients:
            method(gradients, limit)

    return run


def each_norm(gradients: list[torch.Tensor], limit: float) -> None:
    """Shorten each gradient whose norm is above the limit to the limit."""
    norms = torch.stack(list(torch._foreach_norm(gradients)))
    torch._foreach_mul_(gradients, list((limit / norms).clamp(max=1.0).unbind()))


def global_norm(gradients: list[torch.Tensor], limit: float) -> None:
    """Shorten all gradients by one factor if the norm over all of them is above the limit."""
    norm = torch.linalg.vector_norm(torch.stack(list(torch._foreach_norm(gradients))))
    torch._foreach_mul_(gradients, (limit / norm).clamp(max=1.0))


def each_element(gradients: list[torch.Tensor], limit: float) -> None:
    """Cut each element to between minus the limit and the limit."""
    torch._foreach_clamp_min_(gradients, -limit)
    torch._foreach_clamp_max_(gradients, limit)
