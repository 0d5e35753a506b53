"""Outlines of networks: everything inside the box, blocks with what they hold, small for large networks."""

from pathlib import Path

import pytest

from netwright.engine.drawing.outline import HEIGHT, MOST_IN_BLOCK, WIDTH, Outline, outline
from netwright.engine.layers.base import LayerType
from netwright.engine.network.arrangement import arrange
from netwright.engine.network.block import Block
from netwright.engine.network.layout import Layout
from netwright.engine.network.network import Network
from netwright.engine.project.file import load
from tests.builders import add, chain, layer

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "resources" / "examples" / "digits.netwright"


def outlined(network: Network) -> Outline:
    return outline(network, arrange(network))


def deep(count: int) -> Network:
    return chain(layer("feature_input", channels=4), *[layer("relu") for _ in range(count - 1)])


def is_inside(found: Outline) -> bool:
    slack = 1.5  # the least width of a bar
    bars = all(x >= 0 and x + w <= WIDTH + slack and y >= 0 and y + h <= HEIGHT + slack for x, y, w, h, _ in found.bars)
    # Curves may bulge a little beyond the bars at their ends.
    curves = all(-20 <= number <= WIDTH + 20 for curve in found.curves for number in curve)
    return bars and curves and all((len(curve) - 2) % 6 == 0 for curve in found.curves)


def test_an_example_as_it_stands_on_the_canvas() -> None:
    project = load(DIGITS).project
    found = outline(project.network, project.layout)
    assert len(found.bars) == 15
    assert len(found.curves) == len(project.network.connections)
    assert is_inside(found)
    families = [bar[4] for bar in sorted(found.bars)]
    assert families[0] == "Input"
    assert families[-1] == "Activation"


@pytest.mark.parametrize("count", [1, 2, 40, 120, 400])
def test_networks_of_every_depth_fill_the_box(count: int) -> None:
    found = outlined(deep(count))
    assert len(found.bars) == count
    assert is_inside(found)
    rows = {bar[1] for bar in found.bars}
    assert len(rows) == (1 if count <= 40 else 4 if count == 400 else 3)
    assert len({min(bar[0] for bar in found.bars if bar[1] == row) for row in rows}) == 1, "rows begin below each other"


def test_a_broad_network_is_one_row() -> None:
    network, start = add(Network.empty(), layer("feature_input", channels=4))
    for _ in range(12):
        last = start
        for _ in range(40):
            network, last = add(network, layer("relu"), last)
    found = outlined(network)
    assert is_inside(found)
    assert len(found.bars) <= 481


def test_a_network_that_runs_from_left_to_right() -> None:
    network = deep(6)
    turned = Layout({id: (y * 4, x / 4) for id, (x, y) in arrange(network).positions.items()})
    found = outline(network, turned)
    assert is_inside(found)
    assert len({bar[0] for bar in found.bars}) == 6
    assert len({bar[1] for bar in found.bars}) == 1


def block(*types: LayerType, repeat: int = 1) -> Block:
    return Block(chain(layer("block_input"), *types, layer("block_output")), repeat=repeat)


def test_a_block_shows_and_counts_what_it_holds() -> None:
    inner = block(layer("relu"), layer("tanh"), repeat=2)
    network = chain(
        layer("feature_input", channels=4),
        block(layer("fully_connected", outputs=4), inner, repeat=3),
        layer("softmax"),
    )
    found = outlined(network)
    assert [bar[4] for bar in sorted(found.bars)].count("Fully connected") == 3
    assert len(found.bars) == 17
    assert is_inside(found)
    many = outlined(chain(layer("feature_input", channels=4), block(layer("relu"), layer("tanh"), repeat=500)))
    assert len(many.bars) <= 1 + MOST_IN_BLOCK


def test_an_empty_network_has_an_empty_outline() -> None:
    assert outline(Network.empty(), Layout()) == Outline()


def test_layers_on_one_spot_are_arranged() -> None:
    found = outline(deep(5), Layout())
    assert len({bar[0] for bar in found.bars}) == 5


def test_networks_that_differ_in_the_repeats_of_a_block_look_different() -> None:
    drawn = {
        name: outline(project.network, project.layout)
        for name in ("resnet50", "resnet101")
        for project in (load(ROOT / "resources" / "templates" / f"{name}.netwright").project,)
    }
    assert len(drawn["resnet101"].bars) > 1.5 * len(drawn["resnet50"].bars)
