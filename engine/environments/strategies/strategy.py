"""What every strategy offers the trainer's step, and the choice of one."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch import nn

from engine.environments.gang import Gang


class Strategy(Protocol):
    """Divides one step over the workers.

    Each worker's loss is the sum over its own samples divided by the samples of the whole batch, so that the gradient
    wanted is the sum over workers, however uneven their shares are. A batch may be computed in pieces: the gradients of
    all of them add up, and are summed over the workers with the last one.
    """

    @property
    def module(self) -> nn.Module:
        """What is called in training."""

    def clear(self) -> None:
        """Forget the gradients of the step before."""

    def apart(self) -> AbstractContextManager[Any]:
        """In here forward and backward are those of a piece that is not the last one."""

    def backward(self, loss: torch.Tensor) -> None:
        """Add to the gradients of all parameters; outside of `apart` they are those of the summed loss of all workers
        then."""


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
