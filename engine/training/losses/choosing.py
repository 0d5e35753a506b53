"""From the options to the loss of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from engine.project import own_code
from engine.project.targets import Wanted, loss_of
from engine.project.training import TrainingOptions
from engine.training.batching.batches import Tensors
from engine.training.custom.loss import CustomLoss
from engine.training.losses.classes import class_weights, cross_entropy, focal
from engine.training.losses.ends import Ends
from engine.training.losses.labels import binary_cross_entropy, positive_weights
from engine.training.losses.numbers import half_mse, huber, mae, mse
from engine.training.losses.overlap import dice, generalized_dice
from engine.training.losses.transcripts import ctc

Loss = Callable[[Tensors, Tensors], torch.Tensor]
LossOfOne = Callable[..., torch.Tensor]
"""Given an output, its target, and for transcripts the lengths of the output."""

_OF_NUMBERS: dict[str, LossOfOne] = {"half-mse": half_mse, "mse": mse, "mae": mae}


def loss_for(options: TrainingOptions, wanted: Sequence[Wanted], targets: Tensors) -> Loss:
    """The loss that the options ask for: the sum over outputs of what each is to give, as often as its weight says.
    `targets` are those of the whole training part, on the device: class weights may follow from them."""
    if options.loss == "custom":
        own, ends = CustomLoss(own_code.target(options, "loss_function")), Ends(wanted)
        return lambda outputs, targets: own(outputs, ends(outputs, targets)[1])
    named = [loss_of(options, one) for one in wanted]
    chosen = zip(named, wanted, targets, strict=True)
    losses = [_of_one(name, options, one, target) for (name, _), one, target in chosen]
    weights = [weight for _, weight in named]
    first = wanted[0]
    is_plain = first.facts.per == "sample" and first.facts.task != "transcripts" and not first.is_binary
    return OfFirst(losses[0]) if is_plain and weights == [1.0] else _Sum(wanted, losses, weights)


@dataclass(frozen=True)
class OfFirst:
    """The loss of the first output, which is the only one."""

    loss: LossOfOne

    def __call__(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """The sum over samples."""
        return self.loss(outputs[0], targets[0])


class _Sum:
    """The losses of all outputs, weighted."""

    def __init__(self, wanted: Sequence[Wanted], losses: Sequence[LossOfOne], weights: Sequence[float]) -> None:
        self._wanted, self._losses, self._weights = tuple(wanted), losses, weights
        self._ends = Ends(wanted)

    def __call__(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        outputs, targets = self._ends(outputs, targets)
        count = len(self._wanted)
        behind = iter(outputs[count:])
        found = []
        for number, (one, loss, weight) in enumerate(zip(self._wanted, self._losses, self._weights, strict=True)):
            output, target = outputs[number], targets[number]
            lengths = next(behind) if one.has_lengths else None
            if one.facts.task == "transcripts":
                value = loss(output, target, lengths)
            elif one.facts.per == "step":
                value = loss(output.transpose(1, 2), target.transpose(1, 2) if target.dim() == 3 else target)
            else:
                value = loss(output, target)
            found.append(value if weight == 1.0 else weight * value)
        return found[0] if count == 1 else torch.stack(found).sum()


def _of_one(name: str, options: TrainingOptions, one: Wanted, targets: torch.Tensor) -> LossOfOne:
    smoothing = options.label_smoothing
    is_labels = one.facts.task == "labels"
    if name == "ctc":
        return partial(ctc, blank=options.ctc_blank)
    if name in ("huber", *_OF_NUMBERS):
        return partial(huber, delta=options.huber_delta) if name == "huber" else _OF_NUMBERS[name]
    if is_labels:
        weight = positive_weights(options, targets, one.facts.type.dim("C"))
        base: LossOfOne = partial(binary_cross_entropy, weight=weight, smoothing=smoothing)
    else:
        weight = class_weights(options, targets.flatten(), len(one.facts.classes))
        base = cross_entropy
        if weight is not None or smoothing:
            base = partial(cross_entropy, weight=weight, smoothing=smoothing)
    overlap = partial(dice, weight=weight)
    match name:
        case "focal":
            return partial(focal, weight=weight, gamma=options.focal_gamma)
        case "dice":
            return overlap
        case "generalized-dice":
            return generalized_dice
        case "dice-cross-entropy":
            return lambda output, target: overlap(output, target) + base(output, target)
    return base
