"""All layers of the canvas as one item: visible ones are copied from pictures, far away they are coloured boxes."""

from collections import defaultdict
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPixmap, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from designer import theme
from designer.canvas import geometry, pictures
from designer.canvas.index import Index
from designer.canvas.marks import stages, tint
from designer.canvas.pictures import Content
from engine.network.layout import NODE_HEIGHT, NODE_WIDTH

OVERVIEW_BELOW = 0.35
_PICTURE_BYTES = 96 * 2**20
_MANY = 120


@dataclass
class Node:
    """A layer on the canvas: what it says, why it complains, and its picture."""

    id: str
    content: Content
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    messages: tuple[str, ...] = ()
    pixmap: QPixmap | None = field(default=None, repr=False)
    scale: float = 0.0

    def show(self, content: Content) -> bool:
        """Say something else; whether that changes the picture."""
        if content == self.content:
            return False
        self.content, self.pixmap = content, None
        return True


class Nodes(QGraphicsItem):
    """The layers. Knows no network: the scene tells it what stands where."""

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.nodes: dict[str, Node] = {}
        self.index = Index()
        self.is_zooming = False
        """While the zoom changes, pictures of another zoom will do."""
        self._bounds = QRectF()
        self._bytes = 0
        self._overview: dict[str, list[QRectF]] | None = None

    def boundingRect(self) -> QRectF:
        return self._bounds

    def rect(self, id: str) -> QRectF:
        """What has to be painted again when a layer changes."""
        m = pictures.MARGIN + 2
        return geometry.node_rect(self.index.positions[id]).adjusted(-m, -m, m, m)

    def measure(self) -> None:
        """Take the new places of layers into account."""
        self._overview = None
        m = pictures.MARGIN + 2
        bounds = self.index.bounds().adjusted(-m, -m, m, m)
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = bounds

    def stretch(self, id: str) -> None:
        """Make room for a layer that is being moved; `measure` makes it exact."""
        self._overview = None
        if not self._bounds.contains(rect := self.rect(id)):
            self.prepareGeometryChange()
            self._bounds = self._bounds.united(rect)

    def forget_overview(self) -> None:
        """Boxes changed their colours."""
        self._overview = None

    def forget_pictures(self) -> None:
        """Paint everything anew, in other colours."""
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
                pixmap = self._picture(node, scale)
            left = round((sx * (x - m) + dx) * ratio) / ratio
            top = round((sy * (y - m) + dy) * ratio) / ratio
            if node.scale == scale:
                pixmap.setDevicePixelRatio(ratio)
                painter.drawPixmap(QPointF(left, top), pixmap)
            else:
                size = QRectF(left, top, (NODE_WIDTH + 2 * m) * sx, (NODE_HEIGHT + 2 * m) * sy)
                painter.drawPixmap(size, pixmap, QRectF(0, 0, pixmap.width(), pixmap.height()))

    def _picture(self, node: Node, scale: float) -> QPixmap:
        if self._bytes > _PICTURE_BYTES:
            self.forget_pictures()
        node.pixmap, node.scale = pictures.picture(node.content, scale), scale
        self._bytes += node.pixmap.width() * node.pixmap.height() * 4
        return node.pixmap

    def _paint_overview(self, painter: QPainter, exposed: QRectF) -> None:
        """One call a colour for the whole network; selected and faulty layers stand out."""
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
        """The number of each stage at the first of its boxes, as large as near by."""
        scale = 1 / painter.worldTransform().m11()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for kind, boxes in self.overview().items():
            if (stage := stages.box_stage(kind)) is not None:
                first = min(boxes, key=lambda box: (box.top(), box.left()))
                painter.save()
                painter.translate(first.left(), first.center().y())
                painter.scale(scale, scale)
                stages.paint_chip(painter, stage, QPointF(stages.chip_width(stage) / 2, -stages.HEIGHT / 2))
                painter.restore()

    def overview(self) -> dict[str, list[QRectF]]:
        """The boxes of all layers by family or by tint, and again those that are selected or faulty."""
        if self._overview is None:
            self._overview = self._boxes()
        return self._overview

    def _boxes(self) -> dict[str, list[QRectF]]:
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
        return boxes


def _box_kind(content: Content) -> str:
    """What the colour of a box seen from afar stands for."""
    if content.stage is not None:
        return stages.box_kind(content.stage)
    return content.family if content.heat is None else tint.box_kind(content.heat)
