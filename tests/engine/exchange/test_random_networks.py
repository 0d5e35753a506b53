"""Random valid networks leave as ONNX and as source with the same numbers, and come back from ONNX."""

import random
from pathlib import Path

import pytest
import torch

from engine.core.errors import ShapeError, UserError
from engine.exchange.importing.importer import import_file
from engine.exchange.onnx_export import export_onnx
from engine.layers.base import LayerType
from engine.lowering.source import source
from engine.network.analysis import analyse
from engine.network.network import Network
from tests.builders import chain, layer
from tests.engine.layers.test_parity import built, network_of

ENTRIES = {
    "image": ("image_input", {"channels": 3, "size": 12}),
    "sequence": ("sequence_input", {"channels": 4, "length": 10}),
    "features": ("feature_input", {"channels": 6}),
}
CHOICES: dict[str, list[tuple[str, dict[str, list[object]]]]] = {
    "image": [
        ("conv2d", {"filters": [4, 6], "kernel": [1, 3], "padding": ["same", 1]}),
        ("max_pool2d", {"size": [2]}),
        ("average_pool2d", {"size": [2]}),
        ("batch_norm", {}),
        ("relu", {}),
        ("gelu", {}),
        ("leaky_relu", {}),
    ],
    "sequence": [
        ("conv1d", {"filters": [4, 6], "kernel": [3], "padding": ["same"]}),
        ("lstm", {"hidden_units": [3, 5]}),
        ("gru", {"hidden_units": [3, 5]}),
        ("layer_norm", {}),
        ("tanh", {}),
        ("self_attention", {"heads": [2]}),
    ],
    "features": [
        ("fully_connected", {"outputs": [4, 8]}),
        ("layer_norm", {}),
        ("sigmoid", {}),
        ("elu", {}),
        ("softmax", {}),
    ],
}
TRIES = 8


def random_network(seed: int) -> Network:
    """A chain of up to eight layers that fit, of one kind of input."""
    numbers = random.Random(seed)
    kind = numbers.choice(sorted(ENTRIES))
    key, fields = ENTRIES[kind]
    layers: list[LayerType] = [layer(key, **fields)]
    for _ in range(TRIES):
        key, values = numbers.choice(CHOICES[kind])
        try:
            added = layer(key, **{name: numbers.choice(options) for name, options in values.items()})
            if not analyse(chain(*layers, added)).has_errors:
                layers.append(added)
        except (UserError, ShapeError):
            continue
    return chain(*layers, *([layer("fully_connected", outputs=3)] if kind != "sequence" else []))


def leaves(seed: int, folder: Path) -> None:
    network = random_network(seed)
    module = built(network, seed)
    state = module.state_dict()
    folder.mkdir()
    export_onnx(network, state, folder / "net.onnx", facts=None, samples=None)
    back = import_file(folder / "net.onnx", folder / "back.netwright")
    assert back.parity.agrees, back.warnings
    assert not any(row.opaque for row in back.operators)
    printed = network_of(source(network, analyse(network), title="net"))
    printed.load_state_dict(state)
    (given,) = network.inputs
    x = torch.randn(2, *(size for size in given.type.output().sizes if isinstance(size, int)))
    torch.testing.assert_close(printed(x), module(x), rtol=0, atol=0)


def test_a_random_network_leaves_both_ways_and_comes_back(tmp_path: Path) -> None:
    leaves(0, tmp_path / "net")


@pytest.mark.parity
@pytest.mark.timeout(3600)
def test_200_random_networks_leave_both_ways_and_come_back(tmp_path: Path) -> None:
    for seed in range(1, 201):
        leaves(seed, tmp_path / str(seed))
