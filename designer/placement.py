"""The placement of new layers on the canvas. Pure functions of a layout."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from math import ceil

from netwright.engine.drawing import routes
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Flow, Layout, Position
from netwright.engine.network.network import Connection, Network

GRID = 8.0
ROW = 60.0
COLUMN = 208.0
_ACROSS, _ALONG = 72.0, 272.0
_GAP = 8.0
_DETOUR = 4.0
"""So many times as far is tried across the flow before pasted layers stand in line with others."""
_Box = tuple[float, float, float, float]
"""Left, top, width, height."""


def snapped(at: Position) -> Position:
    """Snap a position to the grid."""
    return round(at[0] / GRID) * GRID, round(at[1] / GRID) * GRID


def around(middle: Position) -> Position:
    """The place of a layer whose middle is at a point."""
    return snapped((middle[0] - NODE_WIDTH / 2, middle[1] - NODE_HEIGHT / 2))


def with_port_at(at: Position, count: int, *, is_output: bool, flow: Flow = "down") -> Position:
    """The place of a layer whose first input, or output, is at a point; `count` is the number of these ports."""
    x, y = routes.port_point((0.0, 0.0), 0, count, is_input=not is_output, flow=flow)
    return snapped((at[0] - x, at[1] - y))


def behind(layout: Layout, id: str) -> Position:
    """The place of a layer that follows another one."""
    x, y = layout.at(id)
    if layout.flow == "down":
        return free_place(layout, (x, y + ROW))
    return free_place_below(layout, (x + _ALONG, y))


def free_place_below(layout: Layout, at: Position) -> Position:
    """The first place from `at` downwards where a layer covers no other."""
    x, y = at
    column = sorted(py for px, py in layout.positions.values() if abs(px - x) < NODE_WIDTH + _GAP)
    for other in column:
        if other - NODE_HEIGHT - _GAP < y < other + NODE_HEIGHT + _GAP:
            y = other + _ACROSS
    return x, y


def free_place(layout: Layout, at: Position) -> Position:
    """The first place from `at` to the right where a layer covers no other."""
    x, y = at
    row = sorted(px for px, py in layout.positions.values() if abs(py - y) < NODE_HEIGHT + _GAP)
    for other in row:
        if other - NODE_WIDTH - _GAP < x < other + NODE_WIDTH + _GAP:
            x = other + COLUMN
    return x, y


def beside(layout: Layout, clip: Layout, shift: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
    """The shift of pasted layers, frames and comments that lays them on nothing, from `shift` on: across the flow, or
    along it where that is much nearer. Layers may lie in a frame."""
    frames = [(*frame.at, *frame.size) for frame in layout.frames]
    obstacles = [*_boxes(layout), *((*comment.at, *comment.size) for comment in layout.comments)]
    things = [*_boxes(clip), *((*comment.at, *comment.size) for comment in clip.comments)]
    framed = [(*frame.at, *frame.size) for frame in clip.frames]
    steps = []
    for axis in (0, 1):
        gaps = _blocked(obstacles, [*things, *framed], shift, axis) + _blocked(frames, framed, shift, axis)
        step = 0.0
        for low, high in sorted(gaps):
            if low < step < high:
                step = ceil(high / GRID) * GRID
        steps.append(step)
    cost = [steps[0], _DETOUR * steps[1]] if layout.flow == "down" else [_DETOUR * steps[0], steps[1]]
    return (shift[0] + steps[0], shift[1]) if cost[0] <= cost[1] else (shift[0], shift[1] + steps[1])


def _boxes(layout: Layout) -> list[_Box]:
    return [(x, y, NODE_WIDTH, NODE_HEIGHT) for x, y in layout.positions.values()]


def _blocked(
    obstacles: Collection[_Box], placed: Collection[_Box], shift: tuple[float, float], axis: int
) -> list[tuple[float, float]]:
    """The open intervals of steps along an axis, beyond a shift, at which a placed box would lie on an obstacle."""
    across = 1 - axis
    ordered = sorted(obstacles, key=lambda box: box[across])
    starts = [box[across] for box in ordered]
    longest = max((box[2 + across] for box in obstacles), default=0.0)
    intervals = []
    for box in placed:
        near, far = box[across] + shift[across] - _GAP, box[across] + shift[across] + box[2 + across] + _GAP
        begin = box[axis] + shift[axis]
        for other in ordered[bisect_right(starts, near - longest) : bisect_left(starts, far)]:
            if other[across] + other[2 + across] > near:
                low = other[axis] - begin - box[2 + axis] - _GAP
                intervals.append((low, other[axis] + other[2 + axis] + _GAP - begin))
    return intervals


def inserted(network: Network, layout: Layout, into: Connection, id: str, at: Position) -> Layout:
    """The layout with a layer put into a connection near a place; the layers behind it move on if there is no room."""
    axis, along, size = (1, ROW, NODE_WIDTH) if layout.flow == "down" else (0, _ALONG, NODE_HEIGHT)
    source, target = layout.at(into.source.layer), layout.at(into.target.layer)
    place = list(snapped(at))
    near = [line for line in (source[1 - axis], target[1 - axis]) if abs(line - place[1 - axis]) < size / 2]
    place[1 - axis] = min(near, key=lambda line: abs(line - place[1 - axis]), default=place[1 - axis])
    if place[axis] < source[axis] + along and source[axis] < target[axis]:
        place[axis] = source[axis] + along
    places: dict[str, Position] = {id: (place[0], place[1])}
    lack = place[axis] + along - target[axis]
    if lack > 0 and target[axis] > source[axis]:
        for follower in _behind(network, into.target.layer):
            x, y = layout.at(follower)
            places[follower] = (x, y + lack) if axis else (x + lack, y)
    return layout.moved(places)


def _behind(network: Network, start: str) -> set[str]:
    """A layer and all layers that depend on it."""
    layers = {start}
    waiting = [start]
    while waiting:
        for connection in network.outgoing[waiting.pop()]:
            if connection.target.layer not in layers:
                layers.add(connection.target.layer)
                waiting.append(connection.target.layer)
    return layers
