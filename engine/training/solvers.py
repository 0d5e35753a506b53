"""How the weights follow the gradient: torch's optimizers with MATLAB's parameters."""

from collections.abc import Iterator

import torch
from torch import nn

from engine.project.training import TrainingOptions

_NORMALISATIONS = (nn.modules.batchnorm._NormBase, nn.GroupNorm, nn.LayerNorm, nn.RMSNorm)


class Solver:
    """One optimizer, and its learn rate."""

    def __init__(self, options: TrainingOptions, network: nn.Module) -> None:
        self._optimizer = _optimizer(options, _groups(network, options.l2_regularization))
        self._rate = options.initial_learn_rate

    def step(self, rate: float) -> None:
        """Move all weights once by their gradients."""
        if rate != self._rate:
            for group in self._optimizer.param_groups:
                group["lr"] = rate
            self._rate = rate
        self._optimizer.step()


def _groups(network: nn.Module, l2: float) -> list[dict[str, object]]:
    """Weights, which are regularised, and the rest: biases and normalisation are not."""
    weights: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for parameter, regularised in _parameters(network):
        (weights if regularised else others).append(parameter)
    groups = [(weights, l2), (others, 0.0)]
    return [{"params": params, "weight_decay": decay} for params, decay in groups if params]


def _parameters(network: nn.Module) -> Iterator[tuple[nn.Parameter, bool]]:
    seen: set[nn.Parameter] = set()
    for module in network.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in seen and parameter.requires_grad:
                seen.add(parameter)
                # The biases of a recurrent layer and of an attention have one axis, as all biases do.
                yield parameter, parameter.dim() >= 2 and "bias" not in name and not isinstance(module, _NORMALISATIONS)


def _optimizer(options: TrainingOptions, groups: list[dict[str, object]]) -> torch.optim.Optimizer:
    """Fused kernels where torch has them: on a CPU its default is three times slower."""
    rate = options.initial_learn_rate
    betas = (options.gradient_decay_factor, options.squared_gradient_decay_factor)
    match options.solver:
        case "sgdm":
            return torch.optim.SGD(groups, lr=rate, momentum=options.momentum, fused=True)
        case "adam":
            return torch.optim.Adam(groups, lr=rate, betas=betas, eps=options.epsilon, fused=True)
        case "adamw":
            return torch.optim.AdamW(groups, lr=rate, betas=betas, eps=options.epsilon, fused=True)
        case "rmsprop":
            alpha = options.squared_gradient_decay_factor
            return torch.optim.RMSprop(groups, lr=rate, alpha=alpha, eps=options.epsilon, foreach=True)
    raise ValueError(f"There is no solver '{options.solver}'.")
