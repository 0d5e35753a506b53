"""A loss function of the user's own: `loss(outputs, targets)`, see docs/hooks.md."""

import torch

from engine.build.user_code import find
from engine.custom.targets import split_code
from engine.errors import RunError
from engine.training.batching.batches import Tensors, plain
from engine.training.custom.own_code import failure


class CustomLoss:
    """The sum over samples of what the user's function gives: one number a sample, or their mean."""

    def __init__(self, target: str) -> None:
        """`target` names the function. Raises `UserError`."""
        self._file, self._name = split_code(target)
        self._function = find(target)

    def __call__(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """Raises `RunError` for a function that gives something else. No samples give zero, with gradients of zero."""
        count = len(targets[0])
        if count == 0:
            return torch.stack([output.sum() for output in outputs]).sum()
        try:
            found = self._function(plain(outputs), plain(targets))
        except BaseException as error:
            raise failure(error, self._file) from error
        if not isinstance(found, torch.Tensor) or found.dim() > 1 or found.numel() not in (1, count):
            got = (
                f"a tensor of {tuple(found.shape)}" if isinstance(found, torch.Tensor) else f"a {type(found).__name__}"
            )
            raise RunError(
                f"{self._file}: {self._name} returned {got} for {count} samples. Return one number, the mean over the "
                "samples, or one number a sample."
            )
        return found.sum() if found.dim() == 1 and count > 1 else found.reshape(()) * count
