"""Solvers and learn-rate schedules: torch's optimizers under MATLAB's option names."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.parallel.tensor_shards import is_sharded
from netwright.engine.project.schedules import plateau_begin, plateau_options, rate_at
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.fast import fused_optimizers
from netwright.engine.training.lbfgs import Closure, Lbfgs
from netwright.engine.training.matlab_convention import MatlabConvention
from netwright.engine.training.precision import LossScale


class Schedule:
    """Returns the learn rate of a step, from 0. Each worker has one; all get the same validations, so all agree.

    The plateau schedule lowers the rate as torch's ReduceLROnPlateau does: when more validations in a row than the
    patience are not better than the best by the threshold. Validations during the warm-up, or in the phases before it
    in a chain, only set the best.
    """

    def __init__(self, options: TrainingOptions, steps_per_epoch: int, total_steps: int, scale: float = 1.0) -> None:
        """`scale` multiplies all rates."""
        self._options = options
        self._scale = scale
        self._steps_per_epoch = steps_per_epoch
        self.total_steps = total_steps
        self._begin = plateau_begin(options, steps_per_epoch)
        self._plateau = plateau_options(options) if self._begin is not None else options
        self._best = math.nan
        self._worse_in_a_row = 0
        self._drops = 0
        self._factor = 1.0

    def __call__(self, step: int) -> float:
        """Return the learn rate of a step."""
        rate = rate_at(self._options, step, self._steps_per_epoch, self.total_steps, self._drops)
        return self._scale * self._factor * rate

    def multiply(self, factor: float) -> None:
        """Multiply every later rate by a factor."""
        self._factor *= factor

    def change_length(self, total_steps: int) -> None:
        """Change the number of steps of the run."""
        self.total_steps = total_steps

    def state_dict(self) -> dict[str, Any]:
        """Return the state that validations and requests have changed."""
        return {"best": self._best, "worse": self._worse_in_a_row, "drops": self._drops, "factor": self._factor}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that validations and requests have changed."""
        self._best, self._worse_in_a_row = float(state["best"]), int(state["worse"])
        self._drops, self._factor = int(state["drops"]), float(state["factor"])

    def validated(self, step: int, value: float, higher_is_better: bool) -> None:
        """Take note of the objective after this many steps."""
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
    """An optimizer and its learn rate.

    `parameters` are the options of the layers by parameter name: factors of the learn rate and of L2 regularisation.
    Frozen parameters (without a gradient) are left out.
    """

    def __init__(
        self,
        options: TrainingOptions,
        network: nn.Module,
        parameters: Mapping[str, ParameterOptions] | None = None,
        *,
        fused: bool = True,
        keeps_zeros: bool = False,
    ) -> None:
        """`fused`: torch's fused kernels may be called directly. `keeps_zeros`: weights of matrices and kernels that
        are zero before the first step stay zero, as those of a pruned network."""
        self._keeps_zeros = keeps_zeros
        self._masks: list[tuple[torch.Tensor, torch.Tensor]] | None = None
        groups = _groups(network, options, parameters or {})
        is_matlab = options.convention == "matlab" and not options.is_full_batch
        self._convention = MatlabConvention(options, groups) if is_matlab else None
        self._optimizer = _optimizer(options, groups) if fused else public_optimizer(options, groups)
        self._rate = options.initial_learn_rate

    @property
    def searches(self) -> bool:
        """Return whether it searches along a line, and so needs `loss` in `step`."""
        return isinstance(self._optimizer, Lbfgs)

    @property
    def finished(self) -> str:
        """Return the reason why the solver is at an end; empty while it is not."""
        return self._optimizer.finished if isinstance(self._optimizer, Lbfgs) else ""

    def unscale(self, scale: LossScale) -> None:
        """Divide the gradients by the scale of the loss."""
        scale.unscale_(self._optimizer)

    def regularize(self) -> None:
        """Add L2 regularisation to the gradients, where that comes before the gradient threshold."""
        if self._convention is not None:
            self._convention.regularize()

    def step(self, rate: float, loss: Closure | None = None, scale: LossScale | None = None) -> None:
        """Update all weights by their gradients.

        `loss` computes loss and gradients of the whole batch for the weights as they are when it is called. Where the
        gradients of a scaled loss overflowed, the update is skipped and the scale lowered.
        """
        if self._keeps_zeros and self._masks is None:
            self._masks = self._found_zeros()
        if rate != self._rate:
            for group in self._optimizer.param_groups:
                group["lr"] = rate * group["learn_rate_factor"]
            self._rate = rate
        if loss is not None:
            self._optimizer.step(loss)
        elif scale is None or not scale.has_overflow(self._optimizer):
            if self._convention is not None:
                self._convention.before_update(self._optimizer.param_groups, rate)
            self._optimizer.step()
        for weight, mask in self._masks or ():
            weight.mul_(mask)
        if scale is not None:
            scale.update()

    def _found_zeros(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return the matrices and kernels that have zeros, each with a mask that is 0 there. A resumed run finds the
        same ones: they have stayed."""
        weights = [x.detach() for group in self._optimizer.param_groups for x in group["params"] if x.dim() >= 2]
        return [(x, (x != 0).to(x.dtype)) for x in weights if bool((x == 0).any())]

    def moments(self) -> Iterator[torch.Tensor]:
        """Yield what is kept of past gradients, to be changed in place; without counts."""
        for state in self._optimizer.state_dict()["state"].values():
            yield from (value for value in state.values() if isinstance(value, torch.Tensor) and value.dim() > 0)

    def state_dict(self) -> dict[str, Any]:
        """Return moments, counts and learn rate."""
        tolerance = self._optimizer.tolerance.state_dict() if isinstance(self._optimizer, Lbfgs) else {}
        optimizer = self._optimizer.state_dict()
        groups = [{k: x for k, x in group.items() if k not in _KERNELS} for group in optimizer["param_groups"]]
        return {"optimizer": {**optimizer, "param_groups": groups}, "rate": self._rate, "tolerance": tolerance}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the optimizer, with its options, such as the momentum, as they were; its kernels are those of now:
        a run may go on with shards of the weights, or without."""
        own = [{k: group[k] for k in _KERNELS if k in group} for group in self._optimizer.param_groups]
        saved = state["optimizer"]["param_groups"]
        groups = [{**group, **kernels} for group, kernels in zip(saved, own, strict=True)]
        self._optimizer.load_state_dict({**state["optimizer"], "param_groups": groups})
        if isinstance(self._optimizer, Lbfgs):
            self._optimizer.refuse_other_state()
        elif isinstance(self._optimizer, torch.optim.Optimizer):
            _refuse_other_moments(self._optimizer)
        self._rate = float(state["rate"])
        if self._convention is not None:
            self._convention.load_optimizer_state(state["optimizer"])
        if isinstance(self._optimizer, Lbfgs):
            self._optimizer.tolerance.load_state_dict(state["tolerance"])


FUSED_SOLVERS = ("sgdm", "adam", "adamw")
"""Solvers that torch's fused kernels can be called for directly."""
_KERNELS = ("fused", "foreach")
"""Options of torch's optimizers that choose how they compute, not what."""
_COUNTS = ("step", "mu_product")
"""Names in the state of torch's optimizers that are numbers; the others have the shape of their parameter."""


def _refuse_other_moments(optimizer: torch.optim.Optimizer) -> None:
    """Raise `ValueError` for counts of another kind, and moments without the shape of their parameter."""
    for parameter, moments in optimizer.state.items():
        for name, value in moments.items():
            shape = value.shape if isinstance(value, torch.Tensor) else None
            if name in _COUNTS:
                is_tensor = shape is not None and value.numel() == 1 and value.is_floating_point()
                fits = is_tensor or type(value) in (int, float)
            else:
                fits = shape == parameter.shape or (value is None and name == "momentum_buffer")
            if not fits:
                raise ValueError(f"{name} of the solver does not have the shape of its parameter")


def groups_by_name(
    network: nn.Module, options: TrainingOptions, parameters: Mapping[str, ParameterOptions]
) -> list[list[str]]:
    """Return the names of the trainable parameters by group, in the order in which the optimizer numbers them."""
    names = {parameter: name for name, parameter in network.named_parameters()}
    return [[names[parameter] for parameter in group["params"]] for group in _groups(network, options, parameters)]


def _groups(
    network: nn.Module, options: TrainingOptions, parameters: Mapping[str, ParameterOptions]
) -> list[dict[str, Any]]:
    """Return the trainable parameters, grouped by their factors."""
    factors: dict[tuple[float, float], list[nn.Parameter]] = {}
    for parameter, setting in trainable_parameters(network, parameters):
        factors.setdefault((setting.learn_rate_factor, setting.l2_factor), []).append(parameter)
    return [
        {
            "params": members,
            "lr": options.initial_learn_rate * rate,
            "weight_decay": options.l2_regularization * l2,
            "learn_rate_factor": rate,
        }
        for (rate, l2), members in factors.items()
    ]


def trainable_parameters(
    network: nn.Module, parameters: Mapping[str, ParameterOptions]
) -> Iterator[tuple[nn.Parameter, ParameterOptions]]:
    """Yield each trainable parameter with its options. By default weights are regularised, biases and normalisation are
    not."""
    distinct: set[nn.Parameter] = set()
    for path, module in network.named_modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in distinct and parameter.requires_grad:
                distinct.add(parameter)
                # The biases of a recurrent layer and of an attention have one axis, as all biases do.
                is_weight = parameter.dim() >= 2 and "bias" not in name and not isinstance(module, _NORMALISATIONS)
                setting = parameters.get(f"{path}.{name}" if path else name)
                yield parameter, setting or ParameterOptions(l2_factor=float(is_weight))


def _optimizer(options: TrainingOptions, groups: list[dict[str, Any]]) -> Any:
    """Create an optimizer on torch's fused kernels, where it has them: see
    `netwright.engine.training.fast.fused_optimizers`."""
    betas = (options.gradient_decay_factor, options.squared_gradient_decay_factor)
    momentum = options.momentum
    if options.solver in FUSED_SOLVERS and fused_optimizers.usable(groups):
        if options.solver == "sgdm":
            return fused_optimizers.FusedSgd(groups, momentum=momentum, nesterov=options.nesterov and momentum > 0)
        return fused_optimizers.FusedAdam(groups, betas=betas, eps=options.epsilon, decoupled=options.solver == "adamw")
    return public_optimizer(options, groups)


def public_optimizer(options: TrainingOptions, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    """Create the one of `torch.optim`. The first imports torch's compiler, which takes long."""
    rate = options.initial_learn_rate
    # There is no fused kernel for parameters in parts, of which each worker has one.
    in_parts = any(is_sharded(parameter) for group in groups for parameter in group["params"])
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
