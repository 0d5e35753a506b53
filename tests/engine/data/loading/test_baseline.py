"""Answers without a network: their errors by hand."""

import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.engine.data.loading import baseline
from netwright.engine.data.loading.baseline import Baselines, baselines
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


def of_table(folder: Path, rows: str, **options: Any) -> Any:
    (folder / "t.csv").write_text(rows)
    return baselines(load(DataOptions(source="table", path="t.csv", **options), folder))


def test_classes_stand_beside_the_most_frequent_one_and_a_linear_model(tmp_path: Path) -> None:
    rows = "".join(f"{x},{x % 7},{'high' if x >= 60 else 'low'}\n" for x in range(200))
    result = of_table(tmp_path, f"a,b,kind\n{rows}")
    assert result.errors["test"]["most frequent class"]["accuracy"] == pytest.approx(0.7, abs=0.02)
    assert result.errors["test"]["linear model"]["accuracy"] > 0.85
    assert set(result.write()) == {"validation", "test"}


def test_numbers_stand_beside_their_mean_and_a_linear_model(tmp_path: Path) -> None:
    rows = "".join(f"{x},{x % 7},{1000 + 3 * x - (x % 7)}\n" for x in range(200))
    errors = of_table(tmp_path, f"a,b,price\n{rows}").errors["test"]
    assert errors["mean"]["rmse"] > 100
    assert errors["linear model"]["rmse"] < 0.02 * errors["mean"]["rmse"]


def test_images_have_no_linear_model_and_several_targets_no_baseline(tmp_path: Path) -> None:
    digits = baselines(load(DataOptions(source="digits"), tmp_path))
    assert digits is not None
    assert list(digits.errors["test"]) == ["most frequent class"]
    rows = "".join(f"{x},{x % 2},{x % 3}\n" for x in range(90))
    assert of_table(tmp_path, f"a,b,c\n{rows}", response="b, c") is None


def test_many_classes_take_no_number_each_for_every_sample(tmp_path: Path) -> None:
    np.savez(tmp_path / "many.npz", x=np.zeros((20_000, 1, 2, 2), np.uint8), y=np.arange(20_000) % 1000)
    data = load(DataOptions(source="arrays", path="many.npz"), tmp_path)
    tracemalloc.start()
    result = baselines(data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result is not None
    assert result.errors["test"]["most frequent class"]["accuracy"] == pytest.approx(0.001)
    assert most < 2**25  # 112 MB of doubles for 14,000 training samples


@pytest.mark.parametrize("response", ["kind", "price"])
def test_boosting_stands_beside_them_where_it_is_asked_for(tmp_path: Path, response: str) -> None:
    rows = "".join(f"{x},{x % 7},{'odd' if x // 20 % 2 else 'even'},{(x - 200) ** 2}\n" for x in range(400))
    (tmp_path / "t.csv").write_text(f"a,b,kind,price\n{rows}")
    others = {"kind": "price", "price": "kind"}
    data = load(DataOptions(source="table", path="t.csv", response=response, left_out=others[response]), tmp_path)
    simple, boosted = baselines(data), baselines(data, boosts=True)
    assert simple is not None
    assert boosted is not None
    assert "boosting" not in simple.errors["test"]
    metric, sign = ("accuracy", 1) if response == "kind" else ("rmse", -1)
    errors = boosted.errors["test"]
    assert sign * errors["boosting"][metric] > sign * errors["linear model"][metric]


def test_a_linear_model_of_the_lags_follows_what_repeats_and_rises(tmp_path):
    values = 0.05 * TIME + 3 * DAILY
    errors = found(tmp_path, values, lags=30, horizon=6, season=24).errors
    for split in ("validation", "test"):
        assert errors[split]["linear model"]["rmse"] < 0.1 < errors[split]["season of 24"]["rmse"]


def test_a_linear_model_reads_all_columns_and_only_training_windows(tmp_path):
    noise = np.random.default_rng(0).normal(size=400)
    told = np.roll(noise, 1)
    lines = [f"{now:.6f},{before:.6f}" for now, before in zip(told, noise, strict=True)]
    (tmp_path / "s.csv").write_text("\n".join(["load,sign", *lines]) + "\n")
    options = DataOptions(source="series", path="s.csv", response="load", lags=4, horizon=1)
    result = baselines(load(options, tmp_path))
    assert result is not None
    errors = result.errors["test"]
    assert errors["linear model"]["rmse"] < 0.1 < errors["last value"]["rmse"]


def test_more_lags_than_take_seconds_have_no_linear_model(tmp_path, monkeypatch):
    monkeypatch.setattr(baseline, "MOST_LINEAR_COLUMNS", 30)
    assert "linear model" in found(tmp_path, DAILY, lags=30, horizon=1).errors["test"]
    assert "linear model" not in found(tmp_path, DAILY, lags=31, horizon=1).errors["test"]
