"""Solvers written from their definitions, to compare the engine's with: they know nothing of it, and save no work."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


class BookLbfgs(torch.optim.Optimizer):
    """Nocedal and Wright: two loops for the direction; then halves until the loss falls by 1e-4 of the promise
    (backtracking), or bisection until the slope is at most 0.9 of the first one too (weak Wolfe)."""

    def __init__(
        self, parameters: Iterable[nn.Parameter], history: int, rate: float, method: str, factor: float = 1.0
    ) -> None:
        super().__init__(parameters, {})
        self.history, self.rate, self.method, self.factor = history, rate, method, factor
        self.parameters: list[nn.Parameter] = self.param_groups[0]["params"]
        self.pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.last: tuple[torch.Tensor, torch.Tensor] | None = None

    def direction(self, g: torch.Tensor) -> torch.Tensor:
        q, kept = g.clone(), []
        for s, y in reversed(self.pairs):
            a = s.dot(q) / s.dot(y)
            kept.append(a)
            q = q - a * y
        if self.pairs:
            s, y = self.pairs[-1]
            q = q * (s.dot(y) / y.dot(y))
        else:
            q = q * self.factor
        for (s, y), a in zip(self.pairs, reversed(kept), strict=True):
            q = q + s * (a - y.dot(q) / s.dot(y))
        return -q

    def step(self, closure: Callable[[], torch.Tensor]) -> torch.Tensor:  # type: ignore[override]
        def look(w: torch.Tensor) -> tuple[float, torch.Tensor]:
            nn.utils.vector_to_parameters(w, self.parameters)
            loss = float(closure().detach())
            return loss, torch.cat([p.grad.reshape(-1) for p in self.parameters if p.grad is not None])

        w = nn.utils.parameters_to_vector(self.parameters).detach().clone()
        loss, g = look(w)
        if self.last is not None and (w - self.last[0]).dot(g - self.last[1]) > 1e-10:
            self.pairs = [*self.pairs, (w - self.last[0], g - self.last[1])][-self.history :]
        d = self.direction(g)
        size = self.rate if self.last is not None else self.rate * min(1.0, 1.0 / float(g.abs().sum()))
        low, high = 0.0, math.inf
        while True:
            there, slope = look(w + size * d)
            if there > loss + 1e-4 * size * float(g.dot(d)):
                high = size
            elif self.method == "weak-wolfe" and slope.dot(d) < 0.9 * g.dot(d):
                low = size
            else:
                break
            size = 2 * low if math.isinf(high) else (low + high) / 2
        self.last = w, g
        nn.utils.vector_to_parameters(w + size * d, self.parameters)
        return torch.tensor(loss)


@dataclass
class BookLm:
    """Marquardt's method in numpy for a network of two layers with tanh between: derivatives written out by hand.

    The loss is c/2 times the squared errors, plus half of `l2` times the squared weights; `l2` and the `factors` of the
    learn rate are one number for each weight. A factor f is another unit of length for its weight: w = sqrt(f) · z.
    """

    w: np.ndarray
    l2: np.ndarray
    factors: np.ndarray
    sizes: tuple[int, int, int]
    mean_over_responses: bool = False
    damping: float = 0.001
    increase: float = 10.0
    decrease: float = 0.1

    def parts(self, w: np.ndarray) -> tuple[np.ndarray, ...]:
        i, h, k = self.sizes
        ends = np.cumsum([h * i, h, k * h, k])
        a, b, c, d = np.split(w, ends[:-1])
        return a.reshape(h, i), b, c.reshape(k, h), d

    def outputs(self, w: np.ndarray, x: np.ndarray) -> np.ndarray:
        first, shift, last, offset = self.parts(w)
        found: np.ndarray = np.tanh(x @ first.T + shift) @ last.T + offset
        return found

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """One row a response of a sample."""
        first, shift, last, _ = self.parts(self.w)
        rows = []
        for sample in x:
            t = np.tanh(first @ sample + shift)
            for k in range(self.sizes[2]):
                inner = last[k] * (1 - t**2)
                one = np.eye(self.sizes[2])[k]
                rows.append(np.concatenate([np.outer(inner, sample).ravel(), inner, np.outer(one, t).ravel(), one]))
        return np.array(rows)

    def step(self, x: np.ndarray, targets: np.ndarray) -> float:
        """One step that lowers the loss; gives the loss before, without the weights' part."""
        c = 2.0 / targets.size if self.mean_over_responses else 1.0 / len(targets)
        units = np.sqrt(self.factors)

        def loss(w: np.ndarray) -> tuple[float, float]:
            errors = 0.5 * c * float(((self.outputs(w, x) - targets) ** 2).sum())
            return errors, errors + 0.5 * float((self.l2 * w**2).sum())

        j = self.jacobian(x) * units
        r = (self.outputs(self.w, x) - targets).ravel()
        curvature = c * j.T @ j + np.diag(self.l2 * self.factors)
        slope = c * j.T @ r + units * self.l2 * self.w
        before, whole = loss(self.w)
        while True:
            moved = self.w - units * np.linalg.solve(curvature + self.damping * np.eye(len(slope)), slope)
            if loss(moved)[1] < whole:
                self.damping *= self.decrease
                self.w = moved
                return before
            self.damping *= self.increase
