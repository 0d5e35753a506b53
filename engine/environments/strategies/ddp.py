"""Data parallel by torch's DistributedDataParallel, which overlaps communication with backward: for GPUs over nccl."""

import contextlib
import warnings
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from engine.environments.gang import Gang


class Ddp:
    """DDP averages over workers where the sum is wanted, so the loss is multiplied by their number."""

    def __init__(self, network: nn.Module, gang: Gang, device: torch.device) -> None:
        self._size = gang.size
        with warnings.catch_warnings():
            # 2.13 renames broadcast_buffers; the new name is unknown to 2.11.
            warnings.simplefilter("ignore", FutureWarning)
            # Buffers are equal on all workers anyway: batch statistics are synchronised where they are computed.
            self._ddp = DistributedDataParallel(
                network,
                device_ids=[device.index] if device.type == "cuda" else None,
                broadcast_buffers=False,
                gradient_as_bucket_view=True,
            )

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
