"""Gradient clipping: by the norm of each, by the global norm, or by value. Never waits for the device."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import nn

from netwright.engine.parallel.process_group import ProcessGroup, SingleProcess
from netwright.engine.parallel.tensor_shards import is_sharded, local_shard
from netwright.engine.project.training import TrainingOptions

Clip = Callable[[], None]
WholeNorms = Callable[[torch.Tensor], torch.Tensor]
"""Maps the norms of this worker's shards of gradients to those of the whole gradients."""


def gradient_clip(
    options: TrainingOptions,
    parameters: Iterable[nn.Parameter],
    group: ProcessGroup | None = None,
    *,
    in_stages: bool = False,
) -> Clip | None:
    """Return a function that clips the gradients of these parameters in place, or None where there is no limit.

    The group sums norms where workers hold shards of each gradient, or `in_stages` the gradients of pipeline stages.
    """
    limit = options.gradient_threshold
    if math.isinf(limit):
        return None
    clip = {"l2norm": each_norm, "global-l2norm": global_norm, "absolute-value": each_element}
    method, tensors = clip[options.gradient_threshold_method], list(parameters)

    def sum_parts(norms: torch.Tensor) -> torch.Tensor:
        return (group or SingleProcess()).all_reduce(norms.square()).sqrt()

    def of_all_stages(norms: torch.Tensor) -> torch.Tensor:
        return (group or SingleProcess()).all_reduce(norms.square().sum()).sqrt()

    joins_stages = in_stages and method is global_norm

    def run() -> None:
        gradients = [p.grad for p in tensors if p.grad is not None]
        if not gradients:
            if joins_stages:
                of_all_stages(torch.zeros(1, device=tensors[0].device))  # the others wait for it
            return
        if is_sharded(gradients[0]):  # each worker has a shard of each
            method([local_shard(gradient) for gradient in gradients], limit, sum_parts)
        else:
            method(gradients, limit, of_all_stages if joins_stages else _as_they_are)

    return run


def _as_they_are(norms: torch.Tensor) -> torch.Tensor:
    return norms


def each_norm(gradients: list[torch.Tensor], limit: float, whole: WholeNorms = _as_they_are) -> None:
    """Scale each gradient whose norm is above the limit down to the limit."""
    norms = whole(torch.stack(list(torch._foreach_norm(gradients))))
    torch._foreach_mul_(gradients, list((limit / norms).clamp(max=1.0).unbind()))


def global_norm(gradients: list[torch.Tensor], limit: float, whole: WholeNorms = _as_they_are) -> None:
    """Scale all gradients by one factor if their global norm is above the limit."""
    norm = torch.linalg.vector_norm(whole(torch.stack(list(torch._foreach_norm(gradients)))))
    torch._foreach_mul_(gradients, (limit / norm).clamp(max=1.0))


def each_element(gradients: list[torch.Tensor], limit: float, whole: WholeNorms = _as_they_are) -> None:
    """Clamp each element to between minus the limit and the limit."""
    torch._foreach_clamp_min_(gradients, -limit)
    torch._foreach_clamp_max_(gradients, limit)
