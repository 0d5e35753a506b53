from netwright.designer.gestures import neighbours
from netwright.engine.network import edits
from netwright.engine.network.layout import Layout
from tests.builders import add, chain, layer

RELU = layer("relu")


def diamond():
    """x feeds left and right, which are added; a stray stands beside."""
    network = chain(layer("image_input"))
    (x,) = network.layers.values()
    network, left = add(network, RELU, x)
    network, right = add(network, RELU, x)
    network, both = add(network, layer("addition"), left, right)
    network, stray = edits.add_layer(network, RELU)
    places = ((100.0, 0.0), (0.0, 60.0), (220.0, 60.0), (100.0, 120.0), (440.0, 60.0))
    layout = Layout(dict(zip((one.id for one in (x, left, right, both, stray)), places, strict=True)))
    return network, layout, x.id, left.id, right.id, both.id, stray.id


def test_down_and_up_go_along_connections_and_back_the_way_one_came():
    network, layout, x, left, right, both, _ = diamond()
    assert neighbours.step(network, layout, left, "down") == both
    assert neighbours.step(network, layout, both, "down") is None
    assert neighbours.step(network, layout, x, "up") is None
    assert neighbours.step(network, layout, x, "down") == left
    assert neighbours.step(network, layout, x, "down", trail=[right, x]) == right


def test_sideways_leads_to_those_with_the_same_source_first_and_then_to_what_is_level():
    network, layout, _, left, right, _, stray = diamond()
    assert neighbours.step(network, layout, left, "right") == right
    assert neighbours.step(network, layout, right, "left") == left
    assert neighbours.step(network, layout, left, "left") is None
    assert neighbours.step(network, layout, right, "right") == stray


def test_the_nearest_in_a_direction_is_rather_straight_ahead():
    layout = Layout({"a": (0.0, 0.0), "far": (10.0, 400.0), "aside": (300.0, 60.0), "behind": (0.0, -60.0)})
    assert neighbours.towards(layout, "a", "down", layout.positions) == "far"
    assert neighbours.towards(layout, "a", "up", layout.positions) == "behind"
    assert neighbours.towards(layout, "behind", "up", layout.positions) is None
