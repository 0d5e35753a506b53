"""Fully sharded data parallel (torch's FSDP2): each worker holds a part of every weight, gradient and moment.

A layer's weights are gathered when it is computed and let go again behind it. The gradients are sums over the workers,
as everywhere here, so the numbers are those of data parallel.
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
from torch.distributed.tensor import DTensor, distribute_tensor

from engine.parallel.process_group import ProcessGroup
from engine.parallel.strategies.strategy import SolverState, State

LEAST_NUMBERS = 1024
"""A layer with fewer is gathered together with the rest of the network: a call of its own costs more than it saves."""


class Sharded:
    """The whole network wrapped, and each layer with many weights by itself."""

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

    def _sum_gradients(self, wanted: bool) -> None:
        assert isinstance(self._network, FSDPModule)
        self._network.set_requires_gradient_sync(wanted)

    def backward(self, loss: torch.Tensor) -> None:
        """Add to the gradients, which are summed over the workers meanwhile, a part for each."""
        torch.autograd.backward(loss * self._size)  # the mean over workers is taken

    def after_step(self, solver: SolverState) -> None:
        """Do nothing: each worker has updated its shards."""

    def synchronize(self, solver: SolverState) -> None:
        """Do nothing: all workers hold equal weights."""

    def state_dict(self) -> State:
        """Return a copy of the weights and statistics of the whole network. A collective."""
        return {key: _whole(value).clone() for key, value in self._network.state_dict().items()}

    def load_state_dict(self, state: State) -> None:
        """Give each worker its part of these."""
        mine = self._network.state_dict()
        self._network.load_state_dict({key: _part(value, mine[key]) for key, value in state.items()})

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """Return the solver's state for the whole network. A collective."""
        whole: dict[str, Any] = torch.utils._pytree.tree_map(_whole, solver.state_dict())
        return whole

    def load_solver_state(self, solver: SolverState, state: dict[str, Any]) -> None:
        """Restore the solver's state, each worker its shards."""
        optimizer = state["optimizer"]
        parameters = [p for p in self._network.parameters() if p.requires_grad]
        by_shape = {tuple(p.shape): p for p in parameters}
        moments = {
            number: {name: _part(value, by_shape.get(tuple(value.shape))) for name, value in kept.items()}
            for number, kept in optimizer["state"].items()
        }
        solver.load_state_dict({**state, "optimizer": {**optimizer, "state": moments}})


def _layers(network: nn.Module) -> list[nn.Module]:
    """The modules with weights of their own, if those are many."""
    return [
        module
        for module in network.modules()
        if module is not network and sum(p.numel() for p in module.parameters(recurse=False)) >= LEAST_NUMBERS
    ]


def _count(network: nn.Module, group: ProcessGroup) -> None:
    """Let the group know how long gathering weights and scattering gradients take, where nothing is computed beside."""
    for module in network.modules():
        if isinstance(module, FSDPModule):
            module.set_custom_all_gather(_Counted(group, _GATHER))  # type: ignore[arg-type]  # all of its two methods
            module.set_custom_reduce_scatter(_Counted(group, _SCATTER))  # type: ignore[arg-type]


# 2.13 renames both; the new names are unknown to 2.11.
_GATHER = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
_SCATTER = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor


class _Counted:
    """What FSDP2 calls to communicate: as its own, with the time counted."""

    def __init__(self, group: ProcessGroup, call: Callable[..., Any]) -> None:
        self._group, self._call = group, call

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Room for what is sent or comes."""
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, **how: Any) -> Any:
        """Send, and wait for it unless `async_op` says otherwise."""
        began = time.perf_counter()
        try:
            return self._call(output_tensor, input_tensor, **how)
        finally:
            self._group.add_communication_time(time.perf_counter() - began)


def _whole(value: Any) -> Any:
    return value.full_tensor().detach() if isinstance(value, DTensor) else value


def _part(value: Any, like: Any) -> Any:
    """This worker's part of a tensor, where `like` is in parts."""
    if not isinstance(like, DTensor) or not isinstance(value, torch.Tensor) or isinstance(value, DTensor):
        return value
    return distribute_tensor(value.to(like.device, like.dtype), like.device_mesh, like.placements, src_data_rank=None)
