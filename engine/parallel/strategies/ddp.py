"""Data parallel by torch's DistributedDataParallel, which overlaps communication with backward: for GPUs over nccl."""

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from engine.parallel.process_group import ProcessGroup
from engine.parallel.strategies.strategy import Replicated, SolverState

if TYPE_CHECKING:
    from engine.parallel.strategies.power_sgd import PowerSgd


COMPRESSION = "compression"
"""What the hook remembers stands beside what the solver does."""


class Ddp(Replicated):
    """DDP averages over workers where the sum is wanted, so the loss is multiplied by their number."""

    measures_communication = False

    def __init__(
        self,
        network: nn.Module,
        called: nn.Module,
        group: ProcessGroup,
        device: torch.device,
        compression: str = "none",
        *,
        all_learn: bool = True,
        is_static: bool = False,
    ) -> None:
        """`all_learn`: every parameter has a gradient in every step. Else torch looks which have none: in the first
        step where all steps compute alike and in one piece (`is_static`), otherwise in each."""
        super().__init__(network)
        self._size = group.size
        with warnings.catch_warnings():
            # 2.13 renames broadcast_buffers; the new name is unknown to 2.11.
            warnings.simplefilter("ignore", FutureWarning)
            # Buffers are equal on all workers anyway: batch statistics are synchronised where they are computed.
            self._ddp = DistributedDataParallel(
                called,
                device_ids=[device.index] if device.type == "cuda" else None,
                broadcast_buffers=False,
                gradient_as_bucket_view=True,
                find_unused_parameters=not (all_learn or is_static),
                static_graph=is_static and not all_learn,
            )
        self._power_sgd: PowerSgd | None = None
        self._compress(compression, group)

    def _compress(self, compression: str, group: ProcessGroup) -> None:
        """Hooks that send gradients as halves, or as matrices of rank one."""
        if compression == "fp16":
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            self._ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)
        elif compression == "power-sgd":
            from engine.parallel.strategies.power_sgd import PowerSgd

            self._power_sgd = PowerSgd(self._ddp, group)

    @property
    def module(self) -> nn.Module:
        """What is called in training."""
        return self._ddp

    def zero_grad(self) -> None:
        """Forget the gradients."""
        self._ddp.zero_grad(set_to_none=True)

    def no_sync(self) -> contextlib.AbstractContextManager[Any]:
        """Nothing is summed in here."""
        return self._ddp.no_sync()

    def backward(self, loss: torch.Tensor) -> None:
        """Add to the gradients, which are summed over the workers meanwhile."""
        torch.autograd.backward(loss * self._size)

    def solver_state(self, solver: SolverState) -> dict[str, Any]:
        """With what compression remembers. A collective."""
        state = super().solver_state(solver)
        return state if self._power_sgd is None else {**state, COMPRESSION: self._power_sgd.state_dict()}

    def load_solver_state(self, solver: SolverState, state: dict[str, Any]) -> None:
        """Let the solver go on from there, and the compression, if there was one."""
        super().load_solver_state(solver, state)
        if self._power_sgd is not None and COMPRESSION in state:
            self._power_sgd.load_state_dict(state[COMPRESSION])
