"""Heat maps: cells as images, a bar of their colours, and the texts around them."""

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QHelpEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene, QStyleOptionGraphicsItem, QToolTip, QWidget

from netwright.app.plots.axes import TickAxis
from netwright.app.plots.canvas import Canvas
from netwright.app.plots.plot_items import ZoomBox
from netwright.designer import markup, theme

Array = NDArray[Any]
BAR_WIDTH = 12
UNIT = QRectF(0, 0, 1, 1)


class HeatMap:
    """Images over each other in a rectangle of a scene, with a border. Rows go down, or up from below."""

    def __init__(self, scene: QGraphicsScene, count: int = 1, *, is_upward: bool = False) -> None:
        self.view = ZoomBox()
        self.view.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.view.invertY(not is_upward)
        self.images = [pg.ImageItem(axisOrder="row-major", levels=(0, 255)) for _ in range(count)]
        for image in self.images:
            self.view.addItem(image, ignoreBounds=True)
        scene.addItem(self.view)

    def show(self, number: int, values: Array) -> None:
        """Show colours (H, W, 3) or (H, W, 4), or levels of grey (H, W), as an image."""
        self.images[number].setImage(values, autoLevels=False)
        self.images[number].setRect(UNIT)

    def place(self, area: QRectF) -> None:
        """Fill a rectangle of the scene."""
        self.view.setGeometry(area)
        self.view.setRange(xRange=(0, 1), yRange=(0, 1), padding=0, disableAutoRange=False)
        self.view.setBorder(theme.current().line)


class ColourBar(HeatMap):
    """The colours of a heat map from below, with the values that they stand for on the right."""

    def __init__(self, scene: QGraphicsScene) -> None:
        super().__init__(scene, is_upward=True)
        self.axis = TickAxis("right")
        self.axis.linkToView(self.view)
        scene.addItem(self.axis)

    def lay(self, left: float, area: QRectF, texts: Sequence[tuple[float, str]], room: float) -> None:
        """Stand at a pixel from the left, as high as a map, with texts at shares of the height."""
        self.place(QRectF(left, area.top(), BAR_WIDTH, area.height()))
        self.axis.show()  # pyqtgraph gives a hidden axis no width
        self.axis.setGeometry(QRectF(left + BAR_WIDTH, area.top(), room, area.height()))
        self.axis.show_texts(list(texts))

    def set_visible(self, is_shown: bool) -> None:
        """Show it, or hide it."""
        self.view.setVisible(is_shown)
        self.axis.setVisible(is_shown)


class Texts(QGraphicsItem):
    """Texts in rectangles of the scene, each in a colour and a size."""

    def __init__(self) -> None:
        super().__init__()
        self._area, self._font = QRectF(), QFont()
        self._texts: list[tuple[QRectF, Qt.AlignmentFlag, str, QColor, int]] = []

    def clear(self, area: QRectF, font: QFont) -> None:
        """Remove all, and take another area and font."""
        self.prepareGeometryChange()
        self._area, self._font, self._texts = area, font, []

    def add(self, box: QRectF, align: Qt.AlignmentFlag, text: str, colour: QColor, pixels: int = 11) -> None:
        """Add a text."""
        self._texts.append((box, align, text, colour, pixels))

    def boundingRect(self) -> QRectF:
        """The whole chart."""
        return self._area

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Paint the texts."""
        for box, align, text, colour, pixels in self._texts:
            self._font.setPixelSize(pixels)
            painter.setFont(self._font)
            painter.setPen(colour)
            painter.drawText(box, align, text)


class StillCanvas(Canvas):
    """A canvas without zoom; a tooltip has the `words` about what is under the pointer."""

    def prepare_canvas(self) -> None:
        """Leave the wheel and the keys to what is around."""
        super().prepare_canvas()
        for widget in (self, self.viewport()):
            widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def words(self, at: QPointF) -> str:
        """Return the text about a point."""
        return ""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll what is around."""
        event.ignore()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show a tooltip about the point under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), markup.wrapped(self.words(QPointF(event.pos()))), self)
            return True
        return bool(super().viewportEvent(event))
