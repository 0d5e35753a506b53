"""What stands at the end of a network. Standard library only: the check and the builder both ask."""

from engine.layers.block import Block, BlockOutput
from engine.network.analysis import copy_path
from engine.network.network import Network, Port


def output_softmaxes(network: Network) -> frozenset[str]:
    """Id paths of the softmax layers whose result is an output of the network, those at the end of a block included.

    Training with cross-entropy leaves them out, because the loss holds a softmax of its own; exports keep them.
    """
    ends = (_softmax_at(network, port) for port in network.output_ports)
    return frozenset(end for end in ends if end)


def _softmax_at(network: Network, port: Port) -> str:
    """The id path of the softmax whose result leaves here, or nothing."""
    port = _acting_end(network, port)
    type = network.layers[port.layer].acting
    if not isinstance(type, Block):
        return port.layer if type.key == "softmax" else ""
    if not type.gives_what_leaves:
        return ""
    out = next(id for id in type.ids(BlockOutput) if type.network.layers[id].name == port.name)
    source = type.network.incoming[out].get("in")
    if source is None or len(_uses(type.network, source)) != 1:
        return ""
    found = _softmax_at(type.network, source)
    return f"{copy_path(port.layer, type.repeat - 1, type.repeat)}/{found}" if found else ""


def _uses(network: Network, port: Port) -> list[Port]:
    return [c.target for c in network.outgoing[port.layer] if c.source == port]


def _acting_end(network: Network, port: Port) -> Port:
    """The port whose result leaves at an output: that port, or what feeds it past bypassed layers alone."""
    while network.layers[port.layer].bypassed and network.incoming[port.layer]:
        (source,) = network.incoming[port.layer].values()
        if len(network.outgoing[source.layer]) != 1:
            break
        port = source
    return port
