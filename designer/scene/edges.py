"""All connections of the canvas as one item: curves grouped in tiles, and one size label per port."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from netwright.designer import theme
from netwright.designer.scene import geometry, pictures
from netwright.designer.scene.node_items import OVERVIEW_BELOW
from netwright.engine.drawing import labels, routes
from netwright.engine.drawing.routes import Curve
from netwright.engine.network.layout import Flow, Heading, Position
from netwright.engine.network.network import Connection

LABELS_ABOVE = 0.55
_TILE_WIDTH = 1200.0
_TILE_HEIGHT = 720.0
_MANY = 500
Tile = tuple[int, int]
_IsFree = Callable[[float, float, float, float], bool]


@dataclass
class Edge:
    """A connection on the canvas: its curve, the size of the tensor as text and the corner of that label.

    Of several connections that leave a port one has the text. A tag is a connection without a curve: its text is the
    name of the source, shown at the input.
    """

    connection: Connection
    curve: Curve
    path: QPainterPath
    bounds: QRectF
    text: str = ""
    corner: QPointF = field(default_factory=QPointF)
    tile: Tile = (0, 0)
    is_tag: bool = False

    def label_box(self) -> QRectF:
        """Return the box of the size label or of the tag."""
        size = pictures.tag_size if self.is_tag else pictures.label_size
        return QRectF(self.corner, QSizeF(*size(self.text)))

    @property
    def label_key(self) -> Hashable:
        """Key of the label: the port, or the connection of a tag."""
        return self.connection if self.is_tag else self.connection.source

    def moved(self, step: Position) -> "Edge":
        """Return the connection with its label at another position."""
        return replace(
            self,
            curve=self.curve.moved(step),
            path=self.path.translated(*step),
            bounds=self.bounds.translated(*step),
            corner=self.corner + QPointF(*step),
        )

    def distance_to(self, point: QPointF) -> float:
        """Return the distance from a point to the curve; a tag is hit anywhere in its box."""
        if self.is_tag and self.label_box().contains(point):
            return 0.0
        return geometry.distance_to(self.path, point)


@dataclass
class _Gathered:
    edges: dict[Connection, Edge] = field(default_factory=dict)
    path: QPainterPath | None = None
    bounds: QRectF = field(default_factory=QRectF)


class Edges(QGraphicsItem):
    """Graphics item of the connections. The scene computes the curves; this item stores them by tile to limit
    painting."""

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.edges: dict[Connection, Edge] = {}
        self.selected: frozenset[Connection] = frozenset()
        self.target: Connection | None = None
        """The connection into which a layer would be dropped."""
        self.room = labels.Room()
        self._tiles: dict[Tile, _Gathered] = {}
        self._bounds = QRectF()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def put(self, edge: Edge) -> None:
        """Show a connection, or move it."""
        self.drop(edge.connection)
        self.room.put_curve(edge.connection, edge.curve)
        if edge.text:
            box = edge.label_box()
            self.room.put_label(edge.label_key, (box.left(), box.top(), box.right(), box.bottom()))
        start = edge.path.elementAt(0)
        edge.tile = (int(start.x // _TILE_WIDTH), int(start.y // _TILE_HEIGHT))
        self.edges[edge.connection] = edge
        gathered = self._tiles.setdefault(edge.tile, _Gathered())
        gathered.edges[edge.connection] = edge
        gathered.path = None
        self._stretch(edge.bounds)

    def _stretch(self, bounds: QRectF) -> None:
        """Let the item reach this far."""
        if not self._bounds.contains(bounds):
            self.prepareGeometryChange()
            self._bounds = self._bounds.united(bounds)

    def drop(self, connection: Connection) -> None:
        """Remove a connection from the item."""
        edge = self.edges.pop(connection, None)
        if edge is not None:
            self.room.drop_curve(connection)
            if edge.text:
                self.room.drop_label(edge.label_key)
            gathered = self._tiles[edge.tile]
            del gathered.edges[connection]
            gathered.path = None
            if not gathered.edges:
                del self._tiles[edge.tile]

    def label(self, leaving: Sequence[Edge], text: str, is_free: _IsFree, flow: Flow) -> bool:
        """Show a size once for the connections of a port; return whether it has room beside layers, curves and other
        labels. Without room it is hidden."""
        for edge in leaving:
            if edge.text:
                self._write(edge, "", QPointF())
        if not text:
            return True

        def has_room(left: float, top: float, right: float, bottom: float) -> bool:
            return is_free(left, top + 1, right, bottom - 1) and self.room.is_free((left, top, right, bottom))

        spot = labels.place([edge.curve for edge in leaving], pictures.label_size(text)[0], flow, has_room)
        if spot is not None:
            bearer = leaving[0] if len(leaving) == 1 else min(leaving, key=lambda edge: labels.reach(edge.curve))
            self._write(bearer, text, QPointF(*spot))
        return spot is not None

    def _write(self, edge: Edge, text: str, corner: QPointF) -> None:
        """Change the label of a connection that is shown; its curve stays."""
        if edge.text:
            self.room.drop_label(edge.label_key)
            edge.bounds = bounds_of(edge.path)
        edge.text, edge.corner = text, corner
        if text:
            box = edge.label_box()
            self.room.put_label(edge.label_key, (box.left(), box.top(), box.right(), box.bottom()))
            edge.bounds = edge.bounds.united(box)
            self._stretch(edge.bounds)
        self._tiles[edge.tile].path = None

    def at(self, point: QPointF, tolerance: float) -> Connection | None:
        """Return the connection nearest to a point within a distance, or None."""
        area = QRectF(point.x() - tolerance, point.y() - tolerance, 2 * tolerance, 2 * tolerance)
        best: tuple[float, Connection | None] = (tolerance, None)
        for gathered in self._near(area):
            for connection, edge in gathered.edges.items():
                if edge.bounds.intersects(area):
                    distance = edge.distance_to(point)
                    if distance <= best[0]:
                        best = (distance, connection)
        return best[1]

    def nearest(self, connections: Iterable[Connection], at: QPointF, tolerance: float) -> Connection | None:
        """Return the nearest of these connections to a point within a distance, or None."""
        edges = [self.edges[connection] for connection in connections if connection in self.edges]
        near = min(((edge.distance_to(at), edge.connection) for edge in edges), default=None)
        return near[1] if near is not None and near[0] <= tolerance else None

    def crossing(self, area: QRectF) -> list[Connection]:
        """Return the connections whose boxes touch an area."""
        return [
            connection
            for gathered in self._near(area)
            for connection, edge in gathered.edges.items()
            if edge.bounds.intersects(area)
        ]

    def _near(self, area: QRectF) -> list[_Gathered]:
        return [gathered for gathered in self._tiles.values() if _gather(gathered).bounds.intersects(area)]

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        exposed: QRectF = option.exposedRect
        palette = theme.current()
        zoom = painter.worldTransform().m11()
        visible = self._near(exposed)
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        # In large networks a line of one pixel: wider ones take five times as long to paint.
        is_large = len(self.edges) > _MANY
        pen = QPen(palette.outline, 0 if is_large else 1.3)
        if zoom < OVERVIEW_BELOW:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            pen = QPen(palette.mixed(palette.muted, palette.canvas, 0.55), 0)
        painter.setPen(pen)
        _paint_curves(painter, visible, exposed, zoom)
        painter.setPen(QPen(palette.accent, max(2.0, 1.5 / zoom)))
        for connection in (*self.selected, *((self.target,) if self.target else ())):
            if connection in self.edges:
                painter.drawPath(self.edges[connection].path)
        if zoom >= LABELS_ABOVE:
            _paint_labels(painter, visible, exposed)
            self._mark_tags(painter, palette.accent)
        painter.restore()

    def _mark_tags(self, painter: QPainter, colour: QColor) -> None:
        """Paint a distinct border around selected tags."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, 1.5))
        for connection in self.selected:
            edge = self.edges.get(connection)
            if edge is not None and edge.is_tag:
                box = edge.label_box()
                painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)


def _paint_curves(painter: QPainter, visible: list[_Gathered], exposed: QRectF, zoom: float) -> None:
    """Paint the curves: zoomed out, one path per tile without antialiasing; zoomed in, single curves, because
    antialiasing one joined path costs more."""
    if zoom >= OVERVIEW_BELOW:
        paths = [
            edge.path
            for gathered in visible
            for edge in gathered.edges.values()
            if exposed.contains(gathered.bounds) or edge.bounds.intersects(exposed)
        ]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(paths) < _MANY)
        for path in paths:
            painter.drawPath(path)
    else:
        for gathered in visible:
            painter.drawPath(_gather(gathered).path or QPainterPath())


def _paint_labels(painter: QPainter, visible: list[_Gathered], exposed: QRectF) -> None:
    transform: QTransform = painter.worldTransform()
    painter.save()
    ratio = painter.device().devicePixelRatioF()
    sx, sy, dx, dy = transform.m11(), transform.m22(), transform.dx(), transform.dy()
    painter.resetTransform()
    for gathered in visible:
        for edge in gathered.edges.values():
            if edge.text and edge.bounds.intersects(exposed):
                picture = pictures.tag if edge.is_tag else pictures.label
                pixmap = picture(edge.text, sx * ratio)
                pixmap.setDevicePixelRatio(ratio)
                left = round((sx * edge.corner.x() + dx) * ratio) / ratio
                top = round((sy * edge.corner.y() + dy) * ratio) / ratio
                painter.drawPixmap(QPointF(left, top), pixmap)
    painter.restore()


def _gather(gathered: _Gathered) -> _Gathered:
    """Join the curves of a tile after one of them changed."""
    if gathered.path is None:
        path = QPainterPath()
        bounds = QRectF()
        for edge in gathered.edges.values():
            path.addPath(edge.path)
            bounds = bounds.united(edge.bounds)
        gathered.path, gathered.bounds = path, bounds
    return gathered


def edge_of(connection: Connection, curve: Curve) -> Edge:
    """Return a connection without a label."""
    path = geometry.path_of(curve)
    return Edge(connection, curve, path, bounds_of(path))


def bounds_of(path: QPainterPath) -> QRectF:
    """Return the box of a curve with the width of its line."""
    return path.controlPointRect().adjusted(-3, -3, 3, 3)


def make_tag(connection: Connection, name: str, port: QPointF, index: int, count: int, flow: Heading) -> Edge:
    """Return a connection that is shown as a tag at its input."""
    curve, corner = routes.tag(port.toTuple(), index, count, pictures.tag_size(name)[0], flow)
    edge = replace(edge_of(connection, curve), text=name, corner=QPointF(*corner), is_tag=True)
    edge.bounds = edge.bounds.united(edge.label_box().adjusted(-2, -2, 2, 2))
    return edge
