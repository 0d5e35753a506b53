"""What of a network learns, and what training leaves as it is."""

from engine.layers.base import LayerType
from engine.layers.block import Block
from engine.network.analysis import Analysis
from engine.network.network import Network


def type_at(network: Network, path: str) -> LayerType:
    """The type of the layer at a path of ids, as `Analysis.all_facts` has them: `conv`, `stage/conv`, and in the copies
    of a repeated block `stage/2/conv`."""
    id, _, rest = path.partition("/")
    type = network.layers[id].type
    if not rest:
        return type
    assert isinstance(type, Block)
    return type_at(type.network, rest.partition("/")[2] if type.repeat > 1 else rest)


def is_frozen(type: LayerType) -> bool:
    """Whether training leaves the weights of a layer as they are."""
    return bool(getattr(type, "frozen", False))


def frozen_parameters(network: Network, analysis: Analysis) -> int:
    """Learnable numbers that training leaves as they are."""
    with_weights = ((path, facts.parameters) for path, facts in analysis.all_facts() if facts.parameters)
    return sum(count for path, count in with_weights if is_frozen(type_at(network, path)))
