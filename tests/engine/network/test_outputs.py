from netwright.engine.network import edits
from netwright.engine.network.analysis import output_softmaxes
from netwright.engine.network.network import Network
from tests.builders import add, chain, layer


def test_only_a_softmax_at_an_output_counts() -> None:
    network = chain(layer("feature_input"), layer("softmax"), layer("fully_connected"), layer("softmax"))
    assert {network.layers[id].name for id in output_softmaxes(network)} == {"softmax_2"}


def test_a_network_may_have_none_or_several() -> None:
    assert output_softmaxes(chain(layer("feature_input"), layer("relu"))) == frozenset()
    network, start = add(Network.empty(), layer("feature_input"))
    network, first = add(network, layer("softmax"), start)
    network, second = add(network, layer("softmax"), start)
    assert output_softmaxes(network) == {first.id, second.id}


def test_a_bypassed_softmax_counts_no_more_and_one_before_bypassed_layers_does() -> None:
    network = chain(layer("feature_input"), layer("softmax"), layer("dropout"), layer("relu"))
    assert output_softmaxes(network) == frozenset()
    network = edits.set_bypassed(network, ["id3", "id4"], True)
    assert output_softmaxes(network) == {"id2"}
    assert output_softmaxes(edits.set_bypassed(network, ["id2"], True)) == frozenset()


def test_a_softmax_that_also_feeds_a_working_layer_is_no_end() -> None:
    network = edits.set_bypassed(chain(layer("feature_input"), layer("softmax"), layer("relu")), ["id3"], True)
    network, _ = add(network, layer("dropout"), network.layers["id2"])
    assert output_softmaxes(network) == frozenset()
