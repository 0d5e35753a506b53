"""All layers of the canvas as one item: visible layers are drawn from cached pictures, zoomed out as coloured boxes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import hypot

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPixmap, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from netwright.designer import theme
from netwright.designer.scene import geometry, health_badges, pictures, stage_colours, tint
from netwright.designer.scene.content import Content
from netwright.engine.drawing import routes
from netwright.engine.layers.base import LayerType
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH, Flow, Heading, Position
from netwright.engine.network.network import Connection, Network, Port

OVERVIEW_BELOW = 0.35
_PICTURE_BYTES = 96 * 2**20
_MANY = 120
_DEEP = NODE_HEIGHT / 3
"""So far a port reaches into layers."""
_BETWEEN = 0.3
"""Part of the way between two near ports that is neither of theirs."""


@dataclass(frozen=True)
class PortHit:
    """A port on the canvas."""

    port: Port
    is_input: bool
    at: QPointF


@dataclass
class Node:
    """A layer on the canvas: its content, the messages of its problems, and its picture."""

    id: str
    content: Content
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    messages: tuple[str, ...] = ()
    pixmap: QPixmap | None = field(default=None, repr=False)
    scale: float = 0.0

    def show(self, content: Content) -> bool:
        """Set the content; return whether that changes the picture."""
        if content == self.content:
            return False
        self.content, self.pixmap = content, None
        return True

    def fits(self, type: LayerType) -> bool:
        """Return whether a type has the ports that are shown."""
        return (self.inputs, self.outputs) == (type.input_ports(), type.output_ports())


class Nodes(QGraphicsItem):
    """Graphics item of all layers. It has no network: the scene sets contents and positions."""

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.nodes: dict[str, Node] = {}
        self.index = Index()
        self.is_zooming = False
        """Whether the zoom is changing, so that pictures of another zoom are scaled."""
        self._headings: dict[str, Heading] = {}
        self._bounds = QRectF()
        self._bytes = 0
        self._overview: dict[str, list[QRectF]] | None = None

    def boundingRect(self) -> QRectF:
        return self._bounds

    def rect(self, id: str) -> QRectF:
        """Return the area to repaint when a layer changes."""
        m = pictures.MARGIN + 2
        return geometry.node_rect(self.index.positions[id]).adjusted(-m, -m, m, m)

    def place_of(self, port: Port, is_input: bool) -> routes.Point:
        """Return the centre of a port."""
        node, at = self.nodes[port.layer], self.index.positions[port.layer]
        names = node.inputs if is_input else node.outputs
        index = names.index(port.name) if port.name in names else 0
        return routes.port_point(at, index, len(names), is_input=is_input, flow=self.heading(port.layer))

    def port_hit(self, port: Port, is_input: bool) -> PortHit:
        """Return the position of a port."""
        return PortHit(port, is_input, QPointF(*self.place_of(port, is_input)))

    def ports_of(self, id: str) -> list[PortHit]:
        """Return all ports of a layer, inputs first."""
        node = self.nodes[id]
        inputs = [self.port_hit(Port(id, name), True) for name in node.inputs]
        return inputs + [self.port_hit(Port(id, name), False) for name in node.outputs]

    def port_at(self, at: QPointF, tolerance: float) -> PortHit | None:
        """Return the nearest port within a distance, or None. The middle of a layer is never that of a port, and half
        way between two ports is their connection."""
        area = QRectF(at.x() - tolerance, at.y() - tolerance, 2 * tolerance, 2 * tolerance)
        hits = [hit for id in self.index.inside(area) for hit in self.ports_of(id)]
        near = sorted((hypot(hit.at.x() - at.x(), hit.at.y() - at.y()), n) for n, hit in enumerate(hits))[:2]
        if not near or near[0][0] > tolerance:
            return None
        hit, first, second = hits[near[0][1]], near[0][0], near[-1][0]
        is_deep = abs(hit.at.y() - at.y()) > _DEEP and self.index.at(at.x(), at.y()) is not None
        is_between = len(near) > 1 and second <= tolerance and second - first < _BETWEEN * (first + second)
        return None if is_deep or is_between else hit

    def turn(self, ids: Iterable[str], network: Network, flow: Flow) -> list[str]:
        """Update the directions in which layers are passed; return the layers that turned."""
        turned = []
        for id in self.nodes.keys() & ids:
            way = routes.heading(network, self.index.positions, id, flow)
            if way != self.heading(id):
                turned.append(id)
            self._headings[id] = way
        return turned

    def heading(self, id: str) -> Heading:
        """Return the direction in which a layer is passed."""
        return self._headings.get(id, "down")

    def measure(self) -> None:
        """Update the bounds after layers moved."""
        self._overview = None
        m = pictures.MARGIN + 2
        bounds = self.index.bounds().adjusted(-m, -m, m, m)
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = bounds

    def stretch(self, ids: Iterable[str]) -> None:
        """Extend the bounds for layers that are being moved; `measure` makes them exact."""
        self._overview = None
        for id in ids:
            if not self._bounds.contains(rect := self.rect(id)):
                self.prepareGeometryChange()
                self._bounds = self._bounds.united(rect)

    def forget_overview(self) -> None:
        """Clear the overview after colours of boxes changed."""
        self._overview = None

    def forget_pictures(self) -> None:
        """Clear the pictures, to paint everything in other colours."""
        for node in self.nodes.values():
            node.pixmap = None
        self._bytes = 0

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        transform = painter.worldTransform()
        exposed: QRectF = option.exposedRect
        painter.save()
        if transform.m11() < OVERVIEW_BELOW:
            self._paint_overview(painter, exposed)
        else:
            self._paint_pictures(painter, transform, exposed)
        painter.restore()

    def _paint_pictures(self, painter: QPainter, transform: QTransform, exposed: QRectF) -> None:
        ratio = painter.device().devicePixelRatioF()
        scale = transform.m11() * ratio
        m = pictures.MARGIN
        visible = list(self.index.inside(exposed.adjusted(-m, -m, m, m)))
        make_do = self.is_zooming and len(visible) > _MANY
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not make_do)
        sx, sy, dx, dy = transform.m11(), transform.m22(), transform.dx(), transform.dy()
        for id in visible:
            node = self.nodes[id]
            x, y = self.index.positions[id]
            pixmap = node.pixmap
            if pixmap is None or (node.scale != scale and not make_do):
                if self._bytes > _PICTURE_BYTES:
                    self.forget_pictures()
                node.pixmap, node.scale = pictures.picture(node.content, scale), scale
                self._bytes += node.pixmap.width() * node.pixmap.height() * 4
                pixmap = node.pixmap
            left = round((sx * (x - m) + dx) * ratio) / ratio
            top = round((sy * (y - m) + dy) * ratio) / ratio
            if node.scale == scale:
                pixmap.setDevicePixelRatio(ratio)
                painter.drawPixmap(QPointF(left, top), pixmap)
            else:
                size = QRectF(left, top, (NODE_WIDTH + 2 * m) * sx, (NODE_HEIGHT + 2 * m) * sy)
                painter.drawPixmap(size, pixmap, QRectF(0, 0, pixmap.width(), pixmap.height()))

    def _paint_overview(self, painter: QPainter, exposed: QRectF) -> None:
        """Paint all layers as boxes, one call per colour; selected and faulty layers stand out."""
        palette = theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(palette.canvas)
        for kind, boxes in self.overview().items():
            if kind not in ("selected", "error", "warning"):
                painter.setBrush(palette.mixed(tint.box_colour(kind), palette.node, 0.8))
                painter.drawRects(boxes)
        for kind, colour in (("warning", palette.warning), ("error", palette.error), ("selected", palette.accent)):
            if boxes := self.overview().get(kind, []):
                painter.setPen(colour)
                painter.setBrush(colour)
                painter.drawRects(boxes)
        self._paint_numbers(painter)

    def _paint_numbers(self, painter: QPainter) -> None:
        """Paint the number of each stage at its first box, at a fixed size on the screen."""
        scale = 1 / painter.worldTransform().m11()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for kind, boxes in self.overview().items():
            if (stage := stage_colours.box_stage(kind)) is not None:
                first = min(boxes, key=lambda box: (box.top(), box.left()))
                painter.save()
                painter.translate(first.left(), first.center().y())
                painter.scale(scale, scale)
                stage_colours.paint_chip(
                    painter, stage, QPointF(stage_colours.chip_width(stage) / 2, -stage_colours.HEIGHT / 2)
                )
                painter.restore()

    def overview(self) -> dict[str, list[QRectF]]:
        """Return the boxes of all layers by family or by tint, and again those that are selected or faulty."""
        if self._overview is None:
            boxes: dict[str, list[QRectF]] = defaultdict(list)
            for id, node in self.nodes.items():
                rect = geometry.node_rect(self.index.positions[id])
                kind = _box_kind(node.content)
                boxes[kind].append(rect)
                if node.content.is_selected:
                    boxes["selected"].append(rect.adjusted(-12, -12, 12, 12))
                    boxes[kind].append(rect)
                elif node.content.severity in ("error", "warning"):
                    boxes[node.content.severity].append(rect)
            self._overview = boxes
        return self._overview


def _box_kind(content: Content) -> str:
    """Return the key of a box's colour in the overview."""
    if content.stage is not None:
        return stage_colours.box_kind(content.stage)
    if content.health is not None:
        return health_badges.box_kind(content.health.tone)
    return content.family if content.heat is None else tint.box_kind(content.heat)


_WIDTH = 256.0
_HEIGHT = 128.0
Cell = tuple[int, int]


class Index:
    """Spatial index: positions of layers by id, and by cell of a grid, so that a lookup need not visit all layers."""

    def __init__(self) -> None:
        self.positions: dict[str, Position] = {}
        self._cells: dict[Cell, dict[str, None]] = {}
        self._bounds: QRectF | None = None

    def put(self, id: str, at: Position) -> None:
        """Set the position of a layer."""
        old = self.positions.get(id)
        if old == at:
            return
        self.positions[id] = at
        self._bounds = None
        new_cells = _cells_of(at)
        if old is not None:
            if (old_cells := _cells_of(old)) == new_cells:
                return
            self._leave(id, old_cells)
        for cell in new_cells:
            self._cells.setdefault(cell, {})[id] = None

    def span(self, connection: Connection) -> float:
        """Return the distance between the layers of a connection; short ones take the lanes beside the layers."""
        x1, y1 = self.positions.get(connection.source.layer, (0.0, 0.0))
        x2, y2 = self.positions.get(connection.target.layer, (0.0, 0.0))
        return abs(x2 - x1) + abs(y2 - y1)

    def drop(self, id: str) -> None:
        """Remove a layer."""
        self._leave(id, _cells_of(self.positions.pop(id)))
        self._bounds = None

    def _leave(self, id: str, cells: Iterable[Cell]) -> None:
        for cell in cells:
            here = self._cells[cell]
            del here[id]
            if not here:
                del self._cells[cell]

    def at(self, x: float, y: float) -> str | None:
        """Return the layer whose box contains a point; of several the most recently placed."""
        cell = self._cells.get((int(x // _WIDTH), int(y // _HEIGHT)))
        if cell is not None:
            for id in reversed(cell):
                left, top = self.positions[id]
                if 0 <= x - left <= NODE_WIDTH and 0 <= y - top <= NODE_HEIGHT:
                    return id
        return None

    def is_free(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Return whether no layer touches an area; it should be small, because all its cells are visited."""
        cells, positions = self._cells, self.positions
        for cx in range(int(left // _WIDTH), int(right // _WIDTH) + 1):
            for cy in range(int(top // _HEIGHT), int(bottom // _HEIGHT) + 1):
                for id in cells.get((cx, cy), ()):
                    x, y = positions[id]
                    if x <= right and y <= bottom and x + NODE_WIDTH >= left and y + NODE_HEIGHT >= top:
                        return False
        return True

    def inside(self, area: QRectF) -> Iterator[str]:
        """Return the layers whose boxes touch an area, in the order in which they were placed."""
        left, top, right, bottom = area.left(), area.top(), area.right(), area.bottom()
        first_x, last_x = int((left) // _WIDTH), int(right // _WIDTH)
        first_y, last_y = int((top) // _HEIGHT), int(bottom // _HEIGHT)
        ids: Iterable[str]
        if (last_x - first_x + 1) * (last_y - first_y + 1) >= len(self._cells):
            ids = self.positions
        else:
            ids = dict.fromkeys(
                id
                for cx in range(first_x, last_x + 1)
                for cy in range(first_y, last_y + 1)
                for id in self._cells.get((cx, cy), ())
            )
        for id in ids:
            x, y = self.positions[id]
            if x <= right and y <= bottom and x + NODE_WIDTH >= left and y + NODE_HEIGHT >= top:
                yield id

    def bounds(self) -> QRectF:
        """Return the box around all layers."""
        if self._bounds is None:
            xs = [x for x, _ in self.positions.values()] or [0.0]
            ys = [y for _, y in self.positions.values()] or [0.0]
            left, top = min(xs), min(ys)
            size = (max(xs) - left + NODE_WIDTH, max(ys) - top + NODE_HEIGHT) if self.positions else (0.0, 0.0)
            self._bounds = QRectF(left, top, *size)
        return QRectF(self._bounds)


def _cells_of(at: Position) -> tuple[Cell, ...]:
    left, right = int(at[0] // _WIDTH), int((at[0] + NODE_WIDTH) // _WIDTH)
    top, bottom = int(at[1] // _HEIGHT), int((at[1] + NODE_HEIGHT) // _HEIGHT)
    # A layer is smaller than a cell: it touches two at most in each direction.
    if left == right:
        return ((left, top),) if top == bottom else ((left, top), (left, bottom))
    if top == bottom:
        return (left, top), (right, top)
    return (left, top), (left, bottom), (right, top), (right, bottom)
