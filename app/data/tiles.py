"""Samples side by side, in as many columns as there is room for."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPixmap, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from designer import theme

GAP = 8
CAPTION_HEIGHT = 20
PICTURE = 72
SERIES = QSize(150, 64)
PEN_FAMILIES = ("Convolution", "Activation", "Pooling", "Recurrent", "Normalisation", "Combination")


class Tile(QWidget):
    """One sample above its caption. `size` is the least it needs without the caption."""

    size_wanted = QSize(PICTURE, PICTURE)

    def __init__(self, caption: str, tip: str = "") -> None:
        super().__init__()
        self.caption = caption
        self.setToolTip(tip or caption)
        self.setAccessibleName(f"Sample: {tip or caption}")

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the sample."""
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        """The sample, and its caption elided."""
        area = QRectF(self.rect())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter, area.adjusted(0, 0, 0, -CAPTION_HEIGHT))
        below = QRectF(0, area.height() - CAPTION_HEIGHT, area.width(), CAPTION_HEIGHT)
        text = self.fontMetrics().elidedText(self.caption, Qt.TextElideMode.ElideMiddle, self.width())
        painter.setPen(theme.current().muted)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, text)
        painter.end()


class Picture(Tile):
    """An image; small ones are shown with hard pixels."""

    def __init__(self, file: str, caption: str, tip: str) -> None:
        super().__init__(caption, tip)
        pixels = QPixmap(file)
        smooth = pixels.width() > PICTURE
        mode = Qt.TransformationMode.SmoothTransformation if smooth else Qt.TransformationMode.FastTransformation
        if not pixels.isNull():  # else Qt complains, and there is nothing to show anyway
            pixels = pixels.scaled(QSize(PICTURE, PICTURE), Qt.AspectRatioMode.KeepAspectRatio, mode)
        self.pixmap = pixels

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """The image in the middle."""
        size = self.pixmap.size()
        painter.drawPixmap(QPointF((area.width() - size.width()) / 2, (area.height() - size.height()) / 2), self.pixmap)


class Sparkline(Tile):
    """One sample of a sequence: each channel as a line over its steps, all on one scale."""

    size_wanted = SERIES

    def __init__(self, values: Sequence[Sequence[float]], caption: str, tip: str = "") -> None:
        super().__init__(caption, tip)
        self.channels = [list(channel) for channel in values]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """The lines."""
        numbers = [value for channel in self.channels for value in channel]
        if not numbers:
            return
        low, high = min(numbers), max(numbers)
        span = (high - low) or 1.0
        area = area.adjusted(2, 4, -2, -4)
        for index, channel in enumerate(self.channels):
            painter.setPen(QPen(theme.current().family(PEN_FAMILIES[index % len(PEN_FAMILIES)]), 1.0))
            steps = max(1, len(channel) - 1)
            points = [
                QPointF(area.left() + area.width() * i / steps, area.bottom() - area.height() * (value - low) / span)
                for i, value in enumerate(channel)
            ]
            painter.drawPolyline(QPolygonF(points))


class Tiles(QWidget):
    """Lays tiles out in rows; as high as that takes."""

    def __init__(self, tiles: Sequence[Tile], *, is_stretched: bool = False) -> None:
        super().__init__()
        self.tiles = list(tiles)
        self._is_stretched = is_stretched
        self._cell = tiles[0].size_wanted if tiles else QSize(PICTURE, PICTURE)
        for tile in tiles:
            tile.setParent(self)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def columns(self, width: int) -> int:
        """How many tiles stand in a row of this width."""
        return max(1, (width + GAP) // (self._cell.width() + GAP))

    def hasHeightForWidth(self) -> bool:
        """A narrow window has more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Of all rows."""
        rows = -(-len(self.tiles) // self.columns(width))
        return max(0, rows * (self._cell.height() + CAPTION_HEIGHT + GAP) - GAP)

    def sizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(10 * (self._cell.width() + GAP), self.heightForWidth(10 * (self._cell.width() + GAP)))

    def minimumSizeHint(self) -> QSize:
        """One column."""
        return QSize(self._cell.width(), self._cell.height() + CAPTION_HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the tiles."""
        columns = self.columns(self.width())
        height = self._cell.height() + CAPTION_HEIGHT
        width = (self.width() + GAP) // columns - GAP if self._is_stretched else self._cell.width()
        for index, tile in enumerate(self.tiles):
            row, column = divmod(index, columns)
            tile.setGeometry(column * (width + GAP), row * (height + GAP), width, height)
