"""Data parallel by torch's DistributedDataParallel, which overlaps communication with backward: for GPUs over nccl."""

import contextlib
import warnings
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from engine.environments.gang import Gang
from engine.environments.strategies.strategy import Whole

POWER_SGD_FROM = 10
"""So many steps send whole gradients first: the approximation does harm while those change a lot."""


class Ddp(Whole):
    """DDP averages over workers where the sum is wanted, so the loss is multiplied by their number."""

    sends_in_turn = False

    def __init__(
        self, network: nn.Module, called: nn.Module, gang: Gang, device: torch.device, compression: str = "none"
    ) -> None:
        super().__init__(network)
        self._size = gang.size
        with warnings.catch_warnings():
            # 2.13 renames broadcast_buffers; the new name is unknown to 2.11.
            warnings.simplefilter("ignore", FutureWarning)
            # Buffers are equal on all workers anyway: batch statistics are synchronised where they are computed.
            self._ddp = DistributedDataParallel(
                called,
                device_ids=[device.index] if device.type == "cuda" else None,
                broadcast_buffers=False,
                gradient_as_bucket_view=True,
            )

        self._compress(compression)

    def _compress(self, compression: str) -> None:
        """Hooks of torch's that send gradients as halves, or as matrices of rank one."""
        if compression == "none":
            return
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

        if compression == "fp16":
            self._ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)
        else:
            state = powerSGD_hook.PowerSGDState(
                None, matrix_approximation_rank=1, start_powerSGD_iter=POWER_SGD_FROM, min_compression_rate=2
            )
            self._ddp.register_comm_hook(state, powerSGD_hook.powerSGD_hook)

    @property
    def module(self) -> nn.Module:
        """What is called in training."""
        return self._ddp

    def clear(self) -> None:
        """Forget the gradients."""
        self._ddp.zero_grad(set_to_none=True)

    def apart(self) -> contextlib.AbstractContextManager[Any]:
        """Nothing is summed in here."""
        return self._ddp.no_sync()

    def backward(self, loss: torch.Tensor) -> None:
        """Add to the gradients, which are summed over the workers meanwhile."""
        torch.autograd.backward(loss * self._size)
