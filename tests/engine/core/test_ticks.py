"""Ticks are round numbers, as many as have room, and whole where the values are."""

import pytest

from netwright.engine.core.ticks import decades, multiples, nice_step, round_ticks


@pytest.mark.parametrize(
    ("span", "count", "step"),
    [(1200, 6, 200), (2.3, 5, 0.5), (1, 4, 0.25), (9.7, 5, 2), (0.055, 5, 0.02), (0, 5, 1e-300)],
)
def test_steps_are_round(span: float, count: int, step: float) -> None:
    assert nice_step(span, count) == pytest.approx(step)


@pytest.mark.parametrize(("span", "count", "step"), [(1, 7, 1), (10, 4, 5), (100, 4, 25), (30, 7, 5), (40, 5, 10)])
def test_steps_of_whole_numbers_are_whole(span: float, count: int, step: float) -> None:
    assert nice_step(span, count, is_whole=True) == step


def test_multiples_include_both_ends() -> None:
    assert multiples(0.1, 0.5, 0.1) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert multiples(-0.5, 0.9, 0.5) == [-0.5, 0.0, 0.5]
    assert str(multiples(-1e-12, 1, 1)[0]) == "0.0", "no minus zero"


def test_decades_have_steps_between_them_where_they_are_few() -> None:
    assert decades(0.1, 10, 5) == pytest.approx([0.1, 0.2, 0.5, 1, 2, 5, 10])
    assert decades(0.3, 300, 5) == pytest.approx([1, 10, 100])
    assert decades(1e-12, 1e6, 6) == pytest.approx([1e-12, 1e-9, 1e-6, 1e-3, 1, 1e3, 1e6])


@pytest.mark.parametrize(
    ("low", "high", "count", "is_whole", "ticks"),
    [
        (0, 937, 5, True, [0, 200, 400, 600, 800]),
        (0, 1020, 2, True, [0, 1000]),
        (0, 4.5, 2, True, [0, 2, 4]),
        (0, 0.4, 2, True, [0]),
        (7, 7, 2, False, [7]),
        (3.21, 3.38, 2, False, [3.25, 3.3, 3.35]),
    ],
)
def test_ticks_are_round_and_two_at_least(
    low: float, high: float, count: int, is_whole: bool, ticks: list[float]
) -> None:
    assert round_ticks(low, high, count, is_whole=is_whole) == pytest.approx(ticks)
