"""Where ports, curves and sizes are on the canvas. Numbers in, Qt's shapes out; no item, no painter."""

from collections.abc import Callable
from itertools import pairwise
from math import hypot

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath, QTransform

from engine.drawing import curves
from engine.drawing.curves import INSET, MEASURES, PORT_SPREAD, SIDE_INSET, SIDE_SPREAD, Measures, Taken
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Flow, Position

PORT_RADIUS = 4.0
_TURNED = QTransform(0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
"""Down becomes right."""


def node_rect(at: Position) -> QRectF:
    """The box of a layer."""
    return QRectF(at[0], at[1], NODE_WIDTH, NODE_HEIGHT)


def port_offset(index: int, count: int) -> float:
    """How far from the left edge a port is: in the middle, or spread evenly around it."""
    spread = min(PORT_SPREAD, (NODE_WIDTH - 2 * INSET) / max(count - 1, 1))
    return NODE_WIDTH / 2 + (index - (count - 1) / 2) * spread


def side_offset(index: int, count: int) -> float:
    """How far from the upper edge a port is that is on a side of its layer."""
    spread = min(SIDE_SPREAD, (NODE_HEIGHT - 2 * SIDE_INSET) / max(count - 1, 1))
    return NODE_HEIGHT / 2 + (index - (count - 1) / 2) * spread


def input_point(at: Position, index: int, count: int, flow: Flow = "down") -> QPointF:
    """The middle of an input port, on the top edge or at the left."""
    if flow == "right":
        return QPointF(at[0], at[1] + side_offset(index, count))
    return QPointF(at[0] + port_offset(index, count), at[1])


def output_point(at: Position, index: int, count: int, flow: Flow = "down") -> QPointF:
    """The middle of an output port, on the bottom edge or at the right."""
    if flow == "right":
        return QPointF(at[0] + NODE_WIDTH, at[1] + side_offset(index, count))
    return QPointF(at[0] + port_offset(index, count), at[1] + NODE_HEIGHT)


def direct_curve(start: QPointF, end: QPointF, flow: Flow = "down") -> QPainterPath:
    """A curve that leaves with the flow and arrives with it."""
    if flow == "right":
        return _TURNED.map(direct_curve(start.transposed(), end.transposed()))
    path = QPainterPath(start)
    drop = end.y() - start.y()
    if abs(end.x() - start.x()) < 0.5 and drop > 0:
        path.lineTo(end)
        return path
    pull = max(drop * 0.5, min(18.0 + 0.25 * abs(end.x() - start.x()), 90.0) if drop < 18 else 14.0)
    path.cubicTo(start.x(), start.y() + pull, end.x(), end.y() - pull, end.x(), end.y())
    return path


def route(
    start: QPointF,
    end: QPointF,
    blocker: Taken,
    margin: float = 12.0,
    known: float | None = None,
    flow: Flow = "down",
) -> tuple[QPainterPath, float | None]:
    """The direct curve, or one around the layers that stand in its way, and the lane that takes past them.

    A lane that is already known from the same start is taken again where it is free.
    """
    measures = MEASURES[flow]
    if flow == "down":

        def edge(x: float, y: float) -> float | None:
            corner = blocker(x, y)
            return None if corner is None else corner[0]

        return _downwards(start, end, edge, margin, known, measures)

    def upper(x: float, y: float) -> float | None:
        corner = blocker(y, x)
        return None if corner is None else corner[1]

    path, lane = _downwards(start.transposed(), end.transposed(), upper, margin, known, measures)
    return _TURNED.map(path), lane


_Edge = Callable[[float, float], float | None]
"""Where a point is inside a layer, that layer's edge against the flow's left hand."""


def _downwards(
    start: QPointF, end: QPointF, blocker: _Edge, margin: float, known: float | None, measures: Measures
) -> tuple[QPainterPath, float | None]:
    drop = end.y() - start.y()
    direct = direct_curve(start, end)
    if 0 < drop <= measures.near or drop < 2 * measures.bend or not _is_blocked(direct, drop, blocker):
        return direct, None
    heights = _heights(start.y() + measures.bend, end.y() - measures.bend, measures.along)
    if known is None or any(blocker(known, y) is not None for y in heights):
        known = _free_lane(start, end, blocker, margin, heights, measures.across)
    return (direct if known is None else _around(start, end, known, measures.turn)), known


def _is_blocked(path: QPainterPath, drop: float, blocker: _Edge) -> bool:
    steps = min(64, max(6, int(abs(drop) / 30)))
    return any(
        blocker(point.x(), point.y()) is not None
        for point in (path.pointAtPercent(step / steps) for step in range(1, steps))
    )


def _free_lane(
    start: QPointF, end: QPointF, blocker: _Edge, margin: float, heights: list[float], across: float
) -> float | None:
    """The nearest upright line that passes all layers at these heights."""
    lanes = []
    for side in (1, -1):
        x = max(start.x(), end.x()) if side > 0 else min(start.x(), end.x())
        for _ in range(24):
            hits = [left for y in heights if (left := blocker(x, y)) is not None]
            if not hits:
                lanes.append(x)
                break
            x = max(hits) + across + margin if side > 0 else min(hits) - margin
    middle = (start.x() + end.x()) / 2
    return min(lanes, key=lambda x: abs(x - middle), default=None)


def _heights(top: float, bottom: float, along: float) -> list[float]:
    """Heights to look at, close enough together that no layer fits between them."""
    count = min(400, max(1, int((bottom - top) / (along * 0.8)) + 1))
    return [top + (bottom - top) * step / count for step in range(count + 1)]


def _around(start: QPointF, end: QPointF, lane: float, turn: float) -> QPainterPath:
    """Sideways in the gap below the one layer, down the lane, and back in the gap above the other."""
    path = QPainterPath(start)
    upper, lower = start.y() + turn, end.y() - turn
    out = max(-turn, min(turn, (lane - start.x()) / 2))
    back = max(-turn, min(turn, (end.x() - lane) / 2))
    path.quadTo(start.x(), upper, start.x() + out, upper)
    path.lineTo(lane - out, upper)
    path.quadTo(lane, upper, lane, upper + turn)
    path.lineTo(lane, lower - turn)
    path.quadTo(lane, lower, lane + back, lower)
    path.lineTo(end.x() - back, lower)
    path.quadTo(end.x(), lower, end.x(), end.y())
    return path


def tag(port: QPointF, index: int, count: int, width: float, flow: Flow) -> tuple[QPainterPath, QPointF]:
    """The short line at an input that is fed by what is only named there, and the corner of the name."""
    curve, corner = curves.tag((port.x(), port.y()), index, count, width, flow)
    path = QPainterPath(QPointF(*curve.start))
    for piece in curve.pieces:
        if len(piece) == 1:
            path.lineTo(*piece[0])
        else:
            one, two, end = piece
            path.cubicTo(*one, *two, *end)
    return path, QPointF(*corner)


def distance_to(path: QPainterPath, at: QPointF) -> float:
    """How far a point is from a curve, near enough for clicking."""
    points = [path.pointAtPercent(step / 32) for step in range(33)]
    return min(_to_segment(at, a, b) for a, b in pairwise(points))


def _to_segment(p: QPointF, a: QPointF, b: QPointF) -> float:
    dx, dy = b.x() - a.x(), b.y() - a.y()
    length = dx * dx + dy * dy
    t = 0.0 if length == 0 else max(0.0, min(1.0, ((p.x() - a.x()) * dx + (p.y() - a.y()) * dy) / length))
    return hypot(p.x() - a.x() - t * dx, p.y() - a.y() - t * dy)
