"""Blocks for tests: in a row, around a skip, growing, with several inputs and outputs."""

import torch
from torch import nn

from netwright.engine.layers.base import LayerType
from netwright.engine.lowering.module import build
from netwright.engine.network import edits
from netwright.engine.network.analysis import analyse
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Layer, Network, Port
from tests.builders import add, layer

IMAGE = layer("image_input", channels=4, size=6, normalization="none")
FEATURES = layer("feature_input", channels=4, normalization="none")


def row(*types: LayerType, repeat: int = 1) -> Block:
    """A block with one input, these layers one behind the other, and one output."""
    network, last = add(Network.empty(), BlockInput(), name="x")
    for type in types:
        network, last = add(network, type, last)
    network, _ = add(network, BlockOutput(), last, name="y")
    return Block(network, repeat=repeat)


def conv(filters: int, **values: object) -> LayerType:
    """A convolution that keeps the size of the image."""
    return layer("conv2d", filters=filters, kernel=3, padding="same", **values)


def residual(filters: int = 4, repeat: int = 1) -> Block:
    """A convolution with a way around it."""
    network, start = add(Network.empty(), BlockInput(), name="x")
    network, main = add(network, conv(filters), start, name="conv")
    network, bn = add(network, layer("batch_norm"), main, name="bn")
    network, total = add(network, layer("addition"), start, bn, name="add")
    network, _ = add(network, BlockOutput(), total, name="y")
    return Block(network, repeat=repeat)


def dense(growth: int = 2, repeat: int = 3) -> Block:
    """Adds channels in each copy: the copies differ in width."""
    network, start = add(Network.empty(), BlockInput(), name="x")
    network, main = add(network, conv(growth), start, name="conv")
    network, joined = add(network, layer("concatenation"), start, main, name="join")
    network, _ = add(network, BlockOutput(), joined, name="y")
    return Block(network, repeat=repeat)


def masked(width: int = 4, repeat: int = 1) -> Block:
    """Two inputs and one output: the second input enters every copy."""
    network, x = add(Network.empty(), BlockInput(), name="x")
    network, mask = add(network, BlockInput(), name="mask")
    network, fc = add(network, layer("fully_connected", outputs=width), x, name="fc")
    network, kept = add(network, layer("multiplication"), fc, mask, name="times")
    network, _ = add(network, BlockOutput(), kept, name="y")
    return Block(network, repeat=repeat)


def crossed(repeat: int = 1) -> Block:
    """Two inputs and two outputs, which change places."""
    network, a = add(Network.empty(), BlockInput(), name="a")
    network, b = add(network, BlockInput(), name="b")
    network, fc = add(network, layer("fully_connected", outputs=4), a, name="fc")
    network, relu = add(network, layer("relu"), b, name="relu")
    network, _ = add(network, BlockOutput(), relu, name="first")
    network, _ = add(network, BlockOutput(), fc, name="second")
    return Block(network, repeat=repeat)


def behind(start: LayerType, *types: LayerType, names: tuple[str, ...] = ()) -> Network:
    """Layers and blocks behind an input; the input feeds every port of a block with several, which gives its first."""
    network, last = add(Network.empty(), start)
    for number, type in enumerate(types):
        name = names[number] if number < len(names) else ""
        network, last = add(network, type, *[last] * len(type.input_ports()), name=name)
    return network


def connected(network: Network, source: Layer, port: str, target: Layer, to: str = "in") -> Network:
    """The network with a connection between named ports."""
    return edits.connect(network, Port(source.id, port), Port(target.id, to))


def module_of(network: Network) -> nn.Module:
    """The built module, with weights that are the same for the same order of parameters."""
    module = build(network, analyse(network)).eval()
    numbers = torch.Generator().manual_seed(0)
    for value in module.state_dict().values():
        if value.is_floating_point():
            value.copy_(torch.rand(value.shape, generator=numbers) * 0.4 + 0.1)
    return module


def results(module: nn.Module, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What the module gives, as a tuple."""
    with torch.no_grad():
        found = module(*tensors)
    return found if isinstance(found, tuple) else (found,)


def block_of(network: Network, id: str) -> Block:
    """The block with this id."""
    type = network.layers[id].type
    assert isinstance(type, Block)
    return type


def links(network: Network) -> set[tuple[str, str, str, str]]:
    """The connections by the names of layers and ports."""
    names = {id: one.name for id, one in network.layers.items()}
    return {(names[c.source.layer], c.source.name, names[c.target.layer], c.target.name) for c in network.connections}
