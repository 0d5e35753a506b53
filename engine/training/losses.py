"""What is minimised. Each loss gives the sum over samples of what counts a sample, so that shares of a batch add up.

A function of one output and its target becomes a `Loss`, which is given all outputs and all targets, by `of_first`.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch.nn import functional

from engine.data.facts import Task
from engine.project import own_code
from engine.project.training import TrainingOptions
from engine.training.batches import Tensors
from engine.training.custom_loss import CustomLoss

Loss = Callable[[Tensors, Tensors], torch.Tensor]
LossOfOne = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def cross_entropy(
    output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, smoothing: float = 0.0
) -> torch.Tensor:
    """Negative log likelihood of the right class, weighted by class; the outputs are logits. Smoothing spreads so much
    of each label evenly over all classes."""
    weight = weight if weight is None else weight.to(output.dtype)
    return functional.cross_entropy(output, target, weight, label_smoothing=smoothing, reduction="sum")


def half_mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """MATLAB's mse: half the squared error, summed over the responses of a sample."""
    return 0.5 * (output - target).square().sum()


def mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """torch's MSELoss: the squared error, mean over the responses of a sample."""
    return (output - target).square().sum() / target.shape[1]


def mae(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The absolute error, mean over the responses of a sample."""
    return (output - target).abs().sum() / target.shape[1]


def huber(output: torch.Tensor, target: torch.Tensor, delta: float = 1.0) -> torch.Tensor:
    """Half the squared error where it is below delta, a line of that slope beyond, mean over the responses."""
    return functional.huber_loss(output, target, reduction="sum", delta=delta) / target.shape[1]


def focal(
    output: torch.Tensor, target: torch.Tensor, weight: torch.Tensor | None = None, gamma: float = 2.0
) -> torch.Tensor:
    """Cross-entropy times (1 - p) ^ gamma, p being the probability given to the right class; the outputs are logits.

    Lin et al., Focal Loss for Dense Object Detection, 2017, equation 5.
    """
    log_p = functional.log_softmax(output, dim=1).gather(1, target[:, None])[:, 0]
    # Not down to zero: the slope of a power below one is infinite there.
    each = -((-torch.expm1(log_p)).clamp(min=1e-12) ** gamma) * log_p
    return each.sum() if weight is None else (each * weight[target]).sum()


_LOSSES: dict[str, LossOfOne] = {"half-mse": half_mse, "mse": mse, "mae": mae}


def loss_for(options: TrainingOptions, task: Task, targets: Tensors) -> Loss:
    """The loss that the options ask for; `auto` follows the task. `targets` are those of the whole training part, on
    the device: class weights may follow from them."""
    if options.loss == "custom":
        return CustomLoss(own_code.target(options, "loss_function"))
    return of_first(_loss_of_one(options, task, targets[0]))


def of_first(loss: LossOfOne) -> Loss:
    """The loss of the first output, which is the only one."""

    def of_all(outputs: Tensors, targets: Tensors) -> torch.Tensor:
        return loss(outputs[0], targets[0])

    return of_all


def _loss_of_one(options: TrainingOptions, task: Task, targets: torch.Tensor) -> LossOfOne:
    name = options.loss
    if name == "auto":
        name = "cross-entropy" if task == "classes" else "half-mse"
    match name:
        case "cross-entropy":
            weight, smoothing = class_weights(options, targets), options.label_smoothing
            if weight is None and not smoothing:
                return cross_entropy
            return partial(cross_entropy, weight=weight, smoothing=smoothing)
        case "focal":
            return partial(focal, weight=class_weights(options, targets), gamma=options.focal_gamma)
        case "huber":
            return partial(huber, delta=options.huber_delta)
    return _LOSSES[name]


def class_weights(options: TrainingOptions, targets: torch.Tensor) -> torch.Tensor | None:
    """How much a sample of each class counts. Balanced: samples / (classes · samples of the class), over the classes
    that have samples, as scikit-learn has it; those without any do not count."""
    if options.class_weighting == "given":
        return torch.tensor(options.class_weights, dtype=torch.float32, device=targets.device)
    if options.class_weighting == "none":
        return None
    counts = torch.bincount(targets)
    weights = len(targets) / ((counts > 0).sum() * counts.clamp(min=1)) * (counts > 0)
    return weights.to(torch.float32)
