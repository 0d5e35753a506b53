"""Metrics are sums over samples, so shares and steps add up to the whole."""

import math

import pytest
import torch

from engine.project.training import TrainingOptions
from engine.training.metrics import METRICS, Accuracy, Mae, Rmse


def test_accuracy_counts_the_right_ones() -> None:
    output = torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
    hits = Accuracy().per_sample((output,), (torch.tensor([1, 0, 0, 0]),))
    assert hits.tolist() == [1, 1, 0, 1]
    assert Accuracy().value(float(hits.sum()), 4) == 0.75


def test_rmse_is_the_root_of_the_mean_over_samples_and_responses() -> None:
    output, target = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.zeros(2, 2)
    errors = Rmse().per_sample((output,), (target,))
    assert Rmse().value(float(errors.sum()), 2) == pytest.approx(math.sqrt(30 / 4))


def test_a_sum_that_is_no_number_stays_none() -> None:
    assert math.isnan(Rmse().value(math.nan, 3))


def test_mae_is_the_mean_over_samples_and_responses() -> None:
    errors = Mae().per_sample((torch.tensor([[1.0, -2.0], [3.0, 4.0]]),), (torch.zeros(2, 2),))
    assert Mae().value(float(errors.sum()), 2) == pytest.approx(10 / 4)


def test_the_task_decides_unless_the_options_do() -> None:
    assert TrainingOptions().metric_for("classes") == "accuracy"
    assert TrainingOptions().metric_for("numbers") == "rmse"
    assert TrainingOptions(metric="mae").metric_for("numbers") == "mae"
    assert set(METRICS) | {"auto"} == set(TrainingOptions.metric.options)
