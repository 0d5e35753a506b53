"""A network beside its baselines, in numbers and in words."""

from typing import Any

import pytest

from netwright.engine.runs.baselines import comparisons, with_network, worse_than_baseline

ERRORS = {"last value": {"rmse": 0.52, "mae": 0.4}, "season of 24": {"rmse": 0.44, "mae": 0.3}}
BASELINES: dict[str, Any] = {"season": 24, "is_guessed": True, "scale": 0.2, "validation": ERRORS, "test": ERRORS}


def result(**test: float) -> dict[str, Any]:
    return {"baselines": BASELINES, "validation": {"loss": 1.0, "rmse": 0.5}, "test": {"loss": 1.0, **test}}


def test_a_network_that_learned_stands_beside_the_forecasts_without_one() -> None:
    assert list(comparisons(result(rmse=0.31))) == [
        ("validation", "RMSE 0.500; last value 0.520, season of 24: 0.440"),
        ("test", "RMSE 0.310; last value 0.520, season of 24: 0.440"),
    ]
    assert worse_than_baseline(result(rmse=0.31)) == ""


def test_a_network_that_is_worse_is_told_so() -> None:
    said = worse_than_baseline(result(rmse=0.6))
    assert said.startswith(
        "The network is no better than repeating the values of the last season of 24 steps: RMSE 0.600 against 0.440 "
        "on the test split."
    )
    only_validation = {**result(), "test": {}}
    assert "on the validation split" in worse_than_baseline(only_validation)


def test_the_metric_is_one_that_the_run_has() -> None:
    assert dict(comparisons(result(mae=0.2)))["test"] == "MAE 0.200; last value 0.400, season of 24: 0.300"
    assert "test" not in dict(comparisons(result()))


def test_the_result_has_skill_and_scaled_error() -> None:
    told = with_network(BASELINES, {"test": {"rmse": 0.22, "mae": 0.1}, "validation": {}})
    assert told["network"] == {"test": {"skill": 0.5, "mase": 0.5}}
    assert told["season"] == 24


@pytest.mark.parametrize(
    "damaged",
    [{}, {"baselines": 3}, {"baselines": {"test": 3}}, {"baselines": {"test": {"last value": 3}}, "test": {"rmse": 1}}],
)
def test_a_result_without_them_or_a_damaged_one_says_nothing(damaged: dict[str, Any]) -> None:
    assert list(comparisons(damaged)) == []
    assert worse_than_baseline(damaged) == ""
