"""Where new layers go on the canvas. Pure functions of a layout."""

from collections.abc import Collection

from designer.canvas import geometry
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Layout, Position
from engine.network.network import Connection, Network

GRID = 8.0
ROW = 60.0
COLUMN = 208.0
_GAP = 8.0
_NUDGE = 32.0


def snapped(at: Position) -> Position:
    """The nearest place on the grid that moving and dropping use."""
    return round(at[0] / GRID) * GRID, round(at[1] / GRID) * GRID


def around(middle: Position) -> Position:
    """Where a layer goes whose middle is at a point."""
    return snapped((middle[0] - NODE_WIDTH / 2, middle[1] - NODE_HEIGHT / 2))


def with_port_at(at: Position, count: int, *, is_output: bool) -> Position:
    """Where a layer goes whose first of so many ports, on its upper or lower edge, is at a point."""
    return snapped((at[0] - geometry.port_offset(0, count), at[1] - (NODE_HEIGHT if is_output else 0.0)))


def free_place(layout: Layout, at: Position) -> Position:
    """The first place from `at` to the right where a layer covers no other."""
    x, y = at
    row = sorted(px for px, py in layout.positions.values() if abs(py - y) < NODE_HEIGHT + _GAP)
    for taken in row:
        if taken - NODE_WIDTH - _GAP < x < taken + NODE_WIDTH + _GAP:
            x = taken + COLUMN
    return x, y


def beside(layout: Layout, placed: Collection[Position]) -> tuple[float, float]:
    """How far to shift pasted layers so that none hides one that is there."""
    taken = {snapped(at) for at in layout.positions.values()}
    shift = 0.0
    while any(snapped((x + shift, y + shift)) in taken for x, y in placed):
        shift += _NUDGE
    return shift, shift


def inserted(network: Network, layout: Layout, into: Connection, id: str, at: Position) -> Layout:
    """The layout with a layer put into a connection near a place; what follows moves down if there is no room."""
    source, target = layout.at(into.source.layer), layout.at(into.target.layer)
    x, y = snapped(at)
    near = [column for column in (source[0], target[0]) if abs(column - x) < NODE_WIDTH / 2]
    x = min(near, key=lambda column: abs(column - x), default=x)
    if y < source[1] + ROW and source[1] < target[1]:
        y = source[1] + ROW
    places = {id: (x, y)}
    lack = y + ROW - target[1]
    if lack > 0 and target[1] > source[1]:
        behind = _behind(network, into.target.layer)
        places |= {one: (layout.at(one)[0], layout.at(one)[1] + lack) for one in behind}
    return layout.moved(places)


def _behind(network: Network, start: str) -> set[str]:
    """A layer and all that it feeds, near and far."""
    found = {start}
    waiting = [start]
    while waiting:
        for connection in network.outgoing[waiting.pop()]:
            if connection.target.layer not in found:
                found.add(connection.target.layer)
                waiting.append(connection.target.layer)
    return found
