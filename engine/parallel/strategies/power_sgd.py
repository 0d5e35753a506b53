"""Gradients sent as matrices of rank one (PowerSGD, Vogels, Karimireddy and Jaggi, 2019), as a hook of torch's DDP.

A gradient M of n × m numbers is sent as two vectors of n and m: one turn of the power iteration p = M q, q = Mᵀ p over
the sums of all workers, which begins where the last step ended. What is left out of it each worker adds to its next
gradient. torch has a hook like it, experimental, that remembers all this by DDP's buckets, which are put together anew
after the first step: no run could go on with it. Here it is by parameter.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from engine.parallel.process_group import ProcessGroup

Bucket: Any = vars(dist)["GradBucket"]
"""What torch hands to a hook; its stubs do not know it."""
START = 10
"""So many steps send whole gradients first: the approximation does harm while those change a lot."""
WORTH = 2
"""A matrix is sent as vectors where that is less than one part of so many."""


class PowerSgd:
    """The hook, and what it remembers of each parameter by its number."""

    def __init__(self, ddp: DistributedDataParallel, group: ProcessGroup) -> None:
        self._rank, self._size = group.rank, group.size
        self._numbers = {parameter: number for number, parameter in enumerate(ddp.parameters())}
        self._steps = 0
        self._right: dict[int, torch.Tensor] = {}
        self._left_out: dict[int, torch.Tensor] = {}
        ddp.register_comm_hook(None, self.hook)

    def hook(self, state: None, bucket: Bucket) -> torch.futures.Future[torch.Tensor]:
        """The mean over the workers of the gradients in a bucket of DDP's."""
        if self._steps < START:
            self._sum([bucket.buffer()])
        else:
            known = zip(bucket.parameters(), bucket.gradients(), strict=True)
            gradients = {self._numbers[parameter]: gradient for parameter, gradient in known}
            matrices = {n: x.view(len(x), -1) for n, x in gradients.items() if _is_worth_it(x)}
            self._sum([x for n, x in gradients.items() if n not in matrices])
            self._approximate(matrices)
        self._steps += bucket.is_last()
        buffer = bucket.buffer()
        places = [buffer.device] if buffer.device.type != "cpu" else []
        done: torch.futures.Future[torch.Tensor] = torch.futures.Future(devices=places)
        done.set_result(buffer)
        return done

    def _approximate(self, matrices: dict[int, torch.Tensor]) -> None:
        """Put the means in the place of these, as far as they are of rank one."""
        # In memory of their own: where a gradient lies in a bucket decides how products round.
        wanted = {number: matrix + self._left_out.get(number, 0.0) for number, matrix in matrices.items()}
        rights = [_unit(self._right_of(number, own)) for number, own in wanted.items()]
        lefts = [own @ right for own, right in zip(wanted.values(), rights, strict=True)]
        self._sum(lefts)
        lefts = [_unit(left) for left in lefts]
        rights = [own.T @ left for own, left in zip(wanted.values(), lefts, strict=True)]
        self._sum(rights)
        for (number, own), left, right in zip(wanted.items(), lefts, rights, strict=True):
            mean = torch.outer(left, right)
            self._left_out[number] = own - mean
            self._right[number] = right
            matrices[number].copy_(mean)

    def _right_of(self, number: int, like: torch.Tensor) -> torch.Tensor:
        """Where the power iteration begins: the same on all workers."""
        if number not in self._right:
            drawn = torch.Generator().manual_seed(number)
            self._right[number] = torch.randn(like.shape[1], generator=drawn).to(like)
        return self._right[number]

    def _sum(self, tensors: list[torch.Tensor]) -> None:
        """Put the means over the workers in the place of these, which are sent together."""
        if not tensors:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors]) if len(tensors) > 1 else tensors[0].flatten()
        dist.all_reduce(flat)
        flat /= self._size
        for tensor, mean in zip(tensors, torch.split(flat, [tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(mean.view_as(tensor))

    def state_dict(self) -> dict[str, Any]:
        """Steps made, where the iteration goes on, and what each worker left out, for the first worker; the others have
        their own alone. A collective."""
        mine = {number: tensor.cpu() for number, tensor in self._left_out.items()}
        everyone: list[Any] | None = [None] * self._size if self._rank == 0 else None
        dist.gather_object(mine, everyone)
        right = {number: tensor.clone() for number, tensor in self._right.items()}
        return {"steps": self._steps, "right": right, "left_out": [mine] if everyone is None else everyone}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there. With another number of workers, what they left out is lost."""
        self._steps = int(state["steps"])
        self._right = self._placed(state["right"])
        left_out = state["left_out"]
        self._left_out = self._placed(left_out[self._rank]) if len(left_out) == self._size else {}

    def _placed(self, kept: dict[int, torch.Tensor]) -> dict[int, torch.Tensor]:
        """A copy where the parameters are."""
        places = {number: parameter.device for parameter, number in self._numbers.items()}
        return {int(number): tensor.detach().clone().to(places[int(number)]) for number, tensor in kept.items()}


def _is_worth_it(gradient: torch.Tensor) -> bool:
    rows = len(gradient) if gradient.dim() > 1 else 1
    return rows > 1 and WORTH * (rows + gradient.numel() // rows) < gradient.numel()


def _unit(vector: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(vector, dim=0)
