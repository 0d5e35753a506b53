"""Small pictures of the activations of each layer for a sample, beside the layers on the canvas."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from netwright.designer import theme
from netwright.designer.scene.node_items import OVERVIEW_BELOW, Nodes
from netwright.engine.network.layout import NODE_HEIGHT, NODE_WIDTH

SIDE = NODE_HEIGHT - 8
GAP, APART = 4.0, 8.0
"""Between two pictures, and between a layer and the first one."""
MOST = 6
LONG = 3
"""A picture so many times as wide as high takes the room of several; that of a vector is lower."""
LONG_SHARE = 0.4


class ActivationStrips(QGraphicsItem):
    """Up to `MOST` pictures on the right of each layer, as many as have room before the next layer."""

    def __init__(self, nodes: Nodes) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self._nodes = nodes
        self.images: Mapping[str, Sequence[QImage]] = {}

    def show_images(self, images: Mapping[str, Sequence[QImage]]) -> None:
        """Draw these pictures by layer."""
        self.prepareGeometryChange()
        self.images = images
        self.update()

    def boundingRect(self) -> QRectF:
        return self._nodes.boundingRect().adjusted(0, 0, MOST * (SIDE + GAP) + APART, 0) if self.images else QRectF()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if painter.worldTransform().m11() < OVERVIEW_BELOW:
            return
        reach = MOST * (SIDE + GAP) + APART
        area = option.exposedRect.adjusted(-reach, 0, 0, 0)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        frame = QPen(theme.current().line, 1)
        for id in self._nodes.index.inside(area):
            for image, place in zip(self.images.get(id, ()), self.places(id), strict=False):
                painter.drawImage(place, image)
                painter.setPen(frame)
                painter.drawRect(place)

    def places(self, id: str) -> list[QRectF]:
        """Return where the pictures of a layer stand: as many squares as touch no layer. A vector or a sequence has one
        picture, over the room of all."""
        images = self.images.get(id, ())
        x, y = self._nodes.index.positions[id]
        left, top = x + NODE_WIDTH + APART, y + (NODE_HEIGHT - SIDE) / 2
        is_long = len(images) == 1 and images[0].width() >= LONG * images[0].height()
        squares: list[QRectF] = []
        for number in range(MOST if is_long else min(MOST, len(images))):
            place = QRectF(left + number * (SIDE + GAP), top, SIDE, SIDE)
            if not self._nodes.index.is_free(place.left() - GAP, place.top(), place.right() + GAP, place.bottom()):
                break
            squares.append(place)
        if is_long and squares:
            high = SIDE * (LONG_SHARE if images[0].height() == 1 else 1.0)
            return [QRectF(left, top + (SIDE - high) / 2, squares[-1].right() - left, high)]
        return [_fitted(image, place) for image, place in zip(images, squares, strict=False)]


def _fitted(image: QImage, place: QRectF) -> QRectF:
    """Return where an image is drawn in a square, as large as fits."""
    largest = max(image.width(), image.height(), 1)
    box = QRectF(0, 0, image.width() / largest * place.width(), image.height() / largest * place.height())
    box.moveCenter(place.center())
    box.moveLeft(place.left())
    return box
