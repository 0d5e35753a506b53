"""From layer to layer by the arrow keys: along connections, and sideways among neighbours. No Qt in here."""

from collections.abc import Iterable, Sequence
from typing import Literal

from engine.network.layout import Flow, Layout, Position
from engine.network.network import Network

Way = Literal["left", "right", "up", "down"]
_STEPS: dict[Way, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
ENDS: dict[Flow, tuple[Way, Way]] = {"down": ("up", "down"), "right": ("left", "right")}
"""The keys against the flow of the network and with it."""
_ASIDE = 2.0
"""How much further a layer seems that is not straight in the direction of the key."""
_LEVEL = 30.0


def step(network: Network, layout: Layout, id: str, way: Way, trail: Sequence[str] = ()) -> str | None:
    """The layer that an arrow key leads to, if there is one.

    With the flow of the network and against it the way is along connections: of several the one on the trail, that is
    where one came from, else the straightest. Sideways it leads to layers beside this one, first to those that share
    what feeds them or what they feed.
    """
    against, along = ENDS[layout.flow]
    if way in (against, along):
        near = _fed_by(network, id) if way == along else _feeds_of(network, id)
        known = [one for one in reversed(trail) if one in near]
        if known:
            return known[0]
        axis = 0 if way in ("up", "down") else 1
        here = layout.at(id)[axis]
        return min(near, key=lambda one: abs(layout.at(one)[axis] - here), default=None)
    beside = {one for feed in _feeds_of(network, id) for one in _fed_by(network, feed)}
    beside |= {one for target in _fed_by(network, id) for one in _feeds_of(network, target)}
    found = towards(layout, id, way, beside - {id})
    return found or towards(layout, id, way, _level(layout, id, way))


def towards(layout: Layout, id: str, way: Way, others: Iterable[str]) -> str | None:
    """The nearest of some layers that lies in a direction."""
    return nearest(layout, layout.at(id), way, (one for one in others if one != id))


def nearest(layout: Layout, start: Position, way: Way, others: Iterable[str]) -> str | None:
    """The nearest of some layers that lies in a direction from a place."""
    dx, dy = _STEPS[way]
    best: tuple[float, str] | None = None
    for one in others:
        x, y = layout.at(one)
        ahead = (x - start[0]) * dx + (y - start[1]) * dy
        if ahead > 0:
            aside = abs((x - start[0]) * dy) + abs((y - start[1]) * dx)
            best = min(best or (float("inf"), one), (ahead + _ASIDE * aside, one))
    return best[1] if best else None


def _level(layout: Layout, id: str, way: Way) -> Iterable[str]:
    axis = 1 if way in ("left", "right") else 0
    here = layout.at(id)[axis]
    return (one for one, at in layout.positions.items() if abs(at[axis] - here) < _LEVEL)


def _fed_by(network: Network, id: str) -> dict[str, None]:
    return dict.fromkeys(connection.target.layer for connection in network.outgoing[id])


def _feeds_of(network: Network, id: str) -> dict[str, None]:
    return dict.fromkeys(source.layer for source in network.incoming[id].values())
