"""Adam, AdamW and SGD straight on torch's fused kernels, without what `torch.optim` does around them at every step.

On small networks that is a third of a step's time, and the first public optimizer that is made imports torch's
compiler, which takes as long as torch itself. The kernels are private to torch, so `usable` tries each against its
formula, and `solver` takes the public optimizer where one does not do what is expected. States are
told in the public optimizer's form: a checkpoint of one is read by the other.
"""

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import torch
from torch import nn

Group = dict[str, Any]


class Optimizer(Protocol):
    """What is needed of an optimizer, public or not."""

    @property
    def param_groups(self) -> list[Group]:
        """Parameters (`params`) that have the same `lr` and other settings."""

    def state_dict(self) -> dict[str, Any]:
        """As that of `torch.optim.Optimizer`."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""


class _Fused:
    """Groups, and what is remembered of each parameter, under torch's names in `_kept`."""

    _defaults: dict[str, Any] = {}
    """Settings that the public optimizer has and these do not."""
    _kept: tuple[str, ...] = ()

    def __init__(self, groups: Iterable[Group], **settings: Any) -> None:
        self.param_groups: list[Group] = [{**self._defaults, **settings, **group} for group in groups]
        self._memory: list[dict[str, list[torch.Tensor]]] = [
            {
                name: [torch.zeros_like(p, memory_format=torch.preserve_format) for p in group["params"]]
                for name in self._kept
            }
            for group in self.param_groups
        ]

    def step(self) -> None:
        """Move every parameter that has a gradient by it."""
        for group, memory in zip(self.param_groups, self._memory, strict=True):
            parameters = group["params"]
            gradients = [parameter.grad for parameter in parameters]
            if any(gradient is None for gradient in gradients):
                self._move_some(group, memory, gradients)
            else:
                self._move(group, parameters, gradients, memory)

    def _move_some(self, group: Group, memory: dict[str, list[torch.Tensor]], gradients: list[Any]) -> None:
        chosen = [number for number, gradient in enumerate(gradients) if gradient is not None]
        if chosen:
            self._apart(memory)
            some = {name: [kept[number] for number in chosen] for name, kept in memory.items()}
            parameters = [group["params"][number] for number in chosen]
            self._move(group, parameters, [gradients[number] for number in chosen], some)

    def _apart(self, memory: dict[str, list[torch.Tensor]]) -> None:
        """Whatever parameters of a group have in common they have each for itself from now on."""

    def _move(
        self,
        group: Group,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        memory: dict[str, list[torch.Tensor]],
    ) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """In the form of `torch.optim.Optimizer.state_dict`."""
        state: dict[int, dict[str, torch.Tensor]] = {}
        groups = []
        for group, memory in zip(self.param_groups, self._memory, strict=True):
            numbers = list(range(len(state), len(state) + len(group["params"])))
            for place, number in enumerate(numbers):
                # Copies of the counts, which some have in common: what is saved must not share memory.
                state[number] = {n: kept[place].clone() if n == "step" else kept[place] for n, kept in memory.items()}
            groups.append({**group, "params": numbers})
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there. Raises `ValueError` where it is the state of another network."""
        sizes = [len(group["params"]) for group in self.param_groups]
        if [len(group["params"]) for group in state["param_groups"]] != sizes:
            raise ValueError("The state of the optimizer belongs to other parameters.")
        for group, memory, saved in zip(self.param_groups, self._memory, state["param_groups"], strict=True):
            group["lr"] = saved["lr"]
            self._apart(memory)
            for place, number in enumerate(saved["params"]):
                for name, value in state["state"].get(number, {}).items():
                    if value is not None:
                        memory[name][place].copy_(value)
        self._loaded()

    def _loaded(self) -> None:
        """A state has been read."""


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
    _kept = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, groups: Iterable[Group], *, betas: tuple[float, float], eps: float, decoupled: bool = False
    ) -> None:
        super().__init__(groups, betas=betas, eps=eps, decoupled_weight_decay=decoupled)
        self._kernel: Callable[..., Any] = torch._fused_adamw_ if decoupled else torch._fused_adam_
        for group, memory in zip(self.param_groups, self._memory, strict=True):
            # As long as all have moved at every step, they count together: one addition instead of one each.
            count = torch.zeros((), device=group["params"][0].device)
            memory["step"] = [count] * len(group["params"])

    def _apart(self, memory: dict[str, list[torch.Tensor]]) -> None:
        if len(memory["step"]) > 1 and memory["step"][0] is memory["step"][1]:
            memory["step"] = [count.clone() for count in memory["step"]]

    def _loaded(self) -> None:
        for memory in self._memory:
            counts = memory["step"]
            if len({float(count) for count in counts}) == 1:
                memory["step"] = [counts[0]] * len(counts)

    def _move(
        self,
        group: Group,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        memory: dict[str, list[torch.Tensor]],
    ) -> None:
        counts = memory["step"]
        if len(counts) > 1 and counts[0] is not counts[1]:
            torch._foreach_add_(counts, 1)
        else:
            counts[0] += 1
        self._kernel(
            parameters,
            gradients,
            memory["exp_avg"],
            memory["exp_avg_sq"],
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
        self._kept = ("momentum_buffer",) if momentum else ()
        super().__init__(groups, momentum=momentum, nesterov=nesterov)

    def _move(
        self,
        group: Group,
        parameters: list[torch.Tensor],
        gradients: list[torch.Tensor],
        memory: dict[str, list[torch.Tensor]],
    ) -> None:
        torch._fused_sgd_(
            parameters,
            gradients,
            memory.get("momentum_buffer", []),
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            lr=group["lr"],
            dampening=0.0,
            nesterov=group["nesterov"],
            maximize=False,
            is_first_step=False,  # a buffer of zeros gives the same as none
        )


def usable(groups: Iterable[Group]) -> bool:
    """Whether torch has kernels for these parameters that do what is known of them: all real, floating point, and of
    one type on one device within each group."""
    kinds = [{(type(p), p.device, p.dtype) for p in group["params"]} for group in groups]
    if any(len(kind) != 1 or next(iter(kind))[0] is not nn.Parameter for kind in kinds):  # a part of a tensor is none
        return False
    return all(_does_what_is_known(*next(iter(kind))[1:]) for kind in kinds)


@functools.cache
def _does_what_is_known(device: torch.device, dtype: torch.dtype) -> bool:
    """Two steps of each kernel on one number, beside the formula in plain Python."""
    if dtype not in (torch.float32, torch.float64) or device.type not in ("cpu", "cuda"):
        return False
    makers: list[Callable[[list[Group]], FusedAdam | FusedSgd]] = [
        lambda groups: FusedAdam(groups, betas=(0.9, 0.99), eps=1e-8),
        lambda groups: FusedAdam(groups, betas=(0.9, 0.99), eps=1e-8, decoupled=True),
        lambda groups: FusedSgd(groups, momentum=0.9),
    ]
    try:
        found = [_trial(make, device, dtype) for make in makers]
    except (AttributeError, RuntimeError, TypeError):
        return False
    return all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(found, _by_hand(), strict=True))


def _trial(make: Callable[[list[Group]], FusedAdam | FusedSgd], device: torch.device, dtype: torch.dtype) -> float:
    weight = nn.Parameter(torch.tensor([2.0], device=device, dtype=dtype))
    optimizer = make([{"params": [weight], "lr": 0.1, "weight_decay": 0.5}])
    for gradient in (3.0, -1.0):
        weight.grad = torch.full_like(weight, gradient)
        optimizer.step()
    return float(weight.detach())


def _by_hand() -> tuple[float, float, float]:
    """The weight after the two steps of `_trial`, with Adam, AdamW and SGD."""
    ended = []
    for decoupled in (False, True):
        w, m, v = 2.0, 0.0, 0.0
        for t, gradient in enumerate((3.0, -1.0), start=1):
            w, g = (w - 0.1 * 0.5 * w, gradient) if decoupled else (w, gradient + 0.5 * w)
            m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
            w -= 0.1 * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.99**t)) + 1e-8)
        ended.append(w)
    w, momentum = 2.0, 0.0
    for gradient in (3.0, -1.0):
        momentum = 0.9 * momentum + gradient + 0.5 * w
        w -= 0.1 * momentum
    return ended[0], ended[1], w
