"""Positions of layers on the canvas, frames and comments, and the difference of two networks or layouts.

A value beside the network, so that moving a layer or writing a comment invalidates no analysis.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from netwright.engine.network.network import Connection, Network

Position = tuple[float, float]
BoxSize = tuple[float, float]
Tone = Literal["grey", "blue", "green", "yellow", "orange", "red", "violet"]

Flow = Literal["down", "right"]
"""Direction in which a network flows from its inputs; ports are on the edges of a layer across it."""
FLOWS: tuple[Flow, ...] = ("down", "right")
Heading = Literal["down", "right", "up"]
"""Direction in which a layer is passed: that of the network, or up, as in the right arm of a U."""

TONES: tuple[Tone, ...] = ("grey", "blue", "green", "yellow", "orange", "red", "violet")
TITLE_LIMIT = 200
TEXT_LIMIT = 10_000
COUNT_LIMIT = 2_000
"""Largest number of frames, and of comments, of a network."""

NODE_WIDTH = 176.0
NODE_HEIGHT = 42.0


@dataclass(frozen=True)
class Frame:
    """A coloured rectangle with a title behind layers that belong together; the layers in it move with it."""

    id: str
    at: Position
    size: BoxSize
    title: str = ""
    tone: Tone = "grey"
    unknown: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Keys that a newer version wrote."""


@dataclass(frozen=True)
class Comment:
    """A text on the canvas."""

    id: str
    at: Position
    size: BoxSize
    text: str = ""
    tone: Tone = "yellow"
    unknown: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Layout:
    """Positions of layers by id (top left corner, in canvas units), frames and comments from back to front, and the
    layouts inside blocks by the block's id."""

    positions: Mapping[str, Position] = field(default_factory=dict)
    frames: tuple[Frame, ...] = ()
    comments: tuple[Comment, ...] = ()
    inside: Mapping[str, "Layout"] = field(default_factory=dict)
    flow: Flow = "down"

    def __hash__(self) -> int:
        return id(self)

    def moved(self, positions: Mapping[str, Position]) -> "Layout":
        """Return the layout with some layers at other positions."""
        return replace(self, positions={**self.positions, **positions})

    def without(self, ids: Iterable[str]) -> "Layout":
        """Return the layout without these layers."""
        removed = set(ids)
        positions = {id: at for id, at in self.positions.items() if id not in removed}
        return replace(self, positions=positions, inside={id: v for id, v in self.inside.items() if id not in removed})

    def part(self, ids: Iterable[str]) -> "Layout":
        """Return the positions of these layers, with the layouts inside them, without frames and comments."""
        selection = set(ids)
        places = {id: at for id, at in self.positions.items() if id in selection}
        inside = {id: layout for id, layout in self.inside.items() if id in selection}
        return Layout(places, inside=inside, flow=self.flow)

    def at(self, id: str) -> Position:
        """Return the position of a layer; the origin if none is stored."""
        return self.positions.get(id, (0.0, 0.0))

    def within(self, path: Sequence[str]) -> "Layout":
        """Return the layout inside the block at the end of a path of ids; this layout for an empty path."""
        layout = self
        for id in path:
            layout = layout.inside.get(id, _EMPTY)
        return layout

    def with_inside(self, path: Sequence[str], layout: "Layout") -> "Layout":
        """Return the layout with another one inside the block at the end of a path of ids."""
        if not path:
            return layout
        id, *rest = path
        return replace(self, inside={**self.inside, id: self.within([id]).with_inside(rest, layout)})

    def written(self, id: str) -> list[Any]:
        """Return the position as the project file holds it: integers where the coordinates are whole."""
        return numbers(self.at(id))


_EMPTY = Layout()


def numbers(values: Iterable[float]) -> list[Any]:
    """Return numbers as the project file holds them: without decimals where whole, else with at most two."""
    return [int(v) if float(v).is_integer() else round(v, 2) for v in values]


@dataclass(frozen=True)
class Difference:
    """Ids of added and removed layers and connections, and of changed layers."""

    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    connected: tuple[Connection, ...] = ()
    disconnected: tuple[Connection, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.connected or self.disconnected)


def difference(before: Network, after: Network) -> Difference:
    """Return the difference between two networks."""
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
    """Return the ids of the layers whose positions differ; a layer without a stored position is at the origin."""
    if before.positions is after.positions:
        return frozenset()
    ids = after.positions.keys() | before.positions.keys()
    return frozenset(id for id in ids if before.at(id) != after.at(id))
