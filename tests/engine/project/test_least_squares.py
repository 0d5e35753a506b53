"""What Levenberg-Marquardt refuses."""

from typing import Any

import pytest

from netwright.engine.core.types import features, sequence
from netwright.engine.network.network import Network
from netwright.engine.project.check import check, describe
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.project import Project
from tests.builders import chain, layer


def said(network: Network, wanted: tuple[TargetInfo, ...] = numbers_of(2), **options: Any) -> list[str]:
    samples = {"training": 200, "validation": 20, "test": 20}
    data = DatasetInfo((InputInfo("input", features(3)),), samples, wanted)
    made = Project(network)
    made = made.with_section("data", made.data.replace(source="digits"))
    made = made.with_section("training", made.training.replace(solver="lm", **options))
    return [describe(problem) for problem in check(made, data).problems]


def regression(*middle: Any, outputs: int = 2) -> Network:
    return chain(layer("feature_input", channels=3), *middle, layer("fully_connected", outputs=outputs))


def test_a_small_regression_is_taken() -> None:
    assert said(regression(layer("fully_connected", outputs=5), layer("tanh"))) == []


@pytest.mark.parametrize(
    ("targets", "why"),
    [
        (classes_of("a", "b"), "the responses of the data are classes"),
        ((*numbers_of(2), *numbers_of(1, "z")), "it takes one target, and the data has 2"),
        (
            (TargetInfo("y", sequence(2, 5), "numbers"),),
            "it takes numbers for each sample, and the data has some for each step",
        ),
    ],
    ids=["classes", "several", "steps"],
)
def test_what_is_no_regression_of_samples_is_refused(targets: tuple[TargetInfo, ...], why: str) -> None:
    assert f"training.solver: The solver lm is for regressions; {why}. Choose another." in said(regression(), targets)


def test_many_weights_are_refused() -> None:
    (problem,) = said(regression(layer("fully_connected", outputs=900), layer("tanh")))
    assert "takes at most 5,000; the network has 5,402 that learn" in problem
    frozen = layer("fully_connected", outputs=900, frozen=True)
    assert said(regression(frozen, layer("tanh"))) == []


@pytest.mark.parametrize(
    ("middle", "why"),
    [
        (layer("batch_norm"), "Batch normalisation takes its statistics over the batch"),
        (layer("dropout"), "Dropout draws at random"),
    ],
)
def test_what_is_no_matter_of_one_sample_is_refused(middle: Any, why: str) -> None:
    (problem,) = said(regression(layer("fully_connected", outputs=5), middle, layer("tanh")))
    assert f"The solver lm differentiates each sample by itself, but {why}. Choose another solver." in problem


def test_dropout_of_nothing_is_taken() -> None:
    assert said(regression(layer("dropout", probability=0.0))) == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"loss": "mae"},
            "training.loss: the solver lm minimises squared errors. Use half-mse or mse, or choose another solver.",
        ),
        (
            {"max_damping_factor": 1e-4},
            "training.max_damping_factor: expected at least the initial damping factor, 0.001.",
        ),
        (
            {"gradient_threshold": 1},
            "training.gradient_threshold: the solver lm needs gradients as they are. Set it to Inf, or choose another "
            "solver.",
        ),
    ],
)
def test_options_that_do_not_go_with_it(options: dict[str, Any], problem: str) -> None:
    assert said(regression(), **options) == [problem]
