import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.app.plots.points import MOST_POINTS, Growing, Points, Track
from netwright.app.plots.series import BLOCK, KEPT_VALUES, Series
from netwright.engine.runs.events import ThinnedPoints


def filled(values: np.ndarray) -> Series:
    series = Series()
    series.append(values)
    return series


def noise(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=count)


@pytest.mark.parametrize("count", [1, 7, 1000, BLOCK * 4 + 3, 70_001])
@pytest.mark.parametrize("pixels", [2, 100, 937])
def test_the_whole_curve_shows_its_extremes_in_few_points(count: int, pixels: int) -> None:
    values = noise(count)
    x, y = filled(values).window(0, count + 1, pixels)
    assert len(x) == len(y) <= 2 * pixels
    assert y.min() == pytest.approx(values.min(), rel=1e-6)
    assert y.max() == pytest.approx(values.max(), rel=1e-6)
    assert np.all(np.diff(x) >= 0)
    assert x[0] >= 1
    assert x[-1] <= count


@given(st.integers(5000, 60_000), st.data(), st.integers(40, 400))
def test_a_spike_is_found_wherever_it_is_and_however_far_one_looks(
    count: int, data: st.DataObject, pixels: int
) -> None:
    spike = data.draw(st.integers(0, count - 1))
    values = np.zeros(count)
    values[spike] = data.draw(st.sampled_from([-50.0, 50.0]))
    x0 = data.draw(st.integers(1, spike + 1))
    x1 = data.draw(st.integers(spike + 1, count + 100))
    x, y = filled(values).window(x0, x1, pixels)
    assert len(x) <= 2 * pixels
    at = int(np.argmax(np.abs(y)))
    assert y[at] == values[spike]
    column = max(1.0, (x1 - x0) / pixels)
    assert abs(x[at] - (spike + 1)) <= 5 * column


@pytest.mark.parametrize("pixels", [3, 50, 400])
def test_every_column_holds_the_naive_extremes(pixels: int) -> None:
    values = noise(50_000, 4)
    series = filled(values)
    begin, width, columns = series._columns(1234, 47_321, pixels)
    assert len(columns) <= pixels
    assert begin <= 1234
    assert begin + len(columns) * width >= 47_321
    for number, (low, high, mean) in enumerate(columns[:-1]):
        part = values[begin + number * width : begin + (number + 1) * width]
        assert low == pytest.approx(part.min(), rel=1e-6)
        assert high == pytest.approx(part.max(), rel=1e-6)
        assert mean == pytest.approx(part.mean(), abs=1e-6)
    last = values[begin + (len(columns) - 1) * width : 47_321]
    assert columns[-1][0] <= last.min() + 1e-6
    assert columns[-1][1] >= last.max() - 1e-6


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=12), st.integers(10, 300))
def test_chunks_give_the_same_as_all_at_once(sizes: list[int], pixels: int) -> None:
    values = noise(sum(sizes), len(sizes))
    values[:: max(1, len(values) // 7)] = np.nan
    whole, pieces = filled(values), Series()
    for part in np.split(values, np.cumsum(sizes)[:-1]):
        pieces.append(part.tolist())
    for one, other in zip(whole.window(0, len(values), pixels), pieces.window(0, len(values), pixels), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(whole.smoothed(0, len(values), 0.9), pieces.smoothed(0, len(values), 0.9), strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole.num_nonfinite == pieces.num_nonfinite
    np.testing.assert_array_equal(whole.nonfinite_steps(), pieces.nonfinite_steps())


def test_values_that_are_no_numbers_are_gaps_and_counted() -> None:
    series = filled(np.array([1.0, np.nan, np.inf, 2.0, -np.inf, 3.0]))
    x, y = series.window(0, 10, 100)
    np.testing.assert_array_equal(x, [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(y, [1, np.nan, np.nan, 2, np.nan, 3])
    assert series.num_nonfinite == 3
    np.testing.assert_array_equal(series.nonfinite_steps(), [2, 5])
    assert series.values()[2] == np.inf


def test_a_column_with_some_numbers_shows_them_and_one_without_is_a_gap() -> None:
    values = noise(40_000)
    values[10_000:30_000] = np.nan
    values[35_000:35_010] = np.inf
    x, y = filled(values).window(0, 40_000, 100)
    assert np.isnan(y[(x > 11_000) & (x < 29_000)]).all()
    assert np.isfinite(y[(x < 9_000) | (x > 31_000)]).all()
    assert np.nanmax(y) == pytest.approx(np.nanmax(values[np.isfinite(values)]), rel=1e-6)


def test_a_value_beyond_single_precision_stays_finite_and_exact_in_the_data() -> None:
    values = np.zeros(5000)
    values[17] = 1e300
    series = filled(values)
    assert np.isfinite(series.window(0, 5000, 50)[1]).all()
    assert series.values()[17] == 1e300


def test_steps_follow_where_points_begin_and_how_far_they_are_apart() -> None:
    series = Series()
    series.append([1.0, 2.0], first_step=10, steps_apart=5)
    series.append([3.0], first_step=20, steps_apart=5)
    series.append([4.0, 5.0], first_step=100, steps_apart=1)
    x, y = series.window(0, 200, 100)
    np.testing.assert_array_equal(x, [10, 15, 20, 100, 101])
    np.testing.assert_array_equal(y, [1, 2, 3, 4, 5])
    assert series.last_step == 101
    assert [series.index(step) for step in (0, 11, 15, 21, 100, 102)] == [0, 1, 1, 3, 3, 5]


def test_a_run_that_goes_back_replaces_what_came_after() -> None:
    values = noise(9000)
    values[8000] = np.nan
    series = filled(values)
    series.append([7.0, 8.0], first_step=3001)
    assert len(series) == 3002
    assert series.last_step == 3002
    assert series.num_nonfinite == 0
    np.testing.assert_array_equal(series.values(3000), [7, 8])
    fresh = filled(np.append(values[:3000], [7.0, 8.0]))
    for one, other in zip(series.window(0, 3100, 80), fresh.window(0, 3100, 80), strict=True):
        np.testing.assert_array_equal(one, other)


def test_going_back_to_the_very_start_begins_anew() -> None:
    series = filled(noise(10))
    series.append([5.0], first_step=1)
    np.testing.assert_array_equal(series.values(), [5.0])
    assert series.last_step == 1


def test_smoothing_a_short_curve_is_the_textbook_recursion() -> None:
    values = noise(300)
    expected, total, weight = [], 0.0, 0.0
    for value in values:
        total, weight = 0.9 * total + 0.1 * value, 0.9 * weight + 0.1
        expected.append(total / weight)
    x, y = filled(values).smoothed(0, 300, 0.9)
    np.testing.assert_array_equal(x, np.arange(1, 301))
    np.testing.assert_allclose(y, expected, rtol=1e-9)


def test_no_smoothing_is_the_curve_itself() -> None:
    values = noise(50)
    np.testing.assert_allclose(filled(values).smoothed(0, 50, 0.0)[1], values)


def test_smoothing_a_long_curve_stays_short_and_calm() -> None:
    trend = np.linspace(3, 1, 200_000)
    x, y = filled(trend + 0.3 * noise(200_000)).smoothed(0, 200_000, 0.6)
    assert len(x) <= 600
    assert x[-1] == 200_000
    assert np.abs(y - np.interp(x, np.arange(1, 200_001), trend)).max() < 0.1


def test_smoothing_looks_at_what_came_before_a_window() -> None:
    values = np.concatenate([np.zeros(5000), np.ones(5000)])
    x, y = filled(values).smoothed(5001, 5100, 0.99)
    assert len(x) <= 600
    assert y[np.searchsorted(x, 5003)] < 0.1


def test_the_pyramid_costs_less_than_eight_bytes_a_point() -> None:
    for count in (10_000, 100_000, 1_000_000):
        series = Series()
        for start in range(0, count, 5000):
            series.append(np.zeros(5000), first_step=start + 1)
        assert series.overhead_bytes / count < 8


def test_points_keep_their_order_and_replace_when_a_run_goes_back() -> None:
    points = Points()
    points.append([50, 100, 150], [1.0, float("nan"), 3.0])
    assert points.num_nonfinite == 1
    points.append([100], [2.0])
    assert points.pairs() == [(50, 1.0), (100, 2.0)]
    assert points.nearest(60) == (50, 1.0)
    assert points.nearest(9999) == (100, 2.0)
    assert Points().nearest(3) is None


def test_what_cannot_be_placed_is_refused() -> None:
    with pytest.raises(ValueError, match="2 steps cannot place 1 values"):
        Points().append([1, 2], [1.0])
    with pytest.raises(ValueError, match="more than 0, not 0"):
        Series().append([1.0], first_step=1, steps_apart=0)


def test_an_empty_curve_has_nothing_to_draw() -> None:
    series = Series()
    series.append([])
    assert len(series.window(0, 10, 100)[0]) == 0
    assert len(series.smoothed(0, 10, 0.5)[0]) == 0
    assert series.last_step == 0


def long_curve(count: int = 1_000_000) -> tuple[np.ndarray, Series]:
    values = noise(count)
    values[[1_000, 300_000]] = [1e6, np.nan]
    series = Series()
    for start in range(0, count, 10_000):
        series.append(values[start : start + 10_000])
    return values, series


def test_the_memory_of_a_curve_hardly_grows_once_it_is_long() -> None:
    values, series = long_curve()
    before = series.num_bytes + series.overhead_bytes
    for start in range(0, len(values), 10_000):
        series.append(values[start : start + 10_000])
    added = series.num_bytes + series.overhead_bytes - before
    assert series.num_bytes <= 8 * (KEPT_VALUES + BLOCK)
    assert added < len(values), "less than a byte a value"


def test_a_long_curve_keeps_its_spikes_in_view_and_in_what_is_exported() -> None:
    values, series = long_curve()
    count = len(values)
    for low, high in ((0, count), (0, 5_000), (900, 1_100), (1_001, 1_002)):
        _, y = series.window(low, high, 500)
        assert np.nanmax(y) == pytest.approx(1e6), f"between {low} and {high}"
    assert series.num_nonfinite == 1
    np.testing.assert_array_equal(series.nonfinite_steps(), [300_001])
    steps, exported = (np.concatenate(column) for column in zip(*series.chunks(), strict=True))
    assert len(steps) < count
    assert np.all(np.diff(steps) >= 0)
    assert np.nanmax(exported) == pytest.approx(1e6)
    assert steps[np.isnan(exported)].tolist() == [300_001]
    np.testing.assert_array_equal(exported[-KEPT_VALUES:], values[-KEPT_VALUES:])
    assert steps[-1] == count
    assert series.value(count - 1) == values[-1]
    assert values[:64].min() <= series.value(3) <= values[:64].max()
    _, y = series.smoothed(0, 5_000, 0.5, 100)
    assert np.isfinite(y).all()


@pytest.mark.parametrize("length", [0, 1, 3_000, 500_001, 900_000])
def test_a_long_run_that_goes_back_goes_on_as_any(length: int) -> None:
    _, series = long_curve()
    series.truncate(length)
    series.append(np.full(2_000, 7.0), length + 1)
    assert len(series) == length + 2_000
    np.testing.assert_array_equal(series.values(length), 7)
    assert series.last_step == length + 2_000
    x, y = series.window(0, len(series) + 1, 300)
    assert len(x) <= 600
    if length > 1_000:
        assert np.nanmax(y) == pytest.approx(1e6)
    assert series.num_nonfinite == (1 if length > 300_000 else 0)


def test_buckets_of_a_thinned_log_have_their_extremes_and_means() -> None:
    curve: dict[str, list[float]] = {
        "lowest": [-5.0, 2.0, float("nan"), -1.0],
        "lowest_steps": [3, 17, 0, 100_000],
        "highest": [9.0, 2.0, float("nan"), 1.0],
        "highest_steps": [16, 17, 0, 100_001],
        "mean": [1.0, 2.0, float("nan"), 0.5],
        "nonfinite": [2, 0, 1, 1],
        "nonfinite_steps": [5, 0, 18, 20_000],
    }
    thinned = ThinnedPoints(
        split="training",
        first_steps=[1, 17, 18, 19],
        last_steps=[16, 17, 18, 200_000],
        counts=[16, 1, 1, 199_982],
        curves={"loss": curve},
    )
    series = Series()
    series.append_thinned(thinned, "loss")
    first = series.values(0, 16)
    assert (first[2], first[15]) == (-5, 9)
    assert np.isnan(first[4])
    assert np.nanmean(first) == pytest.approx(1)
    np.testing.assert_array_equal(series.values(16, 18), [2, np.nan])
    later = series.values(18)
    assert (np.nanmin(later), np.nanmax(later)) == (-1, 1)
    assert np.nanmean(later) == pytest.approx(0.5)
    assert series.last_step == 200_000
    series.append([4.0], 200_001)
    assert series.last_step == 200_001


def test_many_single_points_are_thinned_but_not_their_spikes() -> None:
    track, points = Track(), Points()
    for step in range(0, 200_000, 50):
        values = [float(np.sin(number)) for number in range(50)]
        values[7] = 1e6 if step == 5_000 else values[7]
        values[9] = float("nan") if step == 9_000 else values[9]
        steps = [3.0 * (step + number) for number in range(50)]
        points.append(steps, values)
        track.append(values, steps[0], 3)
    for length, (x, y) in ((len(points), points.arrays()), (len(track), track.window(0, 1e6, 100_000))):
        assert length <= MOST_POINTS
        assert x[-1] == 3 * 199_999
        assert np.all(np.diff(x) > 0)
        assert x[np.nanargmax(y)] == 3 * 5_007
        assert np.isnan(y).any()
    assert points.last == (3 * 199_999, pytest.approx(np.sin(49)))


@pytest.mark.parametrize("low", [1, 300, 500, 900, 5000])
def test_the_smoothed_curve_begins_where_the_view_does(low: int) -> None:
    series = Series()
    series.append(np.ones(10_000))
    x, _ = series.smoothed(low, low + 1000, 0.6, 200)
    assert x[0] < low + 20
    assert x[-1] > low + 980
    assert len(x) <= 202


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


def test_a_spike_among_many_steps_is_drawn() -> None:
    track, steps = Track(), np.cumsum(np.random.default_rng(0).integers(1, 50, 20_000)).astype(float)
    for number, step in enumerate(steps.tolist()):
        track.append([9.0 if number == 12_345 else 1.0], step)
    x, y = track.window(0, float(steps[-1]), 300)
    assert len(x) <= 600
    assert np.nanmax(y) == 9.0
    assert abs(x[int(np.nanargmax(y))] - steps[12_345]) < steps[-1] / 200
