"""What it costs to mind the lengths of padded sequences: a training step with and without, on one thread.

`python benchmarks/lengths.py` prints milliseconds, the best of eight, for 64 sequences of 50 to 100 steps.
"""

import time

import torch

from netwright.engine.layers.base import LayerType
from netwright.engine.lowering.module import build
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.catalog import layer_type
from netwright.engine.network.network import Network, Port

REPEATS = 8
SAMPLES, STEPS, CHANNELS = 64, 100, 16


def layer(key: str, **values: object) -> LayerType:
    """A layer of this type."""
    return layer_type(key)(**values)


def row(*types: LayerType) -> Network:
    """A sequence input and these layers, one behind the other, and a classifier."""
    start = layer("sequence_input", channels=CHANNELS, normalization="none")
    network, last = edits.add_layer(Network.empty(), start)
    for type in (*types, layer("fully_connected", outputs=10)):
        network, added = edits.add_layer(network, type)
        network = edits.connect(network, Port(last.id, "out"), Port(added.id, "in"))
        last = added
    return network


def convolutions() -> Network:
    """Two convolutions with batch normalisation."""
    conv = layer("conv1d", filters=64, kernel=(5,))
    types = [conv, layer("batch_norm"), layer("relu")]
    return row(*types, *types, layer("global_average_pool"))


def milliseconds(network: Network, *, lengths: bool) -> float:
    """The best time of forward and backward."""
    module = build(network, analyse(network), lengths=lengths)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(SAMPLES, STEPS, CHANNELS, generator=generator)
    steps = torch.randint(STEPS // 2, STEPS + 1, (SAMPLES,), generator=generator)
    best = float("inf")
    for _ in range(REPEATS):
        begun = time.perf_counter()
        torch.autograd.backward(module(*((x, steps) if lengths else (x,))).square().sum())
        best = min(best, time.perf_counter() - begun)
    return 1000 * best


def main() -> None:
    """Print a line a network."""
    torch.set_num_threads(1)
    attention = layer("fully_connected", outputs=64), layer("self_attention"), layer("layer_norm")
    networks = {
        "LSTM, last step": row(layer("lstm", hidden_units=64, output_mode="last")),
        "bidirectional LSTM, last": row(layer("bilstm", hidden_units=64, output_mode="last")),
        "convolutions, batch norm": convolutions(),
        "self-attention": row(*attention, *attention[1:], layer("global_average_pool")),
    }
    for name, network in networks.items():
        without, told = (milliseconds(network, lengths=lengths) for lengths in (False, True))
        print(f"{name:26} {without:7.1f} ms without lengths, {told:7.1f} ms with")


if __name__ == "__main__":
    main()
