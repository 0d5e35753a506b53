"""Layers in line, with equal steps, and arranged as a part of the network."""

import pytest

from netwright.engine.network.arrangement import Edge, align, arrange, arrange_part, distribute
from netwright.engine.network.layout import Layout
from tests.builders import add, chain, classifier, layer

LAYOUT = Layout({"a": (0.0, 8.0), "b": (104.0, 200.0), "c": (48.0, 64.0), "far": (900.0, 900.0)})
GROUP = ("a", "b", "c")


@pytest.mark.parametrize(
    ("edge", "axis", "value"),
    [("left", 0, 0), ("centre", 0, 48), ("right", 0, 104), ("top", 1, 8), ("middle", 1, 104), ("bottom", 1, 200)],
)
def test_layers_share_an_edge_and_keep_the_other_coordinate(edge: Edge, axis: int, value: float) -> None:
    places = align(LAYOUT, GROUP, edge)
    assert set(places) == set(GROUP)
    assert {at[axis] for at in places.values()} == {value}
    assert all(at[1 - axis] == LAYOUT.at(id)[1 - axis] for id, at in places.items())


def test_steps_are_equal_and_the_ends_stay() -> None:
    layout = Layout({"a": (0.0, 0.0), "b": (8.0, 40.0), "c": (16.0, 80.0), "d": (240.0, 0.0)})
    places = distribute(layout, "abcd", "horizontally")
    assert [places[id] for id in "abcd"] == [(0, 0), (80, 40), (160, 80), (240, 0)]
    places = distribute(LAYOUT, GROUP, "vertically")
    assert [places[id] for id in GROUP] == [(0, 8), (104, 200), (48, 104)]


def test_one_layer_stays_where_it_is() -> None:
    assert align(LAYOUT, ["b"], "left") == {"b": (104.0, 200.0)}
    assert distribute(LAYOUT, ["b"], "horizontally") == {"b": (104.0, 200.0)}


def test_a_part_is_arranged_around_its_own_middle() -> None:
    network = classifier()
    ids = list(network.layers)[1:4]
    layout = Layout({id: (400.0 + 16 * n, 300.0) for n, id in enumerate(network.layers)})
    places = arrange_part(network, layout, ids)
    assert set(places) == set(ids)
    assert len({x for x, _ in places.values()}) == 1
    ys = [places[id][1] for id in ids]
    assert ys == sorted(ys)
    assert abs((ys[0] + ys[-1]) / 2 - 300) <= 8
    assert arrange_part(network, layout, []) == {}


def test_arranging_all_as_a_part_is_arranging_the_network_elsewhere() -> None:
    network = chain(layer("image_input"), layer("conv2d"))
    conv = network.layer("conv_1")
    network, a = add(network, layer("relu"), conv)
    network, b = add(network, layer("tanh"), conv)
    network, _ = add(network, layer("addition"), a, b)
    whole = arrange(network, Layout())
    places = arrange_part(network, Layout(), network.layers)
    first = next(iter(network.layers))
    dx, dy = (places[first][i] - whole.at(first)[i] for i in (0, 1))
    assert all(places[id] == (x + dx, y + dy) for id, (x, y) in whole.positions.items())
