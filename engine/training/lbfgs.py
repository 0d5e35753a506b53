"""L-BFGS: one iteration per step, with torch's line search or one of two others, and factors for each parameter.

Nocedal and Wright, Numerical Optimization, 2nd edition: algorithms 7.4 (two loops), 3.1 (backtracking). Weak Wolfe
search: Lewis and Overton, Nonsmooth optimization via quasi-Newton methods, 2013, algorithm 2.6.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from netwright.engine.project.training import TrainingOptions

Closure = Callable[[], float]
"""Computes the gradients for the present weights, and returns the loss."""

_SUFFICIENT = 1e-4
"""Share of the promised fall that the loss must fall by (c1 of the Armijo rule; torch's strong Wolfe search has it)."""
_FLATTER = 0.9
"""The slope at the end is at most this share of the one at the start (c2 of the Wolfe rules; torch has it too)."""
_LEAST_PROMISE = 1e-9
"""A direction with less slope is not taken (torch's default)."""


_LISTS = ("old_dirs", "old_stps", "ro", "al")
_VECTORS = ("d", "prev_flat_grad", "old_dirs", "old_stps")
_COUNTS = ("func_evals", "n_iter")
"""Names in the state of torch's L-BFGS: lists, vectors over all weights, and whole numbers; the others are numbers."""


def _fits(name: str, value: Any, size: int) -> bool:
    """Return whether a value, or an item of a list, has the kind and shape that its name stands for."""
    shape = tuple(value.shape) if isinstance(value, torch.Tensor) else None
    if name in _VECTORS:
        return shape == (size,)
    if name in _COUNTS:
        return type(value) is int
    return shape == () or type(value) in (int, float) or (name == "al" and value is None)


class Tolerance:
    """Decides when a full-batch solver has converged: by MATLAB's relative gradient, and the length of a step.

    The gradient is small enough where max |g| <= tolerance · max(1, min(loss, max |g0|)), g0 being that of the start.
    """

    def __init__(self, options: TrainingOptions) -> None:
        self._gradient, self._step = options.gradient_tolerance, options.step_tolerance
        self._first = math.nan

    def state_dict(self) -> dict[str, Any]:
        """Return the first gradient, with which later ones are compared."""
        return {"first": self._first}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the first gradient, with which later ones are compared."""
        self._first = float(state["first"])

    def of_gradient(self, largest: float, loss: float) -> str:
        """Return the reason why the run ends, or an empty text, for the largest gradient and the loss."""
        if math.isnan(self._first):
            self._first = largest
        if largest <= self._gradient * max(1.0, min(abs(loss), self._first)):
            return f"the gradient ({largest:.2g}) is below its tolerance"
        return ""

    def of_step(self, length: float) -> str:
        """Return the reason why the run ends, or an empty text, for the norm of the step over all weights."""
        return f"the step ({length:.2g}) is below its tolerance" if 0 < length <= self._step else ""


class Lbfgs(torch.optim.LBFGS):
    """torch's L-BFGS with parameter groups and L2 regularisation.

    L2 regularisation is a part of the loss here: 1/2 · L2 · factor · |w|². A rate factor f scales its parameter's
    axis: the search runs over z with w = sqrt(f) · z, so that a step along the gradient is f times as long, and a
    factor of 0 keeps the parameter still.
    """

    def __init__(self, options: TrainingOptions, groups: list[dict[str, Any]]) -> None:
        members = [(p, group) for group in groups for p in group["params"]]
        super().__init__(
            [p for p, _ in members],
            lr=options.initial_learn_rate,
            max_iter=1,
            max_eval=1 + options.max_line_search_iterations,
            tolerance_grad=0.0,
            tolerance_change=_LEAST_PROMISE,
            history_size=options.history_size,
            line_search_fn="strong_wolfe" if options.line_search_method == "strong-wolfe" else None,
        )
        # The rate of the whole; what differs between the parameters is in the axes.
        self.param_groups[0]["learn_rate_factor"] = 1.0
        self._parameters: list[nn.Parameter] = [p for p, _ in members]
        self._axes = [math.sqrt(group["learn_rate_factor"]) for _, group in members]
        self._l2 = [group["weight_decay"] for _, group in members]
        self._factor = options.initial_inverse_hessian_factor
        self._method = options.line_search_method
        self._max_evaluations = options.max_line_search_iterations
        self.tolerance = Tolerance(options)
        self.finished = ""
        """Why there is nothing left to do; empty before."""

    def refuse_other_state(self) -> None:
        """Raise `ValueError` for a loaded state with other kinds or shapes of values than torch's."""
        if self.param_groups[0]["line_search_fn"] not in (None, "strong_wolfe"):
            raise ValueError("the line search is unknown")
        size = sum(p.numel() for p in self._parameters)
        memory = self.state.get(self._parameters[0], {})
        if not isinstance(memory, dict) or len(memory.get("ro", [])) != len(memory.get("old_dirs", [])):
            raise ValueError("the memory of the solver has another form")
        for name, value in memory.items():
            items = value if isinstance(value, list) and name in _LISTS else [value]
            if (name in _LISTS and not isinstance(value, list)) or not all(_fits(name, item, size) for item in items):
                raise ValueError(f"{name} of the solver has another kind or shape")

    @torch.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # as torch's own has it
        """Search along one direction. Returns the loss before."""

        def regularised() -> float:
            with torch.enable_grad():
                loss = float(closure())
            return loss + self._add_regularisation()

        start = regularised()
        self.finished = self.tolerance.of_gradient(float(self._gather_flat_grad().abs().max()), start)
        if not self.finished:
            self._move(start, regularised)
        return start

    def _move(self, start: float, closure: Closure) -> None:
        """Make torch's step for these gradients; and the search along it where torch has none."""
        answers = [start]
        memory = self.state[self._parameters[0]]
        (group,) = self.param_groups
        rate, is_first = group["lr"], not memory
        # torch starts from an inverse Hessian of one. Where all is one multiple, it is the same to begin with a longer
        # step; later torch takes the factor from its state, until a step tells of the curvature.
        group["lr"] = rate * self._factor if is_first else rate
        super().step(lambda: answers.pop() if answers else closure())  # type: ignore[no-untyped-call]
        group["lr"] = rate
        if is_first:
            memory["H_diag"] = self._factor
        slope = float(memory["prev_flat_grad"].dot(memory["d"]))
        if slope > -_LEAST_PROMISE:
            self.finished = "no direction promises a lower loss"
            return
        if self._method != "strong-wolfe":
            self._search(start, slope, closure)
        length = abs(float(memory["t"])) * float(self._on_axes(memory["d"]).norm())
        self.finished = self.tolerance.of_step(length) if length else "the line search found no lower loss"

    @torch.no_grad()
    def _add_regularisation(self) -> float:
        """Add its gradient to the gradients; returns its loss."""
        total = 0.0
        for parameter, l2 in zip(self._parameters, self._l2, strict=True):
            if l2 and parameter.grad is not None:
                parameter.grad.add_(parameter, alpha=l2)
                total += 0.5 * l2 * float(parameter.double().square().sum())
        return total

    def _search(self, start: float, slope: float, closure: Closure) -> None:
        """Halve torch's step where it is too long, and for weak Wolfe double it where it is too short."""
        memory = self.state[self._parameters[0]]
        low, high, size = 0.0, math.inf, float(memory["t"])
        for _ in range(self._max_evaluations):
            if not closure() <= start + _SUFFICIENT * size * slope:
                high = size
            elif self._method == "weak-wolfe" and self._gather_flat_grad().dot(memory["d"]) < _FLATTER * slope:
                low = size
            else:
                break
            following = (low + high) / 2 if math.isfinite(high) else 2 * low
            self._add_grad(following - size, memory["d"])
            size = following
        else:  # back to the longest step that is known to lower the loss
            self._add_grad(low - size, memory["d"])
            size = low
        memory["t"] = size

    def _on_axes(self, direction: torch.Tensor) -> torch.Tensor:
        """Return a direction along the scaled axes as one of the weights."""
        parts = torch.split(direction, [p.numel() for p in self._parameters])
        return torch.cat([part * axis for part, axis in zip(parts, self._axes, strict=True)])

    def _gather_flat_grad(self) -> torch.Tensor:
        """Return the gradient along the scaled axes."""
        parts = [
            torch.zeros_like(p).view(-1) if p.grad is None else p.grad.reshape(-1) * axis
            for p, axis in zip(self._parameters, self._axes, strict=True)
        ]
        return torch.cat(parts)

    def _add_grad(self, step_size: float, direction: torch.Tensor) -> None:
        """Move the weights along a direction of the scaled axes."""
        parts = torch.split(direction, [p.numel() for p in self._parameters])
        for parameter, part, axis in zip(self._parameters, parts, self._axes, strict=True):
            parameter.add_(part.view_as(parameter), alpha=float(step_size) * axis)
