"""Differential equations dy/dt = f(y), solved in equal steps.

What computes f is a module; `netwright.engine.lowering.module` hands over a function that notes down what is done.
"""

import torch
from torch import nn


def euler(f: nn.Module, y: torch.Tensor, start: float, end: float, steps: int) -> torch.Tensor:
    """y at the end, by steps of first order."""
    h = (end - start) / steps
    for _ in range(steps):
        y = y + h * f(y)
    return y


def midpoint(f: nn.Module, y: torch.Tensor, start: float, end: float, steps: int) -> torch.Tensor:
    """y at the end, by steps of second order."""
    h = (end - start) / steps
    for _ in range(steps):
        y = y + h * f(y + h / 2 * f(y))
    return y


def rk4(f: nn.Module, y: torch.Tensor, start: float, end: float, steps: int) -> torch.Tensor:
    """y at the end, by steps of fourth order: the classical Runge-Kutta method."""
    h = (end - start) / steps
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def dopri5(f: nn.Module, y: torch.Tensor, start: float, end: float, steps: int) -> torch.Tensor:
    """y at the end, by steps of fifth order: the formula of Dormand and Prince."""
    h = (end - start) / steps
    rows = (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    )
    for _ in range(steps):
        slopes = [f(y)]
        for row in rows:
            reached = y
            for share, slope in zip(row, slopes, strict=True):
                if share:
                    reached = reached + h * share * slope
            if len(row) == 6:
                y = reached
            else:
                slopes.append(f(reached))
    return y
