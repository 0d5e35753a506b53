"""What stands at the end of a network. Standard library only: the check and the builder both ask."""

from collections.abc import Mapping

from engine.layers.block import Block, BlockOutput
from engine.network.analysis import copy_path
from engine.network.network import Network, Port


def output_softmaxes(network: Network) -> frozenset[str]:
    """Id paths of the softmax layers whose result is an output of the network, those at the end of a block included.

    Training with cross-entropy leaves them out, because the loss holds a softmax of its own; exports keep them.
    """
    return folded(network, dict.fromkeys(network.output_ports, "softmax"))


def folded(network: Network, keys: Mapping[Port, str]) -> frozenset[str]:
    """Id paths of the layers of these types (a softmax, a sigmoid) whose result leaves at these outputs."""
    ends = (_layer_at(network, port, key) for port, key in keys.items())
    return frozenset(end for end in ends if end)


def _layer_at(network: Network, port: Port, key: str) -> str:
    """The id path of the layer of this type whose result leaves here, or nothing."""
    port = _acting_end(network, port)
    type = network.layers[port.layer].acting
    if not isinstance(type, Block):
        return port.layer if type.key == key else ""
    if not type.gives_what_leaves:
        return ""
    out = next(id for id in type.ids(BlockOutput) if type.network.layers[id].name == port.name)
    source = type.network.incoming[out].get("in")
    if source is None or len(_uses(type.network, source)) != 1:
        return ""
    found = _layer_at(type.network, source, key)
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
