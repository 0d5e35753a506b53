"""The neighbours that arrow keys lead to: along connections, and sideways. No Qt in here."""

from collections.abc import Iterable, Sequence
from typing import Literal

from netwright.engine.network.layout import Flow, Layout, Position
from netwright.engine.network.network import Network

Direction = Literal["left", "right", "up", "down"]
_STEPS: dict[Direction, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
ENDS: dict[Flow, tuple[Direction, Direction]] = {"down": ("up", "down"), "right": ("left", "right")}
"""The directions against the flow of the network and with it."""
_ASIDE = 2.0
"""Weight of the distance across the direction, against the distance along it."""
_LEVEL = 30.0


def step(network: Network, layout: Layout, id: str, direction: Direction, trail: Sequence[str] = ()) -> str | None:
    """The layer that an arrow key leads to, or None.

    With the flow of the network and against it keys follow connections: of several the one to a layer on the trail,
    that is where the keys came from, else the straightest. Sideways they lead to layers beside this one, first to those
    that share an input or a target with it.
    """
    against, along = ENDS[layout.flow]
    if direction in (against, along):
        near = _fed_by(network, id) if direction == along else _feeds_of(network, id)
        visited = next((other for other in reversed(trail) if other in near), None)
        if visited is not None:
            return visited
        axis = 0 if direction in ("up", "down") else 1
        here = layout.at(id)[axis]
        return min(near, key=lambda member: abs(layout.at(member)[axis] - here), default=None)
    beside = {member for feed in _feeds_of(network, id) for member in _fed_by(network, feed)}
    beside |= {member for target in _fed_by(network, id) for member in _feeds_of(network, target)}
    return towards(layout, id, direction, beside - {id}) or towards(
        layout, id, direction, _level(layout, id, direction)
    )


def towards(layout: Layout, id: str, direction: Direction, others: Iterable[str]) -> str | None:
    """The nearest of some layers that lies in a direction."""
    return nearest(layout, layout.at(id), direction, (other for other in others if other != id))


def nearest(layout: Layout, start: Position, direction: Direction, others: Iterable[str]) -> str | None:
    """The nearest of some layers that lies in a direction from a place."""
    dx, dy = _STEPS[direction]
    best: tuple[float, str] | None = None
    for other in others:
        x, y = layout.at(other)
        ahead = (x - start[0]) * dx + (y - start[1]) * dy
        if ahead > 0:
            aside = abs((x - start[0]) * dy) + abs((y - start[1]) * dx)
            best = min(best or (float("inf"), other), (ahead + _ASIDE * aside, other))
    return best[1] if best else None


def _level(layout: Layout, id: str, direction: Direction) -> Iterable[str]:
    axis = 1 if direction in ("left", "right") else 0
    here = layout.at(id)[axis]
    return (other for other, at in layout.positions.items() if abs(at[axis] - here) < _LEVEL)


def _fed_by(network: Network, id: str) -> dict[str, None]:
    return dict.fromkeys(connection.target.layer for connection in network.outgoing[id])


def _feeds_of(network: Network, id: str) -> dict[str, None]:
    return dict.fromkeys(source.layer for source in network.incoming[id].values())
