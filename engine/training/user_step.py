"""A training step of the user's own: `training_step(network, inputs, targets, loss)`, see docs/hooks.md.

It returns the mean over the samples of the worker that calls it. Each worker's mean is weighted by its shard of the
batch, so that the sum over workers is the mean over the whole batch: sums over samples and terms that do not depend on
samples, such as a penalty on weights, both come out as with one worker.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from netwright.engine.core.errors import RunError
from netwright.engine.data.loading.batches import Batch, Tensors, as_tuple, unwrap_single
from netwright.engine.lowering.run_user_code import find
from netwright.engine.training.losses import Loss
from netwright.engine.training.user_hooks import failure
from netwright.engine.user_code.expression import split_code

Call = Callable[..., torch.Tensor | Tensors]


class RecordedNetwork:
    """The network as the user's step calls it: through the strategy, with its outputs recorded.

    All other attributes are those of the module, and a copy is a copy of the module.
    """

    def __init__(self, network: nn.Module, call: Call) -> None:
        self._network = network
        self._call = call
        self._outputs: list[torch.Tensor | Tensors] = []

    def __call__(self, *inputs: torch.Tensor) -> Any:
        """Compute the outputs."""
        output = self._call(*inputs)
        self._outputs.append(output)
        return output

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> nn.Module:
        return copy.deepcopy(self._network, memo)

    def take(self) -> list[torch.Tensor | Tensors]:
        """Return the outputs since the last call."""
        outputs, self._outputs = self._outputs, []
        return outputs


class UserStep:
    """Computes the loss of a batch with a user's function."""

    def __init__(self, target: str, network: nn.Module, call: Call, loss: Loss) -> None:
        """`target` is the function's name, `call` calls the network in its strategy. Raises `UserError`."""
        self._file, self._name = split_code(target)
        self._function = find(target)
        self._network = RecordedNetwork(network, call)
        self._loss = loss

    def __call__(self, batch: Batch) -> tuple[torch.Tensor, Tensors, Tensors]:
        """Return this worker's part of the loss of the whole batch, outputs and targets.

        Raises `RunError` for a function that returns something else.
        """
        try:
            answer = self._function(self._network, batch.inputs, unwrap_single(batch.targets), self._mean)
        except BaseException as error:
            raise failure(error, self._file) from error
        recorded = self._network.take()
        loss, outputs = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)
        size = len(batch.targets[0])
        if outputs is None:
            outputs = next((x for x in recorded if _has_samples(x, size)), None)
        loss, outputs = self._checked(loss, outputs, size)
        targets = batch.targets
        if batch.count == 0:
            outputs, targets = tuple(x[:0] for x in outputs), tuple(x[:0] for x in targets)
        loss = loss.reshape(()) if loss.dim() else loss
        return loss if batch.count == batch.total else loss * (batch.count / batch.total), outputs, targets

    def _mean(self, outputs: torch.Tensor | Tensors, targets: torch.Tensor | Tensors) -> torch.Tensor:
        """Return the loss that the options name, mean over the samples."""
        all_targets = as_tuple(targets)
        return self._loss(as_tuple(outputs), all_targets) / len(all_targets[0])

    def _checked(self, loss: object, outputs: Any, size: int) -> tuple[torch.Tensor, Tensors]:
        who = f"{self._file}: {self._name}"
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            got = (
                f"a tensor of {loss.numel()} numbers" if isinstance(loss, torch.Tensor) else f"a {type(loss).__name__}"
            )
            raise RunError(f"{who} returned {got}. Return the loss, one number, or the loss and the outputs.")
        if not loss.requires_grad:
            raise RunError(f"{who} returned a loss without a gradient. Compute it from what network(*inputs) gives.")
        if not _has_samples(outputs, size):
            raise RunError(
                f"{who} called the network, but never for the {size} samples of its batch. Return the loss and the "
                "outputs of these samples: the training metrics are computed from them."
            )
        return loss, as_tuple(outputs)


def _has_samples(outputs: Any, size: int) -> bool:
    """Return whether these are outputs of this many samples."""
    return all(isinstance(x, torch.Tensor) and x.dim() > 0 and len(x) == size for x in as_tuple(outputs))
