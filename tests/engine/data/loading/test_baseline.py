"""Forecasts without a network: their errors by hand, and the season that is found in the data, or not."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.data.loading.baseline import Baselines, baselines, guessed_season
from netwright.engine.data.loading.load import load
from netwright.engine.project.data import DataOptions

TIME = np.arange(24 * 40)
DAILY = np.sin(2 * np.pi * TIME / 24)


def found(folder: Path, values: Any, **options: Any) -> Baselines:
    (folder / "s.csv").write_text("load\n" + "".join(f"{value:.8g}\n" for value in values))
    data = DataOptions(source="series", path="s.csv", **{"lags": 4, "horizon": 3, **options})
    result = baselines(load(data, folder))
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("name", "values", "season"),
    [
        ("daily", DAILY, 24),
        ("noisy", DAILY + np.random.default_rng(0).normal(0, 0.5, len(TIME)), 24),
        ("with a trend", DAILY + 0.05 * TIME, 24),
        ("pattern", np.tile([1.0, 2, 3, 4, 9, 6, 0], 30), 7),
        ("noise", np.random.default_rng(1).normal(0, 1, 900), 0),
        ("random walk", np.cumsum(np.random.default_rng(2).normal(0, 1, 900)), 0),
        ("constant", np.full(99, 4.0), 0),
        ("straight line", 1.0 * TIME, 0),
        ("short", np.array([1.0, 2.0]), 0),
        ("two periods", DAILY[:48], 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_season_is_found_where_there_is_one(name: str, values: np.ndarray, season: int) -> None:
    assert guessed_season(values) == season


def test_the_last_value_is_as_wrong_as_the_series_moves(tmp_path):
    errors = found(tmp_path, range(100)).errors["test"]["last value"]
    assert errors["mae"] == pytest.approx(2.0)
    assert errors["rmse"] == pytest.approx(math.sqrt((1 + 4 + 9) / 3))
    assert errors["mase"] == pytest.approx(2.0)  # one step changes it by 1


def test_a_season_repeats_the_values_before(tmp_path):
    season = np.tile([5.0, 1, 2, 8, 0], 30)
    result = found(tmp_path, season)
    assert (result.season, result.is_guessed) == (5, True)
    assert result.errors["validation"]["season of 5"]["rmse"] == 0
    assert result.errors["validation"]["last value"]["rmse"] > 1


def test_a_horizon_longer_than_the_season_repeats_it_twice(tmp_path):
    result = found(tmp_path, np.tile([5.0, 1], 60), season=2, horizon=5)
    assert (result.season, result.is_guessed) == (2, False)
    assert result.errors["test"]["season of 2"]["mae"] == 0


def test_the_season_may_reach_behind_the_lags_but_not_behind_the_series(tmp_path):
    values = np.arange(60.0)
    errors = found(tmp_path, values, season=20, horizon=1, validation_share=0.2, test_share=0.0).errors
    assert errors["validation"]["season of 20"]["mae"] == 20
    errors = found(tmp_path, values, season=57, horizon=1, validation_share=0.2, test_share=0.0).errors
    assert errors["validation"]["season of 57"]["mae"] == (5 * 1 + 3 * 57) / 8  # before, the last value stands in


def test_series_are_not_mixed(tmp_path):
    (tmp_path / "s.csv").write_text("site,load\n" + "".join(f"{s},{s * 1000 + i}\n" for i in range(60) for s in (0, 1)))
    options = DataOptions(source="series", path="s.csv", group_column="site", lags=4, horizon=1, season=30)
    result = baselines(load(options, tmp_path))
    assert result is not None
    assert result.scale == pytest.approx(30)
    assert result.errors["test"]["season of 30"]["mae"] == pytest.approx(30)


def test_other_data_has_no_baseline(tmp_path):
    assert baselines(load(DataOptions(source="digits"), tmp_path)) is None
