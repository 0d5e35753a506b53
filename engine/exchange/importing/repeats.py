"""Make one repeated block of equal blocks that follow each other, as in the stages of a residual network."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from netwright.engine.layers.transformers import TransformerEncoderLayer
from netwright.engine.network.analysis import copy_path
from netwright.engine.network.block import Block, BlockInput, BlockOutput
from netwright.engine.network.network import Connection, Layer, Network, Port

IN, OUT = "input_1", "output_1"
Paths = dict[str, str]
"""New id path of each layer, by the old one, in the order of the layers."""


def repeated(network: Network) -> tuple[Network, Paths]:
    """Return the network with repeated blocks, at any depth, and the new id path of each layer by its old one.

    A repeated block keeps the ids of its last copy, so that ports which leave the network stay the same.
    """
    layers: dict[str, Layer] = {}
    inner: dict[str, Paths] = {}
    for id, layer in network.layers.items():
        layers[id], inner[id] = _inside(layer)
    network = Network(layers, network.connections)
    paths: Paths = {}
    runs = {id: run for run in _runs(network) for id in run}
    for id in network.layers:
        run = runs.get(id, [id])
        for old, new in zip(inner[id], inner[run[-1]].values(), strict=True):
            paths[old] = new if len(run) == 1 else _within(new, run, run.index(id), network)
    for equal in {run[0]: run for run in runs.values()}.values():
        network = _merged(network, equal)
    return network, paths


def _inside(layer: Layer) -> tuple[Layer, Paths]:
    """Return a layer with repeated blocks inside of it."""
    if not isinstance(layer.type, Block):
        return layer, {layer.id: layer.id}
    network, paths = repeated(layer.type.network)
    block = layer.type.with_network(network)
    ends = (*block.ids(BlockInput), *block.ids(BlockOutput))
    others = [id for id in network.layers if id not in ends]
    moved = {f"{layer.id}/{old}": f"{layer.id}/{new}" for old, new in paths.items()}
    if len(others) == 1 and block.repeat == 1 and _is_only_around(network, others[0]):
        moved = {old: new.replace(f"/{others[0]}/", "/", 1) for old, new in moved.items()}
        for old in [old for old in moved if old.removeprefix(f"{layer.id}/") in ends]:
            del moved[old]
        return replace(layer, type=network.layers[others[0]].type), moved
    return replace(layer, type=block), moved


def _is_only_around(network: Network, id: str) -> bool:
    """Return whether a network is nothing but a block of its own with the same ports in the same order."""
    block = network.layers[id].type
    if not isinstance(block, Block):
        return False
    ins = [port_id for port_id, layer in network.layers.items() if isinstance(layer.type, BlockInput)]
    outs = [port_id for port_id, layer in network.layers.items() if isinstance(layer.type, BlockOutput)]
    entries = [
        Connection(Port(port_id, "out"), Port(id, port))
        for port_id, port in zip(ins, block.input_ports(), strict=False)
    ]
    exits = [
        Connection(Port(id, port), Port(port_id, "in"))
        for port_id, port in zip(outs, block.output_ports(), strict=False)
    ]
    ports = (len(block.input_ports()), len(block.output_ports()))
    names = [network.layers[port_id].name for port_id in (*ins, *outs)]
    same = names == [*block.input_ports(), *block.output_ports()]
    return same and ports == (len(ins), len(outs)) and set(network.connections) == {*entries, *exits}


def _runs(network: Network) -> list[list[str]]:
    """Return the ids of equal layers, each of which feeds the next one alone."""
    forms: dict[str, Any] = {
        id: _form(layer)
        for id, layer in network.layers.items()
        if (isinstance(layer.type, TransformerEncoderLayer) or type(layer.type) is Block)
        and len(network.sharing(id)) == 1
    }
    runs: list[list[str]] = []
    for id in network.layers:
        if id not in forms:
            continue
        run = next((run for run in runs if _follows(network, forms, run[-1], id)), None)
        if run is None:
            runs.append([id])
        else:
            run.append(id)
    return [run for run in runs if len(run) > 1]


def _follows(network: Network, forms: Mapping[str, Any], before: str, id: str) -> bool:
    """Return whether a layer is equal to another one, takes all it gives, and the rest from the same ports."""
    ins, outs = network.layers[id].type.input_ports(), network.layers[before].type.output_ports()
    sources, others = network.incoming[id], network.incoming[before]
    if forms[id] != forms[before] or len(outs) > len(ins):
        return False
    is_fed = all(sources.get(port) == Port(before, out) for port, out in zip(ins, outs, strict=False))
    rest = ins[len(outs) :]
    is_same = all(sources.get(port) is not None and sources[port] == others.get(port) for port in rest)
    users = [line.target.layer for line in network.connections if line.source.layer == before]
    return is_fed and is_same and set(users) == {id}


def _form(layer: Layer) -> Any:
    """Return the type of a layer, for a block also its contents, without ids and names: equal for equal layers."""
    if not isinstance(layer.type, Block):
        return layer.type
    inner = layer.type.network
    number = {id: place for place, id in enumerate(inner.layers)}
    ports = [(number[line.source.layer], number[line.target.layer], line) for line in inner.connections]
    lines = tuple(
        (source, _port(inner, line.source, is_source=True), target, _port(inner, line.target, is_source=False))
        for source, target, line in ports
    )
    shared = tuple(number.get(each.weights_of, -1) for each in inner.layers.values())
    return layer.type.repeat, tuple(map(_form, inner.layers.values())), tuple(sorted(lines)), shared


def _port(network: Network, port: Port, *, is_source: bool) -> int:
    """Return the place of a port among those of its layer."""
    type = network.layers[port.layer].type
    return (type.output_ports() if is_source else type.input_ports()).index(port.name)


def _within(path: str, run: Sequence[str], number: int, network: Network) -> str:
    """Return the path of a layer in the last of several equal ones, as that of a copy of it."""
    last = run[-1]
    copy = copy_path(last, number, len(run))
    if isinstance(network.layers[last].type, Block):
        return copy + path.removeprefix(last)
    return f"r{copy}/{last}"


def _merged(network: Network, run: Sequence[str]) -> Network:
    """Return the network with one repeated block in the place of equal layers."""
    first, last = network.layers[run[0]], network.layers[run[-1]]
    layer = last if isinstance(last.type, Block) else _around(last)
    block = layer.type
    assert isinstance(block, Block)
    stem = re.sub(r"_\d+$", "", first.name)
    half = stem[: len(stem) // 2]
    stem = half if stem == f"{half}_{half}" else stem
    other_names = {other.name for id, other in network.layers.items() if id not in run}
    name = stem if stem not in other_names else first.name
    new = Layer(layer.id, name, block.replace(repeat=len(run)))
    ins = dict(zip(first.type.input_ports(), block.input_ports(), strict=True))
    outs = dict(zip(last.type.output_ports(), block.output_ports(), strict=True))
    connections = []
    for line in network.connections:
        source, target = line.source, line.target
        if target.layer in run and (target.layer != run[0] or source.layer in run):
            continue
        if target.layer == run[0]:
            target = Port(new.id, ins[target.name])
        if source.layer == run[-1]:
            source = Port(new.id, outs[source.name])
        connections.append(Connection(source, target))
    layers = {}
    for id, old in network.layers.items():
        if id == run[0]:
            layers[new.id] = new
        elif id not in run:
            layers[id] = old
    return Network(layers, tuple(connections))


def _around(layer: Layer) -> Layer:
    """Return a block that holds one layer of one input and one output."""
    (input_port,), (output_port,) = layer.type.input_ports(), layer.type.output_ports()
    layers = {
        IN: Layer(IN, IN, BlockInput()),
        layer.id: Layer(layer.id, layer.type.key, layer.type),
        OUT: Layer(OUT, OUT, BlockOutput()),
    }
    lines = (
        Connection(Port(IN, "out"), Port(layer.id, input_port)),
        Connection(Port(layer.id, output_port), Port(OUT, "in")),
    )
    return Layer(f"r{layer.id}", layer.name, Block(Network(layers, lines)))
