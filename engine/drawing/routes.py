"""Routes of connections from port to port as coordinates. The canvas draws the same curves with Qt.

A curve is a start and pieces; a piece is a line (one point) or a cubic Bézier curve (two control points, end point).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from math import atan2, degrees, hypot

from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Flow, Heading, Position
from netwright.engine.network.network import Connection, Network, Port

Point = tuple[float, float]
Piece = tuple[Point, ...]
Taken = Callable[[float, float], Position | None]
"""Returns the corner of the layer that blocks a point (x, y), or None."""
IsOpen = Callable[[float, float, float], bool]
"""Returns whether a lane at x, from top to bottom, keeps its distance from those of other connections."""
LANE = 12.0
"""Distance between parallel connections."""
PORT_SPREAD = 46.0
INSET = 20.0
SIDE_SPREAD, SIDE_INSET = 14.0, 8.0
_STEPS = 12
_Edge = Callable[[float, float], float | None]
TAG_HEIGHT = 14.0
_STUB = 8.0
_TRIES = 48


@dataclass(frozen=True)
class Measures:
    """Measures of routes: size of a layer across and along the flow, and the distances for turns and bends."""

    across: float
    along: float
    turn: float
    near: float
    bend: float


MEASURES: Mapping[Flow, Measures] = {
    "down": Measures(NODE_WIDTH, NODE_HEIGHT, 9.0, 30.0, 26.0),
    "right": Measures(NODE_HEIGHT, NODE_WIDTH, 24.0, 104.0, 40.0),
}


@dataclass(frozen=True)
class Curve:
    """A start point and consecutive pieces."""

    start: Point
    pieces: tuple[Piece, ...]

    @property
    def end(self) -> Point:
        """End point."""
        return self.pieces[-1][-1] if self.pieces else self.start

    def points(self, steps: int = _STEPS) -> list[Point]:
        """Return the points of a polyline along the curve, `steps` per piece."""
        points = [self.start]
        for piece in self.pieces:
            x, y = points[-1]
            if len(piece) == 1:
                across, along = piece[0][0] - x, piece[0][1] - y
                points += [(x + across * t, y + along * t) for t in _shares(steps)]
            else:
                (x1, y1), (x2, y2), (x3, y3) = piece
                points += [
                    (a * x + b * x1 + c * x2 + d * x3, a * y + b * y1 + c * y2 + d * y3)
                    for a, b, c, d in _weights(steps)
                ]
        return points

    def turned(self) -> "Curve":
        """Return the curve with x and y exchanged."""
        pieces = tuple(tuple((y, x) for x, y in piece) for piece in self.pieces)
        return Curve((self.start[1], self.start[0]), pieces)

    def moved(self, step: Point) -> "Curve":
        """Return the curve at another position."""
        dx, dy = step
        pieces = tuple(tuple((x + dx, y + dy) for x, y in piece) for piece in self.pieces)
        return Curve((self.start[0] + dx, self.start[1] + dy), pieces)

    def mirrored(self) -> "Curve":
        """Return the curve upside down."""
        return Curve((self.start[0], -self.start[1]), tuple(tuple((x, -y) for x, y in piece) for piece in self.pieces))

    def reach(self) -> Iterator[Point]:
        """Yield the points whose convex hull contains the curve."""
        yield self.start
        for piece in self.pieces:
            yield from piece


@cache
def _shares(steps: int) -> list[float]:
    return [step / steps for step in range(1, steps + 1)]


@cache
def _weights(steps: int) -> list[tuple[float, float, float, float]]:
    """Return the weights of the four points of a cubic Bézier curve at each step."""
    return [((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3) for t in _shares(steps)]


class Chain:
    """A polyline that is parametrized by its share of the length, from 0 to 1."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = [points[0], *(b for a, b in pairwise(points) if a != b)]
        steps = (hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(self._points))
        self._ends = list(accumulate(steps))

    def at(self, share: float) -> tuple[Point, float]:
        """Return the point at a share of the length, and the angle there in degrees: 0 is horizontal, 90 vertical."""
        if not self._ends:
            return self._points[0], 90.0
        n = self._line(share)
        (x1, y1), (x2, y2) = self._points[n], self._points[n + 1]
        return self.point(share), degrees(atan2(y1 - y2, x2 - x1)) % 180

    def point(self, share: float) -> Point:
        """Return the point at a share of the length."""
        if not self._ends:
            return self._points[0]
        n = self._line(share)
        (x1, y1), (x2, y2) = self._points[n], self._points[n + 1]
        begin = self._ends[n - 1] if n else 0.0
        t = (share * self._ends[-1] - begin) / (self._ends[n] - begin)
        return x1 + (x2 - x1) * t, y1 + (y2 - y1) * t

    def _line(self, share: float) -> int:
        """Return the index of the segment at a share of the length."""
        return min(bisect_left(self._ends, share * self._ends[-1]), len(self._ends) - 1)


def port_offset(index: int, count: int) -> float:
    """Return the distance of a port from the left edge of its layer."""
    spread = min(PORT_SPREAD, (NODE_WIDTH - 2 * INSET) / max(count - 1, 1))
    return NODE_WIDTH / 2 + (index - (count - 1) / 2) * spread


def heading(network: Network, positions: Mapping[str, Position], id: str, flow: Flow) -> Heading:
    """Return the direction in which a layer is passed: up if no source is above it, no target below it, and one of
    them is straight below or above. It decides on which edges the ports are."""
    if flow == "right":
        return flow
    x, y = positions[id]
    sources = [positions.get(port.layer, (x, y)) for port in network.incoming.get(id, {}).values()]
    targets = [positions.get(connection.target.layer, (x, y)) for connection in network.outgoing.get(id, ())]
    if not sources or any(above < y for _, above in sources) or any(below > y for _, below in targets):
        return "down"
    others = (*sources, *targets)
    return "up" if any(abs(left - x) < NODE_WIDTH and top != y for left, top in others) else "down"


def port_point(at: Position, index: int, count: int, *, is_input: bool, flow: Heading = "down") -> Point:
    """Return the centre of a port: inputs are above and outputs below, or left and right, or below and above."""
    if flow == "right":
        spread = min(SIDE_SPREAD, (NODE_HEIGHT - 2 * SIDE_INSET) / max(count - 1, 1))
        offset = NODE_HEIGHT / 2 + (index - (count - 1) / 2) * spread
        return at[0] + (0.0 if is_input else NODE_WIDTH), at[1] + offset
    is_above = is_input is (flow == "down")
    return at[0] + port_offset(index, count), at[1] + (0.0 if is_above else NODE_HEIGHT)


def direct_curve(start: Point, end: Point, flow: Flow = "down") -> Curve:
    """Return a curve that starts and ends in the direction of the flow."""
    if flow == "right":
        return direct_curve((start[1], start[0]), (end[1], end[0])).turned()
    across, drop = abs(end[0] - start[0]), end[1] - start[1]
    if across < 0.5 and drop > 0:
        return Curve(start, ((end,),))
    pull = max(drop * 0.5, min(18.0 + 0.25 * across, 90.0) if drop < 18 else 14.0)
    return Curve(start, (((start[0], start[1] + pull), (end[0], end[1] - pull), end),))


def _is_open(x: float, top: float, bottom: float) -> bool:
    return True


def route(
    start: Point,
    end: Point,
    blocker: Taken,
    margin: float,
    previous: float | None,
    ways: tuple[Heading, Heading] = ("down", "down"),
    is_open: IsOpen = _is_open,
) -> tuple[Curve, float | None]:
    """Return the direct curve, or one around layers in its way, and its lane. A free `previous` lane is reused.

    `ways` are the headings of the source and the target.
    """
    if ways == ("right", "right"):

        def upper(x: float, y: float) -> float | None:
            corner = blocker(y, x)
            return None if corner is None else corner[1]

        turned = (start[1], start[0]), (end[1], end[0])
        curve, lane = _downwards(*turned, upper, margin, previous, MEASURES["right"], _is_open)
        return curve.turned(), lane
    if ways[0] != ways[1]:
        turn = MEASURES["down"].turn
        y = max(start[1], end[1]) + turn if ways[0] == "down" else min(start[1], end[1]) - turn
        return rounded((start, (start[0], y), (end[0], y), end), turn), None
    sign = 1.0 if ways[0] == "down" else -1.0

    def edge(x: float, y: float) -> float | None:
        corner = blocker(x, sign * y)
        return None if corner is None else corner[0]

    def is_lane_open(x: float, top: float, bottom: float) -> bool:
        return is_open(x, *sorted((sign * top, sign * bottom)))

    ends = (start[0], sign * start[1]), (end[0], sign * end[1])
    curve, lane = _downwards(*ends, edge, margin, previous, MEASURES["down"], is_lane_open)
    return (curve if sign > 0 else curve.mirrored()), lane


def _downwards(
    start: Point,
    end: Point,
    blocker: _Edge,
    margin: float,
    previous: float | None,
    measures: Measures,
    is_open: IsOpen,
) -> tuple[Curve, float | None]:
    drop = end[1] - start[1]
    if drop < -2 * measures.along and abs(end[0] - start[0]) > measures.across:
        return _next_column(start, end, blocker, measures, is_open)
    direct = direct_curve(start, end)
    if 0 < drop <= measures.near or drop < 2 * measures.bend or not _is_blocked(direct, drop, blocker):
        return direct, None
    heights = _heights(start[1] + measures.bend, end[1] - measures.bend, measures.along)
    if previous is None or any(blocker(previous, y) is not None for y in heights):
        previous = _free_lane(start, end, blocker, margin, heights, measures.across, is_open)
    return (direct if previous is None else around(start, end, previous, measures.turn)), previous


def _next_column(
    start: Point, end: Point, blocker: _Edge, measures: Measures, is_open: IsOpen
) -> tuple[Curve, float | None]:
    """Return the curve from a column of layers to a place further up in another one, through the gap between them."""
    turn = measures.turn
    upper, lower = end[1] - turn, start[1] + turn
    heights, middle = _heights(upper, lower, measures.along), (start[0] + end[0]) / 2
    lane = _free_lane((middle, 0.0), (middle, 0.0), blocker, LANE, heights, measures.across, is_open)
    if lane is None:
        return direct_curve(start, end), None
    return rounded((start, (start[0], lower), (lane, lower), (lane, upper), (end[0], upper), end), turn), None


def rounded(points: Sequence[Point], radius: float) -> Curve:
    """Return a polyline with round corners."""
    pieces: list[Piece] = []
    at = points[0]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        room = min(radius, hypot(corner[0] - before[0], corner[1] - before[1]) / 2)
        room = min(room, hypot(after[0] - corner[0], after[1] - corner[1]) / 2)
        here, there = _towards(corner, before, room), _towards(corner, after, room)
        if here != at:
            pieces.append((here,))
        pieces.append(_quadratic(here, corner, there))
        at = there
    return Curve(points[0], (*pieces, (points[-1],)))


def _towards(start: Point, end: Point, step: float) -> Point:
    length = hypot(end[0] - start[0], end[1] - start[1])
    share = step / length if length else 0.0
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _is_blocked(curve: Curve, drop: float, blocker: _Edge) -> bool:
    steps = min(64, max(6, int(abs(drop) / 30)))
    chain = Chain(curve.points())
    return any(blocker(*chain.point(step / steps)) is not None for step in range(1, steps))


def _free_lane(
    start: Point, end: Point, blocker: _Edge, margin: float, heights: list[float], across: float, is_open: IsOpen
) -> float | None:
    """Return the nearest x at which no layer is in the way and no other connection is close."""
    lanes = []
    for side in (1, -1):
        x = max(start[0], end[0]) if side > 0 else min(start[0], end[0])
        for _ in range(_TRIES):
            hits = [left for y in heights if (left := blocker(x, y)) is not None]
            if not hits and is_open(x, heights[0], heights[-1]):
                lanes.append(x)
                break
            if not hits:
                x += side * LANE
                continue
            x = max(hits) + across + margin if side > 0 else min(hits) - margin
    middle = (start[0] + end[0]) / 2
    return min(lanes, key=lambda x: abs(x - middle), default=None)


def _heights(top: float, bottom: float, along: float) -> list[float]:
    count = min(400, max(1, int((bottom - top) / (along * 0.8)) + 1))
    return [top + (bottom - top) * step / count for step in range(count + 1)]


def around(start: Point, end: Point, lane: float, turn: float = MEASURES["down"].turn) -> Curve:
    """Return a curve sideways in the gap below the source layer, down the lane, and back above the target layer."""
    upper, lower = start[1] + turn, end[1] - turn
    out = max(-turn, min(turn, (lane - start[0]) / 2))
    back = max(-turn, min(turn, (end[0] - lane) / 2))
    corners = (
        ((start[0], upper), (start[0] + out, upper)),
        ((lane, upper), (lane, upper + turn)),
        ((lane, lower), (lane + back, lower)),
        ((end[0], lower), end),
    )
    straight = ((lane - out, upper), (lane, lower - turn), (end[0] - back, lower))
    pieces: list[Piece] = []
    at = start
    for number, (handle, corner) in enumerate(corners):
        pieces.append(_quadratic(at, handle, corner))
        at = corner
        if number < len(straight) and straight[number] != corner:
            pieces.append((straight[number],))
            at = straight[number]
    return Curve(start, tuple(pieces))


def _quadratic(start: Point, handle: Point, end: Point) -> Piece:
    """Return a quadratic Bézier curve as a cubic piece."""
    first, second = (((p[0] + 2 * handle[0]) / 3, (p[1] + 2 * handle[1]) / 3) for p in (start, end))
    return first, second, end


def tag(port: Point, index: int, count: int, width: float, flow: Heading = "down") -> tuple[Curve, Point]:
    """Return the short line at an input whose source is only named there, and the corner of the name.

    The name is in the gap before the layer, outside of its port, so that lines to the other ports pass it.
    """
    x, y = port
    side = -1 if index < (count - 1) / 2 else 1
    if flow == "right":
        start = (x - _STUB, y + side * TAG_HEIGHT / 2)
        return Curve(start, (_quadratic(start, (x - _STUB / 2, y), (x, y)),)), (
            start[0] - width,
            start[1] - TAG_HEIGHT / 2,
        )
    start = (x + side * _STUB, y + (TAG_HEIGHT / 2 + 2) * (1 if flow == "up" else -1))
    left = start[0] if side > 0 else start[0] - width
    return Curve(start, (_quadratic(start, (x, start[1]), (x, y)),)), (left, start[1] - TAG_HEIGHT / 2)


class Places:
    """A grid index of the positions of layers."""

    def __init__(self, positions: dict[str, Position]) -> None:
        self._positions = positions
        self._cells: dict[tuple[int, int], list[str]] = {}
        for id, (x, y) in positions.items():
            for cx in range(int(x // NODE_WIDTH), int((x + NODE_WIDTH) // NODE_WIDTH) + 1):
                for cy in range(int(y // NODE_HEIGHT), int((y + NODE_HEIGHT) // NODE_HEIGHT) + 1):
                    self._cells.setdefault((cx, cy), []).append(id)

    def at(self, x: float, y: float, but: tuple[str, ...] = ()) -> Position | None:
        """Return the corner of the layer at a point, or None if there is none or its id is in `but`."""
        for id in reversed(self._cells.get((int(x // NODE_WIDTH), int(y // NODE_HEIGHT)), ())):
            left, top = self._positions[id]
            if 0 <= x - left <= NODE_WIDTH and 0 <= y - top <= NODE_HEIGHT:
                return None if id in but else (left, top)
        return None


class Router:
    """The connections of one network as curves. Those that leave the same port share a lane past other layers."""

    def __init__(self, network: Network, positions: dict[str, Position], flow: Flow = "down") -> None:
        self.places = Places(positions)
        self._network, self._positions, self._flow = network, positions, flow
        self._lanes: dict[Port, float] = {}
        self._headings: dict[str, Heading] = {}

    def heading(self, id: str) -> Heading:
        """Return the direction in which a layer is passed."""
        if id not in self._headings:
            self._headings[id] = heading(self._network, self._positions, id, self._flow)
        return self._headings[id]

    def port(self, port: Port, *, is_input: bool) -> Point:
        """Return the centre of a port; for a port that the layer lacks, that of the first."""
        type = self._network.layers[port.layer].type
        names = tuple(type.input_ports() if is_input else type.output_ports())
        index = names.index(port.name) if port.name in names else 0
        at = self._positions[port.layer]
        return port_point(at, index, max(1, len(names)), is_input=is_input, flow=self.heading(port.layer))

    def span(self, connection: Connection) -> float:
        """Return the distance between the layers of a connection; short ones take the lanes beside the layers."""
        (x1, y1), (x2, y2) = self._positions[connection.source.layer], self._positions[connection.target.layer]
        return abs(x2 - x1) + abs(y2 - y1)

    def curve(self, connection: Connection, margin: float, is_open: IsOpen = _is_open) -> Curve:
        """Return the curve of a connection, which keeps this distance from layers that it goes around."""
        source, target = connection.source, connection.target
        start, end = self.port(source, is_input=False), self.port(target, is_input=True)
        ends = (source.layer, target.layer)
        ways = self.heading(source.layer), self.heading(target.layer)
        lane = self._lanes.get(source)
        curve, lane = route(start, end, lambda x, y: self.places.at(x, y, ends), margin, lane, ways, is_open)
        if lane is not None:
            self._lanes.setdefault(source, lane)
        return curve
