"""Networks with a cache: the outputs of new steps are those of the whole sequence; others have none."""

import numpy as np
import pytest
import torch
from torch import fx

from netwright.engine.layers.base import LayerType
from netwright.engine.lowering.cached_steps import cached
from netwright.engine.lowering.module import build
from netwright.engine.network.analysis import analyse
from netwright.engine.network.network import Network
from tests.builders import add, chain, layer

VOCABULARY, CHANNELS, MOST = 11, 8, 12
CAUSAL = {"heads": 2, "mask": "causal"}


def built(network: Network) -> fx.GraphModule:
    torch.manual_seed(0)
    module = build(network, analyse(network)).double().eval()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module


def network_with(*layers: LayerType) -> Network:
    tokens = layer("sequence_input", content="indices")
    table = layer("embedding", vocabulary=VOCABULARY, dimension=CHANNELS)
    return chain(tokens, table, *layers, layer("fully_connected", outputs=VOCABULARY), layer("softmax"))


KNOWN = {
    "self-attention": [layer("position_embedding", positions=MOST), layer("self_attention", **CAUSAL)],
    "two of them": [
        layer("sinusoidal_position"),
        layer("self_attention", **CAUSAL),
        layer("rms_norm"),
        layer("swish"),
        layer("self_attention", **CAUSAL),
    ],
    "encoder layers": [
        layer("transformer_encoder_layer", **CAUSAL),
        layer("transformer_encoder_layer", norm="before", **CAUSAL),
    ],
    "grouped, rotary": [layer("grouped_attention", **{**CAUSAL, "heads": 4, "groups": 2, "positions": "rotary"})],
    "no attention": [layer("layer_norm"), layer("gelu")],
}
UNKNOWN = {
    "attention to all steps": [layer("self_attention", heads=2)],
    "encoder layer that sees all steps": [layer("transformer_encoder_layer", heads=2)],
    "recurrent": [layer("lstm", hidden_units=CHANNELS)],
    "convolution": [layer("conv1d", filters=CHANNELS, kernel=3)],
    "scores that grow with the distance": [
        layer("grouped_attention", **{**CAUSAL, "heads": 4, "groups": 2, "positions": "linear"})
    ],
}


@pytest.mark.parametrize("layers", KNOWN.values(), ids=KNOWN)
@pytest.mark.parametrize("parts", [(1,) * 9, (4, 1, 1, 3), (9,)], ids=str)
def test_outputs_of_new_steps_are_those_of_the_whole_sequence(layers: list[LayerType], parts: tuple[int, ...]) -> None:
    module = built(network_with(*layers))
    tokens = np.random.default_rng(1).integers(VOCABULARY, size=(2, sum(parts)))
    with torch.no_grad():
        whole = module(torch.from_numpy(tokens)).numpy()
    network = cached(module, MOST)
    assert network is not None
    for _ in range(2):  # and once more after it was made to forget
        ends = np.cumsum(parts)
        outputs = [network.outputs(tokens[:, end - part : end]) for part, end in zip(parts, ends, strict=True)]
        np.testing.assert_allclose(np.concatenate(outputs, 1), whole, atol=1e-12)
        network.forget()


@pytest.mark.parametrize("layers", UNKNOWN.values(), ids=UNKNOWN)
def test_networks_that_look_elsewhere_have_no_cache(layers: list[LayerType]) -> None:
    assert cached(built(network_with(*layers)), MOST) is None


def test_residual_connections_and_blocks_have_one() -> None:
    network, tokens = add(Network.empty(), layer("sequence_input", content="indices"))
    network, table = add(network, layer("embedding", vocabulary=VOCABULARY, dimension=CHANNELS), tokens)
    network, attention = add(network, layer("self_attention", **CAUSAL), table)
    network, both = add(network, layer("addition"), table, attention)
    network, _ = add(network, layer("fully_connected", outputs=VOCABULARY), both)
    assert cached(built(network), MOST) is not None


def test_the_network_itself_stays_as_it_was() -> None:
    module = built(network_with(*KNOWN["encoder layers"]))
    tokens = torch.tensor([[1, 2, 3]])
    before = module(tokens)
    network = cached(module, MOST)
    assert network is not None
    network.outputs(tokens.numpy())
    assert torch.equal(module(tokens), before)
