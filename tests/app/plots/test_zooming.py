"""Which part of a run is in view: dragging, turning the wheel, moving, and back."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from app.plots.drawing import Across, Drawing
from app.plots.scales import Axis, Frame
from app.plots.series import Series
from app.plots.zooming import Zooming
from engine.runs.events import Progress


def zooming(across: Across) -> tuple[Zooming, Frame]:
    """Of a run of 1000 steps in a plot of 1000 pixels."""
    series = Series()
    series.append(np.zeros(1000))
    across.expected_steps = 1000
    low, high = across.timeline.places(np.array([0.0, 1000.0]), across.along)
    frame = Frame(rect=QRectF(0, 0, 1000, 100), x=Axis(low=low, high=high, ticks=()), y=Axis(low=0, high=1, ticks=()))
    return Zooming(Drawing("Loss", "loss", series, {}, across=across)), frame


def test_a_drag_chooses_a_part_in_either_direction() -> None:
    across = Across()
    of, frame = zooming(across)
    for begin, end in ((200, 300), (300, 200)):
        across.part = None
        of.press(frame, begin, is_moving=False)
        assert not of.move(frame, end)
        assert of.release(frame)
        assert across.part == (200, 300)


def test_a_click_and_a_drag_that_was_given_up_change_nothing() -> None:
    across = Across()
    of, frame = zooming(across)
    of.press(frame, 200, is_moving=False)
    assert not of.release(frame)
    of.press(frame, 200, is_moving=False)
    of.move(frame, 400)
    of.cancel()
    assert not of.release(frame)
    assert across.part is None


def test_the_wheel_keeps_what_is_under_the_pointer_and_goes_back_to_all() -> None:
    across = Across()
    of, frame = zooming(across)
    assert of.turn(frame, 250, 4)
    assert across.part is not None
    low, high = across.part
    assert (250 - low) / (high - low) == pytest.approx(0.25)
    assert high - low == pytest.approx(1000 / 1.25**4)
    assert of.turn(frame, 250, -5)
    assert across.part is None
    assert not of.turn(frame, 250, -5)


def test_moving_stops_at_the_ends_and_no_part_is_smaller_than_two_steps() -> None:
    across = Across(part=(100, 300))
    of, frame = zooming(across)
    assert of.shift(frame, 1)
    assert across.part == (120, 320)
    of.shift(frame, -100)
    assert across.part == (0, 200)
    of.shift(frame, 100)
    assert across.part == (800, 1000)
    across.look_at(500.1, 500.2, 1000)
    assert across.part == (500.1, 502.1)


def test_a_drag_over_time_chooses_steps() -> None:
    across = Across(along="time")
    for step, elapsed in ((500, 10.0), (1000, 90.0)):
        across.timeline.take(
            Progress(
                epoch=1,
                iteration=step,
                elapsed_s=elapsed,
                remaining_s=0,
                rate=0.1,
                samples_per_second=1,
                memory_bytes=1,
            )
        )
    of, frame = zooming(across)
    of.press(frame, 500, is_moving=False)
    of.move(frame, 1000)
    assert of.release(frame)
    assert across.part == pytest.approx((718.75, 1000))
