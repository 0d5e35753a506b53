"""The three ways to limit gradients, against the formulas."""

import math

import pytest
import torch
from torch import nn

from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.gradient_clipping import gradient_clip


def clipped(method: str, limit: float, *gradients: list[float]) -> list[list[float]]:
    parameters = [nn.Parameter(torch.zeros(len(g))) for g in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = torch.tensor(gradient)
    clip = gradient_clip(TrainingOptions(gradient_threshold=limit, gradient_threshold_method=method), parameters)
    assert clip is not None
    clip()
    return [p.grad.tolist() for p in parameters if p.grad is not None]


def test_each_norm_by_itself() -> None:
    assert clipped("l2norm", 2.5, [3.0, 4.0], [1.0, 1.0]) == [pytest.approx([1.5, 2.0]), [1.0, 1.0]]


def test_the_norm_over_all() -> None:
    factor = 2.0 / math.sqrt(3**2 + 4**2 + 1 + 1)
    found = clipped("global-l2norm", 2.0, [3.0, 4.0], [1.0, 1.0])
    assert found == [pytest.approx([3 * factor, 4 * factor]), pytest.approx([factor, factor])]
    assert clipped("global-l2norm", 6.0, [3.0, 4.0], [1.0, 1.0]) == [[3.0, 4.0], [1.0, 1.0]]


def test_each_element() -> None:
    assert clipped("absolute-value", 1.5, [3.0, -4.0], [1.0, -0.5]) == [[1.5, -1.5], [1.0, -0.5]]


@pytest.mark.parametrize("method", ["l2norm", "global-l2norm", "absolute-value"])
def test_a_zero_gradient_stays_zero(method: str) -> None:
    assert clipped(method, 1.0, [0.0, 0.0]) == [[0.0, 0.0]]


def test_no_limit_is_no_clipping() -> None:
    assert gradient_clip(TrainingOptions(), []) is None
