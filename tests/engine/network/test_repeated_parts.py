from netwright.engine.network.arrangement import repeated
from netwright.engine.network.network import Connection, Layer, Network, Port
from tests.builders import layer

RELU = layer("relu")


def network_of(*links: tuple[str, str, str]) -> Network:
    """Layers of any number of inputs; only the shape of the graph matters here."""
    ids = dict.fromkeys(id for a, b, _ in links for id in (a, b))
    connections = (Connection(Port(a, "out"), Port(b, port)) for a, b, port in links)
    return Network({id: Layer(id, id, RELU) for id in ids}, tuple(connections))


def chained(count: int) -> list[tuple[str, str, str]]:
    return [(f"n{n}", f"n{n + 1}", "in1") for n in range(count)]


def test_a_mask_that_many_layers_far_below_take_is_repeated() -> None:
    masked = [("mask", f"n{n}", "in2") for n in (2, 4, 6, 8, 10)]
    network = network_of(*chained(12), *masked)
    assert {c.target.layer for c in repeated(network)} == {"n2", "n4", "n6", "n8", "n10"}
    assert {c.source.layer for c in repeated(network)} == {"mask"}


def test_few_or_near_takers_are_shown_as_lines() -> None:
    few = network_of(*chained(12), *(("mask", f"n{n}", "in2") for n in (4, 6, 8)))
    assert repeated(few) == frozenset()
    near = network_of(*(("x", f"b{n}", "in1") for n in range(6)), *(("mask", f"b{n}", "in2") for n in range(6)))
    assert repeated(near) == frozenset()


def test_what_is_computed_aside_is_repeated_too() -> None:
    aside = [("n0", "t", "in1"), *(("t", f"n{n}", "in2") for n in (6, 8, 10, 12))]
    assert {c.source.layer for c in repeated(network_of(*chained(12), *aside))} == {"t"}


def test_the_main_feed_of_any_layer_is_never_repeated() -> None:
    fan = network_of(*(("x", f"b{n}", "in1") for n in range(9)), *(("b0", f"c{n}", "in1") for n in range(9)))
    assert repeated(fan) == frozenset()
    skips = network_of(*chained(12), *(("n1", f"n{n}", "in2") for n in (4, 6, 8, 10)))
    assert repeated(skips) == frozenset()


def test_a_cycle_does_not_disturb() -> None:
    network = network_of(*chained(8), ("n8", "n7", "in3"), *(("m", f"n{n}", "in2") for n in (3, 4, 5, 6)))
    assert len(repeated(network)) == 4
    behind = network_of(*chained(8), ("n8", "n2", "in3"), *(("m", f"n{n}", "in2") for n in (3, 4, 5, 6)))
    assert repeated(behind) == frozenset()
