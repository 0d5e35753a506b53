"""Fully sharded data parallel (torch's FSDP2): each worker holds a shard of every weight, gradient and moment.

A layer's weights are gathered before it is computed and freed afterwards. The gradients are sums over the workers, as
in the other strategies, so the results are those of data parallel.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, FSDPModule, OffloadPolicy, fully_shard

from netwright.engine.parallel.process_group import ProcessGroup
from netwright.engine.parallel.strategies.strategy import SolverState, State
from netwright.engine.parallel.tensor_shards import shard_like, whole

LEAST_NUMBERS = 1024
"""Minimum number of parameters of a layer that is sharded by itself. Smaller layers are gathered with the rest of the
network, since a separate call costs more than it saves."""


class Sharded:
    """Fully sharded strategy: wraps the whole network, and each layer with many weights by itself."""

    is_replicated = False
    is_synchronized = True

    def __init__(self, network: nn.Module, group: ProcessGroup, device: torch.device, *, offload: bool = False) -> None:
        mesh = init_device_mesh(device.type, (group.size,))
        policy = CPUOffloadPolicy() if offload and device.type != "cpu" else OffloadPolicy()
        for module in _layers(network):
            fully_shard(module, mesh=mesh, offload_policy=policy)
        fully_shard(network, mesh=mesh, offload_policy=policy)
        self.measures_communication = device.type == "cpu"
        if self.measures_communication:
            _count(network, group)
        self.module = network
        self._size = group.size
        self._network = network

    def zero_grad(self) -> None:
        """Clear the gradients."""
        self._network.zero_grad(set_to_none=True)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate gradients without communication in this context."""
        self._sum_gradients(False)
        try:
            yield
        finally:
            self._sum_gradients(True)

    def _sum_gradients(self, is_on: bool) -> None:
        assert isinstance(self._network, FSDPModule)
        self._network.set_requires_gradient_sync(is_on)

    def backward(self, loss: torch.Tensor) -> None:
        """Accumulate the gradients, summed over the workers and sharded between them."""
        torch.autograd.backward(loss * self._size)  # FSDP2 averages over the workers

    def after_step(self, solver: SolverState) -> None:
        """Do nothing: each worker has updated its shard."""

    def synchronize(self, solver: SolverState) -> None:
        """Do nothing: all workers hold equal weights."""

    def state_dict(self) -> State:
        """Return a copy of the weights and statistics of the whole network. A collective."""
        return {key: whole(value).clone() for key, value in self._network.state_dict().items()}

    def checkpoint_state(self) -> State:
        """Return the weights and statistics, of which each worker saves its shards. They change with the next step."""
        return dict(self._network.state_dict())

    def load_state_dict(self, state: State) -> None:
        """Load this worker's shards of the weights and statistics."""
        shards = self._network.state_dict()
        self._network.load_state_dict({key: shard_like(value, shards[key]) for key, value in state.items()})

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """Return the solver's state, of which each worker saves its shards."""
        return solver.state_dict()

    def load_solver_state(self, solver: SolverState, state: dict[str, Any]) -> None:
        """Restore this worker's shards of the solver's state."""
        optimizer = state["optimizer"]
        parameters = [p for p in self._network.parameters() if p.requires_grad]
        by_shape = {tuple(p.shape): p for p in parameters}
        moments = {
            number: {
                name: shard_like(value, by_shape.get(tuple(value.shape), value)) for name, value in state_of.items()
            }
            for number, state_of in optimizer["state"].items()
        }
        solver.load_state_dict({**state, "optimizer": {**optimizer, "state": moments}})


def _layers(network: nn.Module) -> list[nn.Module]:
    """Return the modules other than the network itself that own at least `LEAST_NUMBERS` parameters."""
    return [
        module
        for module in network.modules()
        if module is not network and sum(p.numel() for p in module.parameters(recurse=False)) >= LEAST_NUMBERS
    ]


def _count(network: nn.Module, group: ProcessGroup) -> None:
    """Add the time of all-gather and reduce-scatter to the group's communication time.

    Used where communication does not overlap with computing.
    """
    for module in network.modules():
        if isinstance(module, FSDPModule):
            module.set_custom_all_gather(_Counted(group, _GATHER))  # type: ignore[arg-type]  # all of its two methods
            module.set_custom_reduce_scatter(_Counted(group, _SCATTER))  # type: ignore[arg-type]


# 2.13 renames both; the new names are unknown to 2.11.
_GATHER = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
_SCATTER = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor


class _Counted:
    """Communication hook of FSDP2: the default collective, with its time measured."""

    def __init__(self, group: ProcessGroup, call: Callable[..., Any]) -> None:
        self._group, self._call = group, call

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Allocate a buffer to send from or receive into."""
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, **how: Any) -> Any:
        """Run the collective, blocking unless `async_op` is set, and add its time to the communication time."""
        start = time.perf_counter()
        try:
            return self._call(output_tensor, input_tensor, **how)
        finally:
            self._group.add_communication_time(time.perf_counter() - start)
