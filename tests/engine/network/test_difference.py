from netwright.engine.network import edits
from netwright.engine.network.layout import Layout, difference, moved
from tests.builders import chain, layer


def test_the_same_network_has_no_difference():
    network = chain(layer("image_input"), layer("relu"))
    assert not difference(network, network)


def test_added_removed_and_changed_layers_are_told_apart():
    before = chain(layer("image_input"), layer("fully_connected"), layer("relu"))
    image, fc, relu = before.layers
    after, added = edits.add_layer(before, layer("softmax"))
    after = edits.set_fields(after, fc, {"outputs": 3})
    after = edits.remove_layers(after, [relu])
    found = difference(before, after)
    assert found.added == {added.id}
    assert found.removed == {relu}
    assert found.changed == {fc}
    assert image not in found.added | found.removed | found.changed
    assert [c.target.layer for c in found.disconnected] == [relu]
    assert found.connected == ()


def test_a_layer_written_anew_with_the_same_values_has_not_changed():
    before = chain(layer("image_input"), layer("fully_connected", outputs=4))
    _, fc = before.layers
    after = edits.set_fields(before, fc, {"outputs": 4})
    assert after.layers[fc] is not before.layers[fc]
    assert not difference(before, after)


def test_only_layers_that_stand_elsewhere_have_moved():
    before = Layout({"a": (0.0, 0.0), "b": (8.0, 8.0)})
    assert moved(before, before.moved({"a": (0.0, 0.0), "b": (16.0, 8.0), "c": (1.0, 1.0)})) == {"b", "c"}
    assert moved(before, before.without(["a", "b"])) == {"b"}  # without a place a layer stands at the origin
