"""Which input of the data feeds which input layer. Standard library only."""

from engine.data.facts import DataFacts, InputFacts
from engine.network.network import Network


def match_inputs(network: Network, facts: DataFacts) -> dict[str, InputFacts]:
    """Which input of the data feeds which input layer, by the layer's id: by name where all names agree, else in order.

    Shorter than the network's inputs where the data has fewer.
    """
    layers = network.inputs
    by_name = {i.name: i for i in facts.inputs}
    if {layer.name for layer in layers} == set(by_name):
        return {layer.id: by_name[layer.name] for layer in layers}
    return {layer.id: given for layer, given in zip(layers, facts.inputs, strict=False)}
