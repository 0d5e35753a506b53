from functools import partial

import pytest
import torch
from torch import nn

from netwright.engine.layers.base import LayerType
from netwright.engine.layers.weighted import ParameterOptions
from netwright.engine.lowering.initialization import frozen_modules, initialize, parameter_options
from netwright.engine.lowering.module import build, prefixes
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse, type_at
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network
from netwright.engine.project.training import TrainingOptions
from netwright.engine.training.solvers import Solver
from tests.builders import add, chain, layer

IMAGE = layer("image_input", channels=4, size=8, normalization="none")
SEQUENCE = layer("sequence_input", channels=4, length=6, normalization="none")
VOLUME = layer("volume_input", channels=4, size=6, normalization="none")
PLAIN = ["conv1d", "transposed_conv2d", "grouped_conv2d", "fully_connected", "batch_norm", "layer_norm", "group_norm"]
PLAIN += ["instance_norm", "prelu", "lstm", "bilstm", "gru", "embedding", "position_embedding", "self_attention"]
WORDS = layer("sequence_input", content="indices", length=6)


def built(network: Network) -> tuple[nn.Module, dict[str, ParameterOptions], tuple[nn.Module, ...]]:
    """The module, what is said of its parameters, and what of it is frozen."""
    analysis = analyse(network)
    module, layers = build(network, analysis), prefixes(network, analysis)
    said = parameter_options(module, layers, partial(type_at, network))
    return module, said, frozen_modules(module, layers, partial(type_at, network))


def behind_an_input(type: LayerType) -> Network:
    for start in (IMAGE, SEQUENCE, VOLUME, WORDS):
        network = chain(start, type)
        if not analyse(network).has_errors:
            return network
    raise AssertionError(f"No common input fits {type.key}.")


def test_each_parameter_gets_what_its_layer_says() -> None:
    conv = layer("conv2d", padding="same", kernel=2, weight_learn_rate_factor=3)
    module, said, frozen = built(chain(IMAGE, conv, layer("batch_norm", frozen=True), layer("relu")))
    assert {name: options.learn_rate_factor for name, options in said.items()} == {
        "conv_1.weight": 3.0,
        "conv_1.bias": 1.0,
        "bn_1.weight": 1.0,
        "bn_1.bias": 1.0,
    }
    assert set(said) == {name for name, _ in module.named_parameters()}
    assert frozen == (module.get_submodule("bn_1"),)


@pytest.mark.parametrize("key", PLAIN)
def test_the_defaults_say_what_happens_anyway(key: str) -> None:
    """A bare module and a layer that says nothing special start alike and are regularised alike."""
    module, said, _ = built(behind_an_input(layer(key)))
    assert said
    initialize(module, 3)
    expected = {name: p.detach().clone() for name, p in module.named_parameters()}
    initialize(module, 3, said)
    for name, parameter in module.named_parameters():
        assert torch.equal(parameter, expected[name]), name
    options = TrainingOptions(l2_regularization=0.5)
    groups = [Solver(options, module, given)._optimizer.param_groups for given in (None, said)]
    decays = [{p: group["weight_decay"] for group in some for p in group["params"]} for some in groups]
    assert decays[0] == decays[1]


def test_a_bypassed_layer_has_nothing_to_say() -> None:
    network = chain(IMAGE, layer("conv2d"), layer("conv2d", frozen=True))
    module, said, frozen = built(edits.set_bypassed(network, ["id3"], True))
    assert set(said) == {name for name, _ in module.named_parameters()} == {"conv_1.weight", "conv_1.bias"}
    assert frozen == ()


def test_layers_in_copies_of_a_block_say_the_same_for_each() -> None:
    inner = chain(layer("block_input"), layer("conv2d", filters=4, frozen=True), layer("conv2d", weight_l2_factor=0))
    inner, _ = add(inner, layer("block_output"), inner.layers["id3"])
    module, said, frozen = built(chain(IMAGE, Block(inner, repeat=2)))
    assert set(said) == {name for name, _ in module.named_parameters()}
    assert len(frozen) == 2
    factors = {name: options.l2_factor for name, options in said.items() if name.endswith("weight")}
    assert sorted(factors.values()) == [0.0, 0.0, 1.0, 1.0]
