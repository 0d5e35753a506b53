"""What is said about a whole project, with and without its data, and the fixes that are offered."""

from dataclasses import replace
from typing import Any

import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import TensorType, features, image, sequence, tokens
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.bindings import match_inputs
from netwright.engine.project.check import check, describe
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of, numbers_of
from netwright.engine.project.project import Project
from tests.builders import add, chain, classifier, layer

SAMPLES = {"training": 200, "validation": 20, "test": 20}


def facts(*types: TensorType, classes: int = 3, task: Any = "classes", responses: int = 1) -> DatasetInfo:
    """Data with inputs of these types."""
    inputs = tuple(InputInfo(f"input_{i}", type) for i, type in enumerate(types, 1))
    names = (f"class {i}" for i in range(classes))
    return DatasetInfo(inputs, SAMPLES, classes_of(*names) if task == "classes" else numbers_of(responses))


def project(network: Network, **options: Any) -> Project:
    """A project with data, and training options."""
    made = Project(network)
    made = made.with_section("data", made.data.replace(source="digits"))
    return made.with_section("training", made.training.replace(**options))


def problems(made: Project, data: DatasetInfo | None) -> list[Problem]:
    """All problems."""
    return list(check(made, data).problems)


def only(made: Project, data: DatasetInfo | None) -> Problem:
    """The only problem."""
    (problem,) = problems(made, data)
    return problem


def fixed(made: Project, problem: Problem, data: DatasetInfo) -> list[Problem]:
    """What is left once the fix is applied."""
    assert problem.fix is not None
    return problems(problem.fix.edit(made), data)


def test_a_good_project_has_no_problems() -> None:
    assert problems(project(classifier()), facts(image(1, 6, 6))) == []


def test_without_data_there_is_a_note() -> None:
    problem = only(Project(classifier()), None)
    assert (problem.severity, problem.field) == ("note", "data.source")
    check(Project(classifier())).refuse_errors()


def test_options_that_do_not_go_together() -> None:
    made = project(classifier(), schedule="warmup")
    problem = only(made, facts(image(1, 6, 6)))
    assert (
        describe(problem) == "training.warmup_iterations: the warm-up schedule needs at least 1 iteration of warm-up."
    )
    with pytest.raises(UserError, match="warmup_iterations"):
        check(made).refuse_errors()


def test_a_warmup_that_never_ends_is_told() -> None:
    """200 samples in batches of 50 are 4 iterations an epoch."""
    options = {"schedule": "cosine", "mini_batch_size": 50, "max_epochs": 2}
    problem = only(project(classifier(), warmup_iterations=8, **options), facts(image(1, 6, 6)))
    assert (problem.severity, problem.field) == ("warning", "training.warmup_iterations")
    assert problem.message.startswith("The run has 8 iterations and ends within the warm-up of 8:")
    assert problems(project(classifier(), warmup_iterations=7, **options), facts(image(1, 6, 6))) == []


def test_a_plateau_needs_a_validation_part() -> None:
    made, data = project(classifier(), schedule="plateau"), facts(image(1, 6, 6))
    (problem,) = problems(made, replace(data, samples={"training": 200}))
    assert describe(problem).startswith("training.schedule: The plateau schedule follows validations; the data has no")
    assert problems(made, replace(data, samples={"training": 200, "validation": 20})) == []


def test_a_target_needs_a_validation_part_and_a_value() -> None:
    made, data = project(classifier(), target_metric="metric", target_value=0.9), facts(image(1, 6, 6))
    (problem,) = problems(made, replace(data, samples={"training": 200}))
    assert describe(problem).startswith("training.target_metric: The target is looked for at validations; the data has")
    (problem,) = problems(project(classifier(), target_metric="loss"), data)
    assert describe(problem).startswith("training.target_value: enter what is good enough, such as 0.95")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nesterov": True, "momentum": 0}, "training.nesterov: Nesterov needs a momentum above 0."),
        (
            {"class_weighting": "given", "class_weights": "1, 2"},
            "training.class_weights: The data has 3 classes, the list 2 weights. Give one each.",
        ),
        (
            {"class_weighting": "given"},
            "training.class_weights: enter a weight for each class, and not all of them 0.",
        ),
        (
            {"target_metric": "accuracy", "target_value": 95},
            "training.target_value: accuracy is at most 1: enter 0.95 where you mean 95 %.",
        ),
        (
            {"gradient_accumulation": 129},
            "training.gradient_accumulation: a mini-batch has 128 samples. Use at most 128 pieces.",
        ),
        (
            {"schedule": "chain", "schedule_chain": "plateau 3 epochs, cosine"},
            "training.schedule_chain: plateau follows the validations until the run ends: put it last.",
        ),
        (
            {"solver": "lbfgs", "gradient_threshold": 1},
            "training.gradient_threshold: the solver lbfgs needs gradients as they are. Set it to Inf, or choose "
            "another solver.",
        ),
    ],
)
def test_options_that_exclude_each_other(options: dict[str, Any], message: str) -> None:
    problem = only(project(classifier(), **options), facts(image(1, 6, 6)))
    assert (problem.severity, describe(problem)) == ("error", message)


def test_checkpointing_by_blocks_without_blocks_is_a_warning() -> None:
    problem = only(project(classifier(), gradient_checkpointing="blocks"), facts(image(1, 6, 6)))
    assert (problem.severity, problem.field) == ("warning", "training.gradient_checkpointing")
    assert "no blocks" in problem.message


def test_a_full_batch_solver_has_no_mini_batch_that_could_be_too_large() -> None:
    made = project(classifier(), solver="lbfgs", mini_batch_size=1000)
    assert not check(made, facts(image(1, 6, 6))).problems


def test_a_batch_larger_than_the_data() -> None:
    made = project(classifier(), mini_batch_size=201)
    data = facts(image(1, 6, 6))
    problem = only(made, data)
    assert describe(problem) == (
        "training.mini_batch_size: The training split has 200 samples, fewer than the mini-batch size of 201: each "
        "iteration takes all of them."
    )
    assert problem.severity == "note"
    assert fixed(made, problem, data) == []


@pytest.mark.parametrize(
    ("start", "given", "label"),
    [
        (layer("image_input", channels=1, size=[6, 6]), image(3, 8, 9), "Set to 3 × 8 × 9"),
        (layer("feature_input", channels=2), features(7), "Set to 7"),
        (layer("sequence_input", channels=2), sequence(12, 5), "Set to 12 × 5"),
        (layer("sequence_input", channels=2), tokens(12), "Set to 12"),
        (layer("sequence_input", content="indices"), sequence(12, 5), "Set to 12 × 5"),
    ],
)
def test_an_input_that_is_not_the_datas_can_be_set_to_it(start: Any, given: TensorType, label: str) -> None:
    made = project(chain(start))
    data = facts(given)
    problem = next(p for p in problems(made, data) if p.severity == "error" and p.message.startswith("The layer takes"))
    assert f"the data gives {given}" in problem.message
    assert problem.fix is not None
    assert problem.fix.label == label
    assert not any(p.message.startswith("The layer takes") for p in fixed(made, problem, data))


def test_integers_for_a_layer_of_features_have_a_remedy() -> None:
    made = project(chain(layer("feature_input", channels=12)))
    problem = next(p for p in problems(made, facts(tokens(12))) if p.message.startswith("The layer takes"))
    assert problem.message.endswith("To take its whole numbers as numbers, set data.integer_arrays=numbers.")
    assert problem.fix is not None
    assert problem.fix.edit(made).data.integer_arrays == "numbers"


def test_an_input_of_another_kind_is_replaced() -> None:
    problem = next(p for p in problems(project(classifier()), facts(features(4))) if p.severity == "error")
    assert problem.name == "image_1"
    assert problem.message.startswith("The layer takes an image of 1 × 6 × 6 (C × H × W); the data gives ")
    assert problem.fix is not None
    assert problem.fix.label == "Make it a feature input of 4"


def test_the_number_of_classes_is_set_where_it_is_decided() -> None:
    made = project(classifier(classes=3))
    data = facts(image(1, 6, 6), classes=10)
    problem = only(made, data)
    assert (problem.name, problem.field) == ("fc_2", "outputs")  # not the softmax behind it
    assert problem.message == "The network has 3 outputs; the data has 10 classes."
    assert fixed(made, problem, data) == []


@pytest.mark.parametrize(("loss", "task"), [("mse", "classes"), ("cross-entropy", "numbers")])
def test_a_loss_that_does_not_fit(loss: str, task: str) -> None:
    found = problems(project(classifier(softmax=False), loss=loss), facts(image(1, 6, 6), task=task, responses=3))
    assert [p.field for p in found] == ["training.loss"]
    assert f"'{loss}' does not fit" in found[0].message


def test_probabilities_for_numbers_are_a_warning() -> None:
    problem = only(project(classifier()), facts(image(1, 6, 6), task="numbers", responses=3))
    assert problem.severity == "warning"


def test_a_network_that_does_not_end_in_one_vector() -> None:
    made = project(chain(layer("image_input", channels=1, size=6), layer("relu")))
    assert "The network ends in an image of 1 × 6 × 6" in only(made, facts(image(1, 6, 6))).message


def test_a_network_that_ends_in_complex_numbers() -> None:
    types = (layer("real_to_complex"), layer("complex_fully_connected", outputs=3))
    problem = only(project(chain(layer("feature_input", channels=4), *types)), facts(features(4)))
    assert problem.message.startswith("The network ends in complex features of 3 (C); responses are real numbers.")


def test_two_outputs_and_one_response() -> None:
    network, first = add(Network.empty(), layer("feature_input", channels=4))
    network, _ = add(network, layer("fully_connected", outputs=3), first)
    network, _ = add(network, layer("fully_connected", outputs=3), first)
    problem = only(project(network), facts(features(4)))
    assert problem.message.startswith("Training needs one output; 2 have no outgoing connection: fc_1, fc_2.")


def dangling() -> tuple[Network, list[str]]:
    """A network cut behind its second pooling: the rest was connected again to the first ReLU. The chain that ends in
    pooling has more layers than the one that ends in the softmax."""
    front = (layer("conv2d", filters=4), layer("relu"), layer("max_pool2d"))
    network = chain(layer("image_input", channels=1, size=8), *front, *front)
    relu = network.layer("relu_1")
    network, last = add(network, layer("fully_connected", outputs=3), relu)
    network, _ = add(network, layer("softmax"), last)
    return network, ["pool_1", "conv_2", "relu_2", "pool_2"]


@pytest.mark.parametrize("data", [None, facts(image(1, 8, 8))], ids=["without data", "with data"])
def test_an_output_that_dangles_is_marked_and_not_the_one_that_is_meant(data: DatasetInfo | None) -> None:
    network, behind = dangling()
    made = project(network) if data else Project(network)
    problem = problems(made, data)[0]
    assert problem.name == "pool_2"
    assert problem.message.endswith("have no outgoing connection: pool_2, softmax_1. Connect pool_2, or remove it.")
    assert problem.fix is not None
    assert [
        one.name for one in network.layers.values() if one.id not in problem.fix.edit(made).network.layers
    ] == behind


def test_a_fix_that_removes_layers_names_them() -> None:
    problem = problems(Project(dangling()[0]), None)[0]
    assert problem.fix is not None
    assert problem.fix.label == "Remove pool_1, conv_2 and 2 more"
    assert problem.fix.detail == "Removes pool_1, conv_2, relu_2 and pool_2."


def test_an_empty_canvas_is_no_mistake_but_cannot_be_trained() -> None:
    result = check(Project())
    assert result.errors, "on the command line"
    assert not result.on_canvas().errors
    assert [p.severity for p in result.on_canvas().problems] == ["note", "note"]
    assert check(Project(classifier())).on_canvas().problems == check(Project(classifier())).problems
    with pytest.raises(UserError, match="The network has no layers"):
        result.refuse_errors()


def test_another_number_of_inputs() -> None:
    found = problems(project(classifier()), facts(image(1, 6, 6), image(1, 6, 6)))
    assert found[0].message.startswith("The data has 2 inputs (input_1, input_2), the network 1 input layer. ")


def test_inputs_are_matched_by_name_or_in_order() -> None:
    network, a = add(Network.empty(), layer("feature_input"), name="input_2")
    network, b = add(network, layer("feature_input"), name="input_1")
    data = facts(features(1), features(2))
    assert {id: given.name for id, given in match_inputs(network, data).items()} == {a.id: "input_2", b.id: "input_1"}
    other = replace(data, inputs=(replace(data.inputs[0], name="x"), data.inputs[1]))
    assert {id: given.name for id, given in match_inputs(network, other).items()} == {a.id: "x", b.id: "input_2"}


def test_an_input_that_leads_nowhere() -> None:
    problem = only(project(chain(layer("feature_input", channels=4))), facts(features(4)))
    assert (problem.severity, problem.message) == ("warning", "The input is not connected. Connect a layer to it.")


def test_errors_come_first() -> None:
    severities = [p.severity for p in check(Project()).problems]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert severities[0] == "error"


def test_something_has_to_learn() -> None:
    ends = layer("feature_input", channels=4), layer("fully_connected", outputs=3, frozen=True)
    drawn = project(chain(ends[0], layer("fully_connected", frozen=True), layer("relu"), ends[1]))
    assert [p.severity for p in check(drawn).problems if p.field == "frozen"] == ["warning"]
    problem = only(drawn, facts(features(4)))
    assert (problem.severity, problem.name, problem.field) == ("error", "fc_2", "frozen")
    assert problem.message.startswith("Every layer with weights is frozen, so nothing can learn.")
    assert problem.fix is not None
    assert problem.fix.label == "Unfreeze fc_2"
    assert not problems(problem.fix.edit(drawn), facts(features(4)))


def test_pictures_of_another_size_can_be_resized_where_that_is_all() -> None:
    made = project(classifier())
    pictures = made.with_section("data", made.data.replace(source="images", path="pictures"))
    way_out = "Give the layer that size, or resize the images: data.image_size=6."
    assert only(pictures, facts(image(1, 300, 200))).message.endswith(f"(C × H × W). {way_out}")
    for made, given in ((pictures, image(3, 300, 200)), (project(classifier()), image(1, 9, 9))):
        assert "resize" not in only(made, facts(given)).message
