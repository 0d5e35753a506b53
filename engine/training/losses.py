"""Losses, summed over samples, and adapters that bring outputs and targets into the form they take.

Outputs are logits `(N, C, ...)`. Targets are class indices `(N, ...)`, or numbers `(N, C, ...)`, where NaN and
`IGNORED` do not count.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from netwright.engine.core.errors import UserError
from netwright.engine.data.loading.batches import Tensors
from netwright.engine.data.loading.normalization import fit
from netwright.engine.data.sources.source import Array
from netwright.engine.lowering.modules.normalization import InverseNormalize
from netwright.engine.project import user_code
from netwright.engine.project.bindings import Wanted, loss_of
from netwright.engine.project.dataset_info import IGNORED
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.user_hooks import UserLoss

EPSILON = 1e-6
"""Makes a class that is in neither output nor target overlap entirely, instead of dividing zero by zero."""
Loss = Callable[[Tensors, Tensors], torch.Tensor]
"""Given outputs (logits) and targets: the loss summed over samples."""
OutputLoss = Callable[..., torch.Tensor]
"""Given an output, its target, and for transcripts the lengths of the output: the loss summed over samples."""


def over_samples(each: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    """Return the sum over samples of the mean over positions that count; 0 for a sample without any.

    `each` and `counted` are `(N, ...)`; `each` is zero where it does not count.
    """
    count = counted.flatten(1).sum(1).clamp(min=1)
    return (each.flatten(1).sum(1) / count).sum()


def without_nan(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return output and target with zeros, without gradient, where the target is NaN, and the mask of the rest."""
    counted = ~target.isnan()
    return torch.where(counted, output, 0.0), torch.where(counted, target, 0.0), counted


def cross_entropy(
    output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, smoothing: float = 0.0
) -> torch.Tensor:
    """Return the negative log likelihood of the true class, weighted by class, mean over the positions of a sample.

    `output` is `(N, C, ...)`, `target` `(N, ...)` with class indices, or `(N, C)` with class probabilities. `smoothing`
    spreads this share of each label evenly over all classes.
    """
    weight = weight if weight is None else weight.to(output.dtype)
    if target.is_floating_point():
        target = target.to(output.dtype)
        return functional.cross_entropy(output, target, weight, label_smoothing=smoothing, reduction="sum")
    if target.dim() == 1:
        return functional.cross_entropy(output, target, weight, label_smoothing=smoothing, reduction="sum")
    each = functional.cross_entropy(
        output, target, weight, ignore_index=IGNORED, label_smoothing=smoothing, reduction="none"
    )
    return over_samples(each, target != IGNORED)


def focal(
    output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, gamma: float = 2.0
) -> torch.Tensor:
    """Return cross-entropy times (1 - p) ^ gamma, p being the probability of the true class.

    Lin et al., Focal Loss for Dense Object Detection, 2017, equation 5.
    """
    numbers, counted = target.clamp(min=0), target != IGNORED
    log_p = functional.log_softmax(output, dim=1).gather(1, numbers.unsqueeze(1)).squeeze(1)
    # Not down to zero: the slope of a power below one is infinite there.
    each = -((-torch.expm1(log_p)).clamp(min=1e-12) ** gamma) * log_p
    each = each if weight is None else each * weight[numbers]
    return each.sum() if target.dim() == 1 else over_samples(each.masked_fill(~counted, 0.0), counted)


def class_weights(options: TrainingOptions, targets: torch.Tensor, classes: int = 0) -> torch.Tensor | None:
    """Return the weight of each class `(C,)`, or None.

    Balanced: samples / (classes · samples of the class) over the classes that occur, as in scikit-learn; 0 for others.
    Steps, pixels and voxels count like samples.
    """
    if options.class_weighting == "given":
        return torch.tensor(options.class_weights, dtype=torch.float32, device=targets.device)
    if options.class_weighting == "none":
        return None
    there = targets[targets != IGNORED]
    counts = torch.bincount(there, minlength=classes)
    weights = len(there) / ((counts > 0).sum() * counts.clamp(min=1)) * (counts > 0)
    return weights.to(torch.float32)


def binary_cross_entropy(
    output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, smoothing: float = 0.0
) -> torch.Tensor:
    """Return the negative log likelihood of each label, mean over labels and positions; `(N, C, ...)` both.

    `weight` multiplies the loss of true labels. `smoothing` s draws targets towards 1/2: 1 becomes 1 - s / 2, 0 s / 2.
    """
    output, target, counted = without_nan(output, target)
    wide = None if weight is None else weight.to(output.dtype).view(-1, *[1] * (output.dim() - 2))
    soft = target * (1 - smoothing) + smoothing / 2 if smoothing else target
    each = functional.binary_cross_entropy_with_logits(output, soft, pos_weight=wide, reduction="none")
    return over_samples(torch.where(counted, each, 0.0), counted)


def positive_weights(options: TrainingOptions, targets: torch.Tensor, axis: int) -> torch.Tensor | None:
    """Return the weight of each label where it is true `(C,)`, or None.

    Balanced: false labels / true labels; 1 for a label that is never true.
    """
    if options.class_weighting == "given":
        return torch.tensor(options.class_weights, dtype=torch.float32, device=targets.device)
    if options.class_weighting == "none":
        return None
    flat = targets.movedim(axis, 0).flatten(1)
    true, false = (flat == 1).sum(1), (flat == 0).sum(1)
    return torch.where(true > 0, false / true.clamp(min=1), 1.0).to(torch.float32)


def half_mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return MATLAB's mse: half the squared error, summed over responses, mean over steps or pixels."""
    if target.dim() == 2:
        return 0.5 * (output - target).square().sum()
    output, target, counted = without_nan(output, target)
    return 0.5 * over_samples((output - target).square(), counted.any(1))


def mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the squared error, mean over all numbers of a sample, as torch's MSELoss."""
    if target.dim() == 2:
        return (output - target).square().sum() / target.shape[1]
    output, target, counted = without_nan(output, target)
    return over_samples((output - target).square(), counted)


def mae(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the absolute error, mean over all numbers of a sample."""
    if target.dim() == 2:
        return (output - target).abs().sum() / target.shape[1]
    output, target, counted = without_nan(output, target)
    return over_samples((output - target).abs(), counted)


def huber(output: torch.Tensor, target: torch.Tensor, delta: float = 1.0) -> torch.Tensor:
    """Return half the squared error below delta and a line of that slope beyond, mean over all numbers of a sample."""
    if target.dim() == 2:
        return functional.huber_loss(output, target, reduction="sum", delta=delta) / target.shape[1]
    output, target, counted = without_nan(output, target)
    return over_samples(functional.huber_loss(output, target, reduction="none", delta=delta), counted)


def dice(output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
    """Return 1 - the mean over classes, weighted, of 2 Σ p t / (Σ p² + Σ t²).

    Milletari et al., V-Net, 2016, section 3.
    """
    both, each = _sums(output, target)
    overlap = (2 * both + EPSILON) / (each + EPSILON)
    if weight is None:
        return (1 - overlap.mean(1)).sum()
    return (1 - (overlap * weight).sum(1) / weight.sum()).sum()


def generalized_dice(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return 1 - 2 Σ w Σ p t / Σ w (Σ p² + Σ t²) over classes, w being 1 / (Σ t)²: small classes count like large ones.

    A class that does not occur has the largest weight of those that do. MATLAB's generalizedDice.

    Sudre et al., Generalised Dice overlap as a deep learning loss function, 2017; squared as in Crum et al., 2006.
    """
    both, each = _sums(output, target)
    _, _, there = _places(output, target)
    weight = torch.where(there > 0, there.clamp(min=1), torch.inf).square().reciprocal()
    weight = torch.where(there > 0, weight, weight.amax(1, keepdim=True).expand_as(weight))
    overlap = (2 * (weight * both).sum(1) + EPSILON) / ((weight * each).sum(1) + EPSILON)
    return (1 - overlap).sum()


def _sums(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return Σ p t and Σ p² + Σ t² of each sample and class, `(N, C)` both."""
    p, t, there = _places(output, target)
    return (p * t).sum(2), p.square().sum(2) + there


def _places(output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return p and t `(N, C, positions)`, zero at positions that do not count, and Σ t `(N, C)`.

    Floating-point targets are labels, each by itself.
    """
    if target.is_floating_point():
        counted = ~target.isnan()
        p, t = torch.sigmoid(output), torch.where(counted, target, 0.0)
    else:
        counted = (target != IGNORED).unsqueeze(1)
        p = torch.softmax(output, 1)
        t = functional.one_hot(target.clamp(min=0), output.shape[1]).movedim(-1, 1).to(p.dtype) * counted
    # After the end of a sequence an output may be anything, even NaN.
    p = torch.where(counted, p, 0.0)
    shape = (len(p), p.shape[1], p[0, 0].numel() if len(p) else 1)
    p, t = p.reshape(shape), t.reshape(shape)
    return p, t, t.sum(2)


def ctc(
    output: torch.Tensor, target: torch.Tensor, lengths: torch.Tensor | None = None, blank: str = "first"
) -> torch.Tensor:
    """Return the negative log likelihood of the transcript over all its alignments.

    `output` is `(N, T, C + 1)`, `target` `(N, L)`, `lengths` `(N,)` those of the output; `blank` is the channel of the
    blank, first or last. The loss is infinite where the output has fewer steps than the transcript needs: its classes,
    and one between two equal ones.
    Graves et al., Connectionist Temporal Classification, 2006.
    """
    if len(output) == 0:
        return output.sum()
    log_p = functional.log_softmax(output, dim=2).transpose(0, 1)
    steps = torch.full((len(output),), output.shape[1]) if lengths is None else lengths
    is_there = target != IGNORED
    numbers = target.clamp(min=0) + (1 if blank == "first" else 0)
    place = 0 if blank == "first" else output.shape[2] - 1
    return functional.ctc_loss(log_p, numbers, steps, is_there.sum(1), blank=place, reduction="sum")


class OutputAdapters:
    """Bring outputs and targets into the form that losses and metrics take. Idempotent.

    Class indices become int64, targets are cut to the steps of the outputs, and the single logit of two classes becomes
    two: 0 for the first class.
    """

    def __init__(self, outputs: Sequence[Wanted], *, mixes: bool = False) -> None:
        """`mixes`: training targets are class probabilities, whose argmax is the class."""
        self._wanted = tuple(outputs)
        self._mixes = mixes
        self._is_plain = not mixes and all(spec.facts.per == "sample" and not spec.is_binary for spec in outputs)

    def __call__(self, outputs: Tensors, targets: Tensors) -> tuple[Tensors, Tensors]:
        """Raises `UserError` where an output has more steps than its target."""
        if self._is_plain:
            return outputs, targets
        fitted = [
            self._fit(spec, output, target)
            for spec, output, target in zip(self._wanted, outputs, targets, strict=False)
        ]
        behind = outputs[len(self._wanted) :]
        return (*(output for output, _ in fitted), *behind), tuple(target for _, target in fitted)

    def _fit(self, spec: Wanted, output: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if self._mixes and target.is_floating_point():
            return output, target.argmax(1)
        if spec.is_binary and output.shape[spec.type.dim("C")] == 1:
            output = torch.cat([torch.zeros_like(output), output], spec.type.dim("C"))
        if spec.facts.per == "step":
            steps = output.shape[1]
            if steps > target.shape[1]:
                raise UserError(
                    f"Output '{spec.name}' has {steps:,} steps where its target has {target.shape[1]:,}. Give the "
                    "target as many steps as leave the network, or keep the number of steps in the network."
                )
            target = target[:, :steps]
        return output, target if target.is_floating_point() else target.long()


_REGRESSION_LOSSES: dict[str, OutputLoss] = {"half-mse": half_mse, "mse": mse, "mae": mae}


def loss_for(options: TrainingOptions, specs: Sequence[Wanted], targets: Tensors) -> Loss:
    """Return the loss that the options ask for: the weighted sum over outputs.

    `targets` are those of the whole training split, on the device: class weights may follow from them.
    """
    if options.loss == "custom":
        user_loss, adapters = UserLoss(user_code.target(options, "loss_function")), OutputAdapters(specs)
        return lambda outputs, targets: user_loss(outputs, adapters(outputs, targets)[1])
    terms = [loss_of(options, spec) for spec in specs]
    parts = zip(terms, specs, targets, strict=True)
    losses = [_output_loss(name, options, spec, target) for (name, _), spec, target in parts]
    weights = [weight for _, weight in terms]
    first = specs[0]
    is_plain = first.facts.per == "sample" and first.facts.task != "transcripts" and not first.is_binary
    return SingleOutputLoss(losses[0]) if is_plain and weights == [1.0] else _WeightedSum(specs, losses, weights)


@dataclass(frozen=True)
class SingleOutputLoss:
    """The loss of a network with one output."""

    loss: OutputLoss

    def __call__(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        """Return the loss summed over samples."""
        return self.loss(outputs[0], targets[0])

    @property
    def formula(self) -> tuple[str, torch.Tensor | None]:
        """Return the name and class weights of a loss whose gradient is known; an empty name for others."""
        loss = self.loss
        if isinstance(loss, partial) and loss.func is cross_entropy and not loss.keywords.get("smoothing"):
            return "cross-entropy", loss.keywords.get("weight")
        names: dict[OutputLoss, str] = {cross_entropy: "cross-entropy", half_mse: "half-mse", mse: "mse"}
        return names.get(loss, ""), None


class _WeightedSum:
    """The weighted sum of the losses of all outputs."""

    def __init__(self, outputs: Sequence[Wanted], losses: Sequence[OutputLoss], weights: Sequence[float]) -> None:
        self._wanted, self._losses, self._weights = tuple(outputs), losses, weights
        self._adapters = OutputAdapters(outputs)

    def __call__(self, outputs: Tensors, targets: Tensors) -> torch.Tensor:
        outputs, targets = self._adapters(outputs, targets)
        count = len(self._wanted)
        all_lengths = iter(outputs[count:])
        values = []
        for number, (spec, loss, weight) in enumerate(zip(self._wanted, self._losses, self._weights, strict=True)):
            output, target = outputs[number], targets[number]
            lengths = next(all_lengths) if spec.has_lengths else None
            if spec.facts.task == "transcripts":
                value = loss(output, target, lengths)
            elif spec.facts.per == "step":
                value = loss(output.transpose(1, 2), target.transpose(1, 2) if target.dim() == 3 else target)
            else:
                value = loss(output, target)
            values.append(value if weight == 1.0 else weight * value)
        return values[0] if count == 1 else torch.stack(values).sum()


def _output_loss(name: str, options: TrainingOptions, spec: Wanted, targets: torch.Tensor) -> OutputLoss:
    smoothing = options.label_smoothing
    is_labels = spec.facts.task == "labels"
    if name == "ctc":
        return partial(ctc, blank=options.ctc_blank)
    if name in ("huber", *_REGRESSION_LOSSES):
        return partial(huber, delta=options.huber_delta) if name == "huber" else _REGRESSION_LOSSES[name]
    if is_labels:
        weight = positive_weights(options, targets, spec.facts.type.dim("C"))
        base: OutputLoss = partial(binary_cross_entropy, weight=weight, smoothing=smoothing)
    else:
        weight = class_weights(options, targets.flatten(), len(spec.facts.classes))
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


class Scale(NamedTuple):
    """Normalises an output and its target: (x - shift) / scale."""

    shift: torch.Tensor
    scale: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.shift) / self.scale


def fit_inverse(layer: nn.Module, kind: str, targets: Array, channel_axis: int) -> None:
    """Fit an inverse normalisation to targets, in which NaN does not count. `kind` is one of
    `netwright.engine.layers.inputs.NORMALIZATIONS`."""
    columns = np.moveaxis(targets, channel_axis, 0).reshape(targets.shape[channel_axis], -1)
    each = [fit(kind, column[~np.isnan(column), np.newaxis], 1) for column in columns]
    shift, scale = (torch.from_numpy(np.concatenate(parts)) for parts in zip(*each, strict=True))
    layer.load_state_dict({"shift": shift, "scale": 1.0 / scale})


def scale_of(layer: nn.Module, device: torch.device) -> Scale:
    """Return the normalisation that a fitted layer undoes."""
    assert isinstance(layer, InverseNormalize)
    return Scale(*(part.detach().clone().view(layer.sizes).to(device) for part in (layer.shift, layer.scale)))


def normalised(loss: Loss, scales: Mapping[int, Scale]) -> Loss:
    """Return the loss of normalised outputs and targets; outputs without a scale stay as they are."""

    def scaled(tensors: Tensors) -> Tensors:
        return tuple(scales[number](x) if number in scales else x for number, x in enumerate(tensors))

    def normalised_loss(outputs: Tensors, targets: Tensors) -> torch.Tensor:
        return loss(scaled(outputs), scaled(targets))

    return normalised_loss
