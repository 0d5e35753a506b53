"""Metrics that do not go with the data are refused in words."""

from typing import Any

import pytest

from netwright.engine.project.check import metric_problems
from netwright.engine.project.dataset_info import DatasetInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.training import TrainingOptions

CLASSES = classes_of("a", "b", "c")


@pytest.mark.parametrize(("targets", "options", "field", "words"), [
    (CLASSES, {"metrics": ("rmse",)}, "metrics", "'rmse' does not fit data whose responses are classes."),
    (numbers_of(2), {"metrics": ("r2", "auc")}, "metrics", "'auc' does not fit data whose responses are numbers."),
    (CLASSES, {"objective_metric": "rmse"}, "objective_metric", "rmse is not among the metrics (accuracy). Add it"),
    (CLASSES, {"metrics": ("top-k",), "top_k": 3}, "top_k", "Of 3 classes the right one is always among 3."),
])  # fmt: skip
def test_a_metric_that_does_not_fit_is_refused(
    targets: tuple[TargetInfo, ...], options: dict[str, Any], field: str, words: str
) -> None:
    (problem,) = metric_problems(TrainingOptions(**options), DatasetInfo((), {}, targets))
    assert problem.field == f"training.{field}"
    assert problem.message.startswith(words)


def test_metrics_that_fit_are_not() -> None:
    options = TrainingOptions(metrics=("accuracy", "top-k", "auc"), top_k=2, objective_metric="auc")
    assert list(metric_problems(options, DatasetInfo((), {}, CLASSES))) == []
    assert list(metric_problems(TrainingOptions(metrics=("mae", "auto")), DatasetInfo((), {}, numbers_of()))) == []
