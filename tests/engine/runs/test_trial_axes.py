"""Values and scores of trials along axes."""

import pytest

from netwright.engine.project.experiment import ExperimentOptions
from netwright.engine.runs.trial_axes import TrialAxis, axes_of
from tests.trials import ACCURACY, FILTERS, OPTIONS, RATE, SOLVER, sample_trials, trial


def axes(*objectives: str) -> dict[str, TrialAxis]:
    return {axis.name: axis for axis in axes_of(sample_trials(), OPTIONS, objectives or (ACCURACY,))}


def test_values_come_in_the_order_of_the_definition_then_objectives() -> None:
    assert list(axes(ACCURACY, "parameters")) == [RATE, SOLVER, FILTERS, ACCURACY, "parameters"]
    labels = [axis.label for axis in axes(ACCURACY, "parameters", "test.loss").values()]
    assert labels == ["Initial learn rate", "Solver", "fc_1 outputs", "Accuracy", "Parameters", "Test loss"]


def test_a_rate_is_logarithmic_and_texts_are_categories_in_their_order() -> None:
    rate, solver = axes()[RATE], axes()[SOLVER]
    assert rate.is_log
    assert rate.share(0.01) == pytest.approx(0.5)
    assert solver.categories == ("SGD with momentum", "Adam")
    assert (solver.said(1.0), solver.ends) == ("Adam", (-0.5, 1.5))


def test_scores_count_of_trials_that_were_trained_and_are_finite() -> None:
    assert set(axes()[ACCURACY].places) == set(range(1, 9))
    infinite = trial(11, {RATE: 0.1}, accuracy=float("inf"))
    (_, score) = axes_of([infinite], ExperimentOptions(), [ACCURACY])
    assert score.places == {}
    assert score.ends == (0.0, 1.0)


def test_values_are_told_as_a_person_reads_them() -> None:
    found = axes(ACCURACY, "validation.loss", "parameters")
    assert found[ACCURACY].said(0.953) == "95.3 %"
    assert not found[ACCURACY].is_low_better
    assert found["validation.loss"].is_low_better
    assert found["parameters"].said(12345.0) == "12,345"
    assert found[FILTERS].said(8.0) == "8"


def test_equal_values_have_an_axis_around_them() -> None:
    (axis, _) = axes_of([trial(1, {RATE: 0.5}), trial(2, {RATE: 0.5})], ExperimentOptions(), [ACCURACY])
    low, high = axis.ends
    assert low < 0.5 < high
