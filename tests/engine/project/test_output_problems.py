"""What is said about outputs that cannot give their targets, and about losses that do not go with them."""

from typing import Any

import pytest

from netwright.engine.core.types import TensorType, features, image, sequence
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.check import check, describe
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, TargetInfo, classes_of, numbers_of
from netwright.engine.project.project import Project
from tests.builders import add, chain, layer

AB, ABC = ("a", "b"), ("a", "b", "c")
PIXELS = TargetInfo("mask", image(3, 8, 8), "classes", ABC)
STEPS = TargetInfo("y", sequence(9, 3).opened(), "classes", ABC, (4, 9))
LABELS = TargetInfo("y", features(3), "labels", ABC)
TEXT = TargetInfo("y", sequence(1, 3).opened(), "transcripts", AB, (2, 8))


def said(network: Network, type: TensorType, *targets: TargetInfo, **options: Any) -> list[Problem]:
    given = InputInfo("x", type, lengths=(4, 9) if type.is_open else None)
    facts = DatasetInfo((given,), {"training": 200, "validation": 20, "test": 20}, targets)
    made = Project(network)
    made = made.with_section("data", made.data.replace(source="digits"))
    made = made.with_section("training", made.training.replace(**options))
    return [problem for problem in check(made, facts).problems if problem.severity != "note"]


def images(*types: Any) -> Network:
    return chain(layer("image_input", channels=1, size=(8, 8)), *types)


def steps(*types: Any) -> Network:
    return chain(layer("sequence_input", channels=2), *types)


IMAGE, OPEN = image(1, 8, 8), sequence(9, 2).opened()


@pytest.mark.parametrize(
    ("network", "type", "target"),
    [
        (images(layer("conv2d", filters=3, kernel=1), layer("softmax")), IMAGE, PIXELS),
        (steps(layer("lstm", hidden_units=4), layer("fully_connected", outputs=3)), OPEN, STEPS),
        (images(layer("fully_connected", outputs=3), layer("sigmoid")), IMAGE, LABELS),
        (images(layer("fully_connected", outputs=1), layer("sigmoid")), IMAGE, classes_of(*AB)[0]),
        (steps(layer("fully_connected", outputs=3)), OPEN, TEXT),
    ],
)
def test_nothing_is_said_of_outputs_that_fit(network: Network, type: TensorType, target: TargetInfo) -> None:
    assert said(network, type, target) == []


@pytest.mark.parametrize(
    ("network", "type", "target", "message"),
    [
        (
            images(layer("fully_connected", outputs=3)),
            IMAGE,
            PIXELS,
            "the data has one response per pixel. End it in a map of the size of the input",
        ),
        (
            images(layer("conv2d", filters=3, kernel=3, padding=0)),
            IMAGE,
            PIXELS,
            "The output has 6 × 6 pixels; 'mask' has 8 × 8. Keep the size in the network",
        ),
        (
            steps(layer("lstm", hidden_units=4, output_mode="last"), layer("fully_connected", outputs=3)),
            OPEN,
            STEPS,
            "the data has one response per step. End it in a sequence",
        ),
        (
            steps(layer("conv1d", filters=3, kernel=(2,), stride=(2,), padding=0)),
            OPEN,
            STEPS,
            "steps where 'y' has 9. Keep the number of steps",
        ),
        (
            steps(layer("conv1d", filters=3, kernel=(2,), stride=(2,), padding=0)),
            OPEN,
            TEXT,
            "steps at most; the longest transcript has 8 classes",
        ),
        (images(layer("fully_connected", outputs=3), layer("softmax")), IMAGE, LABELS, "Use a sigmoid."),
        (
            images(layer("fully_connected", outputs=3), layer("sigmoid")),
            IMAGE,
            classes_of(*ABC)[0],
            "Sigmoid lets several classes be true at once",
        ),
    ],
)
def test_what_does_not_fit_is_named(network: Network, type: TensorType, target: TargetInfo, message: str) -> None:
    (problem,) = said(network, type, target)
    assert message in problem.message


def test_the_channels_of_a_map_are_set_by_the_fix() -> None:
    network = images(layer("conv2d", filters=8, kernel=1), layer("softmax"))
    (problem,) = said(network, IMAGE, PIXELS)
    assert problem.message == "The network has 8 outputs; the data has 3 classes."
    assert problem.fix is not None
    fixed = problem.fix.edit(Project(network)).network
    assert said(fixed, IMAGE, PIXELS) == []


def test_outputs_and_targets_are_counted_and_matched_by_name() -> None:
    kind, size = classes_of(*ABC, name="kind")[0], numbers_of(2, name="size")[0]
    network = chain(layer("feature_input", channels=4), layer("relu"))
    (problem,) = said(network, features(4), kind, size)
    assert "The data has 2 targets (kind: 3 classes, size: 2 numbers), the network 1 output." in problem.message
    last = network.layers[network.order[-1]]
    network, _ = add(network, layer("fully_connected", outputs=2), last, name="size")
    network, _ = add(network, layer("fully_connected", outputs=3), last, name="kind")
    assert said(network, features(4), kind, size) == []
    assert len(said(network, features(4), numbers_of(2, name="other")[0], kind)) == 0  # in order
    assert [p.name for p in said(network, features(4), kind, numbers_of(5, name="size")[0])] == ["size"]
    network, _ = add(network, layer("fully_connected", outputs=2), last, name="third")
    (problem,) = said(network, features(4), kind, size)
    assert problem.message.startswith("The data has 2 targets (kind, size); 3 outputs have no outgoing connection")


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (PIXELS, {"loss": "mse"}, "'mse' does not fit data whose responses are classes. Use auto or cross-entropy"),
        (PIXELS, {"loss": "ctc"}, "'ctc' does not fit"),
        (PIXELS, {"loss": "binary-cross-entropy"}, "wants two classes and one output channel"),
        (PIXELS, {"output_losses": "other: dice"}, "The network has no output 'other'. Its outputs are: conv_1."),
        (PIXELS, {"output_losses": "conv_1: mse"}, "'mse' does not fit output 'conv_1', which gives classes."),
        (PIXELS, {"output_losses": "conv_1: dice * 0"}, "All outputs have the weight 0"),
        (PIXELS, {"class_weighting": "given", "class_weights": (1, 2)}, "The data has 3 classes, the list 2 weights."),
    ],
)
def test_losses_that_do_not_go_with_a_target(target: TargetInfo, options: dict[str, Any], message: str) -> None:
    network = images(layer("conv2d", filters=3, kernel=1))
    found = [describe(problem) for problem in said(network, IMAGE, target, **options)]
    assert len(found) == 1
    assert message in found[0]


def test_overlap_wants_places() -> None:
    (problem,) = said(images(layer("fully_connected", outputs=3)), IMAGE, LABELS, loss="dice")
    assert (
        problem.message == "'dice' measures overlap over steps, pixels or voxels; the data has one response per sample."
    )


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (TEXT, {"sequence_length": "split"}, "A transcript belongs to a whole sequence"),
        (TEXT, {"sequence_padding": "seen"}, "CTC has to know where a sequence ends"),
    ],
)
def test_sequence_options_that_do_not_go_with_the_data(
    target: TargetInfo, options: dict[str, Any], message: str
) -> None:
    (problem,) = said(steps(layer("fully_connected", outputs=3)), OPEN, target, **options)
    assert problem.message.startswith(message)


def test_weights_of_classes_change_nothing_where_there_are_none() -> None:
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=2))
    options = {"class_weighting": "balanced", "label_smoothing": 0.1}
    found = said(network, features(2), *numbers_of(2), **options)
    assert [(p.severity, p.field, p.message) for p in found] == [
        ("warning", f"training.{name}", "The data asks for no classes, so this changes nothing.") for name in options
    ]
    network = chain(layer("feature_input", channels=2), layer("fully_connected", outputs=3))
    assert said(network, features(2), *classes_of(*ABC), **options) == []
