"""The difference of two networks: what a view has to draw anew. Unchanged layers are the same objects in both."""

from dataclasses import dataclass

from engine.network.layout import Layout
from engine.network.network import Connection, Network


@dataclass(frozen=True)
class Difference:
    """Ids of layers and connections that came, went, or (layers only) are no longer what they were."""

    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    connected: tuple[Connection, ...] = ()
    disconnected: tuple[Connection, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.connected or self.disconnected)


def difference(before: Network, after: Network) -> Difference:
    """What turns one network into the other."""
    if before is after:
        return Difference()
    old, new = before.layers, after.layers
    changed = frozenset(id for id, layer in new.items() if id in old and layer is not old[id] and layer != old[id])
    connected: tuple[Connection, ...] = ()
    disconnected: tuple[Connection, ...] = ()
    if before.connections is not after.connections:
        there, here = set(before.connections), set(after.connections)
        connected = tuple(c for c in after.connections if c not in there)
        disconnected = tuple(c for c in before.connections if c not in here)
    return Difference(
        frozenset(new.keys() - old.keys()), frozenset(old.keys() - new.keys()), changed, connected, disconnected
    )


def moved(before: Layout, after: Layout) -> frozenset[str]:
    """Ids of the layers that stand elsewhere now; one that nobody placed stands at the origin."""
    if before.positions is after.positions:
        return frozenset()
    ids = after.positions.keys() | before.positions.keys()
    return frozenset(id for id in ids if before.at(id) != after.at(id))
