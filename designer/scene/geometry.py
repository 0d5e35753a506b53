"""Positions of ports and curves on the canvas as Qt objects. Drawings without a screen use the same functions
of `netwright.engine.drawing.routes`."""

from itertools import pairwise
from math import hypot

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

from netwright.engine.drawing import routes
from netwright.engine.drawing.routes import Curve
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Flow, Heading, Position

PORT_RADIUS = 4.0


def node_rect(at: Position) -> QRectF:
    """Return the box of a layer."""
    return QRectF(at[0], at[1], NODE_WIDTH, NODE_HEIGHT)


def input_point(at: Position, index: int, count: int, flow: Heading = "down") -> QPointF:
    """Return the centre of an input port: above, at the left or below."""
    return QPointF(*routes.port_point(at, index, count, is_input=True, flow=flow))


def output_point(at: Position, index: int, count: int, flow: Heading = "down") -> QPointF:
    """Return the centre of an output port: below, at the right or above."""
    return QPointF(*routes.port_point(at, index, count, is_input=False, flow=flow))


def direct_curve(start: QPointF, end: QPointF, flow: Flow = "down") -> QPainterPath:
    """Return a curve that leaves and arrives in the direction of the flow."""
    return path_of(routes.direct_curve(start.toTuple(), end.toTuple(), flow))


def path_of(curve: Curve) -> QPainterPath:
    """Return a curve as a Qt path."""
    path = QPainterPath(QPointF(*curve.start))
    for piece in curve.pieces:
        if len(piece) == 1:
            path.lineTo(*piece[0])
        else:
            first, second, end = piece
            path.cubicTo(*first, *second, *end)
    return path


def distance_to(path: QPainterPath, at: QPointF) -> float:
    """Return the approximate distance from a point to a curve, accurate enough for clicking."""
    points = [path.pointAtPercent(step / 32) for step in range(33)]
    return min(_to_segment(at, a, b) for a, b in pairwise(points))


def _to_segment(p: QPointF, a: QPointF, b: QPointF) -> float:
    dx, dy = b.x() - a.x(), b.y() - a.y()
    length = dx * dx + dy * dy
    t = 0.0 if length == 0 else max(0.0, min(1.0, ((p.x() - a.x()) * dx + (p.y() - a.y()) * dy) / length))
    return hypot(p.x() - a.x() - t * dx, p.y() - a.y() - t * dy)
