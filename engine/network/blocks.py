"""Blocks: the way into them, and changing what is inside. Pure functions."""

from collections.abc import Sequence
from dataclasses import replace

from engine.errors import UserError, did_you_mean
from engine.fields import quoted
from engine.layers.block import Block, BlockInput, BlockOutput
from engine.network.analysis import Analysis
from engine.network.network import Connection, Network, Port, bypass_refusal

Path = Sequence[str]
"""Ids of the blocks that stand in each other, from the outside in; empty for the network itself."""


def network_in(network: Network, path: Path) -> Network:
    """The network inside the block at the end of the path. Raises `UserError` if there is none."""
    for id in path:
        layer = network.layers.get(id)
        if layer is None or not isinstance(layer.type, Block):
            raise UserError("The block is not in the network any more.")
        network = layer.type.network
    return network


def known_path(network: Network, path: Path) -> tuple[str, ...]:
    """As much of the path as still leads into blocks."""
    known: list[str] = []
    for id in path:
        layer = network.layers.get(id)
        if layer is None or not isinstance(layer.type, Block):
            break
        network = layer.type.network
        known.append(id)
    return tuple(known)


def path_of(network: Network, names: str) -> tuple[str, ...]:
    """The path of a block that is told by names, `stage/block`. Raises `UserError` if there is none."""
    path: list[str] = []
    for name in names.split("/") if names else ():
        blocks = {layer.name: layer for layer in network.layers.values() if isinstance(layer.type, Block)}
        if name not in blocks:
            raise UserError(f"There is no block {quoted(name)} in {_where(names, path)}.{did_you_mean(name, blocks)}")
        path.append(blocks[name].id)
        network = network_in(network, path[-1:])
    return tuple(path)


def _where(names: str, path: Path) -> str:
    around = "/".join(names.split("/")[: len(path)])
    return f"'{around}'" if around else "the network"


def names_of(network: Network, path: Path) -> tuple[str, ...]:
    """The names of the blocks on the path."""
    names = []
    for id in path:
        layer = network.layers[id]
        assert isinstance(layer.type, Block)
        names.append(layer.name)
        network = layer.type.network
    return tuple(names)


def analysis_in(analysis: Analysis, path: Path) -> Analysis:
    """The analysis of what is inside the block at the end of the path, in its first copy."""
    for id in path:
        if id not in analysis.inside:
            return Analysis({}, ())
        analysis = analysis.inside[id].copies[0]
    return analysis


def with_network_in(network: Network, path: Path, inner: Network) -> Network:
    """The network with another one inside a block. Connections follow ports that got another name, and go with those
    that are gone; a block that can no longer be bypassed works again. Raises `UserError` where the block would grow too
    large or too deep."""
    if not path:
        return inner
    id, *rest = path
    layer = network.layers[id]
    assert isinstance(layer.type, Block)
    changed = layer.type.with_network(with_network_in(layer.type.network, rest, inner))
    after = replace(layer, type=changed, bypassed=layer.bypassed and bypass_refusal(changed) is None)
    if layer.type.input_ports() == changed.input_ports() and layer.type.output_ports() == changed.output_ports():
        return network.with_layer(after)
    ins, outs = (_renamed_ports(layer.type, changed, kind) for kind in (BlockInput, BlockOutput))
    kept = []
    for connection in network.connections:
        source, target = connection.source, connection.target
        if source.layer == id:
            if source.name not in outs:
                continue
            source = Port(id, outs[source.name])
        if target.layer == id:
            if target.name not in ins:
                continue
            target = Port(id, ins[target.name])
        kept.append(Connection(source, target))
    return Network({**network.layers, id: after}, tuple(kept))


def _renamed_ports(before: Block, after: Block, kind: type[BlockInput] | type[BlockOutput]) -> dict[str, str]:
    """The new name of each port that is still there."""
    there = set(after.ids(kind))
    return {before.network.layers[id].name: after.network.layers[id].name for id in before.ids(kind) if id in there}
