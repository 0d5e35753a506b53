"""Layers are found by name, type and problem."""

import pytest

from netwright.engine.network.analysis import analyse
from netwright.engine.network.blocks import names_of, network_in
from netwright.engine.network.layer_table import find_layers
from netwright.engine.network.network import Connection, Network, Port
from tests.blocks import IMAGE, behind, conv, residual, row
from tests.builders import add, chain, layer


@pytest.fixture
def network() -> Network:
    wide = layer("conv2d", filters=32)
    made = chain(layer("image_input", channels=1, size=8), wide, layer("relu"), wide)
    return add(made, layer("lstm"), made.layer("conv_2"))[0]


def named(network: Network, path: str) -> str:
    *blocks, id = path.split("/")
    return "/".join((*names_of(network, blocks), network_in(network, blocks).layers[id].name))


def found(network: Network, text: str) -> list[str]:
    analysis = analyse(network)
    return [named(network, path) for path in find_layers(network, analysis, analysis.problems, text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("conv", ["conv_1", "conv_2"]),
        ("CONV_2", ["conv_2"]),
        ("2-d convolution", ["conv_1", "conv_2"]),
        ("conv2d 1", ["conv_1"]),
        ("recurrent", ["lstm_1"]),
        ("error", ["lstm_1"]),
        ("expected a sequence", ["lstm_1"]),
        ("32 x 8 x 8", ["conv_1", "relu_1", "conv_2"]),
        ("conv 32×8×8", ["conv_1", "conv_2"]),
        ("8 x 8", ["image_1", "conv_1", "relu_1", "conv_2"]),
        ("2 x 8 x 8", []),
        ("nothing like it", []),
        ("", []),
        ("  ", []),
    ],
)
def test_every_word_counts_wherever_it_stands(network: Network, text: str, names: list[str]) -> None:
    assert found(network, text) == names


def test_layers_of_a_cycle_are_found_too() -> None:
    network = chain(layer("image_input"), layer("relu"), layer("relu"))
    first, second = network.layer("relu_1"), network.layer("relu_2")
    kept = [c for c in network.connections if c.target.layer != first.id]
    looped = Network(network.layers, (*kept, Connection(Port(second.id, "out"), Port(first.id, "in"))))
    assert found(looped, "relu") == ["relu_1", "relu_2"]


def test_layers_inside_blocks_are_found_behind_them() -> None:
    network = behind(IMAGE, row(residual(), layer("relu")), conv(2), names=("stage", "tail"))
    assert found(network, "convolution") == ["stage/block_1/conv", "tail"]
    assert found(network, "relu") == ["stage/relu_1"]
    assert "stage/block_1/conv" in found(network, "conv 4 x 6 x 6")
