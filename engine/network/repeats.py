"""Connections that are better shown as a name at the input than as a line: a mask that every block of a network takes.

Decided by the shape of the network alone, so that a layer that is moved changes nothing here.
"""

from functools import lru_cache

from engine.network.network import Connection, Network

_LEAST = 4
_FAR = 3


@lru_cache(maxsize=8)
def repeated(network: Network) -> frozenset[Connection]:
    """What leaves a layer that is nowhere the main feed and has several takers far below.

    Such are masks, position indices, an embedding of the time: whatever takes them has another feed that comes on a
    longer way. Far is three layers on the longest way. A way around a block is none of these, as it begins with what
    the block is fed, nor is what an encoder hands to all of a decoder.
    """
    found: set[Connection] = set()
    depth: dict[str, int] | None = None
    for id, leaving in network.outgoing.items():
        if len(leaving) < _LEAST:
            continue
        depth = _depths(network) if depth is None else depth
        if id not in depth or not all(_is_aside(network, depth, one) for one in leaving):
            continue
        far = {one.target.layer for one in leaving if depth[one.target.layer] >= depth[id] + _FAR}
        if len(far) >= _LEAST:
            found.update(leaving)
    return frozenset(found)


def _is_aside(network: Network, depth: dict[str, int], connection: Connection) -> bool:
    """Whether something else that feeds the same layer comes on a longer way."""
    target, own = connection.target.layer, depth[connection.source.layer]
    return target in depth and any(depth[source.layer] > own for source in network.incoming[target].values())


def _depths(network: Network) -> dict[str, int]:
    """How many layers the longest way from an input has before each layer; none for those on a cycle."""
    depth: dict[str, int] = {}
    for id in network.order:
        feeds = network.incoming[id].values()
        depth[id] = max((depth[source.layer] + 1 for source in feeds), default=0)
    return depth
