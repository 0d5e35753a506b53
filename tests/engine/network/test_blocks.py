import pytest

from netwright.engine.core.errors import UserError
from netwright.engine.core.types import features, image
from netwright.engine.network import blocks, edits
from netwright.engine.network.analysis import analyse, output_softmaxes
from netwright.engine.network.arrangement import placed
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.layout import Layout
from netwright.engine.network.memory import activation_bytes, training_memory
from netwright.engine.network.network import Network
from tests.blocks import FEATURES, IMAGE, behind, block_of, conv, crossed, dense, links, masked, residual, row
from tests.builders import add, classifier, layer

# Ports seen from outside


def inner_of(network: Network, id: str = "id2") -> Network:
    return block_of(network, id).network


def test_a_renamed_port_keeps_its_connections() -> None:
    network = behind(FEATURES, masked(), layer("relu"))
    mask = inner_of(network).layer("mask")
    changed = blocks.with_network_in(network, ["id2"], edits.rename(inner_of(network), mask.id, "x_mask"))
    assert ("feature_1", "out", mask.name, "x_mask") not in links(changed)
    assert {line[3] for line in links(changed) if line[2] == network.layers["id2"].name} == {"x", "x_mask"}
    assert not analyse(changed).problems


def test_names_of_ports_can_change_places() -> None:
    network, one = add(Network.empty(), FEATURES, name="one")
    network, two = add(network, layer("feature_input", channels=3), name="two")
    network, _ = add(network, crossed(), one, two, name="cross")
    inner = inner_of(network, "id3")
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        inner = edits.rename(inner, inner.layer(old).id, new)
    changed = blocks.with_network_in(network, ["id3"], inner)
    assert links(changed) == {("one", "out", "cross", "b"), ("two", "out", "cross", "a")}


def test_a_removed_port_takes_its_connections_along_and_a_new_one_has_none() -> None:
    network = behind(FEATURES, masked(), layer("relu"))
    inner = edits.remove_layers(inner_of(network), [inner_of(network).layer("mask").id])
    inner, _ = edits.add_layer(inner, BlockInput(), "late")
    changed = blocks.with_network_in(network, ["id2"], inner)
    assert {line[3] for line in links(changed) if line[2] == network.layers["id2"].name} == {"x"}
    assert any("late" in problem.message for problem in analyse(changed).problems)


def test_ports_deep_inside_follow_too() -> None:
    network = behind(FEATURES, row(masked_alone()))
    path = ["id2", "id2"]
    inner = blocks.network_in(network, path)
    changed = blocks.with_network_in(network, path, edits.rename(inner, inner.layer("x").id, "data"))
    assert blocks.network_in(changed, ["id2"]).incoming["id2"].keys() == {"data"}
    assert not analyse(changed).problems


def masked_alone() -> Block:
    return row(layer("relu"))


def test_a_bypassed_block_that_gets_a_second_port_works_again() -> None:
    network = edits.set_bypassed(behind(FEATURES, row(layer("relu"))), ["id2"], True)
    inner, _ = edits.add_layer(inner_of(network), BlockInput(), "more")
    changed = blocks.with_network_in(network, ["id2"], inner)
    assert not changed.layers["id2"].bypassed
    assert analyse(changed).has_errors


def test_a_block_that_is_gone_is_told() -> None:
    with pytest.raises(UserError, match="not in the network any more"):
        blocks.network_in(classifier(), ["id2"])
    assert blocks.known_path(behind(IMAGE, residual()), ["id2", "id2", "x"]) == ("id2",)
    assert blocks.names_of(behind(IMAGE, row(residual()), names=("stage",)), ["id2", "id2"]) == ("stage", "block_1")


# Analysis


def test_a_problem_inside_shows_outside_with_its_path() -> None:
    network = behind(IMAGE, row(residual(8)), conv(2), names=("stage",))
    (problem,) = analyse(network).problems
    assert (problem.layer, problem.name) == ("id2/id2/id4", "stage/block_1/add")
    assert analyse(network).problems_of("id2") == (problem,)
    assert problem.path == ("id2", "id2", "id4")
    assert set(analyse(network).shapes) == {"id1"}  # what comes behind does not complain


def test_a_problem_in_a_later_copy_says_which() -> None:
    network = behind(IMAGE, row(layer("conv2d", filters=4, kernel=3, padding=0), repeat=4))
    (problem,) = analyse(network).problems
    assert problem.message.endswith("(In copy 3 of 4.)")
    assert problem.name == "block_1/conv_1"


def test_a_block_as_a_whole_complains_under_its_name() -> None:
    nothing, _ = add(Network.empty(), BlockInput(), name="x")
    (problem, *_) = analyse(behind(FEATURES, Block(nothing))).problems
    assert problem.name.startswith("block_1")
    messages = [problem.message for problem in analyse(behind(FEATURES, Block(nothing))).problems]
    assert any("has no output" in message for message in messages)


def test_loose_ends_and_inputs_inside_are_errors() -> None:
    network, x = add(row(layer("relu")).network, FEATURES, name="data")
    network, _ = add(network, layer("tanh"), x, name="loose")
    found = {problem.name: problem.message for problem in analyse(behind(FEATURES, Block(network))).problems}
    assert "cannot stand inside a block" in found["block_1/data"]
    assert "Nothing inside the block uses this" in found["block_1/loose"]


def test_a_repeated_block_with_too_many_outputs_says_so_at_repeat() -> None:
    network, x = add(Network.empty(), BlockInput(), name="x")
    for name in ("a", "b"):
        network, _ = add(network, BlockOutput(), x, name=name)
    assert not analyse(behind(FEATURES, Block(network))).problems
    (problem,) = analyse(behind(FEATURES, Block(network, repeat=2))).problems
    assert (problem.name, problem.field) == ("block_1", "repeat")
    assert "2 outputs for 1 inputs" not in problem.message
    assert "2 outputs for 1 input" in problem.message


def test_nothing_is_wrong_with_a_bypassed_block() -> None:
    network = behind(IMAGE, residual(8), conv(2))
    assert analyse(network).has_errors
    network = edits.set_bypassed(network, ["id2"], True)
    assert not analyse(network).problems
    assert analyse(network).shapes["id3"].inputs == (image(4, 6, 6),)
    memory = training_memory(analyse(network), 1, 0)
    assert memory.activations == 4 * (2 * 4 * 36 + 2 * 36)


def test_sizes_inside_are_known_also_where_something_is_missing_outside() -> None:
    network = behind(FEATURES, masked())
    network = edits.disconnect(network, [c for c in network.connections if c.target.name == "mask"])
    found = analyse(network)
    assert [problem.field for problem in found.problems] == ["mask"]
    inside = blocks.analysis_in(found, ["id2"])
    assert inside.shapes["id3"].output == features(4)
    assert "id4" not in inside.shapes


def test_facts_of_copies_have_paths_of_their_own() -> None:
    paths = [path for path, _ in analyse(behind(IMAGE, dense(repeat=2))).all_shapes()]
    assert "id2/0/id2" in paths
    assert "id2/1/id2" in paths
    found = analyse(behind(IMAGE, dense(repeat=2)))
    assert found.shapes["id2"].weights["0.conv.weight"] == (2, 4, 3, 3)
    assert found.shapes["id2"].weights["1.conv.weight"] == (2, 6, 3, 3)
    alone = training_memory(found, 1, 0).activations
    assert alone == 4 * 36 * (4 + (2 + 6) + (2 + 8))  # what enters and leaves a block is no copy
    assert activation_bytes(found.shapes["id2"], 2) == 2 * 4 * 36 * (2 + 6 + 2 + 8)


def test_a_softmax_at_the_end_of_blocks_is_found() -> None:
    head = row(layer("fully_connected", outputs=4), layer("softmax"))
    assert output_softmaxes(behind(FEATURES, row(head))) == {"id2/id2/id3"}
    assert output_softmaxes(behind(FEATURES, head.replace(repeat=3))) == {"id2/2/id3"}
    assert output_softmaxes(behind(FEATURES, head, layer("relu"))) == frozenset()


def test_what_is_inside_blocks_gets_places_where_nobody_gave_any() -> None:
    network = behind(IMAGE, row(residual()), conv(2))
    layout = placed(network, Layout())
    inner = layout.within(["id2", "id2"])
    assert len({inner.at(id) for id in ("id1", "id2", "id3", "id4", "id5")}) == 5
    assert placed(network, layout) is layout
