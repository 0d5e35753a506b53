"""Interface of the parallel strategies to the train step."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch import nn

State = dict[str, torch.Tensor]


class SolverState(Protocol):
    """The state of a solver."""

    def moments(self) -> Iterator[torch.Tensor]:
        """Yield all moments of past gradients, to be changed in place."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state to be saved."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state."""


class Strategy(Protocol):
    """Strategy that divides one train step over the workers.

    Each worker's loss is the sum over its own samples divided by the samples of the whole batch, so that the gradient
    of the step is the sum over workers, however uneven their shares are. A batch may be computed in micro-batches:
    their gradients are accumulated, and summed over the workers with the last one.
    """

    @property
    def module(self) -> nn.Module:
        """The module to call in training."""

    def zero_grad(self) -> None:
        """Clear the gradients of the previous step."""

    def no_sync(self) -> AbstractContextManager[Any]:
        """Accumulate gradients without communication in this context: of all micro-batches but the last."""

    def backward(self, loss: torch.Tensor) -> None:
        """Accumulate the gradients of all parameters.

        Outside of `no_sync` they are afterwards the gradients of the loss summed over all workers.
        """

    def after_step(self, solver: SolverState) -> None:
        """Finish a step; called after each step of the solver."""

    @property
    def is_replicated(self) -> bool:
        """Return whether each worker holds all weights."""

    @property
    def measures_communication(self) -> bool:
        """Return whether the group measures all communication time, none of which overlaps with computing."""

    @property
    def is_synchronized(self) -> bool:
        """Return whether all workers hold equal weights."""

    def synchronize(self, solver: SolverState) -> None:
        """Make the weights equal on all workers, before they are evaluated or saved. A collective."""

    def state_dict(self) -> State:
        """Return a copy of the weights and statistics of the whole network. A collective."""

    def checkpoint_state(self) -> State:
        """Return weights and statistics for a checkpoint: sharded tensors where workers hold shards, else a copy of the
        whole network. A collective."""

    def load_state_dict(self, state: State) -> None:
        """Load weights and statistics of the whole network."""

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """Return the solver's state: sharded tensors where workers hold shards, else that for the whole network. A
        collective."""

    def load_solver_state(self, solver: SolverState, state: dict[str, Any]) -> None:
        """Restore the solver's state."""


class Replicated:
    """Base of strategies whose workers each hold the whole network, equal after every step."""

    is_replicated = True
    measures_communication = True

    def __init__(self, network: nn.Module) -> None:
        self._network = network

    @property
    def is_synchronized(self) -> bool:
        """Return True: all workers make the same steps."""
        return True

    def after_step(self, solver: SolverState) -> None:
        """Do nothing: all workers have made the same step."""

    def synchronize(self, solver: SolverState) -> None:
        """Do nothing: all workers hold equal weights."""

    def state_dict(self) -> State:
        """Return a copy of this worker's weights and statistics."""
        return {key: value.detach().clone() for key, value in self._network.state_dict().items()}

    def checkpoint_state(self) -> State:
        """Return the same as `state_dict`."""
        return self.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Load weights and statistics of the whole network."""
        self._network.load_state_dict(state)

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """Return the state of this worker's solver."""
        return solver.state_dict()

    def load_solver_state(self, solver: SolverState, state: dict[str, Any]) -> None:
        """Restore the solver's state."""
        solver.load_state_dict(state)
