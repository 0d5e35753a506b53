"""Solvers and learn-rate schedules: torch's optimizers under MATLAB's option names."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from engine.layers.weighted import ParameterOptions
from engine.project.schedules import plateau_begin, plateau_options, rate_at
from engine.project.training import TrainingOptions
from engine.training.fast import fused_optimizers
from engine.training.lbfgs import Lbfgs, LossThere
from engine.training.precision import LossScale


class Schedule:
    """Gives the rate of a step, from 0. Every worker has its own; all see the same validations, so all agree.

    The plateau schedule lowers the rate as torch's ReduceLROnPlateau does: once more than so many validations in a row
    are not better than the best by a share of it. What comes during the warm-up, or
    the phases before it in a chain, only sets what is best.
    """

    def __init__(self, options: TrainingOptions, steps_per_epoch: int, total_steps: int, scale: float = 1.0) -> None:
        """All rates are `scale` times what the options say."""
        self._options = options
        self._scale = scale
        self._steps_per_epoch = steps_per_epoch
        self._total_steps = total_steps
        self._begin = plateau_begin(options, steps_per_epoch)
        self._plateau = plateau_options(options) if self._begin is not None else options
        self._best = math.nan
        self._worse_in_a_row = 0
        self._drops = 0
        self._factor = 1.0

    def __call__(self, step: int) -> float:
        """The rate of this step."""
        rate = rate_at(self._options, step, self._steps_per_epoch, self._total_steps, self._drops)
        return self._scale * self._factor * rate

    def multiply(self, factor: float) -> None:
        """From now on every rate is so many times what it would be."""
        self._factor *= factor

    def change_length(self, total_steps: int) -> None:
        """The run will have so many steps."""
        self._total_steps = total_steps

    def state_dict(self) -> dict[str, Any]:
        """What the validations and requests have made of it."""
        return {"best": self._best, "worse": self._worse_in_a_row, "drops": self._drops, "factor": self._factor}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self._best, self._worse_in_a_row = float(state["best"]), int(state["worse"])
        self._drops, self._factor = int(state["drops"]), float(state["factor"])

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """After so many steps the objective is this."""
        if self._begin is None:
            return
        if self._is_better(value, higher_is_better):
            self._best, self._worse_in_a_row = value, 0
        elif step > self._begin:
            self._worse_in_a_row += 1
        if self._worse_in_a_row > self._plateau.plateau_patience:
            self._drops, self._worse_in_a_row = self._drops + 1, 0

    def _is_better(self, value: float, higher_is_better: bool) -> bool:
        if math.isnan(self._best):
            return not math.isnan(value)
        margin = self._plateau.plateau_threshold
        if higher_is_better:
            return value > self._best * (1.0 + margin)
        return value < self._best * (1.0 - margin)


_NORMALISATIONS = (nn.modules.batchnorm._NormBase, nn.GroupNorm, nn.LayerNorm, nn.RMSNorm)


class Solver:
    """One optimizer, and its learn rate.

    `parameters` is what the layers say of parameters by name: each factor multiplies the learn rate, or the L2
    regularisation, of its own. Frozen parameters (without a gradient) are left out.
    """

    def __init__(
        self,
        options: TrainingOptions,
        network: nn.Module,
        parameters: Mapping[str, ParameterOptions] | None = None,
        *,
        fused: bool = True,
    ) -> None:
        """`fused`: torch's fused kernels may be called directly."""
        groups = _groups(network, options, parameters or {})
        self._optimizer = _optimizer(options, groups) if fused else public_optimizer(options, groups)
        self._rate = options.initial_learn_rate

    @property
    def searches(self) -> bool:
        """Whether it looks at the loss in several places before it moves, and so needs `loss` in `step`."""
        return isinstance(self._optimizer, Lbfgs)

    @property
    def finished(self) -> str:
        """Why there is nothing left to do, or nothing."""
        return self._optimizer.finished if isinstance(self._optimizer, Lbfgs) else ""

    def unscale(self, scale: LossScale) -> None:
        """Divide the gradients by the scale of the loss."""
        scale.unscale_(self._optimizer)

    def step(self, rate: float, loss: LossThere | None = None, scale: LossScale | None = None) -> None:
        """Move all weights once by their gradients. `loss` makes gradients, those of the whole batch, and gives the
        loss of the whole batch, with the weights as they are when it is called. Nothing moves where the gradients of a
        scaled loss overflowed; the scale is lowered then."""
        if rate != self._rate:
            for group in self._optimizer.param_groups:
                group["lr"] = rate * group["learn_rate_factor"]
            self._rate = rate
        if scale is not None:
            scale.move(self._optimizer)
        elif loss is None:
            self._optimizer.step()
        else:
            self._optimizer.step(loss)

    def moments(self) -> Iterator[torch.Tensor]:
        """All that is remembered of past gradients, to be changed in place; counts are not among it."""
        for kept in self._optimizer.state_dict()["state"].values():
            yield from (value for value in kept.values() if isinstance(value, torch.Tensor) and value.dim() > 0)

    def state_dict(self) -> dict[str, Any]:
        """Moments, counts, rates."""
        tolerance = self._optimizer.tolerance.state_dict() if isinstance(self._optimizer, Lbfgs) else {}
        return {"optimizer": self._optimizer.state_dict(), "rate": self._rate, "tolerance": tolerance}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there. What the options say of it, such as the momentum, is as it was then."""
        self._optimizer.load_state_dict(state["optimizer"])
        self._rate = float(state["rate"])
        if isinstance(self._optimizer, Lbfgs):
            self._optimizer.tolerance.load_state_dict(state["tolerance"])


def groups_by_name(
    network: nn.Module, options: TrainingOptions, parameters: Mapping[str, ParameterOptions]
) -> list[list[str]]:
    """The names of the parameters that learn, in the order in which the optimizer numbers them, group by group."""
    names = {parameter: name for name, parameter in network.named_parameters()}
    return [[names[parameter] for parameter in group["params"]] for group in _groups(network, options, parameters)]


def _groups(
    network: nn.Module, options: TrainingOptions, parameters: Mapping[str, ParameterOptions]
) -> list[dict[str, Any]]:
    """The parameters that learn, those with the same factors together."""
    factors: dict[tuple[float, float], list[nn.Parameter]] = {}
    for parameter, said in learning(network, parameters):
        factors.setdefault((said.learn_rate_factor, said.l2_factor), []).append(parameter)
    return [
        {
            "params": members,
            "lr": options.initial_learn_rate * rate,
            "weight_decay": options.l2_regularization * l2,
            "learn_rate_factor": rate,
        }
        for (rate, l2), members in factors.items()
    ]


def learning(
    network: nn.Module, parameters: Mapping[str, ParameterOptions]
) -> Iterator[tuple[nn.Parameter, ParameterOptions]]:
    """Each parameter that learns, with what is said of it. Where nothing is said, weights are regularised, biases and
    normalisation are not."""
    seen: set[nn.Parameter] = set()
    for path, module in network.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in seen and parameter.requires_grad:
                seen.add(parameter)
                # The biases of a recurrent layer and of an attention have one axis, as all biases do.
                is_weight = parameter.dim() >= 2 and "bias" not in name and not isinstance(module, _NORMALISATIONS)
                said = parameters.get(f"{path}.{name}" if path else name)
                yield parameter, said or ParameterOptions(l2_factor=float(is_weight))


def _optimizer(options: TrainingOptions, groups: list[dict[str, Any]]) -> Any:
    """Use torch's fused kernels where it has them: see `engine.training.fast.fused_optimizers`."""
    betas = (options.gradient_decay_factor, options.squared_gradient_decay_factor)
    momentum = options.momentum
    if options.solver in ("sgdm", "adam", "adamw") and fused_optimizers.usable(groups):
        if options.solver == "sgdm":
            return fused_optimizers.FusedSgd(groups, momentum=momentum, nesterov=options.nesterov and momentum > 0)
        return fused_optimizers.FusedAdam(groups, betas=betas, eps=options.epsilon, decoupled=options.solver == "adamw")
    return public_optimizer(options, groups)


def public_optimizer(options: TrainingOptions, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    """The one of `torch.optim`. The first that is made imports torch's compiler, which takes long."""
    rate = options.initial_learn_rate
    # There is no fused kernel for parameters in parts, of which each worker has one.
    in_parts = any(type(parameter) is not nn.Parameter for group in groups for parameter in group["params"])
    kernel = {"foreach": True} if in_parts else {"fused": True}
    betas = (options.gradient_decay_factor, options.squared_gradient_decay_factor)
    match options.solver:
        case "sgdm":
            nesterov = options.nesterov and options.momentum > 0
            return torch.optim.SGD(groups, lr=rate, momentum=options.momentum, nesterov=nesterov, **kernel)
        case "adam":
            return torch.optim.Adam(groups, lr=rate, betas=betas, eps=options.epsilon, **kernel)
        case "adamw":
            return torch.optim.AdamW(groups, lr=rate, betas=betas, eps=options.epsilon, **kernel)
        case "nadam":
            decay = options.momentum_decay
            return torch.optim.NAdam(
                groups, lr=rate, betas=betas, eps=options.epsilon, momentum_decay=decay, foreach=True
            )
        case "lbfgs":
            return Lbfgs(options, groups)
        case "rmsprop":
            alpha = options.squared_gradient_decay_factor
            return torch.optim.RMSprop(groups, lr=rate, alpha=alpha, eps=options.epsilon, foreach=True)
    raise ValueError(f"There is no solver '{options.solver}'.")
