"""The ends of an imported network: its outputs keep the order and the names of the file, and what is turned is said."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from netwright.engine.exchange.importing.assemble import Assembled
from netwright.engine.exchange.importing.values import BATCH, ONE, Tensor
from netwright.engine.network import edits
from netwright.engine.network.block import Block
from netwright.engine.network.network import Network, Port, name_refusal

WORDS = {BATCH: "samples", "T": "steps", "C": "channels", "D": "depth", "H": "height", "W": "width"}
Outputs = Sequence[tuple[str, Tensor]]
"""Name in the file and tensor of each output."""


def output_places(network: Network) -> dict[Port, int]:
    """Return for each port of a lifted layer that leaves the network its place among the outputs."""
    return {inner_port(network, port): place for place, port in enumerate(network.output_ports)}


def inner_port(network: Network, port: Port) -> Port:
    """Return the port of the layer that gives an output of a network, inside its blocks."""
    while isinstance(block := network.layers[port.layer].type, Block):
        network = block.network
        last = next(id for id, layer in network.layers.items() if layer.name == port.name)
        port = network.incoming[last]["in"]
    return port


def with_ends(assembled: Assembled, outputs: Outputs, labels: Mapping[str, str]) -> Assembled:
    """Return the network with its outputs in the order of the file where its layers allow that, and the layers that
    give them under the names `labels`."""
    network = _ordered(assembled.network, [tensor.port for _, tensor in outputs])
    places = output_places(network)
    for name, tensor in outputs:
        layer = network.layers[network.output_ports[places[tensor.port]].layer]
        label = labels.get(name, layer.name)
        if len(layer.type.output_ports()) == 1 and name_refusal(label, network.by_name) is None:
            network = edits.rename(network, layer.id, label)
    return replace(assembled, network=network)


def _ordered(network: Network, ports: Sequence[Port]) -> Network:
    """Return the network with its connections in another order, by which its outputs follow each other as
    `ports` do; as it is where they do not."""
    ranks = {port: rank for rank, port in enumerate(dict.fromkeys(ports))}
    if len(ranks) < 2 or _ranks(network, ranks) == sorted(ranks.values()):
        return network
    first: dict[str, int] = {}
    for port in network.output_ports:
        first[port.layer] = min(first.get(port.layer, len(ranks)), ranks.get(inner_port(network, port), len(ranks)))
    for id in reversed(network.order):
        behind = [first[line.target.layer] for line in network.outgoing[id]]
        first[id] = min([first.get(id, len(ranks)), *behind])
    lines = tuple(sorted(network.connections, key=lambda line: first[line.target.layer]))
    changed = Network(network.layers, lines)
    return changed if _ranks(changed, ranks) == sorted(ranks.values()) else network


def _ranks(network: Network, ranks: Mapping[Port, int]) -> list[int]:
    """Return the ranks of the outputs in their order."""
    return [ranks[port] for port in output_places(network) if port in ranks]


def notes_on_ends(network: Network, inputs: Outputs, outputs: Outputs, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield sentences on inputs and outputs that are not as in the file: turned, in another order, under other
    names."""
    for kind, ends in (("input", inputs), ("output", outputs)):
        for name, tensor in ends:
            theirs = [part for part in tensor.dims if part != ONE]
            ours = [BATCH, *(axis for axis in tensor.type.axes if axis in theirs)]
            if theirs != ours and sorted(theirs) == sorted(ours):
                yield f"The {kind} '{name}' is {_words(theirs)} in the file, and {_words(ours)} here."
    places = output_places(network)
    order = [places[tensor.port] for _, tensor in outputs]
    if order != sorted(order):
        names = [network.layers[port.layer].name for port in network.output_ports]
        yield f"The outputs stand in another order than in the file: {', '.join(names)}."
    for name, tensor in outputs:
        port = network.output_ports[places[tensor.port]]
        label, own = labels.get(name), network.layers[port.layer].name
        if label is not None and label != own:
            yield f"The output '{label}' is called '{own}' here."


def _words(dims: Sequence[str]) -> str:
    return " × ".join(WORDS.get(dim, dim) for dim in dims)
