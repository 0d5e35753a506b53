from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.network.arrangement import COLUMN, ROW, arrange
from netwright.engine.network.layout import FLOWS, NODE_HEIGHT, NODE_WIDTH, Layout
from netwright.engine.network.network import Connection, Layer, Network, Port
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


def test_to_the_right_the_layers_stand_in_columns_and_the_layout_says_so():
    links = [("x", "a"), ("a", "b"), ("b", "c"), ("x", "s"), ("s", "c")]
    network = network_of(links, ["x", "a", "b", "s", "c"])
    layout = arrange(network, flow="right")
    assert layout.flow == "right"
    xs = [layout.at(id)[0] for id in "xabc"]
    assert all(b - a > NODE_WIDTH for a, b in pairwise(xs))
    assert len({layout.at(id)[1] for id in "xabc"}) == 1
    assert layout.at("s")[0] == layout.at("a")[0]
    assert not overlapping(layout)
    assert arrange(network, layout) == layout
    assert arrange(network, layout, "down").flow == "down"


def test_a_mask_for_many_layers_stands_beside_the_first_row_and_takes_no_room_below():
    chained = [(f"n{n}", f"n{n + 1}") for n in range(20)]
    plain = arrange(network_of(chained, [f"n{n}" for n in range(21)]), may_fold=False)
    masked = [("mask", f"n{n}") for n in range(4, 20, 3)]
    layout = arrange(network_of(chained + masked, [*(f"n{n}" for n in range(21)), "mask"]))
    assert layout.at("mask")[1] == 0.0
    assert abs(layout.at("mask")[0] - layout.at("n0")[0]) == COLUMN
    assert len({layout.at(f"n{n}")[0] for n in range(21)}) == len({plain.at(f"n{n}")[0] for n in range(21)}) == 1


def test_a_layer_that_is_added_or_removed_leaves_the_order_of_a_wide_network_as_it_was():
    """Blocks of branches: whatever small thing is edited, no two layers of a row change their order."""
    ids, links, last = ["x"], [], "x"
    for block in range(6):
        branches = [f"b{block}_{n}" for n in range(4)]
        links += [(last, one) for one in branches]
        ids += [*branches, f"j{block}"]
        links += [(one, f"j{block}") for one in branches]
        last = f"j{block}"
    before = arrange(network_of(links, ids))
    without = [one for one in ids if one != "b2_1"]
    fewer = arrange(network_of([link for link in links if "b2_1" not in link], without), before)
    more = arrange(network_of([*links, ("j3", "extra"), ("extra", "j4")], [*ids, "extra"]), before)
    for after in (fewer, more):
        for block in range(6):
            row = sorted(
                (one for one in after.positions if one.startswith(f"b{block}_")), key=lambda one: before.at(one)
            )
            assert all(after.at(a)[0] < after.at(b)[0] for a, b in pairwise(row))


@st.composite
def graphs(draw: st.DrawFn) -> Network:
    count = draw(st.integers(1, 24))
    ids = [f"n{number}" for number in range(count)]
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    links = draw(st.lists(pairs, max_size=40, unique=True))
    return network_of([(ids[a], ids[b]) for a, b in links if a != b], ids)


@given(graphs(), st.sampled_from(FLOWS))
def test_any_graph_is_laid_out_without_overlap_and_with_the_flow(network, flow):
    assert not overlapping(arrange(network, flow=flow))
    layout = arrange(network, flow=flow, may_fold=False)
    axis = 1 if flow == "down" else 0
    assert set(layout.positions) == set(network.layers)
    assert not overlapping(layout)
    ordered = set(network.order)
    for connection in network.connections:
        if connection.source.layer in ordered and connection.target.layer in ordered:
            assert layout.at(connection.source.layer)[axis] < layout.at(connection.target.layer)[axis]
    assert arrange(network, flow=flow, may_fold=False) == layout
