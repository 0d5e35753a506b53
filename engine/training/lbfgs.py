"""L-BFGS: one iteration a step, with torch's line search or a backtracking one, and factors for each parameter.

Nocedal and Wright, Numerical Optimization, 2nd edition: algorithms 7.4 (two loops), 3.1 (backtracking).
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from engine.project.training import TrainingOptions

LossThere = Callable[[], float]
"""Makes the gradients at the weights as they are, and gives the loss there."""

_SUFFICIENT = 1e-4
"""Share of the promised fall that the loss must fall by (c1 of the Armijo rule; torch's strong Wolfe search has it)."""


class Lbfgs(torch.optim.LBFGS):
    """torch's L-BFGS, which knows neither groups nor L2, with both.

    L2 regularisation is a part of the loss here: 1/2 · L2 · factor · |w|². A learn-rate factor f scales its parameter's
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
            tolerance_grad=options.gradient_tolerance,
            tolerance_change=options.step_tolerance,
            history_size=options.history_size,
            line_search_fn="strong_wolfe" if options.line_search_method == "strong-wolfe" else None,
        )
        # The rate of the whole; what differs between the parameters is in the axes.
        self.param_groups[0]["learn_rate_factor"] = 1.0
        self._parameters: list[nn.Parameter] = [p for p, _ in members]
        self._axes = [math.sqrt(group["learn_rate_factor"]) for _, group in members]
        self._l2 = [group["weight_decay"] for _, group in members]
        self._most_halvings = options.max_line_search_iterations

    @torch.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # as torch's own has it
        """One direction, one search along it. Returns the loss before."""

        def regularised() -> float:
            with torch.enable_grad():
                loss = float(closure())
            return loss + self._add_regularisation()

        if self.param_groups[0]["line_search_fn"] is not None:
            return super().step(regularised)  # type: ignore[no-untyped-call]
        return self._backtrack(regularised)

    @torch.no_grad()
    def _add_regularisation(self) -> float:
        """Add its gradient to the gradients; returns its loss."""
        total = 0.0
        for parameter, l2 in zip(self._parameters, self._l2, strict=True):
            if l2 and parameter.grad is not None:
                parameter.grad.add_(parameter, alpha=l2)
                total += 0.5 * l2 * float(parameter.double().square().sum())
        return total

    def _backtrack(self, loss_there: LossThere) -> Any:
        """Take torch's step without a search, then come back by halves until the loss has fallen enough."""
        memory = self.state[self._parameters[0]]
        before = memory.get("n_iter", 0)
        start = super().step(loss_there)  # type: ignore[no-untyped-call]
        slope = float(memory["prev_flat_grad"].dot(memory["d"])) if memory.get("n_iter", 0) > before else 0.0
        if slope > -self.param_groups[0]["tolerance_change"]:
            return start  # nothing was moved: the gradient is flat, or the direction promises nothing
        size = memory["t"]
        for _ in range(self._most_halvings):
            loss = loss_there()
            if loss <= start + _SUFFICIENT * size * slope:
                break
            self._add_grad(-size / 2, memory["d"])
            size /= 2
        memory["t"] = size
        return start

    def _gather_flat_grad(self) -> torch.Tensor:
        """The gradient along the scaled axes."""
        parts = [
            torch.zeros_like(p).view(-1) if p.grad is None else p.grad.reshape(-1) * axis
            for p, axis in zip(self._parameters, self._axes, strict=True)
        ]
        return torch.cat(parts)

    def _add_grad(self, step_size: float, direction: torch.Tensor) -> None:
        """Move along a direction given by the scaled axes."""
        parts = torch.split(direction, [p.numel() for p in self._parameters])
        for parameter, part, axis in zip(self._parameters, parts, self._axes, strict=True):
            parameter.add_(part.view_as(parameter), alpha=float(step_size) * axis)
