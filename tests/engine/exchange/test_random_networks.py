"""Random valid networks leave as ONNX and as source, come back, and leave again with the same numbers."""

import random
from pathlib import Path

import pytest

from netwright.engine.core.errors import ShapeError, UserError
from netwright.engine.exchange.sample_inputs import random_samples
from netwright.engine.layers.base import LayerType
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from tests.builders import chain, layer
from tests.engine.exchange.test_round_trips import again, back, source_comes_back
from tests.engine.layers.test_parity import built

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


def survives(seed: int, folder: Path) -> None:
    network = random_network(seed)
    folder.mkdir()
    state = built(network, seed).state_dict()
    made = back(network, state, folder)
    assert not any(fate.opaque for fate in made.lifted.fates.values()), made.lifted.fates
    again(network, state, made, folder, list(random_samples(network)))
    source_comes_back(network, folder)


def test_a_random_network_survives_both_ways(tmp_path: Path) -> None:
    survives(0, tmp_path / "net")


@pytest.mark.parity
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(8))
def test_200_random_networks_survive_both_ways(part: int, tmp_path: Path) -> None:
    for seed in range(1 + 25 * part, 26 + 25 * part):
        survives(seed, tmp_path / str(seed))
