"""Detects steps whose loss or gradients are not finite, before the solver updates the weights."""

import torch
from torch import nn

from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.tensor_shards import local_shard
from netwright.engine.project.training import TrainingOptions


class NanCheck:
    """Checks every step on all workers together. Waits for the device at every step.

    Running statistics of batch normalisation are put back for a step that is skipped.
    """

    def __init__(self, network: nn.Module, group: ProcessGroup, *, skips: bool, is_exact: bool = False) -> None:
        """`skips`: the run goes on after a bad step, which is left out; otherwise the step is only prevented.

        `is_exact`: each gradient element is checked, which takes longer; otherwise the norm of each gradient, which may
        overflow although all elements are finite.
        """
        self.skips = skips
        self._is_exact = is_exact
        self._group = group
        self._parameters = [p for p in network.parameters() if p.requires_grad]
        self._buffers = list(network.buffers())
        self._copies = [buffer.clone() for buffer in self._buffers]

    def before(self) -> None:
        """Copy the running statistics, before a step."""
        for copy, buffer in zip(self._copies, self._buffers, strict=True):
            copy.copy_(buffer)

    def is_finite(self, loss: torch.Tensor, *, with_gradients: bool = True) -> bool:
        """Return whether loss and gradients of all workers are finite. A collective."""
        good = torch.isfinite(loss).all()
        gradients = [local_shard(p.grad) for p in self._parameters if p.grad is not None] if with_gradients else []
        if gradients and self._is_exact:
            good = good & torch.stack([gradient.isfinite().all() for gradient in gradients]).all()
        elif gradients:
            good = good & torch.isfinite(torch.stack(list(torch._foreach_norm(gradients)))).all()
        bad = self._group.all_reduce((~good).to(torch.float32).reshape(1))
        return not bool(bad.item())

    def undo(self) -> None:
        """Put the running statistics back, after a step that was skipped."""
        for copy, buffer in zip(self._copies, self._buffers, strict=True):
            buffer.copy_(copy)


def nan_check_for(options: TrainingOptions, network: nn.Module, group: ProcessGroup) -> NanCheck | None:
    """Return the check that the options ask for, if any."""
    if options.non_finite_loss == "stop":
        return None
    return NanCheck(network, group, skips=options.non_finite_loss == "skip")
