import pytest

from netwright.engine.layers.base import LayerType
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network, Port
from tests.builders import add, chain, classifier, layer


def test_sizes_parameters_and_work_of_a_small_network():
    network = classifier(classes=3)
    analysis = analyse(network)
    shown = {network.layers[id].name: facts.output.short() for id, facts in analysis.shapes.items()}
    assert shown == {"image_1": "1 × 6 × 6", "fc_1": "8", "relu_1": "8", "fc_2": "3", "softmax_1": "3"}
    assert analysis.parameters == 36 * 8 + 8 + 8 * 3 + 3
    assert analysis.flops == 2 * (36 * 8 + 8 * 3)
    assert not analysis.has_errors


def test_only_the_first_layer_of_a_broken_chain_complains():
    network = chain(layer("image_input"), layer("lstm"), layer("relu"), layer("fully_connected"))
    analysis = analyse(network)
    assert [problem.name for problem in analysis.problems] == ["lstm_1"]
    assert analysis.has_errors
    assert set(analysis.shapes) == {network.layer("image_1").id}


def test_an_unconnected_input_is_named():
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    network, join = edits.add_layer(network, layer("addition"))
    network = edits.connect(network, Port(image.id, "out"), Port(join.id, "in2"))
    (problem,) = analyse(network).problems_of(join.id)
    assert problem.field == "in1"
    assert "Input in1 is not connected" in problem.message


def test_several_unconnected_inputs_are_one_problem():
    network, join = edits.add_layer(chain(layer("image_input")), layer("addition"))
    (problem,) = analyse(network).problems_of(join.id)
    assert "Inputs in1, in2 are not connected" in problem.message


def test_an_empty_network_says_what_to_do():
    (problem,) = analyse(Network.empty()).problems
    assert "Add an input layer" in problem.message


def test_a_network_without_input_layer_says_so():
    messages = [problem.message for problem in analyse(edits.add_layer(Network.empty(), layer("relu"))[0]).problems]
    assert any("no input layer" in message for message in messages)


def test_a_cycle_is_one_problem_that_names_its_layers():
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    network, join = add(network, layer("addition"), image, image)
    network, relu = add(network, layer("relu"), join)
    kept = tuple(c for c in network.connections if c.target != Port(join.id, "in2"))
    closed = Network(network.layers, (*kept, type(kept[0])(Port(relu.id, "out"), Port(join.id, "in2"))))
    problems = analyse(closed).problems
    assert [problem.name for problem in problems] == [join.name]
    assert f"{join.name}, {relu.name}" in problems[0].message


def test_what_an_edit_did_not_touch_is_not_computed_again():
    network = classifier()
    before = analyse(network).shapes
    last = list(network.layers)[-2]
    after = analyse(edits.set_fields(network, last, {"outputs": 7})).shapes
    untouched = list(network.layers)[:-2]
    assert all(after[id] is before[id] for id in untouched)
    assert after[last] is not before[last]


def test_the_type_at_a_port_that_is_not_known_is_none():
    network, relu = edits.add_layer(Network.empty(), layer("relu"))
    assert analyse(network).type_at(Port(relu.id, "out")) is None


@pytest.mark.parametrize(
    ("type", "field"),
    [
        (layer("feature_input", channels=2, statistics="given"), "mean"),
        (layer("sequence_input", normalization_dimension="element"), "normalization_dimension"),
        (layer("inverse_norm", kind="rescale-zero-one", minimum=2.0, maximum=1.0), "maximum"),
    ],
)
def test_fields_that_contradict_each_other_are_an_error_of_the_layer(type: LayerType, field: str) -> None:
    network = chain(type) if type.is_input else chain(layer("feature_input"), type)
    (problem,) = analyse(network).problems
    assert (problem.severity, problem.field) == ("error", field)
    assert problem.message.startswith(f"The field {field}: ")
