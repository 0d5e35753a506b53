"""Fused optimizers: Adam, AdamW and SGD straight on torch's fused kernels, without the work of `torch.optim` per step.

On small networks that is a third of a step's time, and the first optimizer of `torch.optim` that is made imports
torch's compiler, which takes as long as torch itself. The kernels are private to torch, so each is tried against its
formula (`refusal`), and the solver takes the public optimizer where one differs. State dictionaries have the form of
the public optimizers: either reads the checkpoints of the other.
"""

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import torch
from torch import nn

from netwright.engine.parallel.tensor_shards import is_sharded

Group = dict[str, Any]
CPU = torch.device("cpu")


class Optimizer(Protocol):
    """The methods of an optimizer that the solver uses."""

    @property
    def param_groups(self) -> list[Group]:
        """Groups of parameters (`params`) with the same `lr` and other settings."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state in the form of `torch.optim.Optimizer.state_dict`."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state."""


class _Fused:
    """Base of the fused optimizers: parameter groups, and the moments of each parameter under torch's names."""

    _defaults: dict[str, Any] = {}
    """Settings of the public optimizer that stay as they are here."""
    _moment_names: tuple[str, ...] = ()

    def __init__(self, groups: Iterable[Group], **settings: Any) -> None:
        self.param_groups: list[Group] = [{**self._defaults, **settings, **group} for group in groups]
        self._moments: list[dict[str, list[torch.Tensor]]] = [
            {
                name: [torch.zeros_like(p, memory_format=torch.preserve_format) for p in group["params"]]
                for name in self._moment_names
            }
            for group in self.param_groups
        ]

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        for group, moments in zip(self.param_groups, self._moments, strict=True):
            parameters = group["params"]
            gradients = [parameter.grad for parameter in parameters]
            if any(gradient is None for gradient in gradients):
                self._update_some(group, moments, gradients)
            else:
                self._update(group, parameters, gradients, moments)

    def _update_some(self, group: Group, moments: dict[str, list[torch.Tensor]], gradients: list[Any]) -> None:
        numbers = [number for number, gradient in enumerate(gradients) if gradient is not None]
        if numbers:
            self._separate_counts(moments)
            some = {name: [tensors[number] for number in numbers] for name, tensors in moments.items()}
            parameters = [group["params"][number] for number in numbers]
            self._update(group, parameters, [gradients[number] for number in numbers], some)

    def _separate_counts(self, moments: dict[str, list[torch.Tensor]]) -> None:
        """Give each parameter a step count of its own, where a group shares one."""

    def _update(
        self,
        group: Group,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        moments: dict[str, list[torch.Tensor]],
    ) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Return the state in the form of `torch.optim.Optimizer.state_dict`."""
        state: dict[int, dict[str, torch.Tensor]] = {}
        groups = []
        for group, moments in zip(self.param_groups, self._moments, strict=True):
            numbers = list(range(len(state), len(state) + len(group["params"])))
            for place, number in enumerate(numbers):
                # Copies of the counts, which a group may share: saved tensors must not share memory.
                state[number] = {n: x[place].clone() if n == "step" else x[place] for n, x in moments.items()}
            groups.append({**group, "params": numbers})
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state. Raises `ValueError` where it is that of another network."""
        sizes = [len(group["params"]) for group in self.param_groups]
        if [len(group["params"]) for group in state["param_groups"]] != sizes:
            raise ValueError("The state of the optimizer belongs to other parameters.")
        for group, moments, saved in zip(self.param_groups, self._moments, state["param_groups"], strict=True):
            group["lr"] = saved["lr"]
            self._separate_counts(moments)
            for place, number in enumerate(saved["params"]):
                for name, value in state["state"].get(number, {}).items():
                    if value is not None:
                        moments[name][place].copy_(value)
        self._loaded()

    def _loaded(self) -> None:
        """Tidy up after a state was restored."""


class FusedAdam(_Fused):
    """Adam, Kingma and Ba 2015; with `decoupled`, AdamW, Loshchilov and Hutter 2019."""

    _defaults = {
        "amsgrad": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "fused": True,
    }
    _moment_names = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, groups: Iterable[Group], *, betas: tuple[float, float], eps: float, decoupled: bool = False
    ) -> None:
        super().__init__(groups, betas=betas, eps=eps, decoupled_weight_decay=decoupled)
        self._kernel: Callable[..., Any] = torch._fused_adamw_ if decoupled else torch._fused_adam_
        for group, moments in zip(self.param_groups, self._moments, strict=True):
            # One count for all while every step updates all of them: one addition instead of one each.
            count = torch.zeros((), device=group["params"][0].device)
            moments["step"] = [count] * len(group["params"])

    def _separate_counts(self, moments: dict[str, list[torch.Tensor]]) -> None:
        if len(moments["step"]) > 1 and moments["step"][0] is moments["step"][1]:
            moments["step"] = [count.clone() for count in moments["step"]]

    def _loaded(self) -> None:
        for moments in self._moments:
            counts = moments["step"]
            if len({float(count) for count in counts}) == 1:
                moments["step"] = [counts[0]] * len(counts)

    def _update(
        self,
        group: Group,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        moments: dict[str, list[torch.Tensor]],
    ) -> None:
        counts = moments["step"]
        if len(counts) > 1 and counts[0] is not counts[1]:
            torch._foreach_add_(counts, 1)
        else:
            counts[0] += 1
        self._kernel(
            parameters,
            gradients,
            moments["exp_avg"],
            moments["exp_avg_sq"],
            [],
            counts,
            lr=group["lr"],
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=False,
            maximize=False,
        )


class FusedSgd(_Fused):
    """Stochastic gradient descent with momentum, as torch has it: a buffer of momentum · buffer + gradient."""

    _defaults = {"dampening": 0, "maximize": False, "foreach": None, "differentiable": False, "fused": True}

    def __init__(self, groups: Iterable[Group], *, momentum: float, nesterov: bool = False) -> None:
        self._moment_names = ("momentum_buffer",) if momentum else ()
        super().__init__(groups, momentum=momentum, nesterov=nesterov)

    def _update(
        self,
        group: Group,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        moments: dict[str, list[torch.Tensor]],
    ) -> None:
        torch._fused_sgd_(
            parameters,
            gradients,
            moments.get("momentum_buffer", []),
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            lr=group["lr"],
            dampening=0.0,
            nesterov=group["nesterov"],
            maximize=False,
            is_first_step=False,  # a buffer of zeros gives the same as none
        )


def usable(groups: Iterable[Group]) -> bool:
    """Return whether torch has working kernels for these parameters: within each group of one type on one device, and
    not sharded."""
    kinds = [{(is_sharded(p), p.device, p.dtype) for p in group["params"]} for group in groups]
    if any(len(kind) != 1 or next(iter(kind))[0] for kind in kinds):
        return False
    return not any(refusal(*next(iter(kind))[1:]) for kind in kinds)


@functools.cache
def refusal(device: torch.device = CPU, dtype: torch.dtype = torch.float32) -> str:
    """Return the reason why the fused kernels cannot be used on this device, or an empty text: two steps of each kernel
    on one number are compared with the formula in plain Python."""
    if dtype not in (torch.float32, torch.float64):
        return f"there is no fused kernel for {dtype} on {device.type}"
    makers: list[Callable[[list[Group]], FusedAdam | FusedSgd]] = [
        lambda groups: FusedAdam(groups, betas=(0.9, 0.99), eps=1e-8),
        lambda groups: FusedAdam(groups, betas=(0.9, 0.99), eps=1e-8, decoupled=True),
        lambda groups: FusedSgd(groups, momentum=0.9),
    ]
    try:
        weights = [_weight_after_two_steps(make, device, dtype) for make in makers]
    except (AttributeError, RuntimeError, TypeError) as error:
        return f"torch {torch.__version__} lacks what it takes: {error}"
    if all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(weights, _expected_weights(), strict=True)):
        return ""
    return f"the fused kernels of torch {torch.__version__} give other numbers than their formulas"


def _weight_after_two_steps(
    make: Callable[[list[Group]], FusedAdam | FusedSgd], device: torch.device, dtype: torch.dtype
) -> float:
    weight = nn.Parameter(torch.tensor([2.0], device=device, dtype=dtype))
    optimizer = make([{"params": [weight], "lr": 0.1, "weight_decay": 0.5}])
    for gradient in (3.0, -1.0):
        weight.grad = torch.full_like(weight, gradient)
        optimizer.step()
    return float(weight.detach())


def _expected_weights() -> tuple[float, float, float]:
    """Return the weight after the same two steps of Adam, AdamW and SGD by their formulas."""
    weights = []
    for decoupled in (False, True):
        w, m, v = 2.0, 0.0, 0.0
        for t, gradient in enumerate((3.0, -1.0), start=1):
            w, g = (w - 0.1 * 0.5 * w, gradient) if decoupled else (w, gradient + 0.5 * w)
            m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
            w -= 0.1 * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.99**t)) + 1e-8)
        weights.append(w)
    w, momentum = 2.0, 0.0
    for gradient in (3.0, -1.0):
        momentum = 0.9 * momentum + gradient + 0.5 * w
        w -= 0.1 * momentum
    return weights[0], weights[1], w
