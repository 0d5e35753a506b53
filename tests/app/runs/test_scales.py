import numpy as np
import pytest
from PySide6.QtCore import QRectF

from app.runs.scales import Axis, Frame, figure, linear_axis, log_axis, nice_step, steps_axis, tick_label


@pytest.mark.parametrize(("span", "count", "step"), [(1200, 6, 200), (2.3, 5, 0.5), (1, 4, 0.25), (9.7, 5, 2)])
def test_steps_are_round(span: float, count: int, step: float) -> None:
    assert nice_step(span, count) == pytest.approx(step)


@pytest.mark.parametrize(
    ("low", "high"), [(0.1, 2.4), (-3, 5), (1000, 1001), (7, 7), (0, 0), (-1e-9, 1e-9), (0, 1e300)]
)
def test_an_axis_holds_its_values_between_round_ends(low: float, high: float) -> None:
    axis = linear_axis(low, high, 5)
    assert axis.low <= low
    assert axis.high >= high
    assert axis.low < axis.high
    assert 2 <= len(axis.ticks) <= 9


def test_an_axis_near_zero_starts_there() -> None:
    assert linear_axis(0.1, 2.4, 4).low == 0
    assert linear_axis(90, 100, 4).low == 90


@pytest.mark.parametrize(("low", "high"), [(0.004, 2.4), (1, 1), (1e-12, 1e6)])
def test_a_logarithmic_axis_has_whole_decades(low: float, high: float) -> None:
    axis = log_axis(low, high, 5)
    assert axis.low <= low
    assert axis.high >= high
    assert np.log10(axis.low) == pytest.approx(round(np.log10(axis.low)))
    assert len(axis.ticks) <= 8


def test_what_a_logarithmic_axis_cannot_show_is_a_gap() -> None:
    shares = log_axis(0.1, 10, 5).share(np.array([0.1, 10.0, 0.0, -1.0]))
    np.testing.assert_allclose(shares, [0, 1, np.nan, np.nan])


def test_iterations_reach_as_far_as_the_run_will_or_does() -> None:
    assert steps_axis(1200, 864, 6).high == 1200
    assert steps_axis(1200, 1300, 6).high == 1300
    assert steps_axis(0, 1000, 6).high > 1000
    assert steps_axis(3, 1, 6).ticks == (0, 1, 2, 3)


def test_a_pixel_and_its_step_agree() -> None:
    frame = Frame(rect=QRectF(50, 10, 400, 100), x=steps_axis(1000, 0, 5), y=linear_axis(0, 2, 4))
    assert frame.step_at(float(frame.across(np.array([250.0]))[0])) == pytest.approx(250)
    np.testing.assert_allclose(frame.down(np.array([0.0, 2.0])), [110, 10])


@pytest.mark.parametrize(
    ("value", "is_percent", "words"),
    [
        (0.964, True, "96.4 %"),
        (0.1134, False, "0.113"),
        (2.3456, False, "2.35"),
        (1234.5, False, "1,234"),
        (0.0012345, False, "0.00123"),
        (1.5e-7, False, "1.50e-7"),
        (3e12, False, "3.00e12"),
        (0.0, False, "0"),
        (float("nan"), False, "not a number"),
        (float("-inf"), True, "infinite"),
    ],
)
def test_figures_have_three_digits(value: float, is_percent: bool, words: str) -> None:
    assert figure(value, is_percent) == words


def test_tick_labels_carry_the_same_decimals() -> None:
    whole = Axis(low=0, high=1, ticks=(0.0, 0.5, 1.0))
    assert [tick_label(value, whole, False) for value in whole.ticks] == ["0", "0.5", "1.0"]
    assert [tick_label(value, whole, True) for value in whole.ticks] == ["0", "50", "100 %"]
    assert tick_label(20_000, Axis(low=0, high=20_000, ticks=(0.0, 10_000.0, 20_000.0)), False) == "20,000"
