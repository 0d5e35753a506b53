"""Layers that have one set of weights: edits, counts, problems in words, the project file."""

import json

import pytest

from netwright.engine.core.errors import FieldErrors, UserError
from netwright.engine.network import blocks, edits
from netwright.engine.network.analysis import analyse, owner_path
from netwright.engine.network.block import Block
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from netwright.engine.project.network_json import read_network, write_network
from tests.builders import add, chain, layer


def network() -> Network:
    """Three equal layers with a ReLU between them, the first two with the same weights."""
    made = chain(
        layer("feature_input", channels=5),
        layer("fully_connected", outputs=5),
        layer("relu"),
        layer("fully_connected", outputs=5),
        layer("fully_connected", outputs=5),
    )
    return shared(made, "fc_1", "fc_2")


def shared(made: Network, *names: str) -> Network:
    return edits.share_weights(made, [made.layer(name).id for name in names])


def owners(made: Network) -> dict[str, str]:
    """The layer whose weights each layer uses, by name."""
    return {one.name: made.layers[one.weights_of].name for one in made.layers.values() if one.weights_of}


def problems(made: Network) -> list[str]:
    return [problem.message for problem in analyse(made).problems]


def test_shared_weights_count_once() -> None:
    made = network()
    analysis = analyse(made)
    assert analysis.parameters == 2 * (5 * 5 + 5)
    assert analysis.shapes[made.layer("fc_2").id].parameters == 0
    assert analysis.shapes[made.layer("fc_2").id].flops == analysis.shapes[made.layer("fc_1").id].flops
    assert owner_path(made, made.layer("fc_2").id) == made.layer("fc_1").id


def test_a_third_layer_joins_and_leaves() -> None:
    joined = shared(network(), "fc_2", "fc_3")
    assert owners(joined) == {"fc_2": "fc_1", "fc_3": "fc_1"}
    left = edits.own_weights(joined, [joined.layer("fc_1").id])
    assert owners(left) == {"fc_3": "fc_2"}
    assert owners(edits.own_weights(joined, [one.id for one in joined.layers.values()])) == {}


def test_fields_change_together() -> None:
    made = edits.set_fields(network(), network().layer("fc_2").id, {"outputs": 7})
    assert [made.layer(name).type.outputs for name in ("fc_1", "fc_2", "fc_3")] == [7, 7, 5]  # type: ignore[attr-defined]
    (message,) = problems(made)
    assert message.startswith("It uses the weights of 'fc_1', which do not fit its input: it has")


@pytest.mark.parametrize("heals", [False, True])
def test_the_next_layer_has_the_weights_of_a_removed_one(heals: bool) -> None:
    made = shared(network(), "fc_1", "fc_3")
    remove = edits.remove_and_heal if heals else edits.remove_layers
    assert owners(remove(made, [made.layer("fc_1").id])) == {"fc_3": "fc_2"}
    assert owners(edits.replace_type(made, made.layer("fc_1").id, type(layer("tanh")))) == {"fc_3": "fc_2"}


def test_copies_share_among_themselves() -> None:
    made = network()
    clip = edits.part(made, [made.layer("fc_1").id, made.layer("fc_2").id])
    pasted, new_ids = edits.paste(made, clip)
    assert pasted.layers[new_ids[made.layer("fc_2").id]].weights_of == new_ids[made.layer("fc_1").id]
    alone, _ = edits.paste(made, edits.part(made, [made.layer("fc_2").id]))
    assert owners(alone) == owners(made)


def test_layers_that_cannot_share_are_refused_in_words() -> None:
    made = chain(
        layer("feature_input", channels=5),
        layer("fully_connected", outputs=5),
        layer("fully_connected", outputs=5, bias=False),
        layer("relu"),
        layer("layer_norm"),
    )
    with pytest.raises(UserError, match="'fc_2' and 'fc_1' differ in Bias: layers with the same weights have equal"):
        shared(made, "fc_1", "fc_2")
    with pytest.raises(UserError, match="layers with the same weights are of one type"):
        shared(made, "fc_1", "layer_norm_1")
    with pytest.raises(UserError, match="has no weights that another layer could use"):
        shared(made, "relu_1", "fc_1")
    with pytest.raises(UserError, match="Select two or more layers"):
        shared(made, "fc_1")
    with pytest.raises(UserError, match="cannot be bypassed: other layers use its weights"):
        edits.set_bypassed(network(), [network().layer("fc_1").id], True)


def block() -> Network:
    """A block that is used twice, with the same weights."""
    inner, _, id = blocks.group(
        made := network(), Layout(), [made.layer(name).id for name in ("fc_1", "relu_1", "fc_2")]
    )
    twice, again = add(inner, inner.layers[id].type, inner.layer("fc_3"), name="again")
    return edits.share_weights(twice, [id, again.id])


def test_a_block_shares_all_that_is_inside() -> None:
    made = block()
    analysis = analyse(made)
    assert analysis.parameters == 2 * 30
    assert sum(shapes.parameters for _, shapes in analysis.all_shapes()) == 2 * 30
    inside = made.layer("block_1").type
    assert isinstance(inside, Block)
    inner = edits.set_fields(inside.network, inside.network.layer("fc_2").id, {"bias_initializer": "ones"})
    changed = blocks.with_network_in(made, [made.layer("again").id], inner)
    assert changed.layer("again").type == changed.layer("block_1").type != inside
    assert not problems(changed)
    places = blocks.with_layout_in(made, Layout(), [made.layer("again").id], Layout({"x": (1.0, 2.0)}))
    assert places.within([made.layer("block_1").id]).at("x") == (1.0, 2.0)
    with pytest.raises(UserError, match="shares its weights with another block"):
        blocks.ungroup(made, Layout(), made.layer("again").id)


def test_a_group_takes_all_with_the_same_weights() -> None:
    made = network()
    with pytest.raises(UserError, match="'fc_1' has the same weights as 'fc_2', which stays outside"):
        blocks.group(made, Layout(), [made.layer("fc_1").id])


def test_the_file_names_the_layer() -> None:
    made = network()
    text = write_network(made, Layout())
    assert [row["weights_of"] for row in text["layers"] if "weights_of" in row] == ["fc_1"]
    assert read_network(json.loads(json.dumps(text)))[0] == made


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fc_9", 'there is no layer "fc_9"'),
        (7, "there is no layer 7"),
        ("fc_2", "'fc_2' has no weights of its own"),
        ("fc_3", "'fc_3' has no weights of its own"),
    ],
)
def test_a_file_with_wrong_names_is_refused(name: object, why: str) -> None:
    text = write_network(shared(network(), "fc_1", "fc_3"), Layout())
    row = next(row for row in text["layers"] if row["name"] == "fc_2")
    row["weights_of"] = name
    with pytest.raises(FieldErrors, match=why):
        read_network(text)


def test_a_file_with_layers_that_differ_opens_with_a_problem() -> None:
    text = write_network(network(), Layout())
    next(row for row in text["layers"] if row["name"] == "fc_2")["fields"]["outputs"] = 7
    made, _ = read_network(text)
    (message, *_) = problems(made)
    assert message == ("'fc_2' and 'fc_1' differ in Outputs: layers with the same weights have equal settings.")
