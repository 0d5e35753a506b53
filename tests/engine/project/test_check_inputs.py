"""Input layers are set from the data: type, size, count, and all at once with the outputs."""

from dataclasses import replace

import pytest

from netwright.engine.core.types import TensorType, features, image, sequence, tokens, volume
from netwright.engine.network.network import Network
from netwright.engine.network.problems import Problem
from netwright.engine.project.check import check
from netwright.engine.project.check_inputs import fitted
from netwright.engine.project.dataset_info import DatasetInfo, InputInfo, classes_of, numbers_of
from netwright.engine.project.project import Project
from tests.builders import add, chain, layer

LAYOUTS = {
    "image": image(3, 8, 9),
    "volume": volume(2, 4, 5, 6),
    "features": features(7),
    "sequence": sequence(12, 5),
    "open sequence": sequence(12, 5).opened(),
    "tokens": tokens(12),
}
INPUTS = ("image_input", "volume_input", "feature_input", "sequence_input")


def facts(*types: TensorType, classes: int = 0) -> DatasetInfo:
    """Data with these inputs, and numbers or classes to predict."""
    targets = classes_of(*map(str, range(classes))) if classes else numbers_of(1)
    inputs = tuple(
        InputInfo(f"x{number}", type, lengths=(1, 12) if type.is_open else None) for number, type in enumerate(types)
    )
    return DatasetInfo(inputs, {"training": 500, "validation": 50, "test": 50}, targets)


def input_errors(project: Project, data: DatasetInfo) -> list[Problem]:
    """The problems of inputs that differ from the data."""
    starts = ("The layer takes", "The data has")
    return [p for p in check(project, data).problems if p.severity == "error" and p.message.startswith(starts)]


# Whole numbers for a feature input are taken as numbers instead: an option of the data.
@pytest.mark.parametrize(
    ("key", "given"), [(k, g) for k in INPUTS for g in LAYOUTS if (k, g) != ("feature_input", "tokens")]
)
def test_every_input_layer_can_be_set_to_every_layout(key: str, given: str) -> None:
    made, data = Project(chain(layer(key), layer("relu"))), facts(LAYOUTS[given])
    for problem in input_errors(made, data):
        assert problem.fix is not None, problem.message
        made = problem.fix.edit(made)
    assert input_errors(made, data) == []
    assert len(made.network.connections) == 1


def test_a_replaced_input_keeps_its_normalisation_and_its_name() -> None:
    network = chain(layer("image_input", normalization="zerocenter"), layer("relu"))
    (problem,) = input_errors(Project(network), facts(volume(1, 4, 4, 4)))
    assert problem.fix is not None
    assert problem.fix.label == "Make it a 3-D image input of 1 × 4 × 4 × 4"
    (replaced,) = problem.fix.edit(Project(network)).network.inputs
    assert getattr(replaced.type, "normalization") == "zerocenter"  # noqa: B009  # of some input layers


def test_an_empty_network_gets_the_input_of_the_data() -> None:
    made, data = Project(), facts(tokens(12))  # no first network is known for indices without a vocabulary
    problem = check(made, data).problems[0]
    assert problem.fix is not None
    assert problem.fix.label == "Add a sequence input of 12"
    (added,) = problem.fix.edit(made).network.inputs
    assert added.type.output().layout == "tokens"
    assert check(made).problems[0].fix is None


def test_missing_inputs_are_added_below_the_others() -> None:
    made, data = Project(chain(layer("image_input", channels=3, size=[8, 9]))), facts(*LAYOUTS.values())
    problem = input_errors(made, data)[0]
    assert problem.fix is not None
    assert problem.fix.label == "Add 5 input layers"
    after = problem.fix.edit(made)
    assert [one.type.key for one in after.network.inputs] == [
        "image_input", "volume_input", "feature_input", "sequence_input", "sequence_input", "sequence_input",
    ]  # fmt: skip
    heights = [after.layout.at(one.id)[1] for one in after.network.inputs]
    assert heights == sorted(set(heights))
    assert input_errors(after, data) == []


def two_inputs() -> Network:
    """Two inputs joined, and an output of 2."""
    network, first = add(Network.empty(), layer("feature_input", channels=2))
    network, second = add(network, layer("feature_input", channels=2))
    network, joined = add(network, layer("concatenation"), first, second)
    return add(network, layer("fully_connected", outputs=2), joined)[0]


def test_inputs_and_outputs_are_fitted_in_one_step() -> None:
    made, data = Project(two_inputs()), facts(features(4), features(5), classes=3)
    note = next(p for p in check(made, data).problems if p.message.startswith("The network differs"))
    assert note.severity == "note"
    assert note.fix is not None
    after = note.fix.edit(made)
    assert not check(after, data).errors
    assert after.data == made.data


def test_one_difference_has_its_own_fix_alone() -> None:
    found = check(Project(two_inputs()), facts(features(4), features(2), classes=2)).problems
    assert not any(p.message.startswith("The network differs") for p in found)


def test_fitting_changes_the_network_and_not_the_data() -> None:
    made = Project(chain(layer("feature_input", channels=12), layer("fully_connected", outputs=3)))
    made = replace(made, data=made.data.replace(source="arrays", path="x.npz"))
    assert fitted(made, facts(tokens(12), classes=2)).data == made.data


def test_a_network_of_classes_is_fitted_to_numbers_without_its_softmax() -> None:
    layers = (layer("fully_connected", outputs=10), layer("softmax"))
    made, data = Project(chain(layer("feature_input", channels=4), *layers)), facts(features(4))
    note = next(p for p in check(made, data).problems if p.message.startswith("The network differs"))
    assert note.fix is not None
    after = note.fix.edit(made)
    assert [one.type.key for one in after.network.layers.values()] == ["feature_input", "fully_connected"]
    assert not [p for p in check(after, data).problems if p.layer]


def test_a_softmax_of_one_number_is_an_error() -> None:
    layers = (layer("fully_connected", outputs=1), layer("softmax"))
    found = check(Project(chain(layer("feature_input", channels=4), *layers)), facts(features(4))).errors
    assert [p.message for p in found] == ["Softmax gives probabilities, but the responses are numbers. Remove it."]
