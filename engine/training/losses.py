"""What is minimised. Each loss gives the sum over samples of what counts a sample, so that shares of a batch add up."""

from collections.abc import Callable

import torch
from torch.nn import functional

from engine.data.facts import Task

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def cross_entropy(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Negative log likelihood of the right class; the outputs are logits."""
    return functional.cross_entropy(output, target, reduction="sum")


def half_mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """MATLAB's mse: half the squared error, summed over the responses of a sample."""
    return 0.5 * (output - target).square().sum()


def mse(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """torch's MSELoss: the squared error, mean over the responses of a sample."""
    return (output - target).square().sum() / target.shape[1]


def mae(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The absolute error, mean over the responses of a sample."""
    return (output - target).abs().sum() / target.shape[1]


def huber(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Half the squared error where it is below one, linear beyond, mean over the responses of a sample."""
    return functional.huber_loss(output, target, reduction="sum") / target.shape[1]


_LOSSES: dict[str, Loss] = {
    "cross-entropy": cross_entropy,
    "half-mse": half_mse,
    "mse": mse,
    "mae": mae,
    "huber": huber,
}


def loss_for(name: str, task: Task) -> Loss:
    """The loss of this name; `auto` follows the task."""
    if name == "auto":
        name = "cross-entropy" if task == "classes" else "half-mse"
    return _LOSSES[name]
