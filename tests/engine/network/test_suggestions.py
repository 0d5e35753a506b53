from netwright.engine.core.types import TensorType, features, image, sequence, tokens
from netwright.engine.network import edits, suggestions
from netwright.engine.network.analysis import analyse
from netwright.engine.network.catalog import catalog
from netwright.engine.network.network import Port
from tests.builders import add, chain, layer


def fitting(found: suggestions.SuggestedTypes) -> set[str]:
    return {key for key, why in found.items() if not why}


def test_an_image_is_offered_what_takes_images():
    found = suggestions.takers(image(3, 8, 8))
    assert {"conv2d", "max_pool2d", "relu", "addition"} <= fitting(found)
    assert not {"conv1d", "lstm", "embedding"} & fitting(found)
    assert "image" in found["lstm"]
    assert "image_input" not in found


def test_where_nothing_is_known_everything_with_an_input_fits():
    found = suggestions.takers(None)
    assert fitting(found) == {key for key, cls in catalog().items() if cls().input_ports()}


def test_every_offer_for_an_output_keeps_its_word():
    for given in (features(10), image(3, 8, 8), sequence(5, 4), tokens(7)):
        for key in fitting(suggestions.takers(given)):
            type = catalog()[key]()
            if type.is_measured:
                continue  # a layer of the user's code may take anything
            assert isinstance(type.output(*[given] * len(type.input_ports())), TensorType)


def test_a_recurrent_layer_is_offered_what_gives_sequences():
    found = fitting(suggestions.feeders(layer("lstm"), "in", {}))
    assert {"sequence_input", "embedding", "lstm", "image_to_sequence"} <= found
    assert not {"image_input", "conv2d", "flatten"} & found


def test_beside_a_known_input_the_kind_of_data_decides():
    found = fitting(suggestions.feeders(layer("addition"), "in2", {"in1": image(3, 8, 8)}))
    assert {"relu", "conv2d"} <= found
    assert not {"flatten", "lstm", "feature_input"} & found


def test_what_arrives_at_the_other_ports_is_known_from_the_analysis():
    network = chain(layer("image_input", channels=3, size=8))
    (image_1,) = network.layers.values()
    network, join = add(network, layer("addition"), image_1, image_1)
    known = suggestions.known_inputs(network, analyse(network), Port(join.id, "in2"))
    assert known == {"in1": image(3, 8, 8)}


def test_a_layer_can_be_replaced_by_what_takes_its_inputs():
    network = chain(layer("image_input"), layer("relu"), layer("softmax"))
    found = suggestions.substitutes(network, analyse(network), network.layer("relu_1").id)
    assert {"tanh", "conv2d", "batch_norm"} <= fitting(found)
    assert "lstm" not in fitting(found)
    assert "relu" not in found
    assert "no input" in found["image_input"]


def test_an_input_layer_can_be_replaced_by_another_one():
    network, _ = edits.add_layer(chain(layer("image_input")), layer("relu"))
    found = fitting(suggestions.substitutes(network, analyse(network), network.layer("image_1").id))
    assert {"feature_input", "sequence_input"} <= found
