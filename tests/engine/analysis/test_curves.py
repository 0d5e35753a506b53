"""Curves and the temperature against scikit-learn and scipy, and cases computed by hand."""

import numpy as np
import pytest
import sklearn.metrics as reference
from scipy.optimize import minimize_scalar

from netwright.engine.analysis.curves import MOST_POINTS, at_threshold, curve, curves, probabilities
from netwright.engine.analysis.temperature import calibration, fit, negative_log_likelihood


def drawn(count: int, digits: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Scores, with ties where they have few digits, and which samples are of the class."""
    generator = np.random.default_rng(count)
    is_true = generator.random(count) < 0.3
    return np.round(generator.standard_normal(count) + is_true, digits), is_true


@pytest.mark.parametrize(("count", "digits"), [(40, 9), (200, 1), (5000, 9), (5000, 1)])
def test_areas_are_those_of_scikit_learn(count: int, digits: int) -> None:
    scores, is_true = drawn(count, digits)
    found = curve(scores, is_true)
    assert found is not None
    assert found["auc"] == pytest.approx(reference.roc_auc_score(is_true, scores))
    assert found["average_precision"] == pytest.approx(reference.average_precision_score(is_true, scores))
    assert len(found["points"]) <= MOST_POINTS
    assert found["points"][-1][1:] == [found["positives"], found["negatives"]], "from the least score on all are said"
    for threshold, hits, false in found["points"]:
        assert (hits, false) == ((is_true & (scores >= threshold)).sum(), (~is_true & (scores >= threshold)).sum())


def test_a_thinned_curve_keeps_its_area() -> None:
    scores, is_true = drawn(5000)
    found = curve(scores, is_true)
    assert found is not None
    points = np.array([[0, 0, 0], *found["points"]])
    area = np.trapezoid(points[:, 1] / found["positives"], points[:, 2] / found["negatives"])
    assert area == pytest.approx(found["auc"], abs=0.002)


def test_a_class_that_all_or_none_have_has_no_curve() -> None:
    assert curve(np.array([0.1, 0.2]), np.array([True, True])) is None
    target = np.array([0, 0, 1])
    found = curves(np.log(np.array([[0.9, 0.1, 0.0001], [0.4, 0.6, 0.1], [0.2, 0.8, 0.1]])), target, "abc", "classes")
    assert [one["class"] for one in found] == ["a", "b"]


def test_counts_at_a_threshold_by_hand() -> None:
    found = at_threshold(np.array([0.9, 0.8, 0.31, 0.2]), np.array([True, False, True, True]), 0.31)
    assert [found[f"{kind}s"] for kind in ("true_positive", "false_positive", "false_negative", "true_negative")] == [
        2,
        1,
        1,
        0,
    ]
    assert (found["precision"], found["recall"], found["accuracy"]) == pytest.approx((2 / 3, 2 / 3, 0.5))


@pytest.mark.parametrize("task", ["classes", "labels"])
def test_the_temperature_is_that_of_scipy(task: str) -> None:
    generator = np.random.default_rng(3)
    logits = generator.standard_normal((4000, 3))
    if task == "classes":
        chances = probabilities(logits, "classes")
        target = (chances.cumsum(1) < generator.random((4000, 1))).sum(1)
    else:
        target = (generator.random((4000, 3)) < probabilities(logits, "labels")).astype(float)
        target[0, 0] = np.nan
    found = fit(2.5 * logits, target, task)
    expected = minimize_scalar(
        lambda place: negative_log_likelihood(2.5 * logits, target, task, np.exp(place)), bounds=(-3, 3)
    )
    assert found == pytest.approx(np.exp(expected.x), rel=1e-3)
    assert found == pytest.approx(2.5, rel=0.1), "the logits were made sharper by this factor"
    before, after = (calibration(2.5 * logits, target, task, value) for value in (1.0, found))
    assert after["expected_error"] < before["expected_error"] / 3
    assert after["cross_entropy"] < before["cross_entropy"]


def test_the_likelihood_is_that_of_scikit_learn() -> None:
    generator = np.random.default_rng(4)
    logits, target = generator.standard_normal((50, 3)), generator.integers(0, 3, 50)
    expected = reference.log_loss(target, probabilities(logits, "classes", 1.7), labels=range(3))
    assert negative_log_likelihood(logits, target, "classes", 1.7) == pytest.approx(expected)
