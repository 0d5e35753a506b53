from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.core.errors import UserError
from netwright.engine.layers.base import LayerType
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.network import blocks, edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block
from netwright.engine.network.layout import Comment, Frame, Layout
from netwright.engine.network.network import Connection, Network, Port
from tests.blocks import (
    FEATURES,
    IMAGE,
    behind,
    block_of,
    conv,
    crossed,
    dense,
    links,
    masked,
    module_of,
    residual,
    results,
    row,
)
from tests.builders import add, chain, classifier, layer


def grouped(network: Network, *names: str) -> tuple[Network, str]:
    result, _, id = blocks.group(network, arrange(network), {network.layer(name).id for name in names})
    return result, id


def skips() -> Network:
    """relu_1 feeds two layers and the sum of them feeds two more."""
    network = behind(FEATURES, layer("relu"))
    relu = network.layers["id2"]
    network, left = add(network, layer("fully_connected", outputs=4), relu, name="left")
    network, right = add(network, layer("tanh"), relu, name="right")
    network, total = add(network, layer("addition"), left, right, name="total")
    network, _ = add(network, layer("sigmoid"), total, name="one")
    network, _ = add(network, layer("relu"), total, name="other")
    return network


# Grouping


def test_a_group_takes_the_place_of_its_layers() -> None:
    network, id = grouped(classifier(), "fc_1", "relu_1")
    assert links(network) == {
        ("image_1", "out", "block_1", "input_1"),
        ("block_1", "output_1", "fc_2", "in"),
        ("fc_2", "out", "softmax_1", "in"),
    }
    assert links(block_of(network, id).network) == {
        ("input_1", "out", "fc_1", "in"),
        ("fc_1", "out", "relu_1", "in"),
        ("relu_1", "out", "output_1", "in"),
    }
    assert analyse(network).parameters == analyse(classifier()).parameters


def test_each_output_is_one_port_however_many_take_it() -> None:
    network, id = grouped(skips(), "left", "right", "total")
    assert (block_of(network, id).input_ports(), block_of(network, id).output_ports()) == (("input_1",), ("output_1",))
    assert ("block_1", "output_1", "one", "in") in links(network)
    assert ("block_1", "output_1", "other", "in") in links(network)


def test_the_outputs_of_the_network_stay_outputs() -> None:
    network, id = grouped(skips(), "one", "other")
    assert len(block_of(network, id).output_ports()) == 2
    assert {port.layer for port in network.output_ports} == {id}
    assert not analyse(network).problems


def test_what_comes_back_into_the_group_is_refused_by_name() -> None:
    with pytest.raises(UserError, match="comes back through 'left'"):
        grouped(skips(), "relu_1", "total")


@pytest.mark.parametrize(
    ("names", "said"), [((), "Select the layers"), (("image_1",), "'image_1' is an input of the network")]
)
def test_what_cannot_be_grouped_says_why(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        grouped(classifier(), *names)


def test_ports_of_a_block_cannot_be_in_another() -> None:
    with pytest.raises(UserError, match="'x' is a port of this block"):
        grouped(residual().network, "x", "conv")


def test_layers_on_a_cycle_keep_their_connections_when_they_are_grouped() -> None:
    network = chain(FEATURES, layer("relu"), layer("relu"), layer("tanh"), layer("sigmoid"))
    lines = (*network.connections[1:], Connection(Port("id3", "out"), Port("id2", "in")))
    network = Network(network.layers, lines)
    result, _ = grouped(network, "tanh_1")
    assert {("relu_2", "out", "block_1", "input_1"), ("block_1", "output_1", "sigmoid_1", "in")} <= links(result)


def test_a_block_stands_where_its_layers_stood_and_they_stand_inside_as_they_did() -> None:
    network = classifier()
    layout = arrange(network)
    result, moved, id = blocks.group(network, layout, {"id2", "id3"})
    assert moved.at("id1") == layout.at("id1")
    assert layout.at("id2")[1] < moved.at(id)[1] < layout.at("id3")[1]
    inner = moved.within([id])
    assert {one: inner.at(one) for one in ("id2", "id3")} == {one: layout.at(one) for one in ("id2", "id3")}
    assert set(inner.positions) == set(block_of(result, id).network.layers)
    assert "id2" not in moved.positions


def test_a_group_too_deep_is_refused() -> None:
    network = behind(FEATURES, layer("relu"))
    for _ in range(8):
        (name,) = (one.name for one in network.layers.values() if not one.type.is_input)
        network, _ = grouped(network, name)
    with pytest.raises(UserError, match="deep"):
        grouped(network, name)


# Ungrouping


def test_ungrouping_undoes_grouping() -> None:
    network, id = grouped(skips(), "left", "right", "total")
    back, _, ids = blocks.ungroup(network, arrange(network), id)
    assert links(back) == links(skips())
    assert {back.layers[one].name for one in ids} == {"left", "right", "total"}


def test_copies_stand_behind_each_other() -> None:
    network = behind(FEATURES, row(layer("relu"), layer("tanh"), repeat=3), layer("sigmoid"))
    layout = arrange(network)
    back, moved, ids = blocks.ungroup(network, layout, "id2")
    assert [type(one.type).key for one in (back.layers[id] for id in back.order)] == [
        "feature_input", *["relu", "tanh"] * 3, "sigmoid",
    ]  # fmt: skip
    heights = [moved.at(id)[1] for id in back.order]
    assert heights == sorted(set(heights))
    assert len(ids) == 6


def test_a_mask_enters_every_copy() -> None:
    network, x = add(Network.empty(), FEATURES, name="data")
    network, mask = add(network, FEATURES, name="mask")
    network, _ = add(network, masked(repeat=3), x, mask)
    back, _, _ = blocks.ungroup(network, arrange(network), "id3")
    assert len([line for line in links(back) if line[0] == "mask"]) == 3
    assert len([line for line in links(back) if line[0] == "data"]) == 1


def test_a_block_that_passes_its_input_on_leaves_a_connection() -> None:
    network = behind(FEATURES, Block(), layer("relu"))
    back, _, ids = blocks.ungroup(network, arrange(network), "id2")
    assert ids == ()
    assert links(back) == {("feature_1", "out", "relu_1", "in")} or len(back.connections) == 1


def test_what_is_no_block_cannot_be_ungrouped() -> None:
    with pytest.raises(UserError, match="'fc_1' is no block"):
        blocks.ungroup(classifier(), Layout(), "id2")


def test_a_bypassed_block_is_not_ungrouped_into_layers_that_work() -> None:
    network = edits.set_bypassed(behind(IMAGE, residual()), ["id2"], True)
    with pytest.raises(UserError, match="bypassed"):
        blocks.ungroup(network, arrange(network), "id2")


def test_frames_and_comments_inside_come_out() -> None:
    network = behind(FEATURES, row(layer("relu"), repeat=2))
    inner = Layout(
        {id: (0.0, 90.0 * n) for n, id in enumerate(block_of(network, "id2").network.layers)},
        (Frame("f", (-10.0, 80.0), (200.0, 60.0), "here"),),
        (Comment("c", (200.0, 90.0), (80.0, 40.0), "why"),),
    )
    layout = Layout({"id1": (0.0, 0.0), "id2": (300.0, 90.0)}, (Frame("f", (0.0, 0.0), (9.0, 9.0)),))
    _, moved, (first, *_) = blocks.ungroup(network, layout.with_inside(["id2"], inner), "id2")
    (outer, freed), (comment,) = moved.frames, moved.comments
    x, y = moved.at(first)
    assert (freed.title, freed.at) == ("here", (x - 10.0, y - 10.0))
    assert comment.at == (x + 200.0, y)
    assert len({outer.id, freed.id}) == 2


@st.composite
def choices(draw: st.DrawFn) -> tuple[Network, frozenset[str]]:
    """A network of layers that keep the width, and some of them."""
    network, start = add(Network.empty(), FEATURES)
    made = [start]
    for _ in range(draw(st.integers(1, 8))):
        key = draw(st.sampled_from(["fully_connected", "relu", "addition", "block", "crossed"]))
        type: LayerType
        match key:
            case "block":
                type, count = row(layer("fully_connected", outputs=4), repeat=draw(st.integers(1, 2))), 1
            case "crossed":
                type, count = crossed(draw(st.integers(1, 2))), 2
            case "addition":
                type, count = layer("addition"), 2
            case _:
                type, count = layer(key, **({"outputs": 4} if key == "fully_connected" else {})), 1
        network, added = add(network, type, *[draw(st.sampled_from(made)) for _ in range(count)])
        made.append(added)
    able = sorted(set(network.layers) - {start.id})
    return network, frozenset(draw(st.lists(st.sampled_from(able), min_size=1, unique=True)))


def computed(network: Network) -> list[torch.Tensor]:
    """What the outputs give, with weights that are told by the names of the layers alone."""
    analysis = analyse(network)
    assert not analysis.problems
    module = build(network, analysis).eval()
    for value in module.parameters():
        torch.nn.init.constant_(value, 0.1)
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    return sorted(results(module, x), key=lambda result: [round(v, 4) for v in result.flatten().tolist()])


def comes_back(network: Network, ids: frozenset[str], start: str) -> bool:
    """Whether something leaves the chosen layers here and enters them again."""
    seen, waiting = set(), [c.target.layer for c in network.outgoing[start] if c.target.layer not in ids]
    while waiting:
        id = waiting.pop()
        if id in ids:
            return True
        if id not in seen:
            seen.add(id)
            waiting += [c.target.layer for c in network.outgoing[id]]
    return False


@given(choices())
def test_group_and_ungroup_compute_the_same(choice: tuple[Network, frozenset[str]]) -> None:
    network, ids = choice
    layout = arrange(network)
    wanted = computed(network)
    try:
        inside, placed, id = blocks.group(network, layout, ids)
    except UserError:  # what leaves them comes back
        assert any(comes_back(network, ids, id) for id in ids)
        return
    assert analyse(inside).parameters == analyse(network).parameters
    assert {one: facts for one, facts in analyse(inside).shapes.items() if one != id} == {
        one: facts for one, facts in analyse(network).shapes.items() if one not in ids
    }
    assert set(placed.positions) == set(inside.layers)
    back, placed, freed = blocks.ungroup(inside, placed, id)
    assert set(placed.positions) == set(back.layers)
    assert len(freed) == len(ids)
    assert links(back) == links(network)
    for other in (inside, back):
        for one, same in zip(computed(other), wanted, strict=True):
            assert torch.allclose(one, same, atol=1e-5)


def test_copies_made_into_layers_compute_the_same() -> None:
    """Weights differ from copy to copy here, and go over by their order."""
    network = behind(IMAGE, dense(), row(residual(10, repeat=2)))
    back = network
    layout = arrange(network)
    while chosen := [id for id, one in back.layers.items() if isinstance(one.type, Block)]:
        back, layout, _ = blocks.ungroup(back, layout, chosen[0])
    module, other = module_of(network), build(back, analyse(back)).eval()
    keys = [[key for _, found in sorted_prefixes(one) for key in found] for one in (network, back)]
    state = module.state_dict()
    moved = {
        name: state[old + name[len(new) :]]
        for old, new in zip(*keys, strict=True)
        for name in other.state_dict()
        if name.startswith(f"{new}.")
    }
    other.load_state_dict(moved)
    x = torch.rand(2, 4, 6, 6)
    assert torch.allclose(module(x), other(x), rtol=1e-5)


def sorted_prefixes(network: Network) -> list[tuple[str, tuple[str, ...]]]:
    return [(path, found) for path, found in prefixes(network, analyse(network)).items() if found]


def test_a_block_whose_layers_nobody_placed_can_be_ungrouped() -> None:
    network = behind(IMAGE, residual(repeat=2))
    back, layout, _ = blocks.ungroup(network, Layout({"id1": (0.0, 0.0), "id2": (0.0, 90.0)}), "id2")
    assert not analyse(back).problems
    assert set(layout.positions) == set(back.layers)


def test_names_that_are_taken_outside_become_free_ones() -> None:
    network = behind(IMAGE, conv(4), residual(), names=("conv", "res"))
    back, _, _ = blocks.ungroup(network, arrange(network), "id3")
    assert {"conv", "conv_1", "bn", "add"} <= set(back.by_name)
    assert replace(network.layers["id2"]) == back.layers["id2"]
