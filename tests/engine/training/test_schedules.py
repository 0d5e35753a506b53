"""Schedules against the formulas, written out."""

import math

import pytest

from engine.project.training import TrainingOptions
from engine.training.schedules import rate_at


def rates(steps: int, steps_per_epoch: int, **options: object) -> list[float]:
    chosen = TrainingOptions(initial_learn_rate=2.0, **options)
    return [rate_at(chosen, step, steps_per_epoch, steps) for step in range(steps)]


def test_none_stays() -> None:
    assert rates(5, 2) == [2.0] * 5


def test_piecewise_drops_every_period_of_epochs() -> None:
    found = rates(12, 2, schedule="piecewise", learn_rate_drop_factor=0.5, learn_rate_drop_period=2)
    assert found == [2.0] * 4 + [1.0] * 4 + [0.5] * 4


def test_warmup_rises_linearly_then_stays() -> None:
    assert rates(6, 2, schedule="warmup", warmup_iterations=4) == [0.5, 1.0, 1.5, 2.0, 2.0, 2.0]


def test_cosine_falls_along_half_a_cosine() -> None:
    found = rates(10, 2, schedule="cosine")
    assert found == pytest.approx([2.0 * 0.5 * (1 + math.cos(math.pi * step / 10)) for step in range(10)])
    assert found[0] == 2.0
    assert 0 < found[-1] < 0.1


def test_cosine_after_warmup() -> None:
    found = rates(10, 2, schedule="cosine", warmup_iterations=2)
    assert found[:3] == [1.0, 2.0, 2.0]
    assert found[6] == pytest.approx(1.0)
