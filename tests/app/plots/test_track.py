"""Curves with steps of their own: placed, drawn at any zoom, and cut where a run goes on from before."""

import numpy as np
import pytest

from app.plots.track import Growing, Track


def test_numbers_grow_and_are_cut() -> None:
    numbers = Growing(0.0)
    numbers.extend(np.arange(1.0, 1000))
    numbers.append(1000)
    np.testing.assert_array_equal(numbers.view(), np.arange(1001))
    numbers.truncate(3)
    assert (len(numbers), numbers.last) == (3, 2.0)


def test_values_stand_at_their_steps() -> None:
    track = Track()
    for step in (3, 10, 12, 40):
        track.append([step / 10], step)
    assert track.steps(np.arange(4)).tolist() == [3, 10, 12, 40]
    assert [track.index(step) for step in (0, 3, 11, 41)] == [0, 0, 2, 4]
    assert track.last_step == 40
    track.append([7.0], 12)
    x, y = track.window(0, 100, 50)
    assert x.tolist() == [3, 10, 12]
    assert y.tolist() == [0.3, 1.0, 7.0]
    with pytest.raises(ValueError, match="apart"):
        track.append([1.0, 2.0], 50, 0)


def test_a_spike_among_many_is_drawn() -> None:
    track, steps = Track(), np.cumsum(np.random.default_rng(0).integers(1, 50, 20_000)).astype(float)
    for number, step in enumerate(steps.tolist()):
        track.append([9.0 if number == 12_345 else 1.0], step)
    x, y = track.window(0, float(steps[-1]), 300)
    assert len(x) <= 600
    assert np.nanmax(y) == 9.0
    assert abs(x[int(np.nanargmax(y))] - steps[12_345]) < steps[-1] / 200
