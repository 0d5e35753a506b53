"""Finds the layer that a non-finite loss or gradient comes from, by computing a batch once more."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import fx, nn

from netwright.engine.data.loading.batches import Batch
from netwright.engine.lowering.module import LAYER
from netwright.engine.parallel.tensor_shards import local_shard
from netwright.engine.training.checkpoints import all_gather_bytes
from netwright.engine.training.step import TrainStep

MAX_STAGE_NODES = 10**8
"""No pipeline stage has as many layers or parameters."""
MAX_PARAMETERS = 10**11
"""No network has as many parameter tensors."""


class NanDiagnosis:
    """Names the layer to blame, with the workers' shards of the batch and of the network taken together."""

    def __init__(self, step: TrainStep, *, in_stages: bool = False) -> None:
        """`in_stages`: each worker holds a pipeline stage, in the order of ranks."""
        self._step = step
        self._model = step.model
        self._offset = MAX_STAGE_NODES * step.model.group.rank if in_stages else 0

    def first_layer(self, batch: Batch) -> str:
        """Describe the first non-finite output: of the last skipped step, else of this batch. A collective.

        Empty where all outputs are finite, or where all weights are lost so that no layer is to blame.
        """
        batch, network = self._step.skipped_batch or batch, self._model.network
        if self._model.strategy.is_replicated:
            return self._first(0, first_non_finite(network, batch))
        with recording(network) as record:
            self._step.compute_gradients(batch)
        number, text = record.first_non_finite()
        return self._first(number, text) if has_finite_weights(network) else self._first(0, "")

    def last_gradient(self) -> str:
        """Return the last layer with a non-finite gradient, which backward reaches first, or nothing. A collective."""
        gradients = [(n, name, p.grad) for n, (name, p) in enumerate(self._model.network.named_parameters())]
        bad = [(n, name) for n, name, grad in gradients if grad is not None and not local_shard(grad).isfinite().all()]
        number, name = bad[-1] if bad else (0, "")
        layer = name.rpartition(".")[0].replace(".", "/")
        return self._first(MAX_PARAMETERS - self._offset - number, layer, offset=0)

    def _first(self, number: int, text: str, offset: int | None = None) -> str:
        """Return the text of the worker with the lowest number among those that have one. A collective."""
        number += self._offset if offset is None else offset
        lines = all_gather_bytes(f"{number:012d}{text}".encode(), self._model.group, self._model.device)
        texts = sorted(line for data in lines if len(line := data.decode()) > 12)
        return texts[0][12:] if texts else ""


@torch.no_grad()
def first_non_finite(network: nn.Module, batch: Batch) -> str:
    """Describe the first non-finite output when this batch goes through the network as it is now; else empty."""
    if not isinstance(network, fx.GraphModule):
        return ""
    was_training = network.training
    network.eval()  # by itself: nothing in it may wait for other workers
    try:
        with contextlib.suppress(RuntimeError, ValueError):
            _Tracer(network).run(*batch.inputs)
    except _NonFiniteOutputError as error:
        if error.kind != "placeholder" and not has_finite_weights(network):
            return ""  # all weights have followed the gradient: the first layer is no more to blame than the others
        return _sentence(error.kind, error.name)
    finally:
        network.train(was_training)
    return ""


class _NonFiniteOutputError(Exception):
    """The node whose output is the first that is not finite."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(name)
        self.kind, self.name = kind, name  # torch.fx adds words of its own to the arguments


class _Tracer(fx.Interpreter):
    """Runs a network node by node, up to the first non-finite output."""

    def run_node(self, n: fx.Node) -> Any:
        output = super().run_node(n)
        for value in output if isinstance(output, tuple) else (output,):
            if isinstance(value, torch.Tensor) and value.is_floating_point() and not bool(torch.isfinite(value).all()):
                raise _NonFiniteOutputError(n.op, _name(n))
        return output


class Record(fx.Interpreter):
    """Runs a network node by node and notes which outputs are finite. It continues after a non-finite one, so that
    workers that compute together stay together."""

    def __init__(self, network: fx.GraphModule) -> None:
        super().__init__(network)
        self._is_finite: dict[fx.Node, torch.Tensor] = {}

    def run_node(self, n: fx.Node) -> Any:
        output = super().run_node(n)
        for value in output if isinstance(output, tuple) else (output,):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                finite = torch.isfinite(local_shard(value.detach())).all()
                self._is_finite[n] = finite & self._is_finite[n] if n in self._is_finite else finite
        return output

    def first_non_finite(self) -> tuple[int, str]:
        """Return number and description of the first non-finite output; 0 and empty where all are finite."""
        for number, (node, finite) in enumerate(self._is_finite.items()):
            if not bool(finite):
                return number, _sentence(node.op, _name(node))
        return 0, ""


@contextlib.contextmanager
def recording(network: nn.Module) -> Iterator[Record]:
    """Record every forward pass of a built network in this context, whoever calls it."""
    assert isinstance(network, fx.GraphModule)
    record = Record(network)
    network.forward = record.run  # of this one alone: its class keeps its own
    try:
        yield record
    finally:
        del network.forward


def has_finite_weights(network: nn.Module) -> bool:
    """Return whether any parameter of this worker is still finite."""
    return any(
        bool(torch.isfinite(local_shard(p.detach())).all()) for p in network.parameters() if p.is_floating_point()
    )


def _name(node: fx.Node) -> str:
    return str(node.meta.get(LAYER) or (node.target if node.op == "call_module" else node.name))


def _sentence(kind: str, name: str) -> str:
    if kind == "placeholder":
        return f"The first non-finite value is in the data itself, at the input {name}."
    return f"The first layer with a non-finite output is {name.replace('.', '/')}."
