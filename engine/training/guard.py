"""Steps whose loss or gradients are no numbers: found before the weights move, left out, and traced to a layer."""

import contextlib
from typing import Any

import torch
from torch import fx, nn

from engine.build.module import LAYER
from engine.environments.gang import Gang
from engine.project.training import TrainingOptions
from engine.training.batches import Batch


class Guard:
    """Looks at every step before the weights move. All workers come to the same answer.

    It waits for the device at every step. Statistics of batch normalisation are put back for a step that is left out.
    """

    def __init__(self, network: nn.Module, gang: Gang, *, skips: bool, exact: bool = False) -> None:
        """`skips`: a bad step is left out; otherwise it is only found before it does harm. `exact`: gradients are good
        as long as each is a number, even where the norm of them is too large to be one; that takes longer."""
        self.skips = skips
        self._exact = exact
        self._network = network
        self._gang = gang
        self._parameters = [p for p in network.parameters() if p.requires_grad]
        self._buffers = list(network.buffers())
        self._kept = [buffer.clone() for buffer in self._buffers]

    def before(self) -> None:
        """A step begins."""
        for kept, buffer in zip(self._kept, self._buffers, strict=True):
            kept.copy_(buffer)

    def is_good(self, loss: torch.Tensor, *, with_gradients: bool = True) -> bool:
        """Whether the step may be made. A collective."""
        good = torch.isfinite(loss).all()
        gradients = [p.grad for p in self._parameters if p.grad is not None] if with_gradients else []
        if gradients and self._exact:
            good = good & torch.stack([gradient.isfinite().all() for gradient in gradients]).all()
        elif gradients:
            good = good & torch.isfinite(torch.stack(list(torch._foreach_norm(gradients)))).all()
        bad = self._gang.sum((~good).to(torch.float32).reshape(1))
        return not bool(bad.item())

    def undo(self) -> None:
        """The step was not made."""
        for kept, buffer in zip(self._kept, self._buffers, strict=True):
            buffer.copy_(kept)


def guard_for(options: TrainingOptions, network: nn.Module, gang: Gang) -> Guard | None:
    """The guard that the options ask for, if any."""
    if options.non_finite_loss == "stop":
        return None
    return Guard(network, gang, skips=options.non_finite_loss == "skip")


class _FoundError(Exception):
    """The node whose output is the first that is no number."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(name)
        self.kind, self.name = kind, name  # torch.fx adds words of its own to the arguments


class _Tracer(fx.Interpreter):
    """Runs a network node by node."""

    def run_node(self, n: fx.Node) -> Any:
        given = super().run_node(n)
        for value in given if isinstance(given, tuple) else (given,):
            if isinstance(value, torch.Tensor) and value.is_floating_point() and not bool(torch.isfinite(value).all()):
                raise _FoundError(n.op, str(n.meta.get(LAYER) or (n.target if n.op == "call_module" else n.name)))
        return given


@torch.no_grad()
def first_bad(network: nn.Module, batch: Batch) -> str:
    """In words, what is the first that is no number when this batch goes through the network as it is now, or nothing
    where all is finite, or can be told of no layer because every weight has gone."""
    weights = [bool(torch.isfinite(p).all()) for p in network.parameters() if p.is_floating_point()]
    if not isinstance(network, fx.GraphModule):
        return ""
    was_training = network.training
    network.eval()  # alone: nothing in it may wait for other workers
    try:
        with contextlib.suppress(RuntimeError, ValueError):
            _Tracer(network).run(*batch.inputs)
    except _FoundError as found:
        kind, name = found.kind, found.name
        if kind == "placeholder":
            return f"The first that is no number is the data itself, at the input {name}."
        if not any(weights):
            return ""  # all weights have followed the gradient: the first layer is no more to blame than the others
        return f"The first layer whose output is no number is {name.replace('.', '/')}."
    finally:
        network.train(was_training)
    return ""
