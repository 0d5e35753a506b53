"""What stands at the end of a network. Standard library only: the check and the builder both ask."""

from engine.network.network import Network


def output_softmaxes(network: Network) -> frozenset[str]:
    """Ids of the softmax layers whose result is an output of the network.

    Training with cross-entropy leaves them out, because the loss holds a softmax of its own; exports keep them.
    """
    ends = (_acting_end(network, port.layer) for port in network.output_ports)
    return frozenset(id for id in ends if network.layers[id].acting.key == "softmax")


def _acting_end(network: Network, id: str) -> str:
    """The layer whose result leaves at an output: the layer there, or what feeds it past bypassed ones alone."""
    while network.layers[id].bypassed and network.incoming[id]:
        (source,) = network.incoming[id].values()
        if len(network.outgoing[source.layer]) != 1:
            break
        id = source.layer
    return id
