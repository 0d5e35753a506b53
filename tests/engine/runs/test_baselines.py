"""A network beside its baselines, in numbers and in words."""

from typing import Any

import pytest

from netwright.engine.runs.baselines import closing_warning, comparisons, loss_fall, with_network

ERRORS = {"last value": {"rmse": 0.52, "mae": 0.4}, "season of 24": {"rmse": 0.44, "mae": 0.3}}
BASELINES: dict[str, Any] = {"season": 24, "is_guessed": True, "scale": 0.2, "validation": ERRORS, "test": ERRORS}


def result(**test: float) -> dict[str, Any]:
    return {"baselines": BASELINES, "validation": {"loss": 1.0, "rmse": 0.5}, "test": {"loss": 1.0, **test}}


def test_a_network_that_learned_stands_beside_the_forecasts_without_one() -> None:
    assert list(comparisons(result(rmse=0.31))) == [
        ("validation", "RMSE 0.500; last value 0.520, season of 24: 0.440"),
        ("test", "RMSE 0.310; last value 0.520, season of 24: 0.440"),
    ]
    assert closing_warning(result(rmse=0.31)) == ""


def test_a_network_that_is_worse_is_told_so() -> None:
    said = closing_warning(result(rmse=0.6))
    assert said.startswith(
        "The network is no better than repeating the values of the last season of 24 steps: RMSE 0.600 against 0.440 "
        "on the test split."
    )
    ahead_of_all_but_a_line = {"last value": {"rmse": 0.7}, "linear model": {"rmse": 0.5}}
    said = closing_warning({"baselines": {"test": ahead_of_all_but_a_line}, "test": {"rmse": 0.6}})
    assert said.startswith("The network is no better than a linear model: RMSE 0.600 against 0.500 on the test split.")
    only_validation = {**result(), "test": {}}
    assert "on the validation split" in closing_warning(only_validation)


@pytest.mark.parametrize(("rmse", "is_said"), [(0.514, True), (0.48, False)])
def test_a_forecast_little_ahead_of_the_last_value_may_be_behind_it_next(rmse: float, is_said: bool) -> None:
    """Of a random walk nothing can be learned; on one stretch of it a network is ahead by accident."""
    errors = {"last value": {"rmse": 0.52}, "linear model": {"rmse": 0.522}}
    said = closing_warning({"baselines": {"season": 0, "test": errors}, "test": {"rmse": rmse}})
    assert ("hardly better than repeating the last value" in said) is is_said


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
    assert closing_warning(damaged) == ""


def of_classes(accuracy: float, linear: float = 0.3, **more: Any) -> dict[str, Any]:
    errors = {"most frequent class": {"accuracy": 0.2}, "linear model": {"accuracy": linear}}
    test = {"loss": 1.0, "accuracy": accuracy}
    return {"baselines": {"test": errors}, "test": test, "reason": "all 30 epochs completed", **more}


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (of_classes(0.2), "no better than always answering the most frequent class: accuracy 20.0 % against 20.0 %"),
        (of_classes(0.35), "hardly better than always answering the most frequent class: accuracy 35.0 % against 20.0"),
        (
            of_classes(0.6, linear=0.7),
            "no better than a linear model: accuracy 60.0 % against 70.0 % on the test split",
        ),
        (of_classes(0.7, linear=0.7), ""),
        (of_classes(1.0, linear=1.0), ""),
        (of_classes(0.8), ""),
        (of_classes(0.8, loss_fall=0.3), "The loss still fell when the run ended, by 30 % in its last fifth: train"),
        (of_classes(0.3, loss_fall=0.3), "The loss still fell when the run ended: train longer"),
        (of_classes(0.8, loss_fall=0.03), ""),
        (of_classes(0.97, loss_fall=0.3), ""),
        (of_classes(0.8, loss_fall=0.3, reason="no better loss in 5 validations"), ""),
        (
            {"baselines": {"test": {"mean": {"rmse": 2.0}}}, "test": {"rmse": 1.9}},
            "hardly better than always answering",
        ),
        ({"reason": "all 9 epochs completed", "loss_fall": 0.2}, "The loss still fell"),
        (of_classes(0.8, finding={"kind": "overfits", "text": "It learns by heart."}), "It learns by heart."),
        (of_classes(0.97, finding={"kind": "overfits", "text": "It learns by heart."}), ""),
        (of_classes(0.3, finding={"kind": "overfits", "text": "It learns by heart."}), "on the test split. It learns"),
        (of_classes(0.8, finding=3), ""),
    ],
)
def test_what_is_wrong_with_a_result_is_said_with_what_to_do(result: dict[str, Any], said: str) -> None:
    warning = closing_warning(result)
    assert said in warning
    assert bool(warning) is bool(said)


def test_a_loss_falls_where_its_last_part_is_lower_than_all_before() -> None:
    steady = {step: 1 / (1 + step) for step in range(0, 100, 10)}
    assert loss_fall(steady) == pytest.approx(1 - 71 / 91)
    assert loss_fall({**dict.fromkeys(range(8), 1.0), 8: 1.5, 9: 1.2}) == pytest.approx(-0.2)
    assert loss_fall({0: 2.0, 10: 1.0}) is None
    assert loss_fall({}) is None
    assert loss_fall(dict.fromkeys(range(9), 0.0)) is None
