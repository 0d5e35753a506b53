"""Samples side by side, in as many columns as fit."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from designer import theme

GAP = 8
CAPTION_HEIGHT = 20
PICTURE = 72
SERIES = QSize(150, 64)
BAND = 6
NOTHING = 255
PEN_FAMILIES = ("Convolution", "Activation", "Pooling", "Recurrent", "Normalisation", "Combination")


class Tile(QWidget):
    """One sample above its caption. `size_wanted` is the least it needs without the caption."""

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
        """Paint the sample, and its caption elided."""
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
    """An image; small ones are scaled without smoothing."""

    def __init__(self, file: str, caption: str, tip: str) -> None:
        super().__init__(caption, tip)
        self.pixmap = scaled(QPixmap(file))

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the image in the middle."""
        size = self.pixmap.size()
        painter.drawPixmap(QPointF((area.width() - size.width()) / 2, (area.height() - size.height()) / 2), self.pixmap)


class Masked(Tile):
    """An image, and beside it the class of each pixel."""

    size_wanted = QSize(2 * PICTURE + GAP // 2, PICTURE)

    def __init__(self, file: str, mask: str, caption: str, tip: str) -> None:
        super().__init__(caption, tip)
        self.pixmap = scaled(QPixmap(file))
        grey = QImage(mask).convertToFormat(QImage.Format.Format_Grayscale8)
        size = (grey.width(), grey.height(), grey.bytesPerLine())
        coloured = QImage(grey.constBits(), *size, QImage.Format.Format_Indexed8).copy()
        coloured.setColorTable([*(class_colour(number).rgba() for number in range(NOTHING)), 0])
        self.classes = scaled(QPixmap.fromImage(coloured), smooth=False)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the image at the left, its classes at the right."""
        draw_beside(painter, area, self.pixmap, self.classes)


class Paired(Tile):
    """An image, and beside it its target image."""

    size_wanted = QSize(2 * PICTURE + GAP // 2, PICTURE)

    def __init__(self, file: str, target: str, caption: str, tip: str) -> None:
        super().__init__(caption, tip)
        self.pixmaps = scaled(QPixmap(file)), scaled(QPixmap(target))

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the image at the left, its target at the right."""
        draw_beside(painter, area, *self.pixmaps)


def draw_beside(painter: QPainter, area: QRectF, *pixmaps: QPixmap) -> None:
    """Draw two pictures side by side, each in the middle of its half."""
    half = (area.width() - GAP / 2) / 2
    for left, pixmap in zip((0.0, half + GAP / 2), pixmaps, strict=True):
        x = left + (half - pixmap.width()) / 2
        painter.drawPixmap(QPointF(x, (area.height() - pixmap.height()) / 2), pixmap)


def scaled(pixels: QPixmap, *, smooth: bool | None = None) -> QPixmap:
    """Return a picture in the size of a tile; small ones scaled without smoothing."""
    if pixels.isNull():  # Qt would complain, and there is nothing to show anyway
        return pixels
    is_smooth = pixels.width() > PICTURE if smooth is None else smooth
    mode = Qt.TransformationMode.SmoothTransformation if is_smooth else Qt.TransformationMode.FastTransformation
    return pixels.scaled(QSize(PICTURE, PICTURE), Qt.AspectRatioMode.KeepAspectRatio, mode)


def class_colour(number: int) -> QColor:
    """Return the colour of a class in masks and along sequences: those of the layer families first, then others far
    apart."""
    if number < len(PEN_FAMILIES):
        return QColor(theme.current().family(PEN_FAMILIES[number]))
    return QColor.fromHsvF((number * 0.618034) % 1.0, 0.55, 0.85)


class Sparkline(Tile):
    """One sample of a sequence: each channel as a line over its steps, all on one scale; below it the class of each
    step as a band, where steps have one. The values to predict after it are drawn behind a line, in the colour of
    their channel."""

    size_wanted = SERIES

    def __init__(
        self,
        values: Sequence[Sequence[float]],
        caption: str,
        tip: str = "",
        steps: Sequence[int] = (),
        ahead: Sequence[tuple[int, Sequence[float]]] = (),
    ) -> None:
        """`ahead` are the values to predict, each with the index of its channel, or -1."""
        super().__init__(caption, tip)
        self.channels = [list(channel) for channel in values]
        self.steps = list(steps)
        self.ahead = [(channel, list(following)) for channel, following in ahead]

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw the lines, and the band."""
        if self.steps:
            self._draw_band(painter, QRectF(area.left() + 2, area.bottom() - BAND, area.width() - 4, BAND))
            area = area.adjusted(0, 0, 0, -BAND)
        numbers = [value for channel in (*self.channels, *(values for _, values in self.ahead)) for value in channel]
        if not numbers:
            return
        low, high = min(numbers), max(numbers)
        span = (high - low) or 1.0
        area = area.adjusted(2, 4, -2, -4)
        longest = max(map(len, self.channels), default=0)
        following = max((len(values) for _, values in self.ahead), default=0)
        steps = max(1, longest + following - 1)

        def draw_line(values: Sequence[float], first: int, colour: QColor, width: float) -> None:
            painter.setPen(QPen(colour, width))
            points = [
                QPointF(
                    area.left() + area.width() * (first + i) / steps,
                    area.bottom() - area.height() * (value - low) / span,
                )
                for i, value in enumerate(values)
            ]
            painter.drawPoint(points[0]) if len(points) == 1 else painter.drawPolyline(QPolygonF(points))

        for index, channel in enumerate(self.channels):
            draw_line(channel, 0, theme.current().family(PEN_FAMILIES[index % len(PEN_FAMILIES)]), 1.0)
        if self.ahead:
            x = area.left() + area.width() * (longest - 0.5) / steps
            painter.setPen(QPen(theme.current().muted, 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        for channel_index, values in self.ahead:
            family = PEN_FAMILIES[channel_index % len(PEN_FAMILIES)]
            draw_line(values, longest, theme.current().family(family), 2.0)

    def _draw_band(self, painter: QPainter, area: QRectF) -> None:
        """Draw the band of classes. A value stands for half a step on either side, and so does its colour."""
        width = area.width() / len(self.steps)
        start = 0
        for end in range(1, len(self.steps) + 1):
            if end == len(self.steps) or self.steps[end] != self.steps[start]:
                if self.steps[start] >= 0:
                    band = QRectF(area.left() + start * width, area.top(), (end - start) * width, area.height())
                    painter.fillRect(band, class_colour(self.steps[start]))
                start = end


class Tiles(QWidget):
    """Lays tiles out in rows, and is as high as they need."""

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
        """Return how many tiles fit into a row of this width."""
        return max(1, (width + GAP) // (self._cell.width() + GAP))

    def hasHeightForWidth(self) -> bool:
        """Return true: a narrow window needs more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all rows."""
        rows = -(-len(self.tiles) // self.columns(width))
        return max(0, rows * (self._cell.height() + CAPTION_HEIGHT + GAP) - GAP)

    def sizeHint(self) -> QSize:
        """Return the size of ten columns; any width will do."""
        return QSize(10 * (self._cell.width() + GAP), self.heightForWidth(10 * (self._cell.width() + GAP)))

    def minimumSizeHint(self) -> QSize:
        """Return the size of one tile."""
        return QSize(self._cell.width(), self._cell.height() + CAPTION_HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the tiles."""
        columns = self.columns(self.width())
        height = self._cell.height() + CAPTION_HEIGHT
        width = (self.width() + GAP) // columns - GAP if self._is_stretched else self._cell.width()
        for index, tile in enumerate(self.tiles):
            row, column = divmod(index, columns)
            tile.setGeometry(column * (width + GAP), row * (height + GAP), width, height)
