"""Steps whose loss or gradients are no numbers: found before the weights move, left out, and traced to a layer."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx, nn

from engine.data.batches import Batch
from engine.lowering.module import LAYER
from engine.parallel.process_group import ProcessGroup
from engine.project.training import TrainingOptions


class NanCheck:
    """Looks at every step before the weights move. All workers come to the same answer.

    It waits for the device at every step. Statistics of batch normalisation are put back for a step that is left out.
    """

    def __init__(self, network: nn.Module, group: ProcessGroup, *, skips: bool, exact: bool = False) -> None:
        """`skips`: a bad step is left out; otherwise it is only found before it does harm. `exact`: gradients are good
        as long as each is a number, even where the norm of them is too large to be one; that takes longer."""
        self.skips = skips
        self._exact = exact
        self._network = network
        self._group = group
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
        gradients = [own(p.grad) for p in self._parameters if p.grad is not None] if with_gradients else []
        if gradients and self._exact:
            good = good & torch.stack([gradient.isfinite().all() for gradient in gradients]).all()
        elif gradients:
            good = good & torch.isfinite(torch.stack(list(torch._foreach_norm(gradients)))).all()
        bad = self._group.all_reduce((~good).to(torch.float32).reshape(1))
        return not bool(bad.item())

    def undo(self) -> None:
        """The step was not made."""
        for kept, buffer in zip(self._kept, self._buffers, strict=True):
            buffer.copy_(kept)


def nan_check_for(options: TrainingOptions, network: nn.Module, group: ProcessGroup) -> NanCheck | None:
    """The guard that the options ask for, if any."""
    if options.non_finite_loss == "stop":
        return None
    return NanCheck(network, group, skips=options.non_finite_loss == "skip")


def own(x: torch.Tensor) -> torch.Tensor:
    """This worker's part of a tensor, where each has one; else all of it."""
    return x.to_local() if hasattr(x, "to_local") else x


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
                raise _FoundError(n.op, _name(n))
        return given


def _name(node: fx.Node) -> str:
    return str(node.meta.get(LAYER) or (node.target if node.op == "call_module" else node.name))


class Record(fx.Interpreter):
    """Runs a network node by node and notes which outputs are all numbers. It goes on behind one that is not, so that
    workers that compute together stay together."""

    def __init__(self, network: fx.GraphModule) -> None:
        super().__init__(network)
        self._is_good: dict[fx.Node, torch.Tensor] = {}

    def run_node(self, n: fx.Node) -> Any:
        given = super().run_node(n)
        for value in given if isinstance(given, tuple) else (given,):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                good = torch.isfinite(own(value.detach())).all()
                self._is_good[n] = good & self._is_good[n] if n in self._is_good else good
        return given

    def first_bad(self) -> tuple[int, str]:
        """Which one that was, counted along the network, and in words; nothing where all are numbers."""
        for number, (node, good) in enumerate(self._is_good.items()):
            if not bool(good):
                return number, _words(node.op, _name(node))
        return 0, ""


@contextlib.contextmanager
def recording(network: nn.Module) -> Iterator[Record]:
    """In here whoever calls the network, in whatever way, has it recorded. It must be one that was built."""
    assert isinstance(network, fx.GraphModule)
    record = Record(network)
    network.forward = record.run  # of this one alone: its class keeps its own
    try:
        yield record
    finally:
        del network.forward


def has_weights(network: nn.Module) -> bool:
    """Whether any of the weights that this worker has are numbers still."""
    return any(bool(torch.isfinite(own(p.detach())).all()) for p in network.parameters() if p.is_floating_point())


@torch.no_grad()
def first_bad(network: nn.Module, batch: Batch) -> str:
    """In words, what is the first that is no number when this batch goes through the network as it is now, or nothing
    where all is finite, or can be told of no layer because every weight has gone."""
    if not isinstance(network, fx.GraphModule):
        return ""
    was_training = network.training
    network.eval()  # alone: nothing in it may wait for other workers
    try:
        with contextlib.suppress(RuntimeError, ValueError):
            _Tracer(network).run(*batch.inputs)
    except _FoundError as found:
        if found.kind != "placeholder" and not has_weights(network):
            return ""  # all weights have followed the gradient: the first layer is no more to blame than the others
        return _words(found.kind, found.name)
    finally:
        network.train(was_training)
    return ""


def _words(kind: str, name: str) -> str:
    if kind == "placeholder":
        return f"The first that is no number is the data itself, at the input {name}."
    return f"The first layer whose output is no number is {name.replace('.', '/')}."
