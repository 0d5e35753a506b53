"""Data parallel by torch's DistributedDataParallel, which overlaps communication with backward: for GPUs over nccl."""

import contextlib
import warnings
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.strategies.strategy import Replicated


class Ddp(Replicated):
    """DistributedDataParallel strategy.

    The loss is multiplied by the number of workers, since DDP averages gradients and a step needs their sum.
    """

    measures_communication = False

    def __init__(
        self,
        network: nn.Module,
        forward_module: nn.Module,
        group: ProcessGroup,
        compression: str = "none",
        *,
        all_learn: bool = True,
        is_static: bool = False,
    ) -> None:
        """Wrap a network in DDP.

        all_learn: every parameter has a gradient in every step. Otherwise torch finds the parameters without one: in
        the first step if all steps run the same computation without micro-batches (`is_static`), else in each step.
        """
        super().__init__(network)
        self._size = group.size
        with warnings.catch_warnings():
            # 2.13 renames broadcast_buffers; the new name is unknown to 2.11.
            warnings.simplefilter("ignore", FutureWarning)
            # Buffers are equal on all workers anyway: batch statistics are synchronised where they are computed.
            self._ddp = DistributedDataParallel(
                forward_module,
                broadcast_buffers=False,
                gradient_as_bucket_view=True,
                find_unused_parameters=not (all_learn or is_static),
                static_graph=is_static and not all_learn,
            )
        if compression == "fp16":
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            self._ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)

    @property
    def module(self) -> nn.Module:
        """Return the module to call in training."""
        return self._ddp

    def zero_grad(self) -> None:
        """Clear the gradients."""
        self._ddp.zero_grad(set_to_none=True)

    def no_sync(self) -> contextlib.AbstractContextManager[Any]:
        """Accumulate gradients without communication in this context."""
        return self._ddp.no_sync()

    def backward(self, loss: torch.Tensor) -> None:
        """Accumulate the gradients, summed over the workers during the backward pass."""
        torch.autograd.backward(loss * self._size)
