import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.network import edits
from netwright.engine.network.network import NAME_LIMIT, Connection, Layer, Network, Port, free_name, name_refusal
from tests.builders import add, chain, classifier, layer


def loop() -> Network:
    """x -> a -> b -> a, b -> c: two layers in a circle, one in front and one behind."""
    two = layer("addition")
    layers = [("x", layer("image_input")), ("a", two), ("b", layer("relu")), ("c", layer("relu"))]
    links = [("x", "a", "in1"), ("b", "a", "in2"), ("a", "b", "in"), ("b", "c", "in")]
    return Network(
        {id: Layer(id, id, type) for id, type in layers},
        tuple(Connection(Port(a, "out"), Port(b, port)) for a, b, port in links),
    )


def test_a_layer_comes_after_everything_that_feeds_it():
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    network, left = add(network, layer("relu"), image)
    network, right = add(network, layer("sigmoid"), image)
    network, join = add(network, layer("addition"), left, right)
    order = network.order
    assert set(order) == set(network.layers)
    assert order.index(image.id) < order.index(left.id) < order.index(join.id)
    assert order.index(right.id) < order.index(join.id)


def test_a_layer_that_feeds_two_ports_of_another_is_waited_for_once():
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    network, join = add(network, layer("addition"), image, image)
    assert network.order == (image.id, join.id)


def test_layers_on_a_cycle_and_behind_it_have_no_place_in_the_order():
    assert loop().order == ("x",)


def test_only_the_circle_itself_is_cyclic():
    assert loop().cyclic == {"a", "b"}


def test_a_network_without_cycle_has_no_cyclic_layers():
    assert classifier().cyclic == frozenset()


def test_ports_that_nothing_uses_are_the_outputs():
    network = classifier()
    last = list(network.layers)[-1]
    assert network.output_ports == (Port(last, "out"),)


def test_inputs_are_in_the_order_they_were_added():
    network = chain(layer("image_input"))
    network, second = add(network, layer("feature_input"))
    assert [one.name for one in network.inputs] == ["image_1", second.name]


def test_an_unknown_name_is_refused_by_name():
    with pytest.raises(UserError, match="no layer 'gone'"):
        classifier().layer("gone")


@pytest.mark.parametrize("name", ["", "1st", "a b", "class", "x-y", "ü", "a" * (NAME_LIMIT + 1)])
def test_what_is_no_identifier_cannot_be_a_name(name):
    assert name_refusal(name) is not None


def test_a_taken_name_is_refused_and_a_free_one_is_not():
    assert "already" in (name_refusal("conv_1", ["conv_1"]) or "")
    assert name_refusal("conv_2", ["conv_1"]) is None


def test_a_free_name_takes_the_lowest_number():
    assert free_name("conv", ["conv_1", "conv_3"]) == "conv_2"
    assert free_name("conv_7", ["conv_1"]) == "conv_2"


def test_a_free_name_of_a_long_one_stays_within_the_limit():
    long = "x" * NAME_LIMIT
    assert name_refusal(free_name(long, [long])) is None


def test_renaming_leaves_connections_alone():
    network = classifier()
    id = next(iter(network.layers))
    assert edits.rename(network, id, "picture").connections == network.connections
