"""Outputs and targets in the form that losses and metrics take."""

from collections.abc import Sequence

import torch

from engine.errors import UserError
from engine.project.targets import Wanted
from engine.training.batching.batches import Tensors


class Ends:
    """Makes class numbers whole numbers of 64 bits, ends targets where the padding of the outputs ends, and makes two
    logits of the single one that tells two classes apart: 0 for the first class. Done twice it changes nothing more."""

    def __init__(self, wanted: Sequence[Wanted], *, mixes: bool = False) -> None:
        """`mixes`: in training the target is shares of classes, of which the largest is taken."""
        self._wanted = tuple(wanted)
        self._mixes = mixes
        self._is_plain = not mixes and all(one.facts.per == "sample" and not one.is_binary for one in wanted)

    def __call__(self, outputs: Tensors, targets: Tensors) -> tuple[Tensors, Tensors]:
        """Raises `UserError` where an output has more steps than its target."""
        if self._is_plain:
            return outputs, targets
        fitted = [
            self._fit(one, output, target) for one, output, target in zip(self._wanted, outputs, targets, strict=False)
        ]
        behind = outputs[len(self._wanted) :]
        return (*(output for output, _ in fitted), *behind), tuple(target for _, target in fitted)

    def _fit(self, one: Wanted, output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if self._mixes and target.is_floating_point():
            return output, target.argmax(1)
        if one.is_binary and output.shape[one.type.dim("C")] == 1:
            output = torch.cat([torch.zeros_like(output), output], one.type.dim("C"))
        if one.facts.per == "step":
            steps = output.shape[1]
            if steps > target.shape[1]:
                raise UserError(
                    f"Output '{one.name}' has {steps:,} steps where its target has {target.shape[1]:,}. Give the "
                    "target as many steps as leave the network, or keep the number of steps in the network."
                )
            target = target[:, :steps]
        return output, target if target.is_floating_point() else target.long()
