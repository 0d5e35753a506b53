"""What every strategy offers the trainer's step, and the choice of one."""

from typing import Protocol

import torch
from torch import nn

from engine.environments.gang import Gang


class Strategy(Protocol):
    """Divides one step over the workers.

    Each worker's loss is the sum over its own samples divided by the samples of the whole batch, so that the gradient
    wanted is the sum over workers, however uneven their shares are.
    """

    @property
    def module(self) -> nn.Module:
        """What is called in training."""

    def backward(self, loss: torch.Tensor) -> None:
        """Replace the gradients of all parameters by those of the summed loss of all workers."""


def strategy_for(name: str, network: nn.Module, gang: Gang, device: torch.device) -> Strategy:
    """The strategy of this name; empty means the one that is known to be fast here: see `flat` and `ddp`."""
    if gang.size == 1:
        from engine.environments.strategies.single import Single

        return Single(network)
    match name or ("ddp" if device.type == "cuda" else "flat"):
        case "flat":
            from engine.environments.strategies.flat import Flat

            return Flat(network, gang)
        case "ddp":
            from engine.environments.strategies.ddp import Ddp

            return Ddp(network, gang, device)
    raise ValueError(f"There is no strategy '{name}'.")
