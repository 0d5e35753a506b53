"""Layers are found by name, type and problem."""

import pytest

from engine.network.analysis import analyse
from engine.network.network import Connection, Network, Port
from engine.network.table import find_layers
from tests.builders import add, chain, layer


@pytest.fixture
def network() -> Network:
    made = chain(layer("image_input", channels=1, size=8), layer("conv2d"), layer("relu"), layer("conv2d"))
    return add(made, layer("lstm"), made.layer("conv_2"))[0]


def found(network: Network, text: str) -> list[str]:
    return [network.layers[id].name for id in find_layers(network, analyse(network).problems, text)]


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
