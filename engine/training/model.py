"""The network being trained with everything that its weights depend on: strategy, solver, precision, averages."""

import contextlib
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn

from netwright.engine.data.loading.batches import Tensors
from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.strategies.strategy import State, Strategy
from netwright.engine.training.levenberg_marquardt import LevenbergMarquardt
from netwright.engine.training.precision import Precision
from netwright.engine.training.solvers import Solver
from netwright.engine.training.weight_averaging import Average, BatchStatistics


class TrainedModel:
    """State of a training: network, solver and precision, as steps change it and checkpoints hold it."""

    def __init__(
        self,
        network: nn.Module,
        strategy: Strategy,
        solver: Solver | LevenbergMarquardt,
        group: ProcessGroup,
        precision: Precision | None = None,
        *,
        average: Average | None = None,
        statistics: BatchStatistics | None = None,
    ) -> None:
        """`average` is evaluated and kept instead of the weights; `statistics` are measured for the network kept."""
        self.network = network
        self.strategy = strategy
        self.solver = solver
        self.group = group
        self.precision = precision or Precision("fp32", torch.device("cpu"), group)
        self._average = average
        self._statistics = statistics
        network.train()

    @property
    def device(self) -> torch.device:
        """Return the device of the weights."""
        return next(self.network.parameters()).device

    def training_output(self, *inputs: torch.Tensor) -> torch.Tensor | Tensors:
        """Compute the outputs in training, where the strategy may take part."""
        return self.precision.call(self.strategy.module, *inputs)

    def after_step(self, step: int) -> None:
        """Let strategy and average follow the solver, after this step (from 0)."""
        self.strategy.after_step(self.solver)
        if self._average is not None:
            self._average.after_step(step)

    def averaged(self, *, fresh: bool = False) -> AbstractContextManager[None]:
        """Return a context in which the network has the weights that are evaluated and kept."""
        return contextlib.nullcontext() if self._average is None else self._average.applied(fresh=fresh)

    def synchronize(self) -> None:
        """Make all workers hold the same weights. A collective."""
        self.strategy.synchronize(self.solver)

    def finalize(self) -> bool:
        """Give the network the weights that are kept, for good: the average, and new batch statistics.

        Returns whether statistics were measured, so that the network is to be evaluated again. A collective.
        """
        if self._average is not None:
            self._average.put(fresh=True)
            self._average = None
        return self._statistics is not None and self._statistics.measure()

    def state(self) -> State:
        """Return a copy of the weights and statistics that are kept. A collective where workers hold shards."""
        with self.averaged():
            return self.strategy.state_dict()

    def load(self, state: State) -> None:
        """Set the weights and statistics."""
        self.strategy.load_state_dict(state)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that training changes. A collective."""
        return {
            "network": self.strategy.checkpoint_state(),
            "solver": self.strategy.solver_state(self.solver),
            "scale": self.precision.state_dict(),
            "average": self._average.state_dict() if self._average is not None else {},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state of a checkpoint."""
        self.load(state["network"])
        self.strategy.load_solver_state(self.solver, state["solver"])
        self.precision.load_state_dict(state["scale"])
        if self._average is not None:
            self._average.load_state_dict(state["average"])

    def restart(self, state: State, solver: Solver, scale: dict[str, Any]) -> None:
        """Go back to before the first step: with these weights, a new solver, this loss scale and a new average."""
        self.load(state)
        self.solver = solver
        if self._average is not None:
            self._average.restart()
        self.precision.load_state_dict(scale)
