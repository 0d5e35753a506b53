from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engine.network.arrange import COLUMN, ROW, arrange
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout
from engine.network.network import Connection, Layer, Network, Port
from tests.builders import add, chain, layer

RELU = layer("relu")


def network_of(links: list[tuple[str, str]], ids: list[str]) -> Network:
    """Layers of any number of inputs; only the shape of the graph matters here."""
    connections = (Connection(Port(a, "out"), Port(b, f"in{n}")) for n, (a, b) in enumerate(links))
    return Network({id: Layer(id, id, RELU) for id in ids}, tuple(connections))


def overlapping(layout: Layout) -> list[tuple[str, str]]:
    places = sorted(layout.positions.items(), key=lambda item: (item[1][1], item[1][0]))
    found = []
    for index, (a, (ax, ay)) in enumerate(places):
        for b, (bx, by) in places[index + 1 :]:
            if by - ay >= NODE_HEIGHT:
                break
            if abs(ax - bx) < NODE_WIDTH:
                found.append((a, b))
    return found


def test_a_chain_is_one_column_in_rows():
    network = chain(layer("image_input"), RELU, RELU, RELU)
    places = [arrange(network).at(id) for id in network.layers]
    assert {x for x, _ in places} == {0.0}
    assert [y for _, y in places] == [0.0, ROW, 2 * ROW, 3 * ROW]


def test_an_empty_network_has_an_empty_layout():
    assert arrange(Network.empty()).positions == {}


def test_the_longest_way_is_straight_and_the_short_one_beside_it():
    links = [("x", "a"), ("a", "b"), ("b", "c"), ("x", "s"), ("s", "c"), ("c", "d")]
    layout = arrange(network_of(links, ["x", "a", "b", "s", "c", "d"]))
    assert len({layout.at(id)[0] for id in "xabcd"}) == 1
    assert abs(layout.at("s")[0] - layout.at("a")[0]) >= COLUMN
    assert layout.at("s")[1] == ROW


def test_two_equal_branches_stand_left_and_right_of_where_they_meet():
    links = [("x", "a"), ("x", "b"), ("a", "y"), ("b", "y")]
    layout = arrange(network_of(links, ["x", "a", "b", "y"]))
    assert layout.at("x")[0] == layout.at("y")[0] == (layout.at("a")[0] + layout.at("b")[0]) / 2


def test_branches_are_ordered_so_that_they_do_not_cross():
    links = [("x", "a"), ("x", "b"), ("a", "d"), ("b", "c"), ("c", "y"), ("d", "y")]
    layout = arrange(network_of(links, ["x", "a", "b", "c", "d", "y"]))
    a_left = layout.at("a")[0] < layout.at("b")[0]
    assert a_left == (layout.at("d")[0] < layout.at("c")[0])


def test_parts_that_are_not_connected_stand_side_by_side():
    layout = arrange(network_of([("a", "b"), ("c", "d")], ["a", "b", "c", "d"]))
    assert layout.at("a")[0] == layout.at("b")[0]
    assert layout.at("c")[0] == layout.at("d")[0] >= layout.at("a")[0] + COLUMN
    assert layout.at("c")[1] == 0.0


def test_a_cycle_does_not_keep_it_from_ending():
    layout = arrange(network_of([("x", "a"), ("a", "b"), ("b", "a"), ("b", "c")], ["x", "a", "b", "c"]))
    assert set(layout.positions) == {"x", "a", "b", "c"}
    assert not overlapping(layout)


def test_where_nothing_else_decides_the_order_stays_as_it_was():
    links = [("x", "a"), ("x", "b"), ("x", "c")]
    network = network_of(links, ["x", "a", "b", "c"])
    layout = arrange(network, Layout({"x": (0.0, 0.0), "a": (500.0, 0.0), "b": (100.0, 0.0), "c": (300.0, 0.0)}))
    assert layout.at("b")[0] < layout.at("c")[0] < layout.at("a")[0]


def test_a_small_edit_keeps_the_order_of_everything_else():
    network = chain(layer("image_input"))
    (image,) = network.layers.values()
    for _ in range(3):
        network, first = add(network, RELU, image)
        network, _ = add(network, RELU, first)
    before = arrange(network)
    edited, _ = add(network, RELU, image)
    after = arrange(edited, before)
    rows: dict[float, list[str]] = {}
    for id, (_, y) in before.positions.items():
        rows.setdefault(y, []).append(id)
    for row in rows.values():
        row.sort(key=lambda id: before.at(id)[0])
        assert all(after.at(a)[0] < after.at(b)[0] for a, b in pairwise(row))


@st.composite
def graphs(draw: st.DrawFn) -> Network:
    count = draw(st.integers(1, 24))
    ids = [f"n{number}" for number in range(count)]
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    links = draw(st.lists(pairs, max_size=40, unique=True))
    return network_of([(ids[a], ids[b]) for a, b in links if a != b], ids)


@given(graphs())
def test_any_graph_is_laid_out_without_overlap_and_downwards(network):
    layout = arrange(network)
    assert set(layout.positions) == set(network.layers)
    assert not overlapping(layout)
    ordered = set(network.order)
    for connection in network.connections:
        if connection.source.layer in ordered and connection.target.layer in ordered:
            assert layout.at(connection.source.layer)[1] < layout.at(connection.target.layer)[1]
    assert arrange(network) == layout
