import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.catalog import Placeholder, catalog, layer_type
from netwright.engine.network.network import Connection, Network, Port
from tests.builders import add, chain, classifier, layer


def ends(network: Network) -> list[tuple[str, str]]:
    names = {id: one.name for id, one in network.layers.items()}
    return [(names[c.source.layer], names[c.target.layer]) for c in network.connections]


def test_a_new_layer_gets_the_next_free_name_and_an_id_of_its_own():
    network, first = edits.add_layer(Network.empty(), layer("relu"))
    network, second = edits.add_layer(network, layer("relu"))
    assert (first.name, second.name) == ("relu_1", "relu_2")
    assert first.id != second.id


def test_values_of_fields_that_no_longer_apply_are_dropped():
    network, resized = edits.add_layer(Network.empty(), layer("resize2d", by="scale", scale=3.0))
    network = edits.set_fields(network, resized.id, {"by": "size"})
    assert network.layers[resized.id].type.write() == {"by": "size"}
    again = edits.set_fields(network, resized.id, {"by": "scale"})
    assert again.layers[resized.id].type == layer("resize2d", by="scale")


def test_adding_under_a_taken_name_is_refused():
    network, _ = edits.add_layer(Network.empty(), layer("relu"), "a")
    with pytest.raises(UserError, match="already a layer 'a'"):
        edits.add_layer(network, layer("relu"), "a")


def test_no_edit_changes_the_network_it_starts_from():
    before = classifier()
    layers, connections = dict(before.layers), before.connections
    first = next(iter(layers))
    edits.rename(before, first, "other")
    edits.remove_layers(before, [first])
    edits.set_fields(before, first, {"channels": 3})
    edits.disconnect(before, connections)
    edits.paste(before, before)
    assert (before.layers, before.connections) == (layers, connections)


def test_removing_a_layer_cuts_its_connections():
    network = chain(layer("image_input"), layer("relu"), layer("softmax"))
    relu = network.layer("relu_1").id
    assert ends(edits.remove_layers(network, [relu])) == []


def test_connecting_takes_the_place_of_what_fed_the_port():
    network = chain(layer("image_input"), layer("relu"))
    network, other = edits.add_layer(network, layer("image_input"), "other")
    relu = network.layer("relu_1").id
    network = edits.connect(network, Port(other.id, "out"), Port(relu, "in"))
    assert ends(network) == [("other", "relu_1")]


def test_a_cycle_is_refused_with_both_names():
    network = chain(layer("image_input"), layer("relu"), layer("sigmoid"))
    _, first, second = network.layers
    with pytest.raises(UserError, match=r"'relu_1' already feeds 'sigmoid_1'.*cycle"):
        edits.connect(network, Port(second, "out"), Port(first, "in"))


def test_a_layer_cannot_feed_itself():
    network, relu = edits.add_layer(Network.empty(), layer("relu"))
    assert "itself" in (edits.connection_refusal(network, Port(relu.id, "out"), Port(relu.id, "in")) or "")


def test_ports_that_are_not_there_are_refused_by_name():
    network = chain(layer("image_input"), layer("relu"))
    image, relu = network.layers
    assert "no output 'x'" in (edits.connection_refusal(network, Port(image, "x"), Port(relu, "in")) or "")
    assert "no input 'in'" in (edits.connection_refusal(network, Port(relu, "out"), Port(image, "in")) or "")
    assert "not in the network" in (edits.connection_refusal(network, Port("gone", "out"), Port(relu, "in")) or "")


def test_fewer_inputs_cut_the_connections_to_those_that_went():
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    network, join = add(network, layer("addition", inputs=3), image, image, image)
    fewer = edits.set_fields(network, join.id, {"inputs": 2})
    assert {c.target.name for c in fewer.connections} == {"in1", "in2"}


def test_a_refused_value_names_its_field():
    network = classifier()
    id = network.layer("fc_1").id
    with pytest.raises(FieldErrors, match="outputs"):
        edits.set_fields(network, id, {"outputs": 0})


def test_disconnecting_one_leaves_the_others():
    network = chain(layer("image_input"), layer("relu"), layer("softmax"))
    assert ends(edits.disconnect(network, network.connections[:1])) == [("relu_1", "softmax_1")]


def test_a_part_keeps_the_connections_among_its_layers():
    network = chain(layer("image_input"), layer("relu"), layer("softmax"))
    image, relu, _ = network.layers
    assert ends(edits.part(network, [image, relu])) == [("image_1", "relu_1")]


def test_pasting_gives_free_names_and_new_ids_and_keeps_the_connections():
    network = chain(layer("image_input"), layer("relu"))
    pasted, new_ids = edits.paste(network, network)
    assert set(new_ids) == set(network.layers)
    assert not set(new_ids.values()) & set(network.layers)
    assert ends(pasted) == [("image_1", "relu_1"), ("image_2", "relu_2")]


def test_pasting_into_another_network_keeps_names_that_are_free():
    network = chain(layer("feature_input"))
    pasted, _ = edits.paste(network, chain(layer("image_input"), layer("relu")))
    assert set(pasted.by_name) == {"feature_input_1", "image_1", "relu_1"}


def test_pasting_layers_whose_free_names_come_up_in_the_clip_gives_each_its_own():
    network, _ = edits.add_layer(Network.empty(), layer("relu"), "relu_1")
    clip, _ = edits.add_layer(Network.empty(), layer("relu"), "relu_1")
    clip, _ = edits.add_layer(clip, layer("relu"), "relu_2")
    pasted, _ = edits.paste(network, clip)
    assert len(pasted.by_name) == len(pasted.layers) == 3


def test_reconnecting_to_the_same_port_changes_nothing():
    network = chain(layer("image_input"), layer("relu"))
    (one,) = network.connections
    assert edits.connect(network, one.source, one.target).connections == (Connection(one.source, one.target),)


def test_removing_a_layer_of_a_chain_heals_it():
    network = chain(layer("image_input"), layer("relu"), layer("softmax"))
    healed = edits.remove_and_heal(network, [network.layer("relu_1").id])
    assert ends(healed) == [("image_1", "softmax_1")]


def test_removing_several_layers_in_a_row_heals_past_all_of_them():
    network = classifier()
    gone = [network.layer(name).id for name in ("relu_1", "fc_2")]
    assert ends(edits.remove_and_heal(network, gone)) == [("image_1", "fc_1"), ("fc_1", "softmax_1")]


def test_healing_reaches_every_consumer():
    network = chain(layer("image_input"), layer("relu"))
    relu = network.layer("relu_1")
    network, _ = add(network, layer("sigmoid"), relu)
    network, _ = add(network, layer("addition"), relu, relu)
    healed = edits.remove_and_heal(network, [relu.id])
    assert ends(healed) == [("image_1", "sigmoid_1"), ("image_1", "addition_1"), ("image_1", "addition_1")]


def test_two_sources_are_not_healed():
    network = chain(layer("image_input"), layer("relu"))
    network, join = add(network, layer("addition"), *network.layers.values())
    network, _ = add(network, layer("softmax"), join)
    assert ends(edits.remove_and_heal(network, [join.id])) == [("image_1", "relu_1")]


def test_what_does_not_fit_is_not_healed_but_the_rest_is():
    network = chain(layer("image_input"), layer("flatten"))
    flatten = network.layer("flatten_1")
    network, _ = add(network, layer("glu"), flatten, name="halves")
    network, _ = add(network, layer("reshape", layout="image", sizes=[1, 28, 28]), flatten)
    network, _ = add(network, layer("embedding"), flatten)
    network, _ = add(network, layer("relu"), flatten)
    healed = edits.remove_and_heal(network, [flatten.id])
    assert ("image_1", "relu_1") in ends(healed)
    assert ("image_1", "embedding_1") not in ends(healed)


def test_what_is_not_known_yet_is_healed():
    network, relu = edits.add_layer(Network.empty(), layer("relu"))
    network, middle = add(network, layer("sigmoid"), relu)
    network, _ = add(network, layer("lstm"), middle)
    assert ends(edits.remove_and_heal(network, [middle.id])) == [("relu_1", "lstm_1")]


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Layers that feed later ones, with open ports and things that do not fit."""
    keys = st.sampled_from(("relu", "fully_connected", "addition", "flatten", "lstm", "conv2d", "feature_input"))
    network = chain(layer("image_input", size=6))
    for key in draw(st.lists(keys, max_size=8)):
        earlier = list(network.layers)
        network, new = edits.add_layer(network, layer(key), id=f"id{len(network) + 1}")
        for port in new.type.input_ports():
            source = draw(st.none() | st.sampled_from(earlier))
            if source is not None:
                network = edits.connect(network, Port(source, "out"), Port(new.id, port))
    return network


@given(networks(), st.data())
def test_healing_removes_just_the_layers_and_adds_no_shape_error(network: Network, data: st.DataObject):
    gone = data.draw(st.sets(st.sampled_from(sorted(network.layers))))
    healed, cut = edits.remove_and_heal(network, gone), edits.remove_layers(network, gone)
    assert healed.layers == cut.layers
    assert set(cut.connections) <= set(healed.connections)
    assert len({c.target for c in healed.connections}) == len(healed.connections)
    assert set(healed.order) == set(healed.layers)  # no cycle
    fed_before = {c.target for c in network.connections}
    added = set(healed.connections) - set(cut.connections)
    assert {c.target for c in added} <= fed_before
    faulty = {p.layer for p in analyse(healed).problems if p.severity == "error" and "not connected" not in p.message}
    assert not faulty & {c.target.layer for c in added}


def test_another_type_keeps_common_values_connections_and_the_id():
    network = chain(
        layer("image_input"), layer("conv2d", filters=7, kernel=5, stride=2, padding=1), layer("relu"), layer("softmax")
    )
    conv = network.layer("conv_1")
    replaced = edits.replace_type(network, conv.id, layer_type("transposed_conv2d"))
    new = replaced.layers[conv.id]
    assert (new.type.key, new.name) == ("transposed_conv2d", "transposed_conv_1")
    assert new.type.changed()["filters"] == 7
    assert new.type.changed()["kernel"] == (5, 5)
    assert replaced.connections == network.connections
    assert list(replaced.layers) == list(network.layers)


def test_another_type_keeps_a_name_that_was_given_by_hand():
    network = edits.rename(chain(layer("image_input"), layer("relu")), "id2", "squash")
    assert edits.replace_type(network, "id2", layer_type("tanh")).layers["id2"].name == "squash"


def test_an_automatic_name_gets_the_next_free_number():
    network = chain(layer("image_input"), layer("tanh"), layer("relu"))
    assert edits.replace_type(network, "id3", layer_type("tanh")).layers["id3"].name == "tanh_2"


def test_ports_are_kept_by_name_then_by_place_and_the_rest_is_cut():
    network = chain(layer("image_input"), layer("relu"))
    image, relu = network.layers.values()
    network, join = add(network, layer("addition"), image, relu)
    assert edits.replace_type(network, join.id, layer_type("concatenation")).connections == network.connections
    single = edits.replace_type(network, join.id, layer_type("sigmoid"))
    assert ends(single) == [("image_1", "relu_1"), ("image_1", "sigmoid_1")]
    assert ends(edits.replace_type(network, relu.id, layer_type("image_input"))) == [
        ("image_1", "addition_1"),
        ("image_2", "addition_1"),
    ]


def test_a_value_the_new_type_refuses_is_left_at_its_default():
    network = chain(layer("image_input", channels=3, size=(6, 9)))
    volume = edits.replace_type(network, "id1", layer_type("volume_input")).layers["id1"].type
    assert volume == layer("volume_input", channels=3)


def test_a_placeholder_gives_its_values_to_what_replaces_it():
    stranger = Placeholder("conv9d", {"filters": 12, "colour": "blue"}, ("in",), ("out",))
    network = chain(layer("image_input"), stranger)
    replaced = edits.replace_type(network, "id2", layer_type("conv2d"))
    assert replaced.layers["id2"].type == layer("conv2d", filters=12)
    assert replaced.connections == network.connections


@given(networks(), st.data())
def test_any_layer_can_become_any_type(network: Network, data: st.DataObject):
    id = data.draw(st.sampled_from(sorted(network.layers)))
    key = data.draw(st.sampled_from(sorted(catalog())))
    before = network.layers[id].type
    replaced = edits.replace_type(network, id, layer_type(key))
    after = replaced.layers[id].type
    assert after.key == key
    assert list(replaced.layers) == list(network.layers)
    assert len(replaced.by_name) == len(replaced.layers)
    for connection in replaced.connections:
        assert connection.source.name in replaced.layers[connection.source.layer].type.output_ports()
        assert connection.target.name in replaced.layers[connection.target.layer].type.input_ports()
    for name in before.fields.keys() & after.fields.keys():
        value = getattr(before, name)
        if getattr(after, name) != value:
            with pytest.raises(UserError):
                layer(key, **{name: value})
    if key == before.key:
        assert replaced == network


def test_a_bypassed_layer_passes_its_input_on_and_keeps_its_values():
    network = chain(layer("image_input", size=6), layer("fully_connected", outputs=8), layer("softmax"))
    bypassed = edits.set_bypassed(network, ["id2"], True)
    facts = analyse(bypassed).shapes
    assert facts["id2"].output == facts["id1"].output
    assert facts["id2"].parameters == facts["id2"].flops == 0
    assert bypassed.connections == network.connections
    assert bypassed.layers["id2"].type == network.layers["id2"].type
    assert edits.set_bypassed(bypassed, ["id2"], False) == network


def test_a_bypassed_layer_does_not_complain_about_what_it_receives():
    network = chain(layer("feature_input"), layer("conv2d"))
    assert analyse(network).has_errors
    assert not analyse(edits.set_bypassed(network, ["id2"], True)).has_errors


@pytest.mark.parametrize(("key", "why"), [("image_input", "no input"), ("addition", "2 inputs")])
def test_only_layers_with_one_input_can_be_bypassed(key: str, why: str):
    network, one = edits.add_layer(Network.empty(), layer(key))
    with pytest.raises(UserError, match=why):
        edits.set_bypassed(network, [one.id], True)


def test_a_bypass_survives_other_edits_and_copies_but_not_a_type_that_cannot_be_bypassed():
    network = edits.set_bypassed(chain(layer("image_input"), layer("dropout")), ["id2"], True)
    network = edits.rename(edits.set_fields(network, "id2", {"probability": 0.2}), "id2", "less")
    assert network.layers["id2"].bypassed
    pasted, new_ids = edits.paste(network, network)
    assert pasted.layers[new_ids["id2"]].bypassed
    assert edits.replace_type(network, "id2", layer_type("relu")).layers["id2"].bypassed
    assert not edits.replace_type(network, "id2", layer_type("addition")).layers["id2"].bypassed
