"""Layers in line: new places for some layers, by an edge they share or with equal steps between them.

All layers are of one size on the canvas, so their corners decide. Places are on the grid of the canvas where the
others are.
"""

from collections.abc import Collection
from typing import Literal

from engine.network.arrange import GRID, arrange
from engine.network.layout import Layout, Position
from engine.network.network import Network

Edge = Literal["left", "centre", "right", "top", "middle", "bottom"]
Direction = Literal["horizontally", "vertically"]


def align(layout: Layout, ids: Collection[str], edge: Edge) -> dict[str, Position]:
    """Places at which the layers share an edge or a middle: that of the whole group."""
    places = {id: layout.at(id) for id in ids}
    axis = 0 if edge in ("left", "centre", "right") else 1
    values = [at[axis] for at in places.values()]
    low, high = min(values), max(values)
    middle = round((low + high) / 2 / GRID) * GRID
    value = {"left": low, "top": low, "right": high, "bottom": high}.get(edge, middle)
    return {id: (value, y) if axis == 0 else (x, value) for id, (x, y) in places.items()}


def distribute(layout: Layout, ids: Collection[str], direction: Direction) -> dict[str, Position]:
    """Places with equal steps from the first to the last layer, which stay; the order stays too."""
    axis = 0 if direction == "horizontally" else 1
    ordered = sorted(ids, key=lambda id: (layout.at(id)[axis], layout.at(id)[1 - axis]))
    first, last = layout.at(ordered[0])[axis], layout.at(ordered[-1])[axis]
    step = (last - first) / max(1, len(ordered) - 1)
    places: dict[str, Position] = {}
    for number, id in enumerate(ordered):
        x, y = layout.at(id)
        inner = 0 < number < len(ordered) - 1
        value = round((first + number * step) / GRID) * GRID if inner else (x, y)[axis]
        places[id] = (value, y) if axis == 0 else (x, value)
    return places


def arrange_part(network: Network, layout: Layout, ids: Collection[str]) -> dict[str, Position]:
    """Places for some layers as `arrange` gives them, around the middle that they had."""
    chosen = set(ids)
    inner = Network(
        {id: layer for id, layer in network.layers.items() if id in chosen},
        tuple(c for c in network.connections if c.source.layer in chosen and c.target.layer in chosen),
    )
    arranged = arrange(inner, layout)
    if not chosen:
        return {}
    was, now = _middle(layout, chosen), _middle(arranged, chosen)
    dx, dy = (round((a - b) / GRID) * GRID for a, b in zip(was, now, strict=True))
    return {id: (x + dx, y + dy) for id, (x, y) in arranged.positions.items()}


def _middle(layout: Layout, ids: Collection[str]) -> Position:
    """The middle of the box around the corners of the layers."""
    xs, ys = zip(*(layout.at(id) for id in ids), strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
