"""MATLAB's solvers, gradient threshold and LSTM, from the formulas of MathWorks' documentation (trainingOptions,
lstmLayer): they know nothing of the engine."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


class BookSolver(torch.optim.Optimizer):
    """One of the solvers; `moved` gives the next w from w, its gradient, the rate, the iteration and what it keeps."""

    def __init__(self, groups: Iterable[Any], rate: float, moved: Callable[..., torch.Tensor]) -> None:
        super().__init__(groups, {"lr": rate, "factor": 1.0})
        self.moved, self.iteration = moved, 0

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = closure() if closure else None
        self.iteration += 1
        with torch.no_grad():
            for group in self.param_groups:
                for w in group["params"]:
                    rate = group["lr"] * group["factor"]
                    w.copy_(self.moved(w.clone(), w.grad, rate, self.iteration, self.state[w]))
        return loss


def sgdm(momentum: float) -> Callable[..., torch.Tensor]:
    def moved(w: torch.Tensor, g: torch.Tensor, rate: float, iteration: int, kept: dict[str, Any]) -> torch.Tensor:
        before = kept.get("before", w)
        kept["before"] = w
        after: torch.Tensor = w - rate * g + momentum * (w - before)
        return after

    return moved


def rmsprop(decay: float, epsilon: float) -> Callable[..., torch.Tensor]:
    def moved(w: torch.Tensor, g: torch.Tensor, rate: float, iteration: int, kept: dict[str, Any]) -> torch.Tensor:
        kept["v"] = decay * kept.get("v", 0.0) + (1 - decay) * g**2
        after: torch.Tensor = w - rate * g / (kept["v"].sqrt() + epsilon)
        return after

    return moved


def adam(gradient_decay: float, squared_decay: float, epsilon: float) -> Callable[..., torch.Tensor]:
    """w - rate · m / (sqrt(v) + epsilon), with the correction of the bias in the rate (Kingma and Ba, section 2)."""

    def moved(w: torch.Tensor, g: torch.Tensor, rate: float, iteration: int, kept: dict[str, Any]) -> torch.Tensor:
        kept["m"] = gradient_decay * kept.get("m", 0.0) + (1 - gradient_decay) * g
        kept["v"] = squared_decay * kept.get("v", 0.0) + (1 - squared_decay) * g**2
        corrected = rate * math.sqrt(1 - squared_decay**iteration) / (1 - gradient_decay**iteration)
        after: torch.Tensor = w - corrected * kept["m"] / (kept["v"].sqrt() + epsilon)
        return after

    return moved


@torch.no_grad()
def limited(parameters: list[nn.Parameter], l2: list[float], threshold: float, method: str) -> None:
    """Gradients of the regularised loss, E + l2 / 2 · w'w for each w, limited to the threshold."""
    gradients = [factor * w + w.grad for w, factor in zip(parameters, l2, strict=True) if w.grad is not None]
    if method == "l2norm":
        gradients = [g * threshold / g.norm() if g.norm() > threshold else g for g in gradients]
    elif method == "global-l2norm":
        norm = math.sqrt(sum(float(g.square().sum()) for g in gradients))
        gradients = [g * threshold / norm if norm > threshold else g for g in gradients]
    elif method == "absolute-value":
        gradients = [torch.where(g.abs() > threshold, threshold * g.sign(), g) for g in gradients]
    for w, g in zip(parameters, gradients, strict=True):
        w.grad = g


class BookLstm(nn.Module):
    """One direction, with MATLAB's three learnables: input weights W, recurrent weights R, one bias b; the gates stand
    in the order input, forget, cell candidate, output. Gives the hidden state after the last step."""

    def __init__(self, weights: torch.Tensor, recurrent_weights: torch.Tensor, bias: torch.Tensor) -> None:
        super().__init__()
        self.W, self.R = nn.Parameter(weights.clone()), nn.Parameter(recurrent_weights.clone())
        self.b = nn.Parameter(bias.clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = x.new_zeros(len(x), self.R.shape[1])
        for t in range(x.shape[1]):
            i, f, g, o = (x[:, t] @ self.W.T + h @ self.R.T + self.b).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h
