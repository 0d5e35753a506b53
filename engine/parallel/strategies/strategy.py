"""What every strategy offers the trainer's step, and the choice of one."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch import nn

from engine.parallel.process_group import ProcessGroup
from engine.parallel.sync_batch_norm import Share
from engine.project.environment import EnvironmentOptions

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
    """Divides one step over the workers.

    Each worker's loss is the sum over its own samples divided by the samples of the whole batch, so that the gradient
    wanted is the sum over workers, however uneven their shares are. A batch may be computed in pieces: the gradients of
    all of them add up, and are summed over the workers with the last one.
    """

    @property
    def module(self) -> nn.Module:
        """The module to call in training."""

    def zero_grad(self) -> None:
        """Clear the gradients of the step before."""

    def no_sync(self) -> AbstractContextManager[Any]:
        """Accumulate gradients without communication in this context: of all micro-batches but the last."""

    def backward(self, loss: torch.Tensor) -> None:
        """Add to the gradients of all parameters; outside of `no_sync` they are those of the summed loss of all workers
        then."""

    def after_step(self, solver: SolverState) -> None:
        """Called after each step of the solver."""

    @property
    def is_replicated(self) -> bool:
        """Whether each worker holds all weights."""

    @property
    def measures_communication(self) -> bool:
        """Whether the group counts all communication: none of it overlaps with computing."""

    @property
    def is_synchronized(self) -> bool:
        """Whether all workers hold equal weights."""

    def synchronize(self, solver: SolverState) -> None:
        """Make the weights equal on all workers, before they are evaluated or saved. A collective."""

    def state_dict(self) -> State:
        """Return a copy of the weights and statistics of the whole network. A collective."""

    def load_state_dict(self, state: State) -> None:
        """Load weights and statistics of the whole network."""

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """Return the solver's state for the whole network. A collective."""

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
        """Always: all workers make the same steps."""
        return True

    def after_step(self, solver: SolverState) -> None:
        """Do nothing: all workers have made the same step."""

    def synchronize(self, solver: SolverState) -> None:
        """Do nothing: all workers hold equal weights."""

    def state_dict(self) -> State:
        """Return a copy of this worker's weights and statistics."""
        return {key: value.detach().clone() for key, value in self._network.state_dict().items()}

    def load_state_dict(self, state: State) -> None:
        """Load weights and statistics of the whole network."""
        self._network.load_state_dict(state)

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """Return the state of this worker's solver."""
        return solver.state_dict()

    def load_solver_state(self, solver: SolverState, state: dict[str, Any]) -> None:
        """Restore the solver's state."""
        solver.load_state_dict(state)


def form_of_data_parallel(options: EnvironmentOptions, device: torch.device, *, all_learn: bool = True) -> str:
    """`ddp` or `flat`. The former waits for every gradient, and so is not for parameters that get none, but it alone
    compresses."""
    compresses = options.gradient_compression != "none"
    return "ddp" if compresses or (device.type == "cuda" and all_learn) else "flat"


def strategy_for(
    options: EnvironmentOptions,
    network: nn.Module,
    group: ProcessGroup,
    device: torch.device,
    share: Share,
    name: str = "",
    called: nn.Module | None = None,
    *,
    all_learn: bool = True,
    is_static: bool = False,
) -> Strategy:
    """The strategy that the options ask for. Data parallel has two forms, of which the one is taken that is known to be
    fast here: see `flat` and `ddp`; `name` asks for one of them by name. `called` stands for the network in training,
    where that is another module with the same parameters; `all_learn`: each of these has a gradient in every step;
    `is_static`: all steps compute alike, and in one piece."""
    called = network if called is None else called
    if group.size == 1:
        from engine.parallel.strategies.single import Single

        return Single(network, called)
    wanted = name or options.strategy
    if wanted in ("auto", "data-parallel"):
        wanted = form_of_data_parallel(options, device, all_learn=all_learn)
    match wanted:
        case "fully-sharded":
            from engine.parallel.strategies.sharded import Sharded

            return Sharded(network, group, device, offload=options.cpu_offload)
        case "local-sgd":
            from engine.parallel.strategies.local_sgd import LocalSgd

            return LocalSgd(network, called, group, share, options.averaging_interval)
        case "flat":
            from engine.parallel.strategies.flat_all_reduce import FlatAllReduce

            return FlatAllReduce(network, called, group)
        case "ddp":
            from engine.parallel.strategies.ddp import Ddp

            return Ddp(
                network, called, group, device, options.gradient_compression, all_learn=all_learn, is_static=is_static
            )
    raise ValueError(f"There is no strategy '{wanted}'.")
