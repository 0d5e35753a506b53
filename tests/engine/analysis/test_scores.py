"""Scores against scikit-learn, and cases computed by hand."""

import numpy as np
import pytest
import sklearn.metrics as reference

from netwright.engine.analysis.passes import ClassPass, LabelPass, NumberPass
from netwright.engine.analysis.scores import Calibration, Ranking, drawn_of_table, draws, wilson
from netwright.engine.core.types import features, image
from netwright.engine.project.dataset_info import IGNORED, TargetInfo

NAMES = ("a", "b", "c", "d")


def classes_pass(per_pixel: bool = False) -> ClassPass:
    type = image(4, 2, 3) if per_pixel else features(4)
    return ClassPass(TargetInfo("y", type, "classes", NAMES), 3)


def drawn(count: int = 200, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and classes of which the last never occurs."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 3, (count, *shape))
    return generator.standard_normal((count, *shape, 4)) + np.eye(4)[target], target


def test_classes_are_scored_as_scikit_learn_scores_them() -> None:
    logits, target = drawn()
    one = classes_pass()
    one.update(logits[:150], target[:150], 0)
    one.update(logits[150:], target[150:], 150)
    found = one.result()
    said = logits.argmax(1)
    assert found["confusion"] == reference.confusion_matrix(target, said, labels=range(4)).tolist()
    expected = reference.precision_recall_fscore_support(target, said, labels=range(4), zero_division=0)
    for row, *values in zip(found["per_class"], *expected, strict=True):
        assert [row[name] for name in ("precision", "recall", "f1", "support")] == pytest.approx(values)
    assert [row["iou"] for row in found["per_class"]] == pytest.approx(
        reference.jaccard_score(target, said, labels=range(4), average=None, zero_division=0)
    )
    probability = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert found["cross_entropy"] == pytest.approx(reference.log_loss(target, probability, labels=range(4)))
    assert found["accuracy"] == pytest.approx(reference.accuracy_score(target, said))


def test_the_worst_and_the_most_uncertain_come_first() -> None:
    logits, target = drawn()
    one = classes_pass()
    one.update(logits, target, 0)
    found = one.result()
    probability = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    losses = -np.log(probability[np.arange(200), target])
    assert [row["place"] for row in found["worst"]] == np.argsort(-losses)[:3].tolist()
    assert [row["place"] for row in found["most_uncertain"]] == np.argsort(probability.max(1))[:3].tolist()
    worst = found["worst"][0]
    assert (worst["label"], worst["prediction"]) == (
        NAMES[target[worst["place"]]],
        NAMES[logits[worst["place"]].argmax()],
    )


def test_pixels_that_do_not_count_are_left_out() -> None:
    logits, target = drawn(20, 2, 3)
    target[:, 0, 0] = IGNORED
    one = classes_pass(per_pixel=True)
    one.update(logits, target, 0)
    found, there = one.result(), target != IGNORED
    said = logits.argmax(-1)
    assert found["answers"] == 100
    expected = reference.jaccard_score(target[there], said[there], labels=range(4), average=None, zero_division=0)
    assert [row["iou"] for row in found["per_class"]] == pytest.approx(expected)
    low, high = found["accuracy_interval"]
    assert low < found["accuracy"] < high


@pytest.mark.parametrize(
    ("part", "whole", "ends"),
    [
        (90, 90, (0.9591, 1.0)),
        (0, 90, (0.0, 0.0409)),
        (81, 263, (0.2553, 0.3662)),  # Newcombe, Two-Sided Confidence Intervals for the Single Proportion, 1998
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
        (0, 0, (0.0, 1.0)),
    ],
)
def test_intervals_of_proportions_are_those_of_wilson(part: int, whole: int, ends: tuple[float, float]) -> None:
    assert wilson(np.array([part]), np.array([whole])) == pytest.approx(np.array([ends]), abs=5e-5)


def test_right_answers_alone_leave_the_accuracy_uncertain() -> None:
    target = np.arange(90) % 3
    one = classes_pass()
    one.update(20 * np.eye(4)[target], target, 0)
    said = one.result()
    assert said["accuracy"] == 1.0
    assert said["accuracy_interval"] == pytest.approx([0.9591, 1.0], abs=5e-5)
    first, *_, never = said["per_class"]
    assert first["precision_interval"] == first["recall_interval"] == pytest.approx([0.8865, 1.0], abs=5e-5)
    assert first["f1_interval"] == [1.0, 1.0]
    assert never["recall_interval"] == [0.0, 1.0]


def test_pixels_of_a_picture_are_no_independent_answers() -> None:
    """All of a picture is right or wrong together: 8 pictures of 6 pixels are 8 answers, and not 48."""
    target = np.zeros((8, 2, 3), int)
    logits = np.broadcast_to(np.eye(4)[(np.arange(8) < 2).astype(int)][:, None, None], (8, 2, 3, 4))
    one = classes_pass(per_pixel=True)
    one.update(logits, target, 0)
    low, high = one.result()["accuracy_interval"]
    assert high - low > 0.4
    assert np.diff(wilson(np.array(36), np.array(48))) < 0.3


def test_intervals_hold_the_value_and_shrink_with_more_samples() -> None:
    widths = []
    for factor in (1, 100):
        table = np.array([[40, 10], [20, 30]]) * factor
        counts, accuracies = drawn_of_table(table)
        low, high = np.percentile(accuracies, (2.5, 97.5))
        assert low < 0.7 < high
        assert counts.actual.sum(1).tolist() == [100 * factor] * len(accuracies)
        widths.append(high - low)
    # The normal approximation of a share p of n: p ± 1.96 √(p (1 - p) / n).
    assert widths[0] == pytest.approx(2 * 1.96 * np.sqrt(0.7 * 0.3 / 100), rel=0.1)
    assert widths[1] == pytest.approx(widths[0] / 10, rel=0.1)


def test_draws_of_a_table_spread_as_draws_of_samples() -> None:
    table = np.array([[40, 10], [20, 30]])
    is_right = np.repeat([1.0, 0.0], [70, 30])
    assert drawn_of_table(table)[1].std() == pytest.approx((draws(is_right) / 100).std(), rel=0.1)


def test_calibration_by_hand() -> None:
    one = Calibration()
    one.update(np.array([0.61, 0.62, 0.99, 1.0]), np.array([True, False, True, True]))
    found = one.write()
    assert [(round(b["low"], 3), b["count"], b["accuracy"]) for b in found["bins"]] == [(0.6, 2, 0.5), (0.933, 2, 1.0)]
    assert found["expected_error"] == pytest.approx((2 * 0.115 + 2 * 0.005) / 4)
    assert found["largest_error"] == pytest.approx(0.115)


def test_labels_are_scored_as_scikit_learn_scores_them() -> None:
    generator = np.random.default_rng(1)
    target = (generator.random((80, 4)) > 0.5).astype(np.float32)
    logits = generator.standard_normal((80, 4)) + target
    one = LabelPass(TargetInfo("y", features(4), "labels", NAMES), 3)
    one.update(logits, target, 0)
    found = one.result()
    expected = reference.precision_recall_fscore_support(target, logits > 0, zero_division=0)
    for row, *values in zip(found["per_class"], *expected, strict=True):
        assert [row[name] for name in ("precision", "recall", "f1", "support")] == pytest.approx(values)
        assert row["f1_interval"][0] < row["f1"] < row["f1_interval"][1]


def test_errors_of_numbers_are_those_of_scikit_learn() -> None:
    generator = np.random.default_rng(2)
    target = generator.standard_normal((90, 2)).astype(np.float32)
    said = target + generator.standard_normal((90, 2)).astype(np.float32) * 0.3
    target[0, 1] = np.nan
    one = NumberPass(TargetInfo("y", features(2), "numbers"), 3, ("u", "v"))
    one.update(said[:50], target[:50], 0)
    one.update(said[50:], target[50:], 50)
    found = one.result()
    first, second = found["residuals"]
    assert (first["name"], second["name"], found["answers"]) == ("u", "v", 179)
    assert first["r2"] == pytest.approx(reference.r2_score(target[:, 0], said[:, 0]), rel=1e-5)
    assert second["mae"] == pytest.approx(reference.mean_absolute_error(target[1:, 1], said[1:, 1]), rel=1e-5)
    there = ~np.isnan(target)
    assert found["rmse"] == pytest.approx(reference.root_mean_squared_error(target[there], said[there]), rel=1e-5)
    low, high = found["rmse_interval"]
    assert low < found["rmse"] < high
    error = np.nanmean((said - target) ** 2, axis=1)
    assert [row["place"] for row in found["worst"]] == np.argsort(-error)[:3].tolist()


def test_a_loss_that_is_no_number_is_the_worst() -> None:
    one = Ranking(2)
    one.update(np.array([1.0, np.nan, 3.0]), 0, lambda place: {})
    one.update(np.array([2.0, 4.0]), 3, lambda place: {})
    assert [row["place"] for row in one.write()] == [1, 4]
