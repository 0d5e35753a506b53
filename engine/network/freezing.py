"""What of a network learns, and what training leaves as it is."""

from collections.abc import Sequence

from engine.layers.base import LayerType
from engine.layers.block import Block
from engine.layers.weighted import Weighted
from engine.network.analysis import Analysis
from engine.network.network import Network


def type_at(network: Network, path: str) -> LayerType:
    """The type of the layer at a path of ids, as `Analysis.all_facts` has them: `conv`, `stage/conv`, and in the copies
    of a repeated block `stage/2/conv`. Inside a frozen block every layer that learns is frozen."""
    id, _, rest = path.partition("/")
    type = network.layers[id].type
    if not rest:
        return type
    assert isinstance(type, Block)
    inner = type_at(type.network, rest.partition("/")[2] if type.repeat > 1 else rest)
    return inner.replace(frozen=True) if type.frozen and isinstance(inner, Weighted) else inner


def is_frozen(type: LayerType) -> bool:
    """Whether training leaves the weights of a layer as they are."""
    return bool(getattr(type, "frozen", False))


def is_in_frozen(network: Network, path: Sequence[str]) -> bool:
    """Whether a block on the path (ids from the outside in) is frozen, so that nothing in the last one learns."""
    if not path:
        return False
    block = network.layers[path[0]].type
    assert isinstance(block, Block)
    return block.frozen or is_in_frozen(block.network, path[1:])


def frozen_parameters(network: Network, analysis: Analysis) -> int:
    """Learnable numbers that training leaves as they are."""
    with_weights = ((path, facts.parameters) for path, facts in analysis.all_facts() if facts.parameters)
    return sum(count for path, count in with_weights if is_frozen(type_at(network, path)))
